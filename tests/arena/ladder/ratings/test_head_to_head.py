"""Two bots against each other, from a ladder and from records."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from arena.ladder.errors import LadderError
from arena.ladder.ladder import Ladder
from arena.ladder.matches.scores import score
from arena.ladder.ratings.head_to_head import (
    Met,
    Score,
    Series,
    series_of_ladder,
    series_of_records,
)
from arena.ladder.testing import InProcessRunner
from hokm.outcome import Ending
from hokm.records import Format, MatchRecord, load
from tests.arena.ladder.ratings.leagues import played_ladder

FAULTS = {("ev1/r1/ada~bob", 1): (Ending.HOST_FAULT, None)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return played_ladder(
        tmp_path / "club",
        ["ada", "bob", "cyd", "dan"],
        cycles=3,
        unrated=["dan"],
        runner=InProcessRunner(),
    )


@pytest.fixture
def ladder(folder: Path) -> Iterator[Ladder]:
    with Ladder.open(folder) as opened:
        yield opened


def records(folder: Path) -> list[tuple[str, MatchRecord]]:
    return [(str(file), load(file)) for file in sorted((folder / "records").rglob("*.json.gz"))]


def test_the_matches_of_two_are_those_of_their_records(ladder: Ladder) -> None:
    series = series_of_ladder(ladder, "bob", "ada")
    assert (series.first, series.second, series.format) == ("bob", "ada", Format.BOARDS)
    assert len(series.matches) == 3
    for met in series.matches:
        record = load(Path(met.record))
        assert record.match == met.match
        [pair] = score(record).pairs
        sign = 1 if record.entrants[0].name == "bob" else -1
        assert met.differences == tuple(sign * d for d in pair.differences)


def test_the_other_sees_the_same_with_the_signs_changed(ladder: Ladder) -> None:
    one, other = series_of_ladder(ladder, "ada", "bob"), series_of_ladder(ladder, "bob", "ada")
    assert [m.difference for m in one.matches] == [-m.difference for m in other.matches]
    assert one.matches_of(Score.WON) == other.matches_of(Score.LOST)
    assert (one.boards.won, one.boards.lost) == (other.boards.lost, other.boards.won)
    assert one.residual is not None
    assert other.residual is not None
    assert one.residual.z == pytest.approx(-other.residual.z)
    assert one.residual.matches == 3


def test_an_unrated_bot_has_a_series_but_no_residual(ladder: Ladder) -> None:
    series = series_of_ladder(ladder, "ada", "dan")
    assert len(series.matches) == 3
    assert series.residual is None


def test_records_say_the_same_as_their_ladder(ladder: Ladder, folder: Path) -> None:
    by_ladder = series_of_ladder(ladder, "cyd", "ada")
    by_records = series_of_records(records(folder), "cyd", "ada")
    assert sorted(m.match for m in by_records.matches) == sorted(m.match for m in by_ladder.matches)
    assert by_records.differences == by_ladder.differences
    assert by_records.boards == by_ladder.boards


def test_in_matches_of_three_a_pair_is_seen_on_its_own(tmp_path: Path) -> None:
    names = ["ada", "bob", "cyd", "dan"]
    folder = played_ladder(tmp_path / "threes", names, players=3, cycles=1)
    with Ladder.open(folder) as ladder:
        series = series_of_ladder(ladder, "cyd", "bob")
    assert len(series.matches) == 2
    assert series.differences == series_of_records(records(folder), "cyd", "bob").differences


def test_what_is_void_is_no_match_of_theirs(tmp_path: Path) -> None:
    runner = InProcessRunner(faults=FAULTS)
    folder = played_ladder(tmp_path / "club", ["ada", "bob"], cycles=1, runner=runner)
    with Ladder.open(folder) as ladder:
        [met] = series_of_ladder(ladder, "ada", "bob").matches
    assert load(Path(met.record)).attempt == 2
    [again] = series_of_records(records(folder), "ada", "bob").matches
    assert again == met


def test_figures_are_those_of_all_boards_together() -> None:
    series = Series(
        "ada",
        "bob",
        Format.BOARDS,
        (Met("m1", (2, 0, -1), "1.json"), Met("m2", (0, 2, -2), "2.json"), Met("m3", (), "3")),
    )
    assert [series.matches_of(score) for score in Score] == [1, 2, 0]
    assert list(series.differences.items()) == [(2, 2), (0, 2), (-1, 1), (-2, 1)]
    assert (series.boards.won, series.boards.drawn, series.boards.lost) == (2, 2, 2)
    assert series.boards.points_per_board == pytest.approx(1 / 6)


def test_a_bot_that_is_not_entered_is_said_with_one_that_is_near(ladder: Ladder) -> None:
    with pytest.raises(LadderError, match=r"bobb: is not entered here; did you mean bob\?"):
        series_of_ladder(ladder, "ada", "bobb")
    with pytest.raises(LadderError, match="zzz: is not entered here; arena ladder standings"):
        series_of_ladder(ladder, "zzz", "ada")
    with pytest.raises(LadderError, match="does not play against itself"):
        series_of_ladder(ladder, "ada", "ada")


def test_matches_by_other_rules_are_not_put_together(folder: Path) -> None:
    found = [pair for pair in records(folder) if "ada~bob" in pair[0]]
    file, record = found[1]
    other = replace(record, format=Format.CLASSIC, rooms=(), score=())
    with pytest.raises(LadderError, match="is played by other rules than"):
        series_of_records([found[0], (file, _with_other_length(other))], "ada", "bob")


def _with_other_length(record: MatchRecord) -> MatchRecord:
    return replace(record, games=0)


def test_records_of_others_copies_and_partners_say_nothing(folder: Path) -> None:
    found = records(folder)
    assert series_of_records(found, "ada", "eve").matches == ()
    _, record = found[0]
    first, second = record.entrants
    copies = replace(record, entrants=(first, replace(second, name=first.name)))
    assert series_of_records([("m", copies)], first.name, first.name).matches == ()
    pairs = replace(record, entrants=(first, second, *_named(record, "x", "y")), score=(0,) * 4)
    rooms = tuple(replace(room, seating=(0, 1, 2, 3)) for room in pairs.rooms)
    both = series_of_records([("m", replace(pairs, rooms=rooms))], first.name, second.name)
    assert both.matches == ()


def _named(record: MatchRecord, *names: str):
    return tuple(replace(record.entrants[0], name=name) for name in names)
