"""A bot whose stream breaks and who comes back: nothing of its game is lost, nothing is given."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial

import pytest
import trio
import trio.testing

from arena.referee.connection import Close, Received
from arena.referee.host import Host, open_host
from arena.referee.lobby import Lobby, open_lobby
from arena.referee.session import MOST_RESUMES, SPARE_RECEIVED, Session
from arena.referee.table import Policy, Table
from arena.referee.testing import MemoryConnection, answer_decisions, endings, first_legal
from hokm import Bot, Card, View
from hokm.actions import PLAYS
from hokm.cards import Seat
from hokm.notes import Note
from hokm.outcome import Ending, HandResult, Outcome
from hokm.player import Player
from hokm.records import GameRecord
from hokm.rules.options import Play, Rules
from hokm.session import (
    Answer,
    ClockRules,
    Decision,
    Goodbye,
    MatchStart,
    Refused,
    Welcome,
)
from hokm.wire import encode_from_bot
from tests.arena.referee.virtual import CLOCK, a_game

WINDOW_SECONDS = 20.0
NAMES = ("a", "b", "c", "d")


class Steady(Bot):
    """Plays by what it sees alone, and keeps what it was told of ends."""

    hands: list[HandResult] = []  # noqa: RUF012  # of all games of a test
    games: list[Outcome] = []  # noqa: RUF012

    def play(self, view: View) -> Card:
        return view.playable[len(view.playable) // 2]

    def hand_ended(self, view: View, result: HandResult) -> None:
        self.hands.append(result)

    def game_ended(self, view: View, outcome: Outcome) -> None:
        self.games.append(outcome)


@pytest.fixture(autouse=True)
def _fresh_lists() -> None:
    Steady.hands.clear()
    Steady.games.clear()


class Drop(Enum):
    """Where the stream breaks."""

    BEFORE_READING = auto()
    BEFORE_ANSWERING = auto()
    AFTER_ANSWERING = auto()


@dataclass
class House:
    """A host, a lobby, and a way in for bots in memory."""

    host: Host
    lobby: Lobby
    nursery: trio.Nursery
    connect: trio.MemorySendChannel[MemoryConnection]
    streams: list[MemoryConnection] = field(default_factory=list)

    async def arrive(self, connection: MemoryConnection, **hello: object) -> None:
        connection.hello(**hello)  # type: ignore[arg-type]
        self.streams.append(connection)
        await self.connect.send(connection)

    async def seat(self, *, resume_seconds: float = WINDOW_SECONDS) -> "Guest":
        """A bot that is welcomed and does nothing yet."""
        ticket = self.lobby.issue(resume_seconds=resume_seconds)
        connection = MemoryConnection(ticket)
        await self.arrive(connection)
        session = await self.lobby.arrival(ticket)
        await trio.testing.wait_all_tasks_blocked()
        return Guest(self, connection, session)

    async def play(self, table: Table, sessions: Sequence[Session]) -> Outcome:
        seats = table.game.variant.seats
        return await self.host.play(table, sessions, match="m", players=NAMES[:seats])


@dataclass
class Guest:
    """A bot that a test moves."""

    house: House
    connection: MemoryConnection
    session: Session

    @property
    def token(self) -> str:
        return [one for one in self.connection.told if isinstance(one, Welcome)][-1].resume_token

    async def come_back(self, *, token: str | None = None, games: tuple[int, ...] = ()) -> None:
        resume_token = self.token if token is None else token
        self.connection = MemoryConnection(resume_token=resume_token)
        await self.house.arrive(self.connection, games=games)
        await trio.testing.wait_all_tasks_blocked()

    @property
    def decision(self) -> Decision:
        return [one for one in self.connection.told if isinstance(one, Decision)][-1]


@asynccontextmanager
async def a_house() -> AsyncIterator[House]:
    connect, arrivals = trio.open_memory_channel[MemoryConnection](4)
    async with (
        open_lobby(arrivals) as lobby,
        open_host(now=trio.current_time) as host,
        trio.open_nursery() as nursery,
    ):
        yield House(host, lobby, nursery, connect)
        nursery.cancel_scope.cancel()


def a_table(rules: Rules | None = None, *, clock: ClockRules = CLOCK, number: int = 1) -> Table:
    game = a_game(rules or Rules.of(2), number)
    return Table(game, number=number, clock=clock, policy=Policy.CASUAL)


async def unreliable(
    house: House, ticket: str, *, drops: Sequence[int], drop: Drop, away_seconds: float
) -> None:
    """A bot of the library whose stream breaks at those of the messages it is sent."""
    player = Player(Steady)
    connection = MemoryConnection(ticket)
    count = 0
    while not player.is_finished:
        connection.say(player.hello())
        house.streams.append(connection)
        await house.connect.send(connection)
        while (message := await connection.listen()) is not None:
            count += 1
            drops_now = count in drops
            if drops_now and drop is Drop.BEFORE_READING:
                break
            answers = list(player.receive([message]))
            if drops_now and drop is Drop.BEFORE_ANSWERING:
                break
            connection.say(*answers)
            if drops_now or player.is_finished:
                break
        connection.hang_up()
        if not player.is_finished:
            await trio.sleep(away_seconds)
            connection = MemoryConnection(resume_token=player.resume_token)


async def play_a_match(
    rules: Rules, *, drops: Sequence[int], drop: Drop, away_seconds: float = 0.5
) -> tuple[list[GameRecord], int]:
    """Two games between unreliable bot 0 and good ones; the records, and what bot 0 was told."""
    async with a_house() as house:
        tickets = [house.lobby.issue(resume_seconds=WINDOW_SECONDS) for _ in range(rules.players)]
        sessions = []
        for place, ticket in enumerate(tickets):
            bot = partial(unreliable, drops=() if place else drops, drop=drop)
            house.nursery.start_soon(partial(bot, house, ticket, away_seconds=away_seconds))
            sessions.append(await house.lobby.arrival(ticket))
        start = MatchStart("m", rules, 2, CLOCK)
        for session in sessions:
            session.tell(start)
        tables = [a_table(rules, number=number) for number in (1, 2)]
        for table in tables:
            outcome = await house.play(table, sessions)
            assert outcome.ending is Ending.COMPLETED, outcome
        await trio.testing.wait_all_tasks_blocked()  # a stream that broke just now is noticed
        while any(session.is_away for session in sessions):
            await sessions[0].whole()
            await trio.testing.wait_all_tasks_blocked()
        for session in sessions:
            session.end()
        await trio.testing.wait_all_tasks_blocked()
        told = sum(len(stream.told) for stream in house.streams)
    return [table.record() for table in tables], told


def without_times(records: Sequence[GameRecord]) -> list[object]:
    return [(one.number, one.hands, one.turned, one.outcome, one.refusals) for one in records]


RACE = Rules.of(2, play=Play.RACE, options={"target_points": "2"})


@pytest.mark.parametrize("drop", Drop)
@pytest.mark.parametrize("rules", [Rules.of(2), Rules.of(4), RACE], ids=["two", "four", "race"])
async def test_a_stream_may_break_at_any_message_and_the_outcome_is_the_same(
    rules: Rules, drop: Drop, autojump_clock: trio.testing.MockClock
) -> None:
    undisturbed, _ = await play_a_match(rules, drops=(), drop=drop)
    hands = list(Steady.hands)
    # The welcome must arrive once; the messages of one's own end need no answer.
    for first in range(2, 40, 1 if rules is not RACE else 3):
        Steady.hands.clear()
        Steady.games.clear()
        disturbed, _ = await play_a_match(rules, drops=(first, first + 7, first + 8), drop=drop)
        assert without_times(disturbed) == without_times(undisturbed), f"at message {first}"
        assert sorted(map(repr, Steady.hands)) == sorted(map(repr, hands)), f"at message {first}"
        assert len(Steady.games) == 2 * rules.players


async def test_a_bot_that_stays_away_has_crashed_when_its_time_to_come_back_is_over(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        good, gone = await house.seat(), await house.seat()
        house.nursery.start_soon(answer_decisions, good.connection)
        began = trio.current_time()
        gone.connection.hang_up()
        outcome = await house.play(a_table(), [good.session, gone.session])
    assert (outcome.ending, outcome.at_fault) == (Ending.CRASH, Seat(1))
    assert trio.current_time() - began == WINDOW_SECONDS


async def test_a_stream_that_breaks_where_none_may_come_back_is_a_crash_at_once(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        good, gone = await house.seat(), await house.seat(resume_seconds=0.0)
        house.nursery.start_soon(answer_decisions, good.connection)
        token = gone.token
        began = trio.current_time()
        gone.connection.hang_up()
        outcome = await house.play(a_table(), [good.session, gone.session])
        assert outcome.ending is Ending.CRASH
        assert trio.current_time() == began
        await gone.come_back(token=token)
        assert gone.connection.close is Close.NO_SEAT


async def test_a_process_that_has_ended_is_not_waited_for(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        good, gone = await house.seat(), await house.seat()
        house.nursery.start_soon(answer_decisions, good.connection)
        began = trio.current_time()
        gone.connection.hang_up()
        gone.session.lose()
        outcome = await house.play(a_table(), [good.session, gone.session])
    assert outcome.ending is Ending.CRASH
    assert trio.current_time() == began


async def test_time_away_is_charged_and_the_clock_that_is_shown_then_is_the_true_one(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        one, other = await house.seat(), await house.seat()
        table = a_table()
        house.nursery.start_soon(house.play, table, [one.session, other.session])
        await trio.testing.wait_all_tasks_blocked()
        first = one.decision
        await trio.sleep(0.25)
        one.connection.hang_up()
        await trio.sleep(5.0)
        await one.come_back(games=(1,))
        again = one.decision
        assert (again.decision, again.attempt, again.legal) == (first.decision, 1, first.legal)
        assert again.clock is not None
        assert again.clock.move_seconds == 0.0
        assert again.clock.bank_seconds == pytest.approx(CLOCK.bank_seconds - 4.25)
        one.connection.say(first_legal(again))
        await trio.testing.wait_all_tasks_blocked()
    assert table.record().seconds[0][0] == pytest.approx(5.25)


async def test_whoever_is_away_beyond_its_clock_has_lost_on_time(
    autojump_clock: trio.testing.MockClock,
) -> None:
    hurried = ClockRules(move_seconds=1.0, bank_seconds=2.0)
    async with a_house() as house:
        one, other = await house.seat(), await house.seat()
        began = trio.current_time()
        one.connection.hang_up()
        await trio.testing.wait_all_tasks_blocked()
        # Asked while it is away: the decision is never written, and its clock runs.
        outcome = await house.play(a_table(clock=hurried), [one.session, other.session])
        assert (outcome.ending, outcome.at_fault) == (Ending.TIME, Seat(0))
        assert trio.current_time() - began == pytest.approx(3.0)
        await one.come_back(games=(1,))
        assert [end.outcome for end in endings(one.connection)] == [outcome]


async def test_a_game_that_ended_while_its_bot_was_away_is_told_with_all_that_happened(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        one, other = await house.seat(), await house.seat()
        table = a_table()
        house.nursery.start_soon(house.play, table, [one.session, other.session])
        await trio.testing.wait_all_tasks_blocked()
        one.connection.hang_up()
        await trio.testing.wait_all_tasks_blocked()
        other.connection.hang_up()
        other.session.lose()
        await trio.testing.wait_all_tasks_blocked()
        await one.come_back(games=(1,))
        [end] = endings(one.connection)
        assert end.outcome.at_fault == Seat(1)
        # The other was told nothing before, so its end has the whole game, too.
        assert len(end.events) == len(endings(other.connection)[0].events) > 0


async def test_the_old_stream_is_shut_out(autojump_clock: trio.testing.MockClock) -> None:
    async with a_house() as house:
        one, other = await house.seat(), await house.seat()
        table = a_table()
        house.nursery.start_soon(house.play, table, [one.session, other.session])
        await trio.testing.wait_all_tasks_blocked()
        old = one.connection
        old.lags = True
        old.say(Answer(1, 1, 1, PLAYS[0]))  # would be refused, and is never read
        await one.come_back(games=(1,))
        assert old.close is Close.SHUT_OUT
        assert not [message for message in one.connection.told if isinstance(message, Refused)]
        one.connection.say(first_legal(one.decision))
        await trio.testing.wait_all_tasks_blocked()
        assert table.record().refusals == ()


async def test_a_token_is_good_until_the_next_one_has_arrived(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        guest = await house.seat()
        first = guest.token
        await guest.come_back(token=first)
        # The second welcome may have been lost with its stream.
        await guest.come_back(token=first)
        assert not guest.connection.close
        latest = guest.token
        house.host._line(guest.session)  # somebody listens
        guest.connection.say()
        await trio.testing.wait_all_tasks_blocked()
        alive = guest.connection
        await guest.come_back(token=first)
        assert [guest.connection.close, alive.close] == [Close.NO_SEAT, None]
        await guest.come_back(token=latest)
        assert [guest.connection.close, alive.close] == [None, Close.SHUT_OUT]


@pytest.mark.parametrize("token", ["", "x", "\u00e9\u00e9"])
async def test_a_token_that_names_nobody_is_turned_away(
    token: str, autojump_clock: trio.testing.MockClock
) -> None:
    async with a_house() as house:
        guest = await house.seat()
        connection = MemoryConnection(resume_token=token)
        await house.arrive(connection)
        await trio.testing.wait_all_tasks_blocked()
        assert connection.close is Close.NO_SEAT
        assert guest.connection.close is None


async def test_a_stream_with_a_good_token_that_says_no_hello_is_cut_and_disturbs_nobody(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        guest = await house.seat()
        silent = MemoryConnection(resume_token=guest.token)
        await house.connect.send(silent)
        await trio.sleep(11)
        assert silent.close is Close.NO_SEAT
        assert guest.connection.close is None
        await guest.come_back()
        assert guest.connection.close is None


async def test_nobody_comes_back_after_the_end(autojump_clock: trio.testing.MockClock) -> None:
    async with a_house() as house:
        guest = await house.seat()
        guest.session.end()
        assert isinstance(guest.connection.told[-1], Goodbye)
        await guest.come_back()
        assert guest.connection.close is Close.NO_SEAT


async def test_a_refused_attempt_is_not_given_back(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        one, other = await house.seat(), await house.seat()
        house.nursery.start_soon(house.play, a_table(), [one.session, other.session])
        await trio.testing.wait_all_tasks_blocked()
        one.connection.say(Answer(1, 1, 1, PLAYS[0]))
        await trio.testing.wait_all_tasks_blocked()
        one.connection.hang_up()
        await one.come_back(games=(1,))
        assert (one.decision.decision, one.decision.attempt) == (1, 2)


async def test_answers_that_are_abandoned_unread_count_for_the_flood_that_they_are(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        one, other = await house.seat(), await house.seat()
        outcome: list[Outcome] = []

        async def play() -> None:
            outcome.append(await house.play(a_table(), [one.session, other.session]))

        house.nursery.start_soon(play)
        await trio.testing.wait_all_tasks_blocked()
        # All this lies unread when the bot is here again, on another stream.
        for _ in range(2 * SPARE_RECEIVED):
            one.connection._received.append(
                Received(encode_from_bot([Answer(1, 9, 9, PLAYS[0])]), 0)
            )
        await one.come_back(games=(1,))
        assert [one.ending for one in outcome] == [Ending.MALFORMED]


async def test_long_notes_that_are_abandoned_unread_are_no_flood(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        one, other = await house.seat(), await house.seat()
        outcome: list[Outcome] = []

        async def play() -> None:
            outcome.append(await house.play(a_table(), [one.session, other.session]))

        house.nursery.start_soon(play)
        await trio.testing.wait_all_tasks_blocked()
        note = Note("\N{GRINNING FACE}" * 200, tuple((f"n{place}", 1.0) for place in range(8)))
        stale = encode_from_bot([Answer(1, 9, 9, PLAYS[0], note=note)] * 40)
        for _ in range(SPARE_RECEIVED // 100):
            one.connection._received.append(Received(stale, 0))
        await one.come_back(games=(1,))
        assert outcome == []
        assert one.session.closed is None


async def test_whoever_comes_back_too_often_is_a_flood(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        one, other = await house.seat(), await house.seat()
        one.session._resumes = MOST_RESUMES
        outcome: list[Outcome] = []

        async def play() -> None:
            outcome.append(await house.play(a_table(), [one.session, other.session]))

        house.nursery.start_soon(play)
        await trio.testing.wait_all_tasks_blocked()
        await one.come_back(games=(1,))
        assert [one.ending for one in outcome] == [Ending.MALFORMED]
