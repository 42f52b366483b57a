"""Where rows come from: ladders, folders and files; and what is not there, or not as it was."""

from collections import Counter
from pathlib import Path

import pytest

from arena.export.schema import TABLES, Bot, Match, Play, Rating, Row
from arena.export.sources import Damaged, rows_from
from arena.ladder.errors import LadderError
from arena.ladder.ladder import Ladder
from arena.ladder.testing import InProcessRunner
from hokm.outcome import Ending
from hokm.records import load, save
from tests.arena.ladder.ratings.leagues import played_ladder

ALL = frozenset(table.rows for table in TABLES)


@pytest.fixture
def club(tmp_path: Path) -> Path:
    """Three bots, each match once: three matches of one board."""
    return played_ladder(tmp_path / "club", ["ada", "bob", "cyd"], length=1, cycles=1)


def told(*paths: Path, tables=ALL) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    problems: list[str] = []
    for found in rows_from(paths, tables):
        if isinstance(found, Damaged):
            problems.append(found.problem)
        else:
            rows += found
    return rows, problems


def matches(rows: list[Row]) -> list[Match]:
    return [row for row in rows if isinstance(row, Match)]


def files(club: Path) -> list[Path]:
    return sorted((club / "records").rglob("*.json.gz"))


def test_a_ladder_has_all_tables_and_its_matches_in_the_order_of_the_schedule(club: Path) -> None:
    rows, problems = told(club)
    assert problems == []
    assert {type(row) for row in rows} == ALL
    with Ladder.open(club) as ladder:
        due = [attempt.match for attempt in ladder.store.attempts()]
    assert [(row.record, row.match) for row in matches(rows)] == list(enumerate(due, start=1))
    assert {(row.ladder, row.is_rated) for row in matches(rows)} == {("club", True)}
    assert [row.round for row in matches(rows)] == [1, 2, 3]


def test_a_folder_of_records_has_them_by_name_and_knows_no_ladder(club: Path) -> None:
    (club / "records" / ".ev1.json.gz.part").write_text("being written")
    (club / "records" / "notes.txt").write_text("no record")
    rows, problems = told(club / "records" / "ev1")
    assert problems == []
    assert [row.file for row in matches(rows)] == [str(file) for file in files(club)]
    assert {(row.ladder, row.is_rated) for row in matches(rows)} == {(None, None)}
    assert not {Bot, Rating} & {type(row) for row in rows}


def test_a_file_that_is_met_again_is_left_out(club: Path) -> None:
    first, *_ = files(club)
    rows, _ = told(first, club, first.parent, first)
    assert sorted(row.file for row in matches(rows)) == [str(file) for file in files(club)]
    assert [row.record for row in matches(rows)] == [1, 2, 3]


def test_a_ladder_that_is_met_again_is_left_out(club: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(club)
    once, _ = told(club)
    rows, _ = told(club, club / "records" / "..", tmp_path / "link")
    assert Counter(map(type, rows)) == Counter(map(type, once))


def test_two_ladders_are_told_apart(club: Path, tmp_path: Path) -> None:
    other = played_ladder(tmp_path / "other", ["ada", "bob"], length=1, cycles=1)
    rows, _ = told(club, other)
    assert Counter(row.record for row in matches(rows)) == dict.fromkeys(range(1, 5), 1)
    assert sum(isinstance(row, Bot) for row in rows) == 5


def test_what_is_damaged_is_said_and_the_rest_is_there(club: Path) -> None:
    torn, gone, _ = files(club)
    torn.write_bytes(torn.read_bytes()[:-9])
    gone.unlink()
    rows, problems = told(club)
    assert len(matches(rows)) == 1
    assert len(problems) == 2
    assert problems[0].startswith(f"{torn}: ")
    assert f"{gone}: No such file or directory" in problems
    assert {row.record for row in rows if isinstance(row, Play)} == {1}


def test_a_record_that_is_not_the_ladders_is_said(club: Path) -> None:
    first, second, _ = files(club)
    second.write_bytes(first.read_bytes())
    rows, problems = told(club)
    assert len(matches(rows)) == 2
    assert problems == [
        f"{second}: is not the record that the result of {load_id(club, second)} was taken from"
    ]


def load_id(club: Path, file: Path) -> str:
    return str(file.relative_to(club / "records")).removesuffix(".json.gz")


def test_nothing_is_there_of_a_record_that_leaves_the_rules(club: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    record = load(files(club)[0])
    room = record.rooms[1]
    [game] = room.games
    first, second, *rest = game.hands[0].plays
    hand = replace(game.hands[0], plays=(second, first, *rest))
    forged = replace(room, games=(replace(game, hands=(hand,)),))
    save(tmp_path / "forged.json", replace(record, rooms=(record.rooms[0], forged)))
    rows, problems = told(tmp_path / "forged.json")
    assert rows == []
    [problem] = problems
    assert problem.startswith(f"{tmp_path / 'forged.json'}: room 2, game 1, hand 1, play 1: ")


def test_void_matches_are_there_and_count_for_nothing(tmp_path: Path) -> None:
    runner = InProcessRunner(faults={("ev1/r1/ada~bob", 1): (Ending.HOST_FAULT, None)})
    club = played_ladder(tmp_path / "club", ["ada", "bob"], length=1, cycles=1, runner=runner)
    rows, _ = told(club)
    assert [(row.attempt, row.counts, row.voided_by, row.is_rated) for row in matches(rows)] == [
        (1, False, "HOST_FAULT", False),
        (2, True, None, True),
    ]


def test_matches_of_unrated_bots_and_of_one_owner_move_no_rating(tmp_path: Path) -> None:
    club = played_ladder(
        tmp_path / "club",
        ["ada", "bob", "cyd", "dan"],
        length=1,
        cycles=1,
        unrated=["dan"],
        owners={"ada": "o", "bob": "O"},
    )
    rated = {row.match.split("/")[2] for row in matches(told(club)[0]) if row.is_rated}
    assert rated == {"ada~cyd", "bob~cyd"}


def test_of_bots_and_ratings_alone_no_record_is_read(club: Path) -> None:
    for file in files(club):
        file.unlink()
    rows, problems = told(club, tables={Bot, Rating})
    assert problems == []
    assert {type(row) for row in rows} == {Bot, Rating}


def test_where_nothing_is_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(LadderError, match=r"has no ladder\.toml and no records"):
        told(tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        told(tmp_path / "nowhere")
