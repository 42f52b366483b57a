"""A bot that sends anything at any moment of its games: each of them ends, by its fault or
completed, and the other bot hears of every end and is harmed by nothing.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

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
from hokm.v1 import referee_service_pb2, session_pb2
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


async def misbehave(bot: MemoryConnection, steps: Sequence[Step], *, pace: float = 0.0) -> None:
    """Answer every decision after ``pace`` seconds, but for those that are named."""
    due = {step.at: step for step in steps}
    asked = 0
    while (message := await bot.listen()) is not None:
        if not isinstance(message, Decision):
            continue
        step = due.get(asked, Step(asked, pace, answers))
        asked += 1
        await trio.sleep(step.after)
        step.deed(bot, message)


# -- the house it does it in


async def arrive(
    lobby: Lobby,
    connect: trio.MemorySendChannel[MemoryConnection],
    *,
    resume_seconds: float = 0.0,
) -> tuple[Session, MemoryConnection]:
    bot = MemoryConnection(lobby.issue(resume_seconds=resume_seconds))
    bot.hello(concurrent=len(GAMES))
    await connect.send(bot)
    return await lobby.arrival(bot.ticket), bot


@dataclass(frozen=True, slots=True)
class House:
    """A host and two bots that were welcomed."""

    host: Host
    connect: trio.MemorySendChannel[MemoryConnection]
    sessions: list[Session]
    bots: list[MemoryConnection]


@asynccontextmanager
async def a_house(*, resume_seconds: float = 0.0) -> AsyncIterator[House]:
    connect, arrivals = trio.open_memory_channel[MemoryConnection](2)
    async with open_lobby(arrivals) as lobby, open_host(now=trio.current_time) as host:
        pairs = [await arrive(lobby, connect, resume_seconds=resume_seconds) for _ in range(2)]
        sessions = [session for session, _ in pairs]
        yield House(host, connect, sessions, [bot for _, bot in pairs])
        for session in sessions:
            session.end()


def in_virtual_time(play: Callable[[], object]) -> None:
    trio.run(play, clock=trio.testing.MockClock(autojump_threshold=0))  # type: ignore[arg-type]


RULES = st.sampled_from([Rules.of(2), Rules.of(2, play=Play.RACE, options={"target_points": "1"})])


async def play_all(
    house: House, rules: Rules, policy: Policy, *, tick_seconds: float = 0.0
) -> dict[int, Outcome]:
    """Play some games at once, and say how each of them ended."""
    outcomes: dict[int, Outcome] = {}

    async def play(number: int) -> None:
        table = Table(a_game(rules, number % 7), number=number, clock=CLOCK, policy=policy)
        outcomes[number] = await house.host.play(
            table, house.sessions, match="m", players=("a", "b"), tick_seconds=tick_seconds
        )

    async with trio.open_nursery() as games:
        for number in GAMES:
            games.start_soon(play, number)
    await trio.testing.wait_all_tasks_blocked()
    return outcomes


def check_outcomes(outcomes: dict[int, Outcome], house: House, *, fuzzer: int) -> None:
    """The other was told of every end, once, and is at fault for none."""
    told = endings(house.bots[1 - fuzzer])
    assert {end.game: end.outcome for end in told} == outcomes
    assert len(told) == len(GAMES)
    assert house.sessions[1 - fuzzer].closed is None
    for outcome in outcomes.values():
        if outcome.ending is not Ending.COMPLETED:
            assert outcome.at_fault == Seat(fuzzer)
            assert outcome.ending.counts


@examples(25)
@given(
    STEPS,
    RULES,
    st.sampled_from(Policy),
    st.sampled_from([0.0, 0.05]),
    st.integers(0, 1),
    st.booleans(),
)
def test_games_end_by_the_fault_of_who_misbehaves_or_are_completed(
    steps: list[Step], rules: Rules, policy: Policy, tick_seconds: float, seat: int, lags: bool
) -> None:
    async def play() -> None:
        async with a_house() as house, trio.open_nursery() as around:
            house.bots[seat].lags = lags and tick_seconds == 0
            around.start_soon(misbehave, house.bots[seat], steps)
            around.start_soon(answer_decisions, house.bots[1 - seat])
            outcomes = await play_all(house, rules, policy, tick_seconds=tick_seconds)
            check_outcomes(outcomes, house, fuzzer=seat)
            around.cancel_scope.cancel()

    in_virtual_time(play)


NOTE_TEXTS = st.one_of(
    st.binary(max_size=300), st.text(max_size=300).map(str.encode), st.just(b"x" * 60_000)
)
NOTES = st.builds(
    lambda text, numbers: session_pb2.Note(
        text=text, numbers=[session_pb2.NoteNumber(name=name, value=v) for name, v in numbers]
    ),
    NOTE_TEXTS,
    st.lists(st.tuples(st.binary(max_size=30) | st.sampled_from([b"win", b"n"]), st.floats())),
)


@examples(10)
@given(st.lists(NOTES, min_size=1, max_size=9), RULES, st.integers(0, 1))
def test_whatever_is_in_its_notes_a_bot_plays_its_games_to_their_end(
    notes: list[session_pb2.Note], rules: Rules, seat: int
) -> None:
    def notes_one(bot: MemoryConnection, decision: Decision) -> None:
        batch = referee_service_pb2.PlayRequest.FromString(
            wire.encode_from_bot([first_legal(decision)])
        )
        batch.messages[0].answer.note.CopyFrom(notes[decision.decision % len(notes)])
        bot.say_bytes(batch.SerializeToString())

    async def play() -> None:
        async with a_house() as house, trio.open_nursery() as around:
            steps = [Step(at, 0.0, notes_one) for at in range(10_000)]
            around.start_soon(misbehave, house.bots[seat], steps)
            around.start_soon(answer_decisions, house.bots[1 - seat])
            outcomes = await play_all(house, rules, Policy.RATED)
            assert {one.ending for one in outcomes.values()} == {Ending.COMPLETED}
            around.cancel_scope.cancel()

    in_virtual_time(play)


@dataclass(frozen=True, slots=True)
class Return:
    """A bot comes back, ``after`` so many seconds, and says this first, or else a hello."""

    after: float
    games: tuple[int, ...]
    says: bytes | None


RETURNS = st.lists(
    st.builds(
        Return,
        st.sampled_from([0.0, 0.5, 3.0, 20.0]),
        st.lists(NUMBERS, max_size=3).map(lambda numbers: tuple(numbers * 20)),
        st.one_of(st.none(), st.none(), BATCHES, st.binary(max_size=20)),
    ),
    max_size=4,
)


async def come_and_go(
    house: House, seat: int, steps: Sequence[Step], returns: Sequence[Return]
) -> None:
    """Misbehave on one stream after another, each with the same steps; slowly, or there would be
    no game to come back to.
    """
    bot, session = house.bots[seat], house.sessions[seat]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(misbehave, bot, steps, pace=0.2))
        for one in returns:
            await trio.sleep(0.5)
            bot.hang_up()
            await trio.sleep(one.after)
            bot = MemoryConnection(resume_token=session.resume_tokens[0])
            if one.says is None:
                bot.hello(concurrent=len(GAMES), games=one.games)
            else:
                bot.say_bytes(one.says)
            await house.connect.send(bot)
            await trio.testing.wait_all_tasks_blocked()
            told = endings(bot)
            assert len(told) == len({end.game for end in told})
            nursery.start_soon(partial(misbehave, bot, steps, pace=0.2))


@examples(20)
@given(STEPS, RETURNS, RULES, st.sampled_from(Policy), st.integers(0, 1))
def test_games_end_so_too_where_who_misbehaves_may_come_back(
    steps: list[Step], returns: list[Return], rules: Rules, policy: Policy, seat: int
) -> None:
    async def play() -> None:
        async with a_house(resume_seconds=10.0) as house, trio.open_nursery() as around:
            around.start_soon(come_and_go, house, seat, steps, returns)
            around.start_soon(answer_decisions, house.bots[1 - seat])
            outcomes = await play_all(house, rules, policy)
            check_outcomes(outcomes, house, fuzzer=seat)
            around.cancel_scope.cancel()

    in_virtual_time(play)


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


def test_a_game_that_is_named_often_by_who_comes_back_is_told_once() -> None:
    async def play() -> None:
        async with a_house(resume_seconds=10.0) as house, trio.open_nursery() as nursery:
            for bot in house.bots:
                nursery.start_soon(answer_decisions, bot)
            await play_all(house, Rules.of(2), Policy.RATED)
            house.bots[0].hang_up()
            await trio.testing.wait_all_tasks_blocked()
            bot = MemoryConnection(resume_token=house.sessions[0].resume_tokens[0])
            bot.hello(games=GAMES * 300)
            await house.connect.send(bot)
            await trio.testing.wait_all_tasks_blocked()
            assert sorted(end.game for end in endings(bot)) == sorted(GAMES)
            nursery.cancel_scope.cancel()

    in_virtual_time(play)


def fails_to_read(payload: bytes) -> None:
    raise RecursionError("in our own code")


def test_what_our_reading_fails_at_ends_its_senders_games_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def play() -> None:
        async with a_house() as house, trio.open_nursery() as nursery:
            for bot in house.bots:
                nursery.start_soon(answer_decisions, bot)
            table = Table(a_game(Rules.of(2)), number=1, clock=CLOCK, policy=Policy.RATED)
            monkeypatch.setattr("arena.referee.session.decode_from_bot", fails_to_read)
            outcome = await house.host.play(table, house.sessions, match="m", players=("a", "b"))
            assert outcome.ending is Ending.MALFORMED
            assert outcome.at_fault is not None
            assert house.bots[outcome.at_fault].close is Close.MALFORMED
            assert house.bots[1 - outcome.at_fault].close is None
            monkeypatch.undo()
            nursery.cancel_scope.cancel()

    in_virtual_time(play)


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
