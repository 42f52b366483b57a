"""A ladder as one file, and its rows in another place: nothing is lost, whatever keeps them, and at
whatever moment it is killed.
"""

import gzip
import io
import json
import os
import shutil
import sqlite3
import stat
import tarfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest
import sqlalchemy as sa
import sqlalchemy.engine.default
import trio
from alembic.command import upgrade
from alembic.config import Config

from arena.ladder import backup as backup_module
from arena.ladder.audit import check
from arena.ladder.backup import back_up, restore
from arena.ladder.errors import LadderError
from arena.ladder.events import announcing
from arena.ladder.events.playing import play_event
from arena.ladder.facts import Deed
from arena.ladder.ladder import Ladder
from arena.ladder.moving import move
from arena.ladder.schedules import RoundRobin
from arena.ladder.settings import Settings
from arena.ladder.store import sqlite
from arena.ladder.store.address import DATABASE_FILE, Server, address_file, address_of
from arena.ladder.store.database import Database
from arena.ladder.store.transfer import Row, Tables
from arena.ladder.testing import InProcessRunner
from tests.arena.ladder.conftest import MANIFEST, sql
from tests.arena.ladder.events.test_pairing import Fragile, Interrupted
from tests.postgres import ON_POSTGRES, Cluster

PLACES = ("sqlite", "postgresql")

Rows = dict[str, list[Row]]


def rows_of(folder: Path) -> Rows:
    """Every row of every table."""
    database = Database(address_of(folder))
    with database.reading() as connection:
        tables = Tables(connection)
        found = {name: list(tables.rows(name)) for name in tables.columns()}
    database.close()
    return found


def files_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file that is no part of a database, with its mode."""
    database = {path.name for path in sqlite.parts_of(folder / DATABASE_FILE)}
    return {
        str(path.relative_to(folder)): (stat.S_IMODE(path.stat().st_mode), path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in {"lock", *database} and path != address_file(folder)
    }


def complaint(do: Callable[[], object]) -> str:
    """Return what is said when it is done; it is always one line."""
    with pytest.raises(LadderError) as caught:
        do()
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.fixture(autouse=True)
def _nothing_is_made_to_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or each restore would wait for whatever else the machine has to write."""
    monkeypatch.setattr("os.sync", lambda: None)


@pytest.fixture
def elsewhere(request: pytest.FixtureRequest) -> Callable[[str], str | None]:
    """A place for rows: None for the ladder's folder, or the address of a schema that is new."""

    def place(kind: str) -> str | None:
        if kind == "sqlite":
            return None
        cluster: Cluster = request.getfixturevalue("postgres")
        return cluster.server().text

    return place


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a ladder with something in every table, and an event that is announced."""
    home = tmp_path_factory.mktemp("made")
    with Ladder.init(home / "club", Settings.of("club", length=1)) as ladder:
        for name in ("ada", "bob", "cyd"):
            bot = home / name
            bot.mkdir()
            (bot / "bot.py").write_text(f"# {name}")
            manifest = MANIFEST.format(name=name, owner=name, protocol=1, variants=[4])
            (bot / "bot.toml").write_text(manifest)
            ladder.add(str(bot))
        trio.run(partial(play_event, ladder, InProcessRunner(), schedule=RoundRobin()))
        announcing.announce(ladder, schedule=RoundRobin(), beacon=None, secret=bytes(range(32)))
        announcing.take_nonce(ladder, "ada", nonce=bytes(32))
        ladder.store.deactivate(2, because="did not start")
        for statement in FILLING:
            sql(ladder, statement, at="2026-01-01T00:00:00Z", report='{"a": 1}')
        for name, text in OTHER_FILES.items():
            (ladder.folder / name).parent.mkdir(exist_ok=True, parents=True)
            (ladder.folder / name).write_text(text)
        assert all(rows_of(ladder.folder).values())
    return home / "club"


@pytest.fixture
def full(made_once: Path, tmp_path: Path, elsewhere) -> Iterator[Ladder]:
    """A copy of it."""
    shutil.copytree(made_once, tmp_path / "club")
    if ON_POSTGRES:
        move(tmp_path / "club", database=elsewhere("postgresql"))
    with Ladder.open(tmp_path / "club") as ladder:
        yield ladder


FILLING = (
    "INSERT INTO owners VALUES (1, 'Ann', 'ann', :at, NULL)",
    "INSERT INTO tokens VALUES ('aa', 1, 'laptop', 'submit read', :at, NULL)",
    "INSERT INTO submissions VALUES (1, 1, 'باد', '1', 'ff', 7, :at, 'waiting', NULL, :report, 3)",
    "INSERT INTO deeds VALUES (1, :at, 'root', 'pause', '', 'a \"reason\"')",
    "INSERT INTO controls VALUES ('paused', 'of the weather')",
)
OTHER_FILES = {
    "logs/ev2/ada.log": "thinking",
    "notes.txt": "ours",
    "submissions/ff.zip": "PK",
}


# -- backups


@pytest.mark.parametrize("place", PLACES)
def test_a_ladder_that_is_restored_is_the_one_that_was_backed_up(
    full: Ladder, tmp_path: Path, elsewhere, place: str
) -> None:
    file, again = tmp_path / "club.tar", tmp_path / "again"
    made = back_up(full, file, with_logs=True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    restored = restore(file, again, database=elsewhere(place))
    assert isinstance(address_of(again), Server) == (place == "postgresql")
    assert rows_of(again) == rows_of(full.folder)
    assert files_of(again) == files_of(full.folder)
    assert (restored.name, restored.rows, restored.files) == (made.name, made.rows, made.files)
    assert made.rows == sum(map(len, rows_of(full.folder).values()))
    assert stat.S_IMODE((again / "secret").stat().st_mode) == 0o700
    with Ladder.open(again) as ladder:
        assert check(ladder) == []
        assert ladder.standings() == full.standings()
        trio.run(partial(play_event, ladder, InProcessRunner(), schedule=RoundRobin()))
        assert check(ladder) == []
    assert [path.name for path in tmp_path.glob(".*")] == []


@pytest.mark.parametrize("place", PLACES)
def test_who_backed_up_stands_in_the_log_and_who_restored_in_that_of_what_was_made(
    full: Ladder, tmp_path: Path, elsewhere, place: str
) -> None:
    before = full.store.operator.deeds()
    backed_up, restored = (
        Deed("2026-03-01T00:00:00Z", "ann", verb, "club.tar", "") for verb in ("back up", "restore")
    )
    back_up(full, tmp_path / "club.tar", deed=backed_up)
    assert full.store.operator.deeds() == (*before, replace(backed_up, number=2))
    address = elsewhere(place)
    restore(tmp_path / "club.tar", tmp_path / "again", database=address, deed=restored)
    with Ladder.open(tmp_path / "again") as ladder:
        assert ladder.store.operator.deeds() == (*before, replace(restored, number=2))
        assert check(ladder) == []


def test_what_is_not_made_is_in_no_log(full: Ladder, tmp_path: Path) -> None:
    before = full.store.operator.deeds()
    deed = Deed("2026-03-01T00:00:00Z", "ann", "back up", "club.tar", "")
    complaint(lambda: back_up(full, tmp_path / "nowhere/club.tar", deed=deed))
    assert full.store.operator.deeds() == before


def folders_of(folder: Path) -> dict[str, int]:
    """The mode of every folder with something in it, and of the ladder's."""
    found = [folder, *(path for path in folder.rglob("*") if path.is_dir() and any(path.iterdir()))]
    return {str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode) for path in found}


def test_a_restored_folder_is_open_to_nobody_else_than_before(full: Ladder, tmp_path: Path) -> None:
    bot = next((full.folder / "bots").iterdir())
    closed = [full.folder / "submissions", bot, full.folder]
    for path in closed:
        path.chmod(0o700)
    (full.folder / "logs").chmod(0o750)
    back_up(full, tmp_path / "club.tar", with_logs=True)
    restore(tmp_path / "club.tar", tmp_path / "again")
    again = folders_of(tmp_path / "again")
    assert again == folders_of(full.folder)
    assert [again[str(path.relative_to(full.folder))] for path in closed] == [0o700] * 3
    assert again["logs"] == 0o750


def test_archives_are_for_the_operator_alone_where_a_backup_does_not_say(
    full: Ladder, tmp_path: Path
) -> None:
    back_up(full, tmp_path / "club.tar")

    def older(member: tarfile.TarInfo, data: bytes) -> bytes:
        manifest = json.loads(data) if member.name == "backup.json" else {}
        return json.dumps(manifest | {"folders": {}}).encode() if manifest else data

    changed(tmp_path / "club.tar", older)
    restore(tmp_path / "club.tar", tmp_path / "again")
    assert stat.S_IMODE((tmp_path / "again/submissions").stat().st_mode) == 0o700


def test_logs_are_left_out_unless_they_are_asked_for(full: Ladder, tmp_path: Path) -> None:
    back_up(full, tmp_path / "club.tar")
    restore(tmp_path / "club.tar", tmp_path / "again")
    assert list((tmp_path / "again/logs").iterdir()) == []


def test_a_password_is_in_no_backup(full: Ladder, tmp_path: Path) -> None:
    address_file(full.folder).write_text("postgresql://u:s3cret@h/d?schema=s")
    back_up(full, tmp_path / "club.tar")
    with tarfile.open(tmp_path / "club.tar") as archive:
        assert not any("database" in name for name in archive.getnames())
    assert b"s3cret" not in (tmp_path / "club.tar").read_bytes()


def test_what_is_no_file_is_left_out_and_told(full: Ladder, tmp_path: Path) -> None:
    (full.folder / "logs.old").mkdir()
    (full.folder / "logs.old/link").symlink_to("/etc")
    os.mkfifo(full.folder / "pipe")
    (full.folder / "elsewhere").symlink_to("/etc")
    (full.folder / "records").rename(tmp_path / "disk")
    (full.folder / "records").symlink_to(tmp_path / "disk")
    (full.folder / "records/.draft.part").write_text("half")
    made = back_up(full, tmp_path / "club.tar")
    assert set(made.skipped) == {"elsewhere", "logs.old/link", "pipe"}
    restore(tmp_path / "club.tar", tmp_path / "again")
    assert not (tmp_path / "again/records/.draft.part").exists()
    assert (tmp_path / "again/records/ev1/event.json").exists()


def test_a_backup_is_not_put_over_a_file(full: Ladder, tmp_path: Path) -> None:
    (tmp_path / "club.tar").write_text("mine")
    assert "is there already" in complaint(lambda: back_up(full, tmp_path / "club.tar"))
    assert (tmp_path / "club.tar").read_text() == "mine"


def test_a_ladder_is_not_restored_over_anything(full: Ladder, tmp_path: Path) -> None:
    back_up(full, tmp_path / "club.tar")
    before = files_of(full.folder)
    said = complaint(lambda: restore(tmp_path / "club.tar", full.folder))
    assert "is there already; give a new folder" in said
    assert files_of(full.folder) == before
    (tmp_path / "empty").mkdir()
    restore(tmp_path / "club.tar", tmp_path / "empty")


async def test_a_backup_of_a_ladder_that_plays_is_that_of_one_moment(
    ladder: Ladder, tmp_path: Path, bot_folder
) -> None:
    """One is taken at each step, with the record of a later match there already."""
    for name in ("ada", "bob", "cyd"):
        ladder.add(bot_folder(name))
    taken: list[tuple[Path, Rows]] = []

    def tell(_: object) -> None:
        file = tmp_path / f"{len(taken)}.tar"
        stray = ladder.records_folder / "ev1/r9/ada~bob.json.gz"
        stray.parent.mkdir(parents=True, exist_ok=True)
        stray.write_bytes(b"of a match that does not count yet")
        back_up(ladder, file)
        stray.unlink()
        taken.append((file, rows_of(ladder.folder)))

    await play_event(ladder, InProcessRunner(), schedule=RoundRobin(), tell=tell)
    assert len(taken) > 6
    for file, rows in taken[:-1]:  # as the last was taken the event was over
        folder = tmp_path / f"of-{file.stem}"
        restore(file, folder)
        assert rows_of(folder) == rows
        with Ladder.open(folder) as again:
            await play_event(again, InProcessRunner(), schedule=RoundRobin())
            assert check(again) == []
            shown = {result.match: result for result in again.store.results()}
        # The same deals, in whichever of them the event was played to its end.
        assert shown.items() >= {r.match: r for r in ladder.store.results()}.items()


async def test_a_backup_does_not_show_the_secret_of_an_event_that_it_says_goes_on(
    ladder: Ladder, tmp_path: Path, bot_folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ada", "bob"):
        ladder.add(bot_folder(name))
    announced = announcing.announce(ladder, schedule=RoundRobin(), beacon=None, secret=bytes(32))
    add_files = backup_module._Writer.add_files
    times = 0

    def slow(*args, **kwargs):
        nonlocal times
        times += 1
        if times == 1:
            announcing.call_off(ladder)
        return add_files(*args, **kwargs)

    monkeypatch.setattr(backup_module._Writer, "add_files", slow)
    back_up(ladder, tmp_path / "club.tar")
    assert times == 2
    restore(tmp_path / "club.tar", tmp_path / "again")
    with Ladder.open(tmp_path / "again") as again:
        assert again.store.event(announced.number).is_over


async def test_what_is_decided_while_a_backup_is_taken_is_not_in_it(
    ladder: Ladder, tmp_path: Path, bot_folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second stage begins, with which the document names matches that the rows do not know."""
    for name in ("ada", "bob", "cyd"):
        ladder.add(bot_folder(name))
    with pytest.RaisesGroup(Interrupted):
        await play_event(ladder, Fragile(1), schedule=RoundRobin(2), at_once=1)
    add_files = backup_module._Writer.add_files

    def go_on() -> None:
        with Ladder.open(ladder.folder) as other, pytest.RaisesGroup(Interrupted):
            trio.run(partial(play_event, other, Fragile(3), schedule=RoundRobin(2), at_once=1))

    def slow(*args, **kwargs):
        thread = threading.Thread(target=go_on)
        thread.start()
        thread.join()
        return add_files(*args, **kwargs)

    monkeypatch.setattr(backup_module._Writer, "add_files", slow)
    back_up(ladder, tmp_path / "club.tar")
    restore(tmp_path / "club.tar", tmp_path / "again")
    with Ladder.open(tmp_path / "again") as again:
        assert (len(again.store.results()), len(ladder.store.results())) == (1, 4)
        await play_event(again, InProcessRunner(), schedule=RoundRobin())
        assert check(again) == []
        assert set(again.store.results()) > set(ladder.store.results())  # the same deals


def test_a_damaged_ladder_is_restored_only_if_one_insists(full: Ladder, tmp_path: Path) -> None:
    sql(full, "UPDATE ratings SET elo = elo + 1")
    back_up(full, tmp_path / "club.tar")
    said = complaint(lambda: restore(tmp_path / "club.tar", tmp_path / "again"))
    assert "would be a ladder that is not sound (" in said
    assert "Elo ratings that do not follow" in said
    assert not (tmp_path / "again").exists()
    restore(tmp_path / "club.tar", tmp_path / "again", is_checked=False)
    assert rows_of(tmp_path / "again") == rows_of(full.folder)


def test_a_full_disk_leaves_no_backup(
    full: Ladder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", no_room)
    said = complaint(lambda: back_up(full, tmp_path / "club.tar"))
    assert said.startswith(f"{tmp_path / 'club.tar'}: cannot be written (No space left")
    assert list(tmp_path.glob("*.tar*")) + list(tmp_path.glob(".*")) == []


def changed(file: Path, change: Callable[[tarfile.TarInfo, bytes], object]) -> None:
    """Write a backup anew; `change` returns what a member holds then, or None to leave it out."""
    out = io.BytesIO()
    with tarfile.open(file) as archive, tarfile.open(fileobj=out, mode="w") as other:
        for member in archive:
            stream = archive.extractfile(member)
            assert stream is not None
            data = change(member, stream.read())
            if isinstance(data, bytes):
                member.size = len(data)
                other.addfile(member, io.BytesIO(data))
    file.write_bytes(out.getvalue())


def with_manifest(**values: object) -> Callable[[tarfile.TarInfo, bytes], bytes]:
    def change(member: tarfile.TarInfo, data: bytes) -> bytes:
        if member.name != "backup.json":
            return data
        return json.dumps(json.loads(data) | values).encode()

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m, d: None if m.name == "backup.json" else d, "it has no backup.json"),
        (lambda m, d: None if m.name.endswith("bot.py") else d, "is missing"),
        (lambda m, d: d[:-1] if m.name.endswith("bot.py") else d, "is not as it was written"),
        (lambda m, d: b"[]" if m.name == "backup.json" else d, "says nothing"),
        (with_manifest(schema=2), "was made by a newer arena; update"),
        (with_manifest(revision="9999"), "of a form this arena does not know (revision 9999)"),
        (with_manifest(digests={}), "does not belong into it"),
    ],
)
def test_a_backup_that_was_changed_is_refused(
    full: Ladder, tmp_path: Path, change, said: str
) -> None:
    back_up(full, tmp_path / "club.tar")
    changed(tmp_path / "club.tar", change)
    assert said in complaint(lambda: restore(tmp_path / "club.tar", tmp_path / "again"))
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("name", ["files/../../evil", "/etc/evil", "files", "other/evil"])
def test_nothing_is_written_beside_the_folder(full: Ladder, tmp_path: Path, name: str) -> None:
    back_up(full, tmp_path / "club.tar")

    def change(member: tarfile.TarInfo, data: bytes) -> bytes:
        if member.name == "files/notes.txt":
            member.name = name
        if member.name == "backup.json":
            data = data.replace(b'"files/notes.txt"', json.dumps(name).encode())
        return data

    changed(tmp_path / "club.tar", change)
    said = complaint(lambda: restore(tmp_path / "club.tar", tmp_path / "again"))
    assert "does not belong into it" in said
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.9, 0.999])
def test_a_backup_that_is_cut_off_is_refused(full: Ladder, tmp_path: Path, kept: float) -> None:
    back_up(full, tmp_path / "club.tar")
    data = (tmp_path / "club.tar").read_bytes()
    with tarfile.open(tmp_path / "club.tar") as archive:
        last = archive.getmember("backup.json")
        length = int(kept * (last.offset_data + last.size))
    (tmp_path / "club.tar").write_bytes(data[:length])
    said = complaint(lambda: restore(tmp_path / "club.tar", tmp_path / "again"))
    assert "is no backup, or damaged (" in said


def test_what_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    said = complaint(lambda: restore(tmp_path / "none.tar", tmp_path / "again"))
    assert "cannot be read (No such file" in said


@pytest.mark.parametrize("place", PLACES)
def test_a_backup_of_an_older_arena_is_brought_up_to_date(
    full: Ladder, tmp_path: Path, elsewhere, place: str
) -> None:
    """As one of before there were accounts would be: with fewer tables and columns."""
    back_up(full, tmp_path / "club.tar")
    old = columns_of("0003", tmp_path / "old.db")
    new = {name: names for name, (names, _) in told(tmp_path / "club.tar").items()}
    assert set(new) > set(old)
    assert new["bots"] != old["bots"]
    digests: dict[str, str] = {}

    def change(member: tarfile.TarInfo, data: bytes) -> bytes | None:
        table = member.name.removeprefix("tables/").removesuffix(".jsonl.gz")
        if table in new:
            if table not in old:
                return None
            kept = [new[table].index(name) for name in old[table]]
            rows = [json.loads(line) for line in gzip.decompress(data).splitlines()]
            lines = [json.dumps([row[place] for place in kept]) + "\n" for row in rows]
            data = gzip.compress("".join(lines).encode())
            digests[member.name] = sha256(data).hexdigest()
        if member.name == "backup.json":
            manifest = json.loads(data)
            others = {n: d for n, d in manifest["digests"].items() if not n.startswith("tables/")}
            counts = {name: manifest["rows"][name] for name in old}
            changes = {"revision": "0003", "digests": others | digests, "rows": counts}
            data = json.dumps(manifest | changes).encode()
        return data

    before = told(tmp_path / "club.tar")
    changed(tmp_path / "club.tar", change)
    restore(tmp_path / "club.tar", tmp_path / "again", database=elsewhere(place))
    with Ladder.open(tmp_path / "again") as ladder:
        back_up(ladder, tmp_path / "again.tar")
    after = told(tmp_path / "again.tar")
    for table, (names, rows) in after.items():
        if table not in old:
            assert rows == []
            continue
        for name in old[table]:
            place_in = names.index(name)
            due = [row[before[table][0].index(name)] for row in before[table][1]]
            assert [row[place_in] for row in rows] == due


def columns_of(revision: str, file: Path) -> dict[str, list[str]]:
    """The tables as an older arena made them."""
    config = Config()
    config.set_main_option("script_location", "arena.ladder:migrations")
    database = Database(file)
    with database.writing() as connection:
        config.attributes["connection"] = connection
        upgrade(config, revision)
        found = sa.inspect(connection)
        tables = {
            table: [str(column["name"]) for column in found.get_columns(table)]
            for table in found.get_table_names()
            if table != "alembic_version"
        }
    database.close()
    return tables


def told(file: Path) -> dict[str, tuple[list[str], list[list[object]]]]:
    """What a backup says of each table: its columns and rows."""
    found = {}
    with tarfile.open(file) as archive:
        for member in archive:
            if member.name.startswith("tables/"):
                stream = archive.extractfile(member)
                assert stream is not None
                lines = gzip.decompress(stream.read()).splitlines()
                names, *rows = map(json.loads, lines)
                found[member.name.removeprefix("tables/").removesuffix(".jsonl.gz")] = names, rows
    return found


# -- moving


@pytest.mark.parametrize("target", PLACES)
@pytest.mark.parametrize("source", PLACES)
def test_a_ladder_is_the_same_wherever_its_rows_are(
    full: Ladder, tmp_path: Path, elsewhere, source: str, target: str
) -> None:
    back_up(full, tmp_path / "club.tar", with_logs=True)
    folder, first = tmp_path / "again", elsewhere(source)
    restore(tmp_path / "club.tar", folder, database=first)
    then = elsewhere(target)
    moved = move(folder, database=then)
    is_same = source == target == "sqlite"
    assert (moved.rows is None) == is_same
    assert isinstance(address_of(folder), Server) == (target == "postgresql")
    assert (folder / DATABASE_FILE).exists() == (target == "sqlite")
    assert rows_of(folder) == rows_of(full.folder)
    assert files_of(folder) == files_of(full.folder)
    if first is not None:
        with pytest.raises(LadderError, match="holds no ladder"):
            Ladder.open(folder_at(tmp_path / "old", first))
    with Ladder.open(folder) as ladder:
        assert check(ladder) == []
        assert ladder.standings() == full.standings()
    assert move(folder, database=then).rows is None
    assert rows_of(folder) == rows_of(full.folder)


def folder_at(folder: Path, database: str) -> Path:
    """A ladder's folder that names a server, and nothing else in it."""
    (folder / "secret").mkdir(parents=True)
    address_file(folder).write_text(database)
    shutil.copy(folder.parent / "again/ladder.toml", folder)
    return folder


def test_a_ladder_is_not_moved_over_another(full: Ladder, tmp_path: Path, elsewhere) -> None:
    back_up(full, tmp_path / "club.tar")
    database = elsewhere("postgresql")
    restore(tmp_path / "club.tar", tmp_path / "one", database=database)
    restore(tmp_path / "club.tar", tmp_path / "two")
    said = complaint(lambda: move(tmp_path / "two", database=database))
    assert "holds a ladder already" in said
    assert rows_of(tmp_path / "one") == rows_of(tmp_path / "two")


def test_a_ladder_that_is_played_is_not_moved(full: Ladder, elsewhere) -> None:
    with full.held():
        said = complaint(lambda: move(full.folder, database=elsewhere("postgresql")))
    assert "is being played by process" in said


@pytest.mark.parametrize("source", PLACES)
def test_whoever_had_it_open_writes_nothing_to_what_is_left(
    full: Ladder, tmp_path: Path, elsewhere, source: str
) -> None:
    back_up(full, tmp_path / "club.tar")
    restore(tmp_path / "club.tar", tmp_path / "again", database=elsewhere(source))
    with Ladder.open(tmp_path / "again") as other:
        assert len(other.store.bots()) == 3
        move(
            tmp_path / "again",
            database=elsewhere("sqlite" if source == "postgresql" else "postgresql"),
        )
        said = complaint(lambda: other.store.deactivate(1, because="late"))
        assert "removed or replaced" in said or "is not a ladder's database" in said
    assert rows_of(tmp_path / "again") == rows_of(full.folder)


# -- kills


class Killed(BaseException):
    """Nothing more is done by this process."""


class Death:
    """Kills before the step of a number; whatever is done after it to clean up is not done."""

    STEPS = (
        (Path, "replace"),
        (Path, "rename"),
        (Path, "unlink"),
        (Path, "mkdir"),
        (sqlalchemy.engine.default.DefaultDialect, "do_commit"),
    )

    def __init__(self, at: int) -> None:
        self.at = at
        self.steps = 0

    def wrapped(self, step: Callable[..., object]) -> Callable[..., object]:
        def mortal(*args: object, **kwargs: object) -> object:
            self.steps += 1
            if self.steps > self.at:
                raise Killed
            return step(*args, **kwargs)

        return mortal


@pytest.fixture
def killed_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Callable[[], object]], bool]:
    """Do something and kill it before a step; whether it came to its end before."""

    def attempt(at: int, do: Callable[[], object]) -> bool:
        death = Death(at)
        with monkeypatch.context() as patch:
            for owner, name in Death.STEPS:
                patch.setattr(owner, name, death.wrapped(getattr(owner, name)))
            try:
                do()
            except Killed:
                return False
        return True

    return attempt


def moments(lives: Callable[[int], bool]) -> Iterator[int]:
    """Kill at every step, one after the other, until it is done; how many there were."""
    at = 0
    while not lives(at):
        yield at
        at += 1


@pytest.mark.parametrize(("source", "target"), [PLACES, PLACES[::-1], PLACES[1:] * 2])
def test_a_move_that_is_killed_leaves_one_that_is_whole(
    full: Ladder, tmp_path: Path, elsewhere, killed_at, source: str, target: str
) -> None:
    back_up(full, tmp_path / "club.tar")
    due = rows_of(full.folder)
    folder, then = tmp_path / "again", ""

    def lives(at: int) -> bool:
        nonlocal then
        shutil.rmtree(folder, ignore_errors=True)
        restore(tmp_path / "club.tar", folder, database=elsewhere(source), is_checked=False)
        then = elsewhere(target)
        return bool(killed_at(at, lambda: move(folder, database=then)))

    for at in moments(lives):
        assert rows_of(folder) == due, f"killed at {at}"
        move(folder, database=then)
        assert rows_of(folder) == due, f"killed at {at}, and moved again"
        assert isinstance(address_of(folder), Server) == (target == "postgresql")
        assert (folder / DATABASE_FILE).exists() == (target == "sqlite")
        left = {path.name for path in folder.rglob(".*")}
        assert not left, f"killed at {at}, and left {left}"
    assert at > 3
    with Ladder.open(folder) as ladder:
        assert check(ladder) == []


@pytest.mark.parametrize("place", PLACES)
def test_a_restore_that_is_killed_is_made_by_the_same_command(
    full: Ladder, tmp_path: Path, elsewhere, killed_at, place: str
) -> None:
    back_up(full, tmp_path / "club.tar")
    due, files = rows_of(full.folder), files_of(full.folder)
    del files["logs/ev2/ada.log"]
    folder, database = tmp_path / "again", elsewhere(place)

    def lives(at: int) -> bool:
        again = partial(restore, tmp_path / "club.tar", folder, database=database, is_checked=False)
        return bool(killed_at(at, again))

    tried = 0
    for tried in moments(lives):  # noqa: B007
        if folder.exists():  # all that is left is to say that it is in use
            break
    assert tried > 10
    assert rows_of(folder) == due
    with Ladder.open(folder) as ladder:
        assert check(ladder) == []
    assert files_of(folder) == files
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_a_backup_that_is_killed_is_not_there(full: Ladder, tmp_path: Path, killed_at) -> None:
    file = tmp_path / "club.tar"
    for _ in moments(lambda at: killed_at(at, lambda: back_up(full, file))):
        if file.exists():  # all that is left is to look for what an earlier one left
            break
    restore(file, tmp_path / "again")
    assert rows_of(tmp_path / "again") == rows_of(full.folder)


def test_a_copy_of_a_ladders_folder_does_not_undo_what_the_first_has_on_the_server(
    full: Ladder, tmp_path: Path, elsewhere, killed_at
) -> None:
    """Two folders of one ladder, moved to one schema: only who began there may begin again."""
    back_up(full, tmp_path / "club.tar")
    database = elsewhere("postgresql")
    for name in ("one", "two"):
        restore(tmp_path / "club.tar", tmp_path / name)
    assert not killed_at(5, lambda: move(tmp_path / "one", database=database))
    for at in range(2, 30):
        if killed_at(at, lambda: move(tmp_path / "one", database=database)):
            break
    assert "holds a ladder already" in complaint(lambda: move(tmp_path / "two", database=database))
    assert rows_of(tmp_path / "one") == rows_of(tmp_path / "two")


def test_rows_that_would_not_be_as_they_were_are_not_moved(
    full: Ladder, tmp_path: Path, elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up(full, tmp_path / "club.tar")
    restore(tmp_path / "club.tar", tmp_path / "again")
    rows = Tables.rows

    def other(tables: Tables, name: str) -> Iterator[tuple[object, ...]]:
        found = list(rows(tables, name))
        if tables._connection.dialect.name == "postgresql" and name == "ratings":
            found = found[1:]
        return iter(found)

    monkeypatch.setattr(Tables, "rows", other)
    said = complaint(lambda: move(tmp_path / "again", database=elsewhere("postgresql")))
    assert "would not be as it was: of ratings, row 1 is" in said
    monkeypatch.undo()
    assert rows_of(tmp_path / "again") == rows_of(full.folder)


def test_a_database_in_the_folder_that_nobody_reads_does_no_harm(
    full: Ladder, tmp_path: Path, elsewhere
) -> None:
    """As a kill after a move to a server leaves one, its journal included."""
    back_up(full, tmp_path / "club.tar")
    restore(tmp_path / "club.tar", tmp_path / "again")
    stale = tmp_path / "again" / DATABASE_FILE
    connection = sqlite3.connect(stale)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("DELETE FROM ratings")
    connection.commit()
    kept = [
        shutil.copy(path, tmp_path / path.name) for path in sqlite.parts_of(stale) if path.exists()
    ]
    connection.execute("ROLLBACK") if connection.in_transaction else None
    connection.close()
    restore(tmp_path / "club.tar", tmp_path / "third", database=elsewhere("postgresql"))
    for path in kept:
        shutil.copy(path, tmp_path / "third")
    assert len(kept) > 1
    assert rows_of(tmp_path / "third") == rows_of(full.folder)
    move(tmp_path / "third", database=None)
    assert rows_of(tmp_path / "third") == rows_of(full.folder)
