"""What a record says to the ladder."""

from dataclasses import replace
from pathlib import Path

import pytest

from arena.ladder.bots.entrants import Entrant, load_bot
from arena.ladder.events.playing import Unwatched
from arena.ladder.facts import totals
from arena.ladder.matches.boards import MatchPlan, Secret
from arena.ladder.matches.scores import score
from arena.ladder.matches.verdict import Voided, verdict
from arena.ladder.testing import InProcessRunner
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
    entrants: tuple[Entrant, ...],
    *,
    players: int = 4,
    of: Format = Format.BOARDS,
    length: int = 3,
    **faults,
) -> MatchRecord:
    plan = MatchPlan(
        match="ev1/r1/ada~bob",
        format=of,
        rules=Rules.of(players, play=of.play),
        length=length,
        entrants=entrants,
        clock=ClockRules(),
        policy=Policy.RATED,
        secret=Secret(bytes(range(32))),
    )
    return await InProcessRunner(**faults).play(plan, watcher=Unwatched())


async def test_boards_are_what_each_entrant_has_over_both_rooms(entrants) -> None:
    record = await play(entrants, length=12)
    boards = verdict(record)
    assert not isinstance(boards, Voided)
    expected = []
    for game in range(12):
        one, two = record.rooms[0].games[game].outcome, record.rooms[1].games[game].outcome
        assert one is not None
        assert two is not None
        # The first entrant has seats 0 and 2 in room 1, and 1 and 3 in room 2.
        expected.append((one.points[0] + two.points[1], one.points[1] + two.points[0]))
    assert boards == tuple(expected)
    assert tuple(a - b for a, b in boards) == score(record).pairs[0].differences
    assert totals(boards) == record.score
    assert len(set(boards)) > 1


async def test_three_entrants_have_their_own_points_on_odd_and_on_even_boards(bot_folder) -> None:
    names = ("ada", "bob", "cyd")
    entrants = tuple(load_bot(Path(bot_folder(name, variants=(3,)))) for name in names)
    record = await play(entrants, players=3, length=12)
    boards = verdict(record)
    assert not isinstance(boards, Voided)
    # The entrant at each seat, room by room, as statistics 3.3 has it.
    odd, even = ((0, 1, 2), (1, 2, 0), (2, 0, 1)), ((0, 2, 1), (2, 1, 0), (1, 0, 2))
    for number, points in enumerate(boards, start=1):
        expected = [0, 0, 0]
        for room, seating in zip(record.rooms, odd if number % 2 else even, strict=True):
            outcome = room.games[number - 1].outcome
            assert outcome is not None
            for seat, entrant in enumerate(seating):
                expected[entrant] += outcome.points[seat]
        assert points == tuple(expected)
    assert totals(boards) == record.score
    assert len(set(record.score)) > 1


async def test_a_pair_of_races_counts_races_won(entrants) -> None:
    boards = verdict(await play(entrants, of=Format.CLASSIC, length=2))
    assert not isinstance(boards, Voided)
    assert len(boards) == 2
    assert [sum(board) for board in boards] == [2, 2]


async def test_a_fault_that_a_bot_answers_for_counts_on_its_board(entrants) -> None:
    record = await play(entrants, length=1)
    crash = Outcome(Ending.CRASH, (0, 3), None, at_fault=Seat(0))
    room = record.rooms[0]
    faulted = replace(room, games=(replace(room.games[0], outcome=crash),))
    boards = verdict(replace(record, rooms=(faulted, record.rooms[1])))
    assert not isinstance(boards, Voided)
    other = record.rooms[1].games[0].outcome
    assert other is not None
    assert boards == ((other.points[1], 3 + other.points[0]),)


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
