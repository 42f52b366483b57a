"""A game as one seat meets it: through the host, sessions and connections in memory, on a virtual
clock; every message as its bytes are handed to the bridge, and when.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

import pytest
import trio
import trio.testing

from arena.referee.connection import Close, Written
from arena.referee.host import Host, open_host
from arena.referee.lobby import Lobby, open_lobby
from arena.referee.session import Session
from arena.referee.table import Policy, Table
from arena.referee.testing import MemoryConnection
from hokm.cards import Seat
from hokm.notes import Note
from hokm.rules.game import Game
from hokm.session import Answer, ClockRules, Decision, Malformed
from hokm.wire import decode_from_referee
from tests.arena.referee.moments import Step
from tests.arena.referee.virtual import CLOCK

NUMBER = 7


class Posted(NamedTuple):
    """What was written to a bot at once, or how its stream was ended; seconds since the clock
    began.
    """

    at: float
    what: bytes | Close

    def __str__(self) -> str:
        said = self.what if isinstance(self.what, Close) else decode_from_referee(self.what)
        return f"{self.at:.9f} {said}"


class Tap(MemoryConnection):
    """A connection that notes what is posted."""

    def __init__(self, ticket: str = "", *, resume_token: str = "") -> None:
        super().__init__(ticket, resume_token=resume_token)
        self.posted: list[Posted] = []
        """In order, with what was posted on the streams before this one."""

    def post(self, payload: bytes, written: Written | None = None) -> None:
        if self.close is None:
            self.posted.append(Posted(_now(), payload))
        super().post(payload, written)

    def end(self, close: Close = Close.DONE) -> None:
        if self.close is None:
            self.posted.append(Posted(_now(), close))
        super().end(close)

    async def decision(self, number: int) -> Decision:
        """The decision of that number, when it is told."""
        while True:
            message = await self.listen()
            assert message is not None, "the stream was ended"
            if isinstance(message, Decision) and message.decision == number:
                return message


def _now() -> float:
    return round(trio.current_time(), 9)  # sums of floats end in noise


@dataclass
class Room:
    """A table that is played, and who sits at it."""

    host: Host
    table: Table
    sessions: list[Session]
    bots: list[Tap]
    connect: trio.MemorySendChannel[MemoryConnection]
    nursery: trio.Nursery
    playing: trio.CancelScope = field(default_factory=trio.CancelScope)
    """Of whoever had the host play last."""

    def start(self, table: Table, *, tick_seconds: float = 0.0) -> None:
        """Have the host play a table here."""
        self.playing = trio.CancelScope()
        self.nursery.start_soon(self._play, table, tick_seconds, self.playing)

    async def _play(self, table: Table, tick_seconds: float, scope: trio.CancelScope) -> None:
        names = tuple("abcd"[: len(self.bots)])
        with scope:
            await self.host.play(
                table, self.sessions, match="m", players=names, tick_seconds=tick_seconds
            )

    async def come_back(self, seat: Seat) -> None:
        """That bot's stream breaks, and it comes again on another."""
        old = self.bots[seat]
        old.hang_up()
        await trio.sleep(0.5)
        new = Tap(resume_token=self.sessions[seat].resume_tokens[0])
        new.posted = old.posted
        new.hello(games=(NUMBER,))
        self.bots[seat] = new
        await self.connect.send(new)
        await trio.testing.wait_all_tasks_blocked()


Provoke = Callable[[Room], Awaitable[None]]
Pause = Callable[[Decision, int], float]
"""How long a bot thinks, in seconds, about a decision and with how many actions before it."""


def world(
    game: Game,
    steps: Sequence[Step],
    *,
    pause: Pause,
    provocations: Iterable[Provoke] = (),
    policy: Policy = Policy.CASUAL,
    clock: ClockRules = CLOCK,
    tick_seconds: float = 0.0,
    resume_seconds: float = 0.0,
    before_last: Callable[[Room], None] | None = None,
    note: Note | Malformed | None = None,
) -> list[list[Posted]]:
    """Play these steps, then provoke, then stop; by seat what was posted, in batches.

    ``before_last`` is called just before the last answer is given. ``note`` is with every answer.
    """

    async def play() -> list[list[Posted]]:
        table = Table(game, number=NUMBER, clock=clock, policy=policy, stall_seconds=10.0)
        async with a_room(table, tick_seconds=tick_seconds, resume_seconds=resume_seconds) as room:
            await follow(room, steps, pause=pause, before_last=before_last, note=note)
            for provoke in provocations:
                await trio.testing.wait_all_tasks_blocked()
                await provoke(room)
            await trio.sleep(1.0)
            room.host.stop("the test is over")
            await trio.testing.wait_all_tasks_blocked()
        return [bot.posted for bot in room.bots]

    with pytest.MonkeyPatch.context() as patch:
        numbers = count()
        # Tokens are drawn, and in every welcome.
        patch.setattr("secrets.token_urlsafe", lambda _: f"token-{next(numbers)}")
        return trio.run(play, clock=trio.testing.MockClock(autojump_threshold=0))


@asynccontextmanager
async def a_room(
    table: Table, *, tick_seconds: float = 0.0, resume_seconds: float = 0.0
) -> AsyncIterator[Room]:
    """A game that has begun, and bots that say nothing."""
    connect, arrivals = trio.open_memory_channel[MemoryConnection](4)
    async with (
        open_lobby(arrivals) as lobby,
        open_host(now=trio.current_time, sleep=trio.sleep) as host,
        trio.open_nursery() as nursery,
    ):
        bots = [
            await _arrived(lobby, connect, resume_seconds=resume_seconds)
            for _ in range(table.game.variant.seats)
        ]
        sessions = [await lobby.arrival(bot.ticket) for bot in bots]
        await trio.testing.wait_all_tasks_blocked()  # the welcomes are posted
        room = Room(host, table, sessions, bots, connect, nursery)
        room.start(table, tick_seconds=tick_seconds)
        await trio.testing.wait_all_tasks_blocked()
        yield room
        for session in sessions:
            session.end()
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()


async def follow(
    room: Room,
    steps: Sequence[Step],
    *,
    pause: Pause,
    before_last: Callable[[Room], None] | None = None,
    note: Note | Malformed | None = None,
) -> None:
    """Have the bots give these answers, each when it is asked and has thought, for less than a
    second; return a second after the last of them was asked.
    """
    asked = [0] * len(room.bots)
    asked_at = trio.current_time() - 1.0
    for place, (seat, action) in enumerate(steps):
        asked[seat] += 1
        decision = await room.bots[seat].decision(asked[seat])
        asked_at = trio.current_time()
        await trio.sleep(pause(decision, place))
        if before_last is not None and place == len(steps) - 1:
            before_last(room)
        room.bots[seat].say(Answer(NUMBER, decision.decision, 1, action, note=note))
    await trio.sleep_until(asked_at + 1.0)


async def _arrived(
    lobby: Lobby, connect: trio.MemorySendChannel[MemoryConnection], *, resume_seconds: float
) -> Tap:
    connection = Tap(lobby.issue(resume_seconds=resume_seconds))
    connection.hello()
    await connect.send(connection)
    return connection
