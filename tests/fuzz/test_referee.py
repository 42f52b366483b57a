"""A bot that sends anything at any moment of its games: each of them ends, by its fault or
completed, and the other bot hears of every end and is harmed by nothing.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from arena.referee.connection import Close
from arena.referee.host import Host, open_host
from arena.referee.lobby import ArrivalFailed, Lobby, open_lobby
from arena.referee.session import Session
from arena.referee.table import Policy, Table
from arena.referee.testing import MemoryConnection, answer_decisions, endings, first_legal
from hokm import wire
from hokm.actions import Action
from hokm.cards import Seat
from hokm.outcome import Ending, Outcome
from hokm.rules.options import Play, Rules
from hokm.session import Answer, ClockRules, Decision, Goodbye, Hello
from tests.arena.referee.virtual import a_game
from tests.fuzz.mutations import FIELDS, MESSAGES, check_bounded, examples, mangled
from tests.hokm.test_wire import ACTIONS, FROM_BOT

CLOCK = ClockRules(move_seconds=1.0, bank_seconds=3.0)
GAMES = (1, 2, 2**32 - 1)

# -- what a bot does when it is asked, and in between

Deed = Callable[[MemoryConnection, Decision], None]

NUMBERS = st.one_of(st.integers(0, 3), st.sampled_from([*GAMES, 2**31, 2**32 - 2]))
ANY_ACTION: st.SearchStrategy[Action] = st.one_of(*ACTIONS.values())
BATCHES = st.lists(st.one_of(*FROM_BOT.values()), max_size=3).map(wire.encode_from_bot)


def answers(bot: MemoryConnection, decision: Decision) -> None:
    bot.say(first_legal(decision))


def answers_twice(bot: MemoryConnection, decision: Decision) -> None:
    bot.say(first_legal(decision), first_legal(decision))


def answers_wrong_numbers(changes: dict[str, int]) -> Deed:
    def does(bot: MemoryConnection, decision: Decision) -> None:
        answer = first_legal(decision)
        bot.say(replace(answer, **changes), answer)  # type: ignore[arg-type]

    return does


def acts(action: Action) -> Deed:
    def does(bot: MemoryConnection, decision: Decision) -> None:
        bot.say(*(Answer(decision.game, decision.decision, attempt, action) for attempt in (1, 2)))
        bot.say(replace(first_legal(decision), attempt=3))

    return does


def sends(data: bytes) -> Deed:
    def does(bot: MemoryConnection, decision: Decision) -> None:
        bot.say_bytes(data)
        bot.say(first_legal(decision))

    return does


def floods(times: int) -> Deed:
    def does(bot: MemoryConnection, decision: Decision) -> None:
        answer = wire.encode_from_bot([first_legal(decision)])
        for _ in range(times):
            bot.say_bytes(answer * 20)

    return does


def is_silent(bot: MemoryConnection, decision: Decision) -> None:
    pass


def leaves(bot: MemoryConnection, decision: Decision) -> None:
    bot.say(Goodbye("enough"))


def breaks_off(bot: MemoryConnection, decision: Decision) -> None:
    bot.hang_up()


DEEDS: st.SearchStrategy[Deed] = st.one_of(
    st.just(answers),
    st.just(answers),
    st.just(answers_twice),
    st.dictionaries(st.sampled_from(["game", "decision", "attempt"]), NUMBERS, min_size=1).map(
        answers_wrong_numbers
    ),
    ANY_ACTION.map(acts),
    st.one_of(BATCHES, mangled(BATCHES), st.binary(max_size=30)).map(sends),
    st.lists(FIELDS | MESSAGES, max_size=4).map(b"".join).map(sends),
    st.integers(1, 60).map(floods),
    st.sampled_from([is_silent, leaves, breaks_off]),
)


@dataclass(frozen=True, slots=True)
class Step:
    """A deed, ``after`` so many seconds, when it is asked for the ``at``-th time."""

    at: int
    after: float
    deed: Deed


STEPS = st.lists(
    st.builds(
        Step,
        st.integers(0, 40),
        st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.999999, 4.0, 4.000001, 60.0]),
        DEEDS,
    ),
    max_size=6,
)


async def misbehave(bot: MemoryConnection, steps: Sequence[Step]) -> None:
    """Answer every decision but for those that are named."""
    due = {step.at: step for step in steps}
    asked = 0
    while (message := await bot.listen()) is not None:
        if not isinstance(message, Decision):
            continue
        step = due.get(asked, Step(asked, 0.0, answers))
        asked += 1
        await trio.sleep(step.after)
        step.deed(bot, message)


# -- the house it does it in


async def arrive(
    lobby: Lobby, connect: trio.MemorySendChannel[MemoryConnection]
) -> tuple[Session, MemoryConnection]:
    bot = MemoryConnection(lobby.issue())
    bot.hello(concurrent=len(GAMES))
    await connect.send(bot)
    return await lobby.arrival(bot.ticket), bot


@asynccontextmanager
async def a_house() -> AsyncIterator[tuple[Host, list[Session], list[MemoryConnection]]]:
    """A host and two bots that were welcomed."""
    connect, arrivals = trio.open_memory_channel[MemoryConnection](2)
    async with open_lobby(arrivals) as lobby, open_host(now=trio.current_time) as host:
        pairs = [await arrive(lobby, connect) for _ in range(2)]
        yield host, [session for session, _ in pairs], [bot for _, bot in pairs]
        for session, _ in pairs:
            session.end()


def in_virtual_time(play: Callable[[], object]) -> None:
    trio.run(play, clock=trio.testing.MockClock(autojump_threshold=0))  # type: ignore[arg-type]


@examples(25)
@given(
    STEPS,
    st.sampled_from([Rules.of(2), Rules.of(2, play=Play.RACE, options={"target_points": "1"})]),
    st.sampled_from(Policy),
    st.sampled_from([0.0, 0.05]),
    st.integers(0, 1),
    st.booleans(),
)
def test_games_end_by_the_fault_of_who_misbehaves_or_are_completed(
    steps: list[Step], rules: Rules, policy: Policy, tick_seconds: float, seat: int, lags: bool
) -> None:
    outcomes: dict[int, Outcome] = {}

    async def play(host: Host, sessions: list[Session], number: int) -> None:
        table = Table(a_game(rules, number % 7), number=number, clock=CLOCK, policy=policy)
        outcomes[number] = await host.play(
            table, sessions, match="m", players=("a", "b"), tick_seconds=tick_seconds
        )

    async def play_all() -> None:
        async with a_house() as (host, sessions, bots):
            bots[seat].lags = lags and tick_seconds == 0
            async with trio.open_nursery() as around:
                around.start_soon(misbehave, bots[seat], steps)
                around.start_soon(answer_decisions, bots[1 - seat])
                async with trio.open_nursery() as games:
                    for number in GAMES:
                        games.start_soon(play, host, sessions, number)
                await trio.testing.wait_all_tasks_blocked()
                assert sessions[1 - seat].closed is None
                around.cancel_scope.cancel()
            told = endings(bots[1 - seat])
            assert {end.game: end.outcome for end in told} == outcomes
            assert len(told) == len(GAMES)

    in_virtual_time(play_all)
    for outcome in outcomes.values():
        if outcome.ending is not Ending.COMPLETED:
            assert outcome.at_fault == Seat(seat)
            assert outcome.ending.counts


@examples(60)
@given(st.one_of(BATCHES, mangled(BATCHES), st.lists(FIELDS | MESSAGES).map(b"".join)))
def test_any_first_message_is_a_hello_or_a_failed_arrival(data: bytes) -> None:
    async def come() -> None:
        connect, arrivals = trio.open_memory_channel[MemoryConnection](2)
        async with open_lobby(arrivals) as lobby:
            bot = MemoryConnection(lobby.issue())
            bot.say_bytes(data)
            bot.hang_up()
            await connect.send(bot)
            try:
                session = await lobby.arrival(bot.ticket)
            except ArrivalFailed as error:
                check_bounded(error)
            else:
                assert isinstance(session.hello, Hello)

    in_virtual_time(come)


def fails_to_read(payload: bytes) -> None:
    raise RecursionError("in our own code")


def test_what_our_reading_fails_at_ends_its_senders_games_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def play_all() -> None:
        async with a_house() as (host, sessions, bots), trio.open_nursery() as nursery:
            for bot in bots:
                nursery.start_soon(answer_decisions, bot)
            table = Table(a_game(Rules.of(2)), number=1, clock=CLOCK, policy=Policy.RATED)
            monkeypatch.setattr("arena.referee.session.decode_from_bot", fails_to_read)
            outcome = await host.play(table, sessions, match="m", players=("a", "b"))
            assert outcome.ending is Ending.MALFORMED
            assert outcome.at_fault is not None
            assert bots[outcome.at_fault].close is Close.MALFORMED
            assert bots[1 - outcome.at_fault].close is None
            monkeypatch.undo()
            nursery.cancel_scope.cancel()

    in_virtual_time(play_all)


def test_a_hello_that_our_reading_fails_at_is_a_failed_arrival(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def come() -> None:
        connect, arrivals = trio.open_memory_channel[MemoryConnection](2)
        async with open_lobby(arrivals) as lobby:
            with pytest.raises(ArrivalFailed, match="cannot be read"):
                await arrive(lobby, connect)

    monkeypatch.setattr("arena.referee.session.decode_from_bot", fails_to_read)
    in_virtual_time(come)
