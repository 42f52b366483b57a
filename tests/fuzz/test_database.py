"""A ladder's database that somebody else has written in: standings and checks are had, or a line
says what is wrong with it.
"""

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.audit import check
from arena.ladder.errors import LadderError
from arena.ladder.events.playing import play_event
from arena.ladder.ladder import Ladder
from arena.ladder.schedules import RoundRobin
from arena.ladder.settings import Settings
from arena.ladder.store.tables import metadata
from arena.ladder.testing import InProcessRunner
from tests.arena.ladder.conftest import MANIFEST
from tests.fuzz.mutations import check_bounded, examples

COLUMNS = [
    (table.name, column.name) for table in metadata.sorted_tables for column in table.columns
]
VALUES = st.one_of(
    st.none(),
    st.integers(-1, 9),
    st.sampled_from([2**31, 2**63 - 1, -(2**63), 0.5, float("inf"), -1e300, b"", b"\xff"]),
    st.sampled_from(
        ["", "x", "played", "void", "COMPLETED", "00", "0" * 64, "..", "a~b", "x" * 9000]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder after a cycle of three bots."""
    home = tmp_path_factory.mktemp("ladder")
    folder = home / "club"
    with Ladder.init(folder, Settings.of("club", length=1, anchor="ada")) as ladder:
        for name in ("ada", "bob", "cyd"):
            bot = home / name
            bot.mkdir()
            (bot / "bot.py").write_text(f"# {name}")
            (bot / "bot.toml").write_text(
                MANIFEST.format(name=name, owner=name, protocol=1, variants=[4])
            )
            ladder.add(str(bot))

        async def play() -> None:
            await play_event(ladder, InProcessRunner(), schedule=RoundRobin())

        trio.run(play)
    return folder


@cache
def sound(folder: Path) -> bytes:
    return (folder / "ladder.db").read_bytes()


def put(folder: Path, data: bytes) -> Path:
    """Have this for the database."""
    file = folder / "ladder.db"
    for journal in folder.glob("ladder.db-*"):
        journal.unlink()
    file.write_bytes(data)
    return file


def use(folder: Path) -> None:
    """Read all there is."""
    with Ladder.open(folder) as ladder:
        try:
            ladder.standings()
        except LadderError as error:
            check_bounded(error)
        for problem in check(ladder):
            check_bounded(problem)


def try_to_use(folder: Path) -> None:
    try:
        use(folder)
    except LadderError as error:
        check_bounded(error)


def test_what_is_changed_here_is_sound_before(folder: Path) -> None:
    put(folder, sound(folder))
    with Ladder.open(folder) as ladder:
        assert check(ladder) == []


@examples(30)
@given(
    st.lists(st.tuples(st.sampled_from(COLUMNS), VALUES, st.booleans()), min_size=1, max_size=2),
    st.sampled_from([None, None, *sorted(metadata.tables)]),
)
def test_any_values_are_used_or_told(
    folder: Path, changes: list[tuple[tuple[str, str], object, bool]], emptied: str | None
) -> None:
    file = put(folder, sound(folder))
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA ignore_check_constraints=ON")
        for (table, column), value, is_for_one in changes:
            row = "round" if table == "pairs" else "rowid"  # which has no rowid
            where = f"WHERE {row} = (SELECT max({row}) FROM {table})" if is_for_one else ""
            try:
                connection.execute(f"UPDATE {table} SET {column} = ? {where}", [value])
            except (sqlite3.IntegrityError, OverflowError):  # what not even SQLite would hold
                continue
        if emptied is not None:
            connection.execute(f"DELETE FROM {emptied}")
        connection.commit()
    try_to_use(folder)


@examples(20)
@given(
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=20))),
    st.one_of(st.just(1.0), st.just(1.0), st.floats(0, 1)),
)
def test_any_bytes_are_used_or_told(
    folder: Path, patches: list[tuple[float, bytes]], length: float
) -> None:
    data = bytearray(sound(folder))
    for place, patch in patches:
        at = int(place * len(data))
        data[at : at + len(patch)] = patch
    put(folder, bytes(data[: int(length * len(data))]))
    try_to_use(folder)
