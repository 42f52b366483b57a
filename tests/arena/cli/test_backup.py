"""`arena ladder backup`, `restore` and `move`, and `init --database`, as the operator sees them."""

import json
import stat

import pytest

from arena.ladder.ladder import Ladder
from tests.postgres import Cluster

ADDRESSES = ("mysql://ada:s3cret@h/d", "postgresql:/ada:s3cret@", "club.db")


@pytest.fixture
def ladder(run, make_bot, tmp_path):
    folder = tmp_path / "club"
    assert run("ladder", "init", folder, "--boards", 1).status == 0
    assert run("ladder", "add", folder, make_bot("sara"), make_bot("علی")).status == 0
    return folder


def test_a_backup_says_what_it_holds_and_is_restored(run, ladder, tmp_path) -> None:
    file, again = tmp_path / "club.tar", tmp_path / "again"
    ran = run("ladder", "backup", ladder, file)
    assert ran.status == 0
    assert ran.out.startswith("club: 3 rows and ")
    assert ran.out.endswith("closed to others: it holds the ladder's secrets\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    ran = run("ladder", "restore", file, again)
    assert ran.out.startswith("club: 3 rows and ")
    assert "play one of the two only" in ran.err
    assert run("ladder", "check", again).status == 0
    standings = [run("ladder", "standings", one, "--json").out for one in (ladder, again)]
    assert standings[0] == standings[1]
    assert "is there already" in run("ladder", "restore", file, again).err
    answer = json.loads(run("ladder", "backup", ladder, tmp_path / "2.tar", "--json").out)
    assert (answer["ladder"], answer["rows"], answer["skipped"]) == ("club", 4, [])  # a deed
    assert answer["bundles_elsewhere"] == 0


def test_the_log_says_who_backed_up_and_who_restored_and_of_files_their_name(
    run, ladder, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "ann")
    file, again = tmp_path / "club.tar", tmp_path / "again"
    assert run("ladder", "backup", ladder, file).status == 0
    assert run("ladder", "restore", file, again).status == 0
    for folder, does in ((ladder, "back up"), (again, "restore")):
        (line,) = run("operate", folder, "log").out.splitlines()
        assert line.endswith(f" ann {does} club.tar")
        assert str(tmp_path) not in line


def test_archives_that_are_kept_elsewhere_are_said_not_to_be_in_it(run, ladder, tmp_path) -> None:
    with Ladder.open(ladder) as opened:
        accounts = opened.store.accounts
        assert accounts.register(name="ada", family="ada", at="2026-03-01T00:00:00Z") is not None
        for digest in ("ab" * 32, "cd" * 32, "ef" * 32):
            accounts.submit(
                owner=1,
                name="b",
                version="1",
                digest=digest,
                size_bytes=1,
                at="2026-03-01T00:00:00Z",
            )
    (ladder / "submissions").mkdir()
    (ladder / f"submissions/{'ab' * 32}.zip").touch()
    ran = run("ladder", "backup", ladder, tmp_path / "club.tar")
    assert ran.status == 0
    assert ran.err.startswith("not in it: archives that were sent in and are kept elsewhere (2); ")


def test_what_is_left_out_is_told(run, ladder, tmp_path) -> None:
    (ladder / "link").symlink_to("/etc")
    ran = run("ladder", "backup", ladder, tmp_path / "club.tar")
    assert ran.status == 0
    assert ran.err == f"left out, as it is no file: {ladder / 'link'}\n"


@pytest.mark.parametrize("address", ADDRESSES)
def test_what_is_no_address_is_a_misuse_and_not_repeated(run, ladder, tmp_path, address) -> None:
    for words in (
        ("init", tmp_path / "new"),
        ("move", ladder),
        ("restore", tmp_path / "club.tar", tmp_path / "new"),
    ):
        ran = run("ladder", *words, "--database", address)
        assert ran.status == 2
        assert ran.err.startswith("error: --database: is ")
        assert "s3cret" not in ran.err + ran.out
        assert not (tmp_path / "new").exists()


def test_a_ladder_moves_to_a_server_and_back(
    run, ladder, postgres: Cluster, tmp_path, make_bot
) -> None:
    url = postgres.url(schema="moved").replace("hokm@", "hokm:s3cret@")
    before = run("ladder", "standings", ladder, "--json").out
    moved = run("ladder", "move", ladder, "--database", url)
    assert moved.status == 0
    assert "3 rows moved from " in moved.out
    assert "s3cret" not in moved.out
    assert "s3cret" in (ladder / "secret/database").read_text()
    assert run("ladder", "standings", ladder, "--json").out == before
    assert run("ladder", "add", ladder, make_bot("reza")).status == 0
    answer = json.loads(run("ladder", "move", ladder, "--database", url, "--json").out)
    assert answer["rows"] is None
    assert "s3cret" not in str(answer)
    assert run("ladder", "move", ladder, "--database", "sqlite").status == 0
    log = run("operate", ladder, "log").out
    assert [log.count(f" move its rows to {where}") for where in ("a server", "sqlite")] == [1, 1]
    assert "s3cret" not in log
    assert "reza" in run("ladder", "standings", ladder).out


def test_a_ladder_is_made_on_a_server_in_the_schema_of_its_name(
    run, postgres: Cluster, tmp_path
) -> None:
    url = postgres.url(schema="x").replace("&schema=x", "")
    assert run("ladder", "init", tmp_path / "انجمن", "--database", url).status == 0
    ran = run("ladder", "init", tmp_path / "other", "--name", "انجمن", "--database", url)
    assert ran.status == 1
    assert "holds a ladder already" in ran.err
    assert run("ladder", "standings", tmp_path / "انجمن").status == 0
