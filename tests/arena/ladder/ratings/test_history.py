"""A bot's history: its Elo as the standings show it, and its matches as its records have them."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from arena.ladder.errors import LadderError
from arena.ladder.ladder import Ladder
from arena.ladder.matches.scores import score
from arena.ladder.ratings.history import bot_history, curves
from arena.ladder.testing import InProcessRunner
from hokm.outcome import Ending
from hokm.records import load
from tests.arena.ladder.ratings.leagues import play_on, played_ladder

NAMES = ["ada", "bob", "cyd", "dan"]


@pytest.fixture
def ladder(tmp_path: Path) -> Iterator[Ladder]:
    folder = played_ladder(tmp_path / "club", NAMES, unrated=["dan"])
    with Ladder.open(folder) as opened:
        yield opened


@pytest.mark.parametrize("anchor", [None, "bob"])
def test_the_last_point_is_what_the_standings_show(tmp_path: Path, anchor: str | None) -> None:
    folder = played_ladder(tmp_path / "club", NAMES[:3], anchor=anchor)
    with Ladder.open(folder) as ladder:
        for name in NAMES[:3]:
            history = bot_history(ladder, name)
            assert history.row.elo is not None
            assert history.points[-1].elo == pytest.approx(history.row.elo, abs=1e-9)
            assert history.points[-1].matches == history.row.matches
        if anchor is not None:
            assert bot_history(ladder, anchor).points[-1].elo == pytest.approx(1500)


def test_the_shape_is_that_of_elo_as_it_was_computed(ladder: Ladder) -> None:
    history = bot_history(ladder, "ada")
    [number] = [bot.number for bot in ladder.store.bots() if bot.name == "ada"]
    kept = ladder.store.rating_history(number)
    assert [(p.round, p.matches) for p in history.points] == [(r, e.matches) for r, e in kept]
    steps = [b.elo - a.elo for a, b in pairwise(history.points)]
    assert steps == pytest.approx([b.rating - a.rating for (_, a), (_, b) in pairwise(kept)])


def test_every_match_is_there_in_order_as_the_bot_sees_it(ladder: Ladder) -> None:
    history = bot_history(ladder, "bob")
    assert len(history.matches) == 6
    assert [one.round for one in history.matches] == sorted(one.round for one in history.matches)
    for one in history.matches:
        record = load(Path(one.record))
        assert record.match == one.match
        names = [entrant.name for entrant in record.entrants]
        [other] = one.against
        assert {other.opponent, "bob"} == set(names)
        [pair] = score(record).pairs
        sign = 1 if names[0] == "bob" else -1
        assert other.difference == sign * sum(pair.differences)
        assert other.boards_won == sum(sign * d > 0 for d in pair.differences)
        assert other.boards_lost == sum(sign * d < 0 for d in pair.differences)
        assert one.is_rated == ("dan" not in names)


def test_an_unrated_bot_has_matches_and_no_points(ladder: Ladder) -> None:
    history = bot_history(ladder, "dan")
    assert (history.points, history.row.elo) == ((), None)
    assert {one.is_rated for one in history.matches} == {False}


def test_of_a_match_of_three_both_opponents_are_told(tmp_path: Path) -> None:
    folder = played_ladder(tmp_path / "threes", NAMES, players=3, cycles=1)
    with Ladder.open(folder) as ladder:
        history = bot_history(ladder, "cyd")
    assert len(history.matches) == 3
    for one in history.matches:
        names = set(one.match.split("/")[2].split("~"))
        assert {other.opponent for other in one.against} == names - {"cyd"}


def test_what_was_void_is_told_with_its_cause(ladder: Ladder) -> None:
    due = {f"ev2/r{number}/ada~bob": (Ending.HOST_FAULT, None) for number in range(7, 10)}
    play_on(
        ladder,
        cycles=1,
        runner=InProcessRunner(faults={(name, 1): fault for name, fault in due.items()}),
    )
    [void] = bot_history(ladder, "ada").void
    assert void.match in due
    assert (void.attempt, void.why) == (1, "HOST_FAULT: HOST_FAULT on order")
    assert load(Path(void.record)).match == void.match
    assert bot_history(ladder, "cyd").void == ()


def test_forfeits_are_its_own(tmp_path: Path) -> None:
    faults = {("ev1/r1/ada~bob", 1): (Ending.CRASH, 1)}
    runner = InProcessRunner(faults=faults)
    folder = played_ladder(tmp_path / "club", ["ada", "bob"], cycles=1, length=1, runner=runner)
    with Ladder.open(folder) as ladder:
        record = load(Path(bot_history(ladder, "ada").matches[0].record))
        crashed = record.entrants[1].name
        forfeits = {name: bot_history(ladder, name).matches[0].forfeits for name in ("ada", "bob")}
    assert forfeits == {name: 2 if name == crashed else 0 for name in ("ada", "bob")}


def test_curves_are_in_the_order_asked_for(ladder: Ladder) -> None:
    bots = {bot.name: bot for bot in ladder.store.bots()}
    found = curves(ladder, ladder.standings(), [bots["cyd"], bots["ada"]])
    assert [curve.row.name for curve in found] == ["cyd", "ada"]


def test_a_bot_that_is_not_entered_is_said(ladder: Ladder) -> None:
    with pytest.raises(LadderError, match="eve: is not entered here"):
        bot_history(ladder, "eve")
