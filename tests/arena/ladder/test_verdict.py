"""What a record says to the ladder."""

from dataclasses import replace
from pathlib import Path

import pytest

from arena.ladder.boards import MatchPlan, Secret
from arena.ladder.cycles import Unwatched
from arena.ladder.entrants import Entrant, load_bot
from arena.ladder.scores import score
from arena.ladder.testing import InProcessRunner
from arena.ladder.verdict import Voided, verdict
from hokm.cards import Seat
from hokm.outcome import Ending, Outcome
from hokm.records import Format, MatchRecord, Policy
from hokm.rules.options import Rules
from hokm.session import ClockRules


@pytest.fixture
def entrants(bot_folder) -> tuple[Entrant, Entrant]:
    ada, bob = (load_bot(Path(bot_folder(name))) for name in ("ada", "bob"))
    return ada, bob


async def play(
    entrants: tuple[Entrant, Entrant], *, of: Format = Format.BOARDS, length: int = 3, **faults
) -> MatchRecord:
    plan = MatchPlan(
        match="ev1/r1/ada~bob",
        format=of,
        rules=Rules.of(4, play=of.play),
        length=length,
        entrants=entrants,
        clock=ClockRules(),
        policy=Policy.RATED,
        secret=Secret(bytes(range(32))),
    )
    return await InProcessRunner(**faults).play(plan, watcher=Unwatched())


async def test_boards_are_the_first_entrants_difference_room_by_room(entrants) -> None:
    record = await play(entrants)
    boards = verdict(record)
    assert not isinstance(boards, Voided)
    expected = []
    for game in range(3):
        home, away = record.rooms[0].games[game].outcome, record.rooms[1].games[game].outcome
        assert home is not None
        assert away is not None
        # The first entrant has seats 0 and 2 in room 1, and 1 and 3 in room 2.
        expected.append((home.points[0] - home.points[1], away.points[1] - away.points[0]))
    assert boards == tuple(expected)
    assert tuple(map(sum, boards)) == score(record).pairs[0].differences
    assert any(boards)


async def test_a_pair_of_races_counts_races_won(entrants) -> None:
    boards = verdict(await play(entrants, of=Format.CLASSIC, length=2))
    assert not isinstance(boards, Voided)
    assert len(boards) == 2
    assert {abs(difference) for board in boards for difference in board} == {1}


async def test_a_fault_that_a_bot_answers_for_counts_on_its_board(entrants) -> None:
    record = await play(entrants, length=1)
    crash = Outcome(Ending.CRASH, (0, 3), None, at_fault=Seat(0))
    room = record.rooms[0]
    faulted = replace(room, games=(replace(room.games[0], outcome=crash),))
    boards = verdict(replace(record, rooms=(faulted, record.rooms[1])))
    assert not isinstance(boards, Voided)
    assert boards[0][0] == -3


@pytest.mark.parametrize("ending", [Ending.HOST_FAULT, Ending.STOPPED])
async def test_what_is_nobodys_fault_voids_the_match(entrants, ending: Ending) -> None:
    record = await play(entrants, faults={("ev1/r1/ada~bob", 1): (ending, None)})
    assert verdict(record) == Voided(ending, f"{ending.value} on order")


@pytest.mark.parametrize("entrant", [0, 1])
async def test_a_bot_that_never_started_is_named_whichever_room_it_sat_in(
    entrants, entrant: int
) -> None:
    fault = {("ev1/r1/ada~bob", 1): (Ending.NEVER_STARTED, entrant)}
    found = verdict(await play(entrants, faults=fault))
    assert found == Voided(Ending.NEVER_STARTED, "NEVER_STARTED on order", (entrant,))


async def test_a_match_that_is_not_finished_was_stopped(entrants) -> None:
    record = await play(entrants, length=1)
    room = record.rooms[0]
    unfinished = replace(room, games=(replace(room.games[0], outcome=None),))
    assert verdict(replace(record, rooms=(unfinished, record.rooms[1]))) == Voided(
        Ending.STOPPED, ""
    )
