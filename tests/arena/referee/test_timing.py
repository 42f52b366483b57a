"""Time between two messages to a seat: without a masking tick it tells whether another had a
choice, with one it does not (rulebook 6). All on a virtual clock.
"""

import copy
import math
import random
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise

import pytest
import trio
import trio.testing

from arena.referee.table import Policy, Table
from arena.referee.testing import answer_decisions, endings, first_legal
from arena.referee.tick import Alarms, next_tick
from hokm.actions import PLAYS, Action
from hokm.cards import Seat, Trump
from hokm.errors import Reason
from hokm.outcome import Ending
from hokm.rules.options import Rules
from hokm.session import Answer, ClockRules, Decision, GameEnd, Malformed, Refused
from hokm.wire import decode_from_referee
from tests.arena.referee.virtual import CLOCK, a_game, drive
from tests.arena.referee.worlds import NUMBER, Room, Tap, a_room

TICK = 0.005
OBSERVER = Seat(0)
Think = Callable[[Decision, random.Random], float]
"""How long a bot thinks, in seconds."""


# -- a seat with a stopwatch


def quick(decision: Decision, chance: random.Random) -> float:
    """What is forced takes 0.5 to 1 ms, a choice 2 to 4.5."""
    if len(decision.legal) == 1:
        return chance.uniform(0.0005, 0.001)
    return chance.uniform(0.002, 0.0045)


def slow(decision: Decision, chance: random.Random) -> float:
    """A choice takes up to 9 ms: longer than one tick, shorter than two."""
    return quick(decision, chance) * 2


Sample = tuple[float, bool]
"""Seconds from one decision of the observer's to its next, and whether the next seat had a choice;
only where each other seat was asked once in between, which is public.
"""


def samples(rules: Rules, think: Think, *, boards: int, tick_seconds: float) -> list[Sample]:
    """What an observer that always thinks for a millisecond sees of others that think."""

    async def play(seed: int) -> list[Sample]:
        chance = random.Random(seed)
        async with a_room(a_table(rules, seed=seed), tick_seconds=tick_seconds) as room:
            choices: list[tuple[float, bool]] = []
            asked: list[float] = []

            async def sit(seat: Seat, bot: Tap) -> None:
                while not isinstance(message := await bot.listen(), GameEnd):
                    if not isinstance(message, Decision):
                        continue
                    if seat == OBSERVER:
                        asked.append(trio.current_time())
                        await trio.sleep(0.001)
                    else:
                        choices.append((trio.current_time(), len(message.legal) > 1))
                        await trio.sleep(think(message, chance))
                    action = chance.choice(message.legal)
                    bot.say(Answer(message.game, message.decision, 1, action))

            async with trio.open_nursery() as nursery:
                for seat, bot in enumerate(room.bots):
                    nursery.start_soon(sit, Seat(seat), bot)
        between = [
            (after - before, [had for at, had in choices if before <= at < after])
            for before, after in pairwise(asked)
        ]
        return [
            (round(seconds, 9), had[0]) for seconds, had in between if len(had) == rules.players - 1
        ]

    found: list[Sample] = []
    for seed in range(boards):
        clock = trio.testing.MockClock(autojump_threshold=0)
        found += trio.run(play, seed, clock=clock)
    return found


def distance(found: Sequence[Sample]) -> float:
    """How well the time tells choices from none: the distance of Kolmogorov and Smirnov, between 0
    (not at all) and 1 (always).
    """
    times = [[seconds for seconds, had in found if had is which] for which in (True, False)]
    return max(
        abs(share_within(times[0], limit) - share_within(times[1], limit)) for limit, _ in found
    )


def share_within(times: Sequence[float], limit: float) -> float:
    return sum(seconds <= limit for seconds in times) / len(times)


def by_chance(found: Sequence[Sample]) -> float:
    """A distance that is larger by chance once in a thousand times."""
    with_choice = sum(had for _, had in found)
    without = len(found) - with_choice
    return 1.95 * math.sqrt(len(found) / (with_choice * without))


TABLES = [Rules.of(2), Rules.of(3), Rules.of(4, options={"play_out": "on"})]
players = pytest.mark.parametrize("rules", TABLES, ids=lambda rules: str(rules.players))


@pytest.mark.rule("6")
@players
def test_without_a_tick_time_tells_whether_another_had_a_choice(rules: Rules) -> None:
    found = samples(rules, quick, boards=40, tick_seconds=0)
    assert distance(found) > by_chance(found)


@pytest.mark.rule("6")
@players
def test_with_a_tick_time_tells_nothing(rules: Rules) -> None:
    found = samples(rules, quick, boards=40, tick_seconds=TICK)
    assert {had for _, had in found} == {True, False}
    assert distance(found) == 0
    assert {seconds for seconds, _ in found} == {round(rules.players * TICK, 9)}


@pytest.mark.rule("6")
def test_answers_that_take_longer_than_the_tick_differ_in_whole_ticks() -> None:
    found = samples(Rules.of(2), slow, boards=10, tick_seconds=TICK)
    assert distance(found) > by_chance(found)
    assert {round(seconds / TICK, 6) % 1 for seconds, _ in found} == {0}
    assert distance(samples(Rules.of(2), slow, boards=10, tick_seconds=2 * TICK)) == 0


# -- the tick at a table


def a_table(
    rules: Rules | None = None,
    *,
    seed: int = 0,
    number: int = NUMBER,
    policy: Policy = Policy.CASUAL,
    clock: ClockRules = CLOCK,
    stall_seconds: float = 10.0,
) -> Table:
    game = a_game(rules or Rules.of(4), seed)
    return Table(game, number=number, clock=clock, policy=policy, stall_seconds=stall_seconds)


HOLD = 0.25
"""A tick with room for much to happen."""


def ending_of(table: Table) -> Ending | None:
    return None if table.outcome is None else table.outcome.ending


async def asked(room: Room) -> tuple[Seat, Tap, Decision]:
    """Whose decision is open."""
    await trio.testing.wait_all_tasks_blocked()
    [line] = [game.opened for game in room.host._games.values() if game.opened is not None]
    seat = Seat(room.sessions.index(line.session))
    decision = [one for one in room.bots[seat].told if isinstance(one, Decision)][-1]
    return seat, room.bots[seat], decision


def seen(room: Room) -> list[int]:
    """How many messages each seat has been told."""
    return [len(bot.told) for bot in room.bots]


async def answered(room: Room, *, after: float = 0.1) -> Tap:
    """Have the seat that is asked give a legal answer; its bot."""
    _, bot, decision = await asked(room)
    await trio.sleep(after)
    bot.say(first_legal(decision))
    await trio.testing.wait_all_tasks_blocked()
    return bot


@pytest.mark.parametrize(
    ("after", "ticks"), [(0.0, 1), (0.1, 1), (0.25, 1), (0.26, 2), (0.5, 2), (0.75, 3)]
)
async def test_an_answer_is_told_a_whole_number_of_ticks_after_its_decision(
    autojump_clock: trio.testing.MockClock, after: float, ticks: int
) -> None:
    async with a_room(a_table(), tick_seconds=HOLD) as room:
        began = trio.current_time()
        await answered(room, after=after)
        before = seen(room)
        await trio.sleep_until(began + ticks * HOLD - 0.001)
        assert seen(room) == before or after == ticks * HOLD
        await trio.sleep(0.002)
        _, _, decision = await asked(room)
        assert decision.events
        assert sum(seen(room)) == sum(before) + (after != ticks * HOLD)


async def test_the_clock_of_an_answer_stops_when_it_was_read(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_room(a_table(), tick_seconds=HOLD) as room:  # the hakem's, twice
        hakem = await answered(room, after=0.125)
        await trio.sleep(1)
        _, bot, decision = await asked(room)
        assert bot is hakem
        assert decision.clock is not None
        assert decision.clock.last_seconds == 0.125


async def test_an_answer_that_waits_for_its_tick_is_in_time(
    autojump_clock: trio.testing.MockClock,
) -> None:
    table = a_table(clock=ClockRules(0.1, 0.0), stall_seconds=0.1)
    async with a_room(table, tick_seconds=HOLD) as room:
        began = trio.current_time()
        await answered(room, after=0.09)
        await trio.sleep_until(began + HOLD + 0.01)
        assert ending_of(table) is None
        assert sum(seen(room)) == 4 * 2 + 2  # welcomes, starts, two decisions
        await trio.sleep(0.1)
        assert ending_of(table) is Ending.TIME  # of the next, which had its whole time
        assert trio.current_time() > began + HOLD + 0.1


async def test_an_answer_found_at_its_deadline_waits_for_its_tick(
    autojump_clock: trio.testing.MockClock,
) -> None:
    table = a_table(clock=ClockRules(0.1, 0.0))
    async with a_room(table, tick_seconds=HOLD) as room:
        _, bot, decision = await asked(room)
        bot.lags = True
        await trio.sleep(0.09)
        bot.say(first_legal(decision))
        await trio.sleep(0.1)
        assert ending_of(table) is None
        await trio.sleep(0.1)
        assert (await asked(room))[2] != decision


async def test_a_missed_deadline_waits_for_no_tick(
    autojump_clock: trio.testing.MockClock,
) -> None:
    table = a_table(clock=ClockRules(0.1, 0.0))
    async with a_room(table, tick_seconds=HOLD):
        await trio.sleep(0.101)
        assert ending_of(table) is Ending.TIME


async def test_a_refusal_is_told_to_its_sender_at_once(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_room(a_table(), tick_seconds=HOLD) as room:
        seat, bot, decision = await asked(room)
        others = seen(room)
        bot.say(Answer(NUMBER, decision.decision, 1, PLAYS[0]))
        await trio.testing.wait_all_tasks_blocked()
        assert isinstance(bot.told[-1], Refused)
        others[seat] += 1
        assert seen(room) == others


async def test_a_refusal_that_ends_the_game_is_told_with_the_tick(
    autojump_clock: trio.testing.MockClock,
) -> None:
    table = a_table(policy=Policy.RATED)
    async with a_room(table, tick_seconds=HOLD) as room:
        _, bot, decision = await asked(room)
        before = seen(room)
        await trio.sleep(0.1)
        bot.say(Answer(NUMBER, decision.decision, 1, PLAYS[0]))
        await trio.sleep(HOLD - 0.101)
        assert seen(room) == before
        await trio.sleep(0.002)
        assert ending_of(table) is Ending.ILLEGAL
        assert [len(endings(one)) for one in room.bots] == [1] * 4


async def test_no_other_seat_can_have_an_answer_told_sooner(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_room(a_table(), tick_seconds=HOLD) as room:
        answering = await answered(room)
        before = sum(seen(room))
        others = [bot for bot in room.bots if bot is not answering]
        for bot in others:  # as if they had been asked
            bot.say(Answer(NUMBER, 1, 1, PLAYS[0]))
        await trio.testing.wait_all_tasks_blocked()
        refused = [bot.told[-1] for bot in others]
        assert {one.reason for one in refused if isinstance(one, Refused)} == {
            Reason.STALE_DECISION
        }
        assert sum(seen(room)) == before + len(others)


async def test_an_answer_that_waits_may_be_sent_again(
    autojump_clock: trio.testing.MockClock,
) -> None:
    table = a_table(policy=Policy.RATED)
    async with a_room(table, tick_seconds=HOLD) as room:
        _, bot, decision = await asked(room)
        bot.say(first_legal(decision), first_legal(decision))
        await trio.sleep(0.01)
        bot.say(first_legal(decision))
        await trio.sleep(HOLD)
        assert ending_of(table) is None
        assert table.record().refusals == ()


# -- ends while an answer waits


async def capped(room: Room, _: Seat) -> None:
    room.host.cap(room.table, cause="the match took 900 s")


async def stopped(room: Room, _: Seat) -> None:
    room.host.stop("maintenance")


async def cancelled(room: Room, _: Seat) -> None:
    room.playing.cancel()


async def another_left(room: Room, seat: Seat) -> None:
    room.bots[(seat + 1) % 4].hang_up()


async def it_left(room: Room, seat: Seat) -> None:
    room.bots[seat].hang_up()


async def another_broke_the_protocol(room: Room, seat: Seat) -> None:
    room.bots[(seat + 1) % 4].say_bytes(b"\xff\xff")


ENDS = {
    "cap": (capped, Ending.STALL),
    "stop": (stopped, Ending.STOPPED),
    "cancel": (cancelled, Ending.STOPPED),
    "another left": (another_left, Ending.CRASH),
    "it left": (it_left, Ending.CRASH),
    "malformed": (another_broke_the_protocol, Ending.MALFORMED),
}
ends = pytest.mark.parametrize(("end", "ending"), ENDS.values(), ids=ENDS)
End = Callable[[Room, Seat], Awaitable[None]]


@ends
async def test_an_answer_that_waits_counts_when_the_game_ends_before(
    autojump_clock: trio.testing.MockClock, end: End, ending: Ending
) -> None:
    table = a_table()
    async with a_room(table, tick_seconds=HOLD) as room:
        seat, _, _ = await asked(room)
        began = trio.current_time()
        await answered(room)
        await end(room, seat)
        await trio.testing.wait_all_tasks_blocked()
        assert ending_of(table) is ending
        assert trio.current_time() < began + HOLD
        assert table.record().hands[0].trump is not None
        told = seen(room)
        await trio.sleep(2 * HOLD)  # and nothing is left of the tick
        assert seen(room) == told


@ends
async def test_a_game_whose_last_answer_waits_is_complete_whatever_ends_it(
    autojump_clock: trio.testing.MockClock, end: End, ending: Ending
) -> None:
    table = a_table()
    async with a_room(table, tick_seconds=HOLD) as room:
        while True:
            seat, bot, decision = await asked(room)
            bot.say(first_legal(decision))
            await trio.testing.wait_all_tasks_blocked()
            if is_last(table, decision):
                break
            await trio.sleep(HOLD)
        await end(room, seat)
        await trio.testing.wait_all_tasks_blocked()
        assert ending_of(table) is Ending.COMPLETED


def is_last(table: Table, decision: Decision) -> bool:
    """Whether the first legal action of this decision ends the hand: tried on a copy."""
    game = copy.deepcopy(table.game)
    assert game.to_act is not None
    game.act(game.to_act, decision.legal[0])
    return game.is_over


async def test_an_answer_behind_one_that_ends_the_game_comes_too_late(
    autojump_clock: trio.testing.MockClock,
) -> None:
    table = a_table(policy=Policy.RATED)
    async with a_room(table, tick_seconds=HOLD) as room:
        _, bot, decision = await asked(room)
        bot.say(Answer(NUMBER, decision.decision, 1, PLAYS[0]))
        bot.say(first_legal(decision))
        await trio.sleep(2 * HOLD)
        assert ending_of(table) is Ending.ILLEGAL
        refused = bot.told[-1]
        assert isinstance(refused, Refused)
        assert refused.reason is Reason.MATCH_OVER


async def test_a_fault_of_the_arena_found_by_an_answer_that_waits_voids_the_game(
    autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> bool:
        raise RuntimeError("broken")

    table = a_table()
    async with a_room(table, tick_seconds=HOLD) as room:
        table.concerns_others = broken  # type: ignore[method-assign, assignment]
        await answered(room)
        assert ending_of(table) is Ending.HOST_FAULT
    assert "broken" in caplog.text


async def test_an_answer_that_waits_counts_once_though_its_bot_comes_back_and_answers_again(
    autojump_clock: trio.testing.MockClock,
) -> None:
    table = a_table(policy=Policy.RATED)
    async with a_room(table, tick_seconds=2.0, resume_seconds=5.0) as room:
        began = trio.current_time()
        seat, _, decision = await asked(room)
        await answered(room)
        await room.come_back(seat)
        again = room.bots[seat].told[-1]
        assert isinstance(again, Decision)
        assert again.decision == decision.decision
        assert again.events == decision.events
        room.bots[seat].say(Answer(NUMBER, decision.decision, 1, decision.legal[1]))
        await trio.sleep_until(began + 1.99)
        assert table.record().hands[0].trump is None
        await trio.sleep_until(began + 2.01)
        assert ending_of(table) is None
        assert table.record().hands[0].trump == Trump(0)
        assert table.record().refusals == ()


# -- several games at once


async def test_each_game_keeps_its_own_tick(autojump_clock: trio.testing.MockClock) -> None:
    ticks = {number: 0.03 + 0.011 * number for number in range(1, 6)}
    tables = {number: a_table(seed=number, number=number) for number in ticks}
    async with a_room(tables[1], tick_seconds=ticks[1]) as room:
        for bot in room.bots:
            room.nursery.start_soon(answer_decisions, bot)
        for number in (2, 3, 4, 5):
            await trio.sleep(0.007)
            room.start(tables[number], tick_seconds=ticks[number])
        await trio.sleep(20)
        for number, table in tables.items():
            assert ending_of(table) is Ending.COMPLETED
            asked_at = decision_times(room, number)
            assert len(asked_at) > 25
            for at in asked_at:
                away = (at - asked_at[0]) / ticks[number]
                assert away == pytest.approx(round(away), abs=1e-5)


def decision_times(room: Room, game: int) -> list[float]:
    """When decisions of a game were posted, in order."""
    return sorted(
        at
        for bot in room.bots
        for at, what in bot.posted
        if isinstance(what, bytes)
        for message in decode_from_referee(what)
        if isinstance(message, Decision) and message.game == game
    )


async def test_an_answer_that_waits_takes_no_share_of_another_games_clock(
    autojump_clock: trio.testing.MockClock,
) -> None:
    first, second = a_table(number=1), a_table(number=2)
    async with a_room(first, tick_seconds=10.0) as room:
        bot = await answered(room)
        room.start(second)
        await trio.testing.wait_all_tasks_blocked()
        [decision] = [one for one in bot.told if isinstance(one, Decision) and one.game == 2]
        await trio.sleep(0.5)
        bot.say(first_legal(decision))
        await trio.testing.wait_all_tasks_blocked()
        again = bot.told[-1]
        assert isinstance(again, Decision)
        assert again.clock is not None
        assert again.clock.last_seconds == 0.5


# -- the tick itself


@pytest.mark.parametrize("policy", Policy)
def test_a_table_knows_beforehand_whether_an_answer_concerns_others(policy: Policy) -> None:
    chance = random.Random(5)
    known = set[tuple[bool, bool]]()
    for seed in range(30):
        driven = drive(seed=seed, policy=policy)
        for _ in range(60):
            late = chance.random() < 0.02
            driven.now += 32.0 if late else 0.25
            seat = driven.seat if chance.random() < 0.9 else Seat(chance.randrange(4))
            odd: list[Action | Malformed] = [PLAYS[0], Malformed("?")]
            action = chance.choice([*driven.decision.legal] * 20 + odd)
            decision = driven.decision.decision - (chance.random() < 0.02)
            asked = seat, decision, driven.attempt, action, driven.now
            foreseen = driven.table.concerns_others(*asked)
            tells = driven.take(driven.table.answer(*asked))
            concerned = any(
                tell.seat != seat or isinstance(tell.message, Decision) for tell in tells
            )
            assert foreseen == concerned
            known.add((late, foreseen))
            if driven.table.outcome is not None:
                assert not driven.table.concerns_others(*asked)
                break
            driven.attempt += any(isinstance(tell.message, Refused) for tell in tells)
    assert known >= {(False, False), (False, True), (True, True)}


@pytest.mark.parametrize(
    ("now", "moment"),
    [(10.0, 10.25), (10.1, 10.25), (10.25, 10.25), (10.2500001, 10.25), (10.3, 10.5), (9.0, 10.25)],
)
def test_the_next_tick(now: float, moment: float) -> None:
    assert next_tick(10.0, now, tick_seconds=0.25) == moment


async def test_alarms_go_off_in_their_order_though_a_nearer_one_was_set_later(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    went = list[tuple[str, float]]()
    alarms = Alarms(trio.current_time, sleep=trio.sleep)
    nursery.start_soon(alarms.run)
    began = trio.current_time()

    def note(name: str) -> Callable[[], None]:
        return lambda: went.append((name, round(trio.current_time() - began, 6)))

    alarms.set(began + 3, note("late"))
    await trio.sleep(0.5)
    alarms.set(began + 1, note("soon"))
    alarms.set(began + 1, note("and then"))
    alarms.set(began - 1, note("past"))
    await trio.sleep(9)
    assert went == [("past", 0.5), ("soon", 1.0), ("and then", 1.0), ("late", 3.0)]
