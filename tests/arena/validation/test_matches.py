"""A bot plays itself at every table it claims; all but a normal end keeps it out."""

from dataclasses import replace
from pathlib import Path

import pytest

from arena.ladder.bots.entrants import Entrant
from arena.ladder.events.playing import Unwatched
from arena.ladder.matches.room import Trouble
from arena.ladder.testing import InProcessRunner
from arena.validation.matches import SelfMatch, TroubleAt, judged, self_matches
from arena.validation.values import MatchResult
from hokm.cards import Seat
from hokm.errors import Reason
from hokm.outcome import Ending
from hokm.records import MatchRecord, ProcessRecord, Refusal, TimeLoss, Verdict
from hokm.session import ClockRules


def matches(entrant: Entrant, seed: str = "s") -> dict[str, SelfMatch]:
    found = self_matches(entrant, seed=seed, clock=ClockRules())
    return {match.name: match for match in found}


async def played(match: SelfMatch) -> MatchRecord:
    return await InProcessRunner().play(match.plan, watcher=Unwatched())


def judgement(match: SelfMatch, record: MatchRecord, *troubles: TroubleAt) -> MatchResult:
    return judged(
        match,
        record,
        troubles=troubles,
        seconds=2.5,
        hello_seconds=10.0,
        called="./mine",
        is_confined=True,
    )


def trouble(entrant: Entrant, **values: object) -> TroubleAt:
    whole = Trouble(
        entrant=entrant,
        room=2,
        seat=Seat(1),
        game=1,
        ending=Ending.CRASH,
        detail="its stream broke off",
        log=Path("log"),
        tail="ValueError: no such card\n",
        by_hand="cd here && python bot.py",
    )
    return TroubleAt(replace(whole, **values), 1.5)  # type: ignore[arg-type]


def test_every_table_that_is_claimed_is_played(entrant: Entrant) -> None:
    assert list(matches(entrant)) == ["2-boards", "2-race", "3-boards", "4-boards", "4-race"]
    assert list(matches(replace(entrant, variants=(3,)))) == ["3-boards"]


def test_no_two_matches_have_the_same_deals(entrant: Entrant) -> None:
    seeds = {match.plan.secret.secret for match in matches(entrant).values()}
    again = {match.plan.secret.secret for match in matches(entrant, "t").values()}
    assert len(seeds | again) == 10


@pytest.mark.parametrize("name", ["2-boards", "2-race", "3-boards", "4-boards", "4-race"])
async def test_a_match_whose_ends_are_all_normal_has_no_failure(
    entrant: Entrant, name: str
) -> None:
    match = matches(entrant)[name]
    result = judgement(match, await played(match))
    assert result.failure is None
    assert result.endings == {Ending.COMPLETED: len(match.plan.rooms) * match.plan.length}


async def test_a_crash_is_told_with_its_exit_code_its_log_and_the_hand(entrant: Entrant) -> None:
    match = matches(entrant)["4-boards"]
    record = await played(match)
    process = ProcessRecord(room=2, seat=Seat(1), exit_code=3)
    circumstances = replace(record.circumstances, processes=(process,))
    record = replace(record, circumstances=circumstances)
    failure = judgement(match, record, trouble(entrant)).failure
    assert failure is not None
    assert failure.cause == "CRASH: its stream broke off: ValueError: no such card"
    assert failure.exit_code == 3
    assert (failure.elapsed_seconds, failure.limit_seconds) == (1.5, match.plan.room_seconds)
    assert failure.log == "ValueError: no such card\n"
    assert failure.exchange[:2] == ["# room 2, game 1", "hokm 4 hakem 0"]
    assert failure.command.endswith("--policy rated --seed s-4-boards --sandbox")


async def test_a_loss_on_time_is_told_against_its_clock_and_a_silent_start_against_its_hello(
    entrant: Entrant,
) -> None:
    match = matches(entrant)["2-boards"]
    record = await played(match)
    loss = TimeLoss(
        seat=Seat(1),
        decision=7,
        verdict=Verdict.BOT,
        limit_seconds=1.25,
        elapsed_seconds=1.75,
        referee_seconds=0.0,
        writing_seconds=0.0,
        stalled_seconds=0.0,
    )
    slow = judgement(match, record, trouble(entrant, ending=Ending.TIME, time_loss=loss)).failure
    assert slow is not None
    assert (slow.elapsed_seconds, slow.limit_seconds) == (1.75, 1.25)
    absent = trouble(entrant, ending=Ending.NEVER_STARTED, game=None)
    silent = judgement(match, record, absent).failure
    assert silent is not None
    assert (silent.elapsed_seconds, silent.limit_seconds) == (1.5, 10.0)
    assert silent.exchange == ()


async def test_a_refused_action_refuses_the_bot_although_the_game_was_completed(
    entrant: Entrant,
) -> None:
    match = matches(entrant)["3-boards"]
    record = await played(match)
    refusal = Refusal(
        hand=1, seat=Seat(2), attempt=1, reason=Reason.MUST_FOLLOW_SUIT, action="play AC"
    )
    room = record.rooms[1]
    game = replace(room.games[1], refusals=(refusal,))
    room = replace(room, games=(room.games[0], game))
    record = replace(record, rooms=(record.rooms[0], room, record.rooms[2]))
    result = judgement(match, record)
    assert result.refusals == 1
    assert result.failure is not None
    assert result.failure.cause == "1 action refused, the first: play AC, MUST_FOLLOW_SUIT"
    assert result.failure.exchange[-1] == "# hand 1: seat 2 is refused play AC, MUST_FOLLOW_SUIT"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (0, None),
        (None, None),
        (-15, None),  # it was given no time to leave by itself
        (1, "after a match its process ended with exit code 1"),
        (-11, "after a match its process ended by signal 11"),
    ],
)
async def test_how_its_process_ends_after_a_match_counts(
    entrant: Entrant, code: int | None, told: str | None
) -> None:
    match = matches(entrant)["2-race"]
    record = await played(match)
    process = ProcessRecord(room=1, seat=Seat(0), exit_code=code)
    circumstances = replace(record.circumstances, processes=(process,))
    failure = judgement(match, replace(record, circumstances=circumstances)).failure
    assert (None if failure is None else failure.cause) == told
