"""A talk with one process of a bot: what is said and heard, its start and its end.

The bot is a real process and the stream a real one, through the same launcher and bridge as in a
match. What is said, and what should come back, is for the checks to say; every wait for the bot has
a limit and ends at once with its process or its stream.
"""

import itertools
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import trio

from arena.conformance.tables import BANK_SECONDS, MOVE_SECONDS
from arena.conformance.transcript import Entry, Transcript, told
from arena.conformance.unmet import NotSupported, Unmet
from arena.ladder.bots.entrants import Entrant
from arena.ladder.processes.launcher import LaunchError, launch
from arena.ladder.processes.sandbox import Sandbox, bounds_of
from arena.referee.bridge import Bridge, GrpcConnection, serve
from arena.referee.connection import Close
from arena.referee.session import RECEIVED_A_DECISION, SPARE_RECEIVED
from hokm.actions import Action
from hokm.errors import Reason
from hokm.session import (
    PROTOCOL,
    Answer,
    Decision,
    FromBot,
    FromReferee,
    Goodbye,
    Hello,
    Refused,
    Welcome,
)
from hokm.wire import WireError, decode_from_bot, encode_from_referee

HELLO_SECONDS = 10.0
"""From its start to its hello (docs/protocol.md)."""

ANSWER_SECONDS = MOVE_SECONDS + BANK_SECONDS
"""How long an answer may take: what the bot is told it has."""

HALF_SECONDS = 1.0
EXIT_SECONDS = 2.0
"""From a bot's goodbye to the end of its half of the stream, and to its exit (docs/protocol.md)."""

SLACK_SECONDS = 1.0
"""What is waited beyond a limit: the machine may be busy."""

QUIET_SECONDS = 0.02
"""How long the script listens for what should not be said. A bot that talks too much does so at
once; what comes later is heard by the check that follows.
"""

LIFE_SECONDS = 3600.0
"""What one process may use of a CPU where it is confined: as long as a run may take."""

TOKEN_BYTES = 32

LONGEST_LINE = 200
"""Characters of a log's line within a sentence."""

Change = Callable[[bytes], bytes]
"""What is done to an encoded batch before it is written."""


class Log(Protocol):
    """What a process printed."""

    def tail(self) -> str:
        """Its last lines."""


class Running(Protocol):
    """A process of a bot, as :class:`~arena.ladder.processes.launcher.BotProcess` is one."""

    @property
    def log(self) -> Log:
        """What it printed."""

    @property
    def by_hand(self) -> str:
        """The shell line that runs the same command."""

    @property
    def returncode(self) -> int | None:
        """How it ended; None while it runs."""

    async def wait(self) -> int:
        """Wait for its end."""

    async def end(self) -> int:
        """End it, whatever it does."""


Start = Callable[[trio.Nursery, "Bench", str], Running]
"""Starts a process of the bench's bot, with this ticket; raises LaunchError."""


def launched(nursery: trio.Nursery, bench: "Bench", ticket: str) -> Running:
    """A process as in a match, in the bench's sandbox if it has one."""
    argv, folder = bench.entrant.argv(bench.python), bench.entrant.home
    sandbox: tuple[str, ...] = ()
    bounds = bounds_of(bench.entrant.limits, seconds=LIFE_SECONDS)
    if bench.sandbox is not None:
        own = bench.entrant.environment.python
        sandbox = bench.sandbox.around(argv, folder=folder, bounds=bounds, python=own)
    return launch(
        nursery,
        argv,
        folder=folder,
        address=bench.address,
        ticket=ticket,
        log_path=bench.logs / f"{bench.entrant.name}-{next(bench.starts)}.log",
        running=bench.running,
        sandbox=sandbox,
        environment=bench.entrant.variables,
        memory_bytes=None if bench.sandbox is None else bounds.memory_mib << 20,
        make_group=lambda: None if bench.sandbox is None else bench.sandbox.group(bounds),
    )


@dataclass(slots=True, kw_only=True)
class Bench:
    """What all talks of a run share: the bot, where it connects, and where its output goes."""

    entrant: Entrant
    bridge: Bridge
    python: str
    running: Path
    logs: Path
    sandbox: Sandbox | None = None
    start: Start = launched
    doors: dict[str, trio.MemorySendChannel[GrpcConnection]] = field(default_factory=dict)
    """Who waits for a stream, by the ticket or token it will come with."""
    alone: dict[int, Sequence[Action] | None] = field(default_factory=dict)
    """What the bot does in the game that checks of its memory compare, by number of players; None
    where it does not do the same each time.
    """
    refused: set[str] = field(default_factory=set)
    """Tickets that were refused to who came with them."""
    starts: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    @property
    def address(self) -> str:
        """Where the bot finds the referee."""
        return self.bridge.address if self.sandbox is None else self.sandbox.address

    async def seat_arrivals(self) -> None:
        """Lead each stream to whoever waits for it."""
        async for connection in self.bridge.arrivals:
            door = self.doors.pop(connection.ticket or connection.resume_token, None)
            if door is None:
                self.refused.add(connection.ticket)
                connection.end(Close.NO_SEAT)
            else:
                door.send_nowait(connection)

    def door(self, key: str) -> "trio.MemoryReceiveChannel[GrpcConnection]":
        """Where the stream that comes with that ticket or token will be."""
        send, receive = trio.open_memory_channel[GrpcConnection](1)
        self.doors[key] = send
        return receive


@asynccontextmanager
async def open_bench(
    entrant: Entrant,
    *,
    python: str,
    running: Path,
    logs: Path,
    address: str = "127.0.0.1:0",
    sandbox: Sandbox | None,
    start: Start = launched,
) -> AsyncIterator[Bench]:
    """A bench at that address, on loopback or a socket, for as long as it is open. With a
    ``sandbox`` the bot is in it, and comes to its socket; there is no default, since whoever forgot
    it would start a stranger's bot without. ``start`` starts the bot in another way.
    """
    found: Unmet | NotSupported | None = None
    listen = address if sandbox is None else sandbox.listen
    async with serve(listen) as bridge, trio.open_nursery() as nursery:
        if sandbox is not None:
            sandbox.admit()
        bench = Bench(
            entrant=entrant,
            bridge=bridge,
            python=python,
            running=running,
            logs=logs,
            sandbox=sandbox,
            start=start,
        )
        nursery.start_soon(bench.seat_arrivals)
        try:
            yield bench
        except (Unmet, NotSupported) as raised:  # not to be raised in a nursery's group
            found = raised
        nursery.cancel_scope.cancel()
    if found is not None:
        raise found


class Talk:
    """One process, from its launch to its exit; made by :func:`open_talk`.

    Attributes:
        transcript: what was said.
        hello: what the bot said first; None before.
        came_back: how often it came back on another stream.
        elapsed_seconds, limit_seconds: how long was waited last, and how long might have been; None
            before.
    """

    def __init__(self, bench: Bench, nursery: trio.Nursery) -> None:
        self.transcript = Transcript()
        self.hello: Hello | None = None
        self._bench = bench
        self._nursery = nursery
        self._process: Running | None = None
        self._connection: GrpcConnection | None = None
        self._door: trio.MemoryReceiveChannel[GrpcConnection] | None = None
        self._inbox: list[FromBot] = []
        self.came_back = 0
        self._left = SPARE_RECEIVED
        """How many more answers and batches are heard, as in a match."""
        self._may_cross: set[int] = set()
        self._ticket = ""
        self._token = ""
        self._began = trio.current_time()
        self.elapsed_seconds: float | None = None
        self.limit_seconds: float | None = None

    # -- its start

    async def launch(self, *, ticket_is_good: bool = True) -> None:
        """Start the process. Raises Unmet where it cannot be started."""
        bench = self._bench
        ticket = secrets.token_urlsafe(TOKEN_BYTES)
        self._door = bench.door(ticket) if ticket_is_good else None
        self._ticket = ticket
        try:
            self._process = bench.start(self._nursery, bench, ticket)
        except LaunchError as error:
            raise Unmet(str(error), expected="a command that starts") from None
        self._began = trio.current_time()

    async def arrive(self, *, within: float = HELLO_SECONDS) -> Hello:
        """Launch it and wait for its hello. Raises Unmet where none comes in time."""
        await self.launch()
        expected = f"a hello within {within:.0f} s of its start"
        with self._timed(within):
            self._connection = await self._stream(within)
            if self._connection is None:
                how = "its process ended" if self._has_ended else "it did not connect"
                raise Unmet(f"{how}{self._how_it_ended()}", expected=expected)
            left = max(0.0, self._began + within - trio.current_time())
            return await self._hear_hello(left, expected=expected)

    async def _stream(self, within: float) -> GrpcConnection | None:
        """The stream that comes through the door; None if it does not, or the process ends."""
        assert self._process is not None
        came: list[GrpcConnection] = []

        async def wait(race: trio.CancelScope) -> None:
            assert self._door is not None
            came.append(await self._door.receive())
            race.cancel()

        with trio.move_on_after(within):
            async with trio.open_nursery() as race:
                race.start_soon(wait, race.cancel_scope)
                await self._process.wait()
                race.cancel_scope.cancel()
        return came[0] if came else None

    async def _hear_hello(self, within: float, *, expected: str) -> Hello:
        hello = await self.hear(within=within, expected=expected)
        if not isinstance(hello, Hello):
            raise Unmet(f"it began with: {told(hello)[0]}", expected="a hello, before all else")
        self.hello = hello
        if self._inbox:
            raise Unmet(
                f"after its hello it said: {told(self._inbox[0])[0]}",
                expected="nothing before the welcome",
            )
        return hello

    def welcome(self, *, resume_seconds: float = 0.0) -> Welcome:
        """The answer to a hello, with a token of its own."""
        self._token = secrets.token_urlsafe(TOKEN_BYTES)
        return Welcome(PROTOCOL, "hokm-arena check", self._token, resume_seconds)

    # -- what is said

    def say(self, *messages: FromReferee, change: Change | None = None) -> None:
        """Write one batch; ``change`` makes other bytes of it."""
        payload = encode_from_referee(messages)
        self._left += RECEIVED_A_DECISION * sum(isinstance(one, Decision) for one in messages)
        if change is not None:
            payload = change(payload)
        self._note("referee", messages)
        assert self._connection is not None
        self._connection.post(payload)

    def remark(self, text: str) -> None:
        """Note what the script does besides talking."""
        self.transcript.add(Entry("script", self._elapsed(), remark=text))

    async def hear(self, *, within: float | None = None, expected: str = "an answer") -> FromBot:
        """The next message of the bot; ``within`` the time of an answer if nothing else is said.
        Raises Unmet where none comes in time.
        """
        assert self._connection is not None
        within = ANSWER_SECONDS if within is None else within
        message: FromBot | None = None
        with self._timed(within), trio.move_on_after(within + SLACK_SECONDS):
            message = await self._next(expected)
        if message is None:
            raise Unmet(f"it said nothing for {within:.1f} s", expected=expected)
        return message

    async def _next(self, expected: str) -> FromBot:
        """The next message, but for the answers that may cross the end of a game."""
        assert self._connection is not None
        while True:
            while not self._inbox:
                received = await self._connection.receive()
                if not received:
                    await self._wait_a_moment()
                    raise Unmet(f"its stream ended{self._how_it_ended()}", expected=expected)
                for payload, _ in received:
                    self._take(payload)
            message = self._inbox.pop(0)
            if not isinstance(message, Answer) or message.game not in self._may_cross:
                return message
            self._may_cross.remove(message.game)
            self.say(refusal(message, Reason.MATCH_OVER, "the game is over (rulebook 7)"))

    def let_cross(self, game: int) -> None:
        """That game has ended while it was asked: one answer to it, whenever it comes, is refused
        and costs nothing.
        """
        self._may_cross.add(game)

    async def hear_answer(self, *, expected: str = "an answer") -> Answer:
        """The next message, which must be an answer."""
        message = await self.hear(expected=expected)
        if not isinstance(message, Answer):
            raise unasked(message, expected=expected)
        return message

    async def hear_any(self, seconds: float, *, expected: str) -> FromBot | None:
        """The next message that comes within so long, None if there is none; raises Unmet if the
        bot leaves.
        """
        with trio.move_on_after(seconds):
            return await self.hear(within=seconds, expected=expected)
        return None

    async def quiet(self, seconds: float = QUIET_SECONDS, *, expected: str) -> None:
        """Listen for so long; raises Unmet if the bot says anything, or leaves."""
        message = await self.hear_any(seconds, expected=expected)
        if message is not None:
            raise unasked(message, expected=expected)

    # -- its end

    async def farewell(
        self,
        *before: FromReferee,
        half_seconds: float = HALF_SECONDS,
        exit_seconds: float = EXIT_SECONDS,
    ) -> None:
        """Say what is left and goodbye, and see the bot off by the rules of the protocol."""
        self.say(*before, Goodbye())
        expected = "a goodbye in return"
        message = await self.hear(within=half_seconds, expected=expected)
        if not isinstance(message, Goodbye):
            raise unasked(message, expected=expected)
        await self.leave(half_seconds=half_seconds, exit_seconds=exit_seconds)

    async def leave(
        self, *, half_seconds: float = HALF_SECONDS, exit_seconds: float = EXIT_SECONDS
    ) -> None:
        """After the bot's goodbye: its half ends, then its process does, with exit code 0."""
        assert self._connection is not None
        assert self._process is not None
        with trio.move_on_after(half_seconds + SLACK_SECONDS) as waiting:
            has_ended = False
            while not has_ended:
                if self._inbox:
                    raise Unmet(
                        f"after its goodbye it said: {told(self._inbox[0])[0]}",
                        expected="nothing more",
                    )
                received = await self._connection.receive()
                has_ended = not received
                for payload, _ in received:
                    self._take(payload)
        if waiting.cancelled_caught:
            raise Unmet(
                f"its half of the stream is open {half_seconds:.0f} s after its goodbye",
                expected="the end of its half of the stream right after its goodbye",
            )
        self._connection.end(Close.DONE)
        code = await self.exit_code(within=exit_seconds)
        if code != 0:
            raise Unmet(f"its process ended{self._how_it_ended()}", expected="exit code 0")

    async def turned_away(self, *, within: float) -> int:
        """How its process ends after its ticket was refused. Raises Unmet where it never came with
        it, or does not end in time.
        """
        code = await self.exit_code(within=within)
        if self._ticket not in self._bench.refused:
            raise Unmet(
                f"its process ended{self._how_it_ended()}",
                expected="that it connects, and then ends by itself",
            )
        return code

    async def exit_code(self, *, within: float) -> int:
        """How its process ends. Raises Unmet where it does not in time."""
        assert self._process is not None
        code = -1
        with self._timed(within), trio.move_on_after(within + SLACK_SECONDS) as waiting:
            code = await self._process.wait()
        if waiting.cancelled_caught:
            raise Unmet(
                f"its process still runs after {within:.0f} s", expected="that it ends by itself"
            )
        return code

    def break_off(self) -> None:
        """Break the stream without a goodbye, as when the arena goes away."""
        assert self._connection is not None
        self.remark("the stream is broken off")
        self._connection.end(Close.STOPPED)

    async def come_back(self, *, within: float) -> Hello | None:
        """Break the stream, and wait until the bot has come back with the token of its last welcome
        and said hello; None where its process ends instead. Raises Unmet where it does neither.
        """
        door = self._bench.door(self._token)
        self.break_off()
        self._inbox.clear()
        self._door = door
        connection = await self._stream(within + SLACK_SECONDS)
        if connection is None and self._has_ended:
            return None
        if connection is None:
            raise Unmet(
                f"it did not come back within {within:.0f} s, and its process runs on",
                expected="that it comes back, or ends",
            )
        self._connection = connection
        self.came_back += 1
        self.remark("it is back with its token")
        return await self._hear_hello(within, expected="a hello on the new stream")

    async def end(self) -> None:
        """End the process, whatever it does."""
        if self._connection is not None:
            self._connection.end(Close.DONE)
        if self._process is not None:
            await self._process.end()

    @property
    def log_tail(self) -> str:
        """The last lines that the bot wrote."""
        return "" if self._process is None else self._process.log.tail()

    @property
    def by_hand(self) -> str:
        """The shell line that runs the bot as it was run."""
        return "" if self._process is None else self._process.by_hand

    @property
    def returncode(self) -> int | None:
        """How its process ended; None while it runs, or where there is none."""
        return None if self._process is None else self._process.returncode

    # -- within

    @contextmanager
    def _timed(self, limit_seconds: float) -> Iterator[None]:
        """Note how long is waited here, and how long might be, however it ends."""
        began = trio.current_time()
        try:
            yield
        finally:
            self.elapsed_seconds = trio.current_time() - began
            self.limit_seconds = limit_seconds

    def _take(self, payload: bytes) -> None:
        self._left -= 1
        if self._left < 0:
            raise Unmet(
                "it sends far more than it is asked for",
                expected=f"at most {RECEIVED_A_DECISION} batches and answers to a decision",
                reference="docs/protocol.md: Limits",
            )
        try:
            messages = decode_from_bot(payload)
        except WireError as error:
            raise Unmet(
                f"it sent what is no message of the protocol: {error}",
                expected="a batch of messages (PlayRequest)",
                reference="docs/protocol.md: Batches",
            ) from None
        self._note("bot", messages)
        self._left -= len(messages)
        self._inbox += messages

    def _note(self, who: str, messages: tuple[FromReferee, ...] | tuple[FromBot, ...]) -> None:
        self.transcript.add(Entry(who, self._elapsed(), tuple(messages)))

    def _elapsed(self) -> float:
        return trio.current_time() - self._began

    async def _wait_a_moment(self) -> None:
        """A stream that breaks is often the first one hears of a process that ends."""
        assert self._process is not None
        with trio.move_on_after(1.0):
            await self._process.wait()

    @property
    def _has_ended(self) -> bool:
        return self._process is not None and self._process.returncode is not None

    def _how_it_ended(self) -> str:
        code = None if self._process is None else self._process.returncode
        if code is None:
            return ""
        if code < 0:
            return f" (signal {-code})"
        last = last_line(self.log_tail) if code else ""
        return f" (exit code {code}){f': {last}' if last else ''}"


def last_line(log: str) -> str:
    """The last line of a log that says anything, shortened; of a traceback it is the error."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return lines[-1][:LONGEST_LINE] if lines else ""


def unasked(message: FromBot, *, expected: str) -> Unmet:
    """A message that is another than was expected."""
    what = f"it said: {told(message)[0]}"
    return Unmet(what, expected=expected, alike=f"it said {type(message).__name__}")


def refusal(answer: Answer, reason: Reason, detail: str) -> Refused:
    """The refusal of an answer."""
    return Refused(answer.game, answer.decision, answer.attempt, reason, detail)


@asynccontextmanager
async def open_talk(bench: Bench) -> AsyncIterator[Talk]:
    """A talk that has not begun; its process has ended when this is left."""
    found: Unmet | NotSupported | None = None
    async with trio.open_nursery() as nursery:
        talk = Talk(bench, nursery)
        try:
            yield talk
        except (Unmet, NotSupported) as raised:  # not to be raised in a nursery's group
            found = raised
        finally:
            with trio.CancelScope(shield=True):
                await talk.end()
    if found is not None:
        raise found
