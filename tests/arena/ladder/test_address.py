"""Where a ladder's database is: an address that is told, and a password that is not."""

import stat
from pathlib import Path

import pytest

from arena.ladder.errors import LadderError
from arena.ladder.store.address import (
    DATABASE_FILE,
    Server,
    address_file,
    address_of,
    keep_address,
)

URL = (
    "postgresql://ada:s3cr%40t@db.example:5433/arena?schema=club&sslmode=require&sslpassword=h1dden"
)


def test_an_address_is_kept_whole_and_shown_without_its_passwords(tmp_path: Path) -> None:
    server = Server.parse(URL)
    (tmp_path / "secret").mkdir()
    keep_address(tmp_path, server)
    assert stat.S_IMODE(address_file(tmp_path).stat().st_mode) == 0o600
    assert address_of(tmp_path) == server
    assert server.url.password == "s3cr@t"
    assert str(server) == "postgresql://ada@db.example:5433/arena?schema=club"
    for shown in (str(server), repr(server), f"{server.url!r}"):
        assert "s3cr" not in shown
    said = server.without_secrets("refused s3cr@t of ada, and h1dden")
    assert said == "refused *** of ada, and ***"


def test_one_that_names_no_schema_takes_the_one_that_is_given() -> None:
    text = "postgres:///arena?host=/run/postgresql"
    server = Server.parse(text, schema="باشگاه")
    assert server.schema == "باشگاه"
    assert Server.parse(server.text) == server
    assert "host=%2Frun%2Fpostgresql" in str(server)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("club.db", "is no address of a database"),
        ("postgresql:/ada:s3cret@", "is no address of a database"),
        ("postgresql://ada:s3cret@h:port/d", "is no address of a database"),
        ("mysql://ada:s3cret@h/d", "is the address of no PostgreSQL server"),
        ("postgresql://ada:s3cret@h/d", "names no schema, or two"),
        ("postgresql://ada:s3cret@h/d?schema=a&schema=b", "names no schema, or two"),
        ("postgresql://ada:s3cret@h/d?schema=" + "ب" * 32, "longer than 63 bytes"),
        ("postgresql://ada:s3cret@h/d?schema=a%00b", "longer than 63 bytes"),
        ("postgresql://ada:s3cret@h/d?schema=pg_temp", "PostgreSQL's own"),
    ],
)
def test_what_is_no_address_is_refused_and_not_repeated(text: str, problem: str) -> None:
    with pytest.raises(LadderError) as caught:
        Server.parse(text)
    assert problem in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_a_ladder_that_names_no_server_is_in_its_folder(tmp_path: Path) -> None:
    assert address_of(tmp_path) == tmp_path / DATABASE_FILE
    keep_address(tmp_path, tmp_path / DATABASE_FILE)
    (tmp_path / "secret").mkdir()
    keep_address(tmp_path, Server.parse(URL))
    keep_address(tmp_path, tmp_path / DATABASE_FILE)
    assert address_of(tmp_path) == tmp_path / DATABASE_FILE


def test_a_kept_address_that_is_none_is_told_with_its_file(tmp_path: Path) -> None:
    file = address_file(tmp_path)
    file.parent.mkdir()
    file.write_text("postgresql://ada:s3cret@h:port/d")
    with pytest.raises(LadderError) as caught:
        address_of(tmp_path)
    assert str(caught.value).startswith(f"{file}: what is in it is no address of a database")
    assert "s3cret" not in str(caught.value)
    file.write_bytes(b"\xff")
    with pytest.raises(LadderError, match="cannot be read"):
        address_of(tmp_path)


def test_whoever_may_not_read_secrets_reads_the_database_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", closed)
    with pytest.raises(LadderError, match="cannot be read"):
        address_of(tmp_path)
    (tmp_path / DATABASE_FILE).touch()
    assert address_of(tmp_path) == tmp_path / DATABASE_FILE
