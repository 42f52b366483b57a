"""Who was asked how often, and who took how long, follows from the record."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from arena.ladder.bots.entrants import load_bot
from arena.ladder.events.playing import Unwatched
from arena.ladder.matches.boards import MatchPlan, Secret
from arena.ladder.matches.conduct import conduct
from arena.ladder.testing import InProcessRunner
from hokm.cards import Seat
from hokm.errors import Reason
from hokm.outcome import Ending, Outcome
from hokm.records import (
    Circumstances,
    Format,
    MatchRecord,
    Policy,
    ProcessRecord,
    Refusal,
    Seed,
)
from hokm.rules.options import Rules
from hokm.session import ClockRules

Play = Callable[..., Awaitable[MatchRecord]]


@pytest.fixture
def play(bot_folder: Callable[..., str]) -> Play:
    async def play(
        players: int = 4, *, boards: int = 1, kind: Format = Format.BOARDS, **options: str
    ) -> MatchRecord:
        plan = MatchPlan(
            match="local/x/a~b",
            format=kind,
            rules=Rules.of(players, play=kind.play, options=options),
            length=boards,
            entrants=tuple(load_bot(Path(bot_folder(name))) for name in "ab"),
            clock=ClockRules(),
            policy=Policy.CASUAL,
            secret=Secret(bytes(32)),
        )
        return await InProcessRunner().play(plan, watcher=Unwatched())

    return play


def with_game(record: MatchRecord, **changes: object) -> MatchRecord:
    """The record with another first game of its first room."""
    first = record.rooms[0]
    games = (replace(first.games[0], **changes), *first.games[1:])  # type: ignore[arg-type]
    return replace(record, rooms=(replace(first, games=games), *record.rooms[1:]))


@pytest.mark.parametrize("players", [2, 4])
async def test_every_decision_belongs_to_one_entrant(play: Play, players: int) -> None:
    record = await play(players, boards=2)
    first, second = conduct(record)
    hands = [hand for room in record.rooms for game in room.games for hand in game.hands]
    cards = sum(len(hand.plays) for hand in hands)
    other = sum(1 + len(hand.discards) + len(hand.draws) for hand in hands)
    assert first.decisions + second.decisions == cards + other
    # Each board was played on both sides, so nobody has much more to decide.
    assert abs(first.decisions - second.decisions) < 0.2 * (cards + other)


async def test_a_cut_is_a_decision_of_the_hakems_partner(play: Play) -> None:
    record = await play(kind=Format.CLASSIC, cut="on", first_hakem="seat:0", target_points="1")
    hand = record.rooms[0].games[0].hands[0]
    assert hand.cut == 26
    count = len(record.rooms[0].games[0].seconds[0])
    assert count == 2 + len(hand.plays)
    # The cut, trump and the lead are the hakem's side's; then comes seat 1.
    seconds = (9.0, 0.5, 0.5, 5.0, *[0.5] * (count - 4))
    first, second = conduct(with_game(record, seconds=(seconds,)))
    assert (first.longest_seconds, second.longest_seconds) == (9.0, 5.0)


async def test_time_is_charged_to_whoever_took_it(play: Play) -> None:
    record = await play()
    count = len(record.rooms[0].games[0].seconds[0])
    # Trump and the first lead are the hakem's, seat 0: entrant 0 in room 1.
    first, second = conduct(with_game(record, seconds=((9.0, 5.0, *[0.5] * (count - 2)),)))
    assert (first.longest_seconds, second.longest_seconds) == (9.0, 0.5)
    assert first.mean_seconds == pytest.approx(sum(first.charged) / first.decisions)
    assert sorted(first.charged)[-2:] == [5.0, 9.0]


async def test_refusals_and_faults_are_counted_by_entrant(play: Play) -> None:
    record = await play()
    refusal = Refusal(hand=1, seat=Seat(1), attempt=1, reason=Reason.NOT_IN_HAND, action="play 2C")
    fault = Outcome(Ending.ILLEGAL, (3, 0), None, at_fault=Seat(3))
    first, second = conduct(with_game(record, refusals=(refusal, refusal), outcome=fault))
    assert (first.refusals, second.refusals) == (0, 2)
    assert (first.faults, second.faults) == (0, 1)


async def test_processor_time_is_that_of_all_its_processes(play: Play) -> None:
    record = await play()
    processes = [
        ProcessRecord(room=1, seat=Seat(0), cpu_seconds=1.0),
        ProcessRecord(room=2, seat=Seat(1), cpu_seconds=0.5),
        ProcessRecord(room=2, seat=Seat(0), cpu_seconds=None),
    ]
    record = replace(record, circumstances=Circumstances(processes=tuple(processes)))
    first, second = conduct(record)
    assert (first.cpu_seconds, second.cpu_seconds) == (1.5, None)


async def test_the_seeds_of_a_match_are_looked_through_once_and_not_once_a_game(
    play: Play,
) -> None:
    record = await play(boards=3)
    looked: list[int] = []

    class Counted(tuple[Seed, ...]):
        def __iter__(self) -> Iterator[Seed]:
            looked.append(len(self))
            return super().__iter__()

    conduct(replace(record, seeds=Counted(record.seeds)))
    assert looked == [3]


async def test_a_match_that_never_began_has_no_decisions(play: Play) -> None:
    record = await play()
    empty = tuple(
        replace(room, games=(replace(room.games[0], hands=(), seconds=()),))
        for room in record.rooms
    )
    first, _ = conduct(replace(record, rooms=empty))
    assert (first.decisions, first.mean_seconds, first.longest_seconds) == (0, None, None)
