"""A session: a bot that was welcomed, as messages in both directions.

What is told a bot goes out in batches; what it says is decoded, and judged as far as it can be
without knowing a game: whether it is a message, and one for this moment. A session outlives the
stream it began on where its bot may come back on another. It knows neither gRPC, nor games, nor
what its end costs.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import NamedTuple, Protocol, assert_never

import trio

from arena.referee.connection import Close, Connection, Received, Written
from arena.referee.pulse import TakeVitals
from hokm.session import (
    Answer,
    Decision,
    FromBot,
    FromReferee,
    Goodbye,
    Hello,
    MatchEnd,
    MatchStart,
    Welcome,
)
from hokm.wire import (
    REASON_LENGTH,
    WireError,
    count_from_bot,
    decode_from_bot,
    encode_from_referee,
)

BATCH_MESSAGES = 1024
"""Messages at most in one batch to a bot. A message has well under 2 KiB and gRPC's clients refuse
what is over 4 MiB.
"""

SPARE_RECEIVED = 1000
RECEIVED_A_DECISION = 4
"""How much is heard from a session: so many answers and batches together, and so many more for each
decision it was told. An answer in a batch of its own is two. A refused answer may be given again
and one sent again or too late costs nothing, but reading and judging take the time of all tables;
so does a batch with nothing in it, or with nothing that is known here.
"""


SHORTEST_BYTES = 16
"""About the shortest answer as bytes, for counting what is no batch of messages."""

MOST_RESUMES = 1000
"""How often a session may come back: each time it is told everything again."""


class Heard(NamedTuple):
    """An answer, and when it was read."""

    answer: Answer
    at: float


class Ended(Enum):
    """Why no more is heard from a bot. The value says it in one line that is safe for every seat:
    nothing in it is the bot's own text.
    """

    ARENA = "the arena ended its session"
    GOODBYE = "it said goodbye and left"
    BROKEN = "its stream ended without a goodbye"
    MALFORMED = "it sent what is no message of the protocol"
    FLOODED = "it sent far more than it was asked for"


@dataclass(frozen=True, slots=True)
class End:
    """Why no more is heard; ``detail``, which may quote the bot, is for its owner alone."""

    ended: Ended
    detail: str = ""


class Attendant(Protocol):
    """Who knows the games of a session, and is told when its stream breaks and it comes back."""

    def away(self, session: "Session") -> None:
        """Its stream broke; what is told it meanwhile is not heard."""

    def back(self, session: "Session", games: Sequence[int]) -> None:
        """It is there again and remembers nothing; `games` are those whose end it may not know."""


THE_ARENA = End(Ended.ARENA)
_MALFORMED = (Ended.MALFORMED, Ended.FLOODED)

_log = logging.getLogger(__name__)


class Session:
    """A bot that was welcomed. Messages told in one tick of the scheduler go out as one batch.

    One task at a time may :meth:`hear`. After the end of what is heard the bot can still be told
    things, until :meth:`end`.

    A bot whose stream broke may be away for ``resume_seconds`` (0: it has crashed). Meanwhile what
    it is told is lost, and when it is back its attendant tells it anew.
    """

    def __init__(
        self,
        connection: Connection,
        hello: Hello,
        *,
        ready: Callable[["Session"], None],
        resume_seconds: float = 0.0,
    ) -> None:
        self.hello = hello
        self.resume_seconds = resume_seconds
        self.resume_tokens: list[str] = []
        """What names this session on a new stream: the last token issued, and the one before until
        anything shows that the last one has arrived. Secrets.
        """
        self.closed: End | None = None
        """Why no more is heard; None while there is more to come."""
        self.is_away = False
        """Whether its stream broke and another may yet come."""
        self.attendant: Attendant | None = None
        self.on_absence: Callable[[bool], None] = _no_matter
        """Called with whether it is away: when its stream broke, and when it is back."""
        self.take_vitals: TakeVitals | None = None
        """Looks at the bot's process, where that runs on this machine."""
        self._matches: dict[str, MatchStart] = {}
        self._resumes = 0
        self._returned = trio.lowlevel.ParkingLot()
        self._connection = connection
        self._ready = ready
        self._is_ended = False
        self._left = SPARE_RECEIVED
        """How many more answers and batches are heard."""
        self._batch: list[FromReferee] = []
        self._on_sent: list[Written] = []
        self._life = trio.lowlevel.ParkingLot()

    # -- to the bot

    def tell(self, message: FromReferee, sent: Written | None = None) -> None:
        """Say something to the bot, with the next batch. ``sent`` is called with the times at which
        its write began and returned, and never if it does not; it must not raise.
        """
        if isinstance(message, MatchStart):
            self._matches[message.match] = message
        elif isinstance(message, MatchEnd):
            self._matches.pop(message.match, None)
        if self._is_ended or self.is_away:
            return
        if not self._batch:
            self._ready(self)
        self._batch.append(message)
        if isinstance(message, Decision):
            self._left += RECEIVED_A_DECISION
        if sent is not None:
            self._on_sent.append(sent)

    def post(self) -> None:
        """Hand over what was told so far to be written; the lobby does it every tick."""
        batch, self._batch = self._batch, []
        on_sent, self._on_sent = self._on_sent, []
        for start in range(0, len(batch), BATCH_MESSAGES):
            payload = encode_from_referee(batch[start : start + BATCH_MESSAGES])
            # The last one written says that all were.
            calls = on_sent if start + BATCH_MESSAGES >= len(batch) else []
            self._connection.post(payload, partial(_call_all, calls))

    def end(self, end: End = THE_ARENA) -> None:
        """Say goodbye and end the stream, because of ``end``. What was told before is written
        before. A second call does nothing.
        """
        self.tell(Goodbye(_reason(end)[:REASON_LENGTH]))
        self.post()
        self._is_ended = True
        self.on_absence = _no_matter  # what is kept of a match may keep this: not its bots as well
        self._close(end)
        self._connection.end(Close.MALFORMED if end.ended in _MALFORMED else Close.DONE)

    # -- breaking off, and coming back

    def welcome(self, welcome: Welcome) -> None:
        """Say that the bot is welcome, with a token that names this session from now on."""
        self.resume_tokens = [welcome.resume_token, *self.resume_tokens[:1]]
        self.tell(welcome)

    def resume(self, connection: Connection, hello: Hello, welcome: Welcome) -> None:
        """The bot is here again, on another stream. The old one is shut out, whatever lies in it,
        and the bot is told all that it needs to go on. The session must not be closed.
        """
        old, self._connection = self._connection, connection
        # What it abandons unread it has said all the same.
        self._left -= sum(1 + _count_in(payload) for payload, _ in old.received())
        old.end(Close.SHUT_OUT)
        self._batch.clear()
        self._on_sent.clear()
        self.hello = hello
        self.is_away = False
        self._resumes += 1
        self._returned.unpark_all()
        self.on_absence(False)
        self.welcome(welcome)
        if self._resumes > MOST_RESUMES or self._left < 0:
            self._close(End(Ended.FLOODED))
            return
        for start in list(self._matches.values()):
            self.tell(start)
        if self.attendant is not None:
            self.attendant.back(self, hello.games)

    def lose(self) -> None:
        """The bot's process is gone: nobody will come back."""
        self._close(End(Ended.BROKEN))

    async def whole(self) -> None:
        """Return when the bot is not away: it came back, or will not come any more."""
        while self.is_away and self.closed is None:
            await self._returned.park()

    async def _await_return(self) -> None:
        if not self.resume_seconds or self.closed is not None:
            self._close(End(Ended.BROKEN))
            return
        self.is_away = True
        self.on_absence(True)
        if self.attendant is not None:
            self.attendant.away(self)
        with trio.move_on_after(self.resume_seconds) as waiting:
            await self.whole()
        if waiting.cancelled_caught:
            self._close(End(Ended.BROKEN))

    # -- from the bot

    async def hear(self) -> Sequence[Heard]:
        """The answers that came, at least one, in order; empty once the session is closed."""
        while self.closed is None:
            connection = self._connection
            received = await connection.receive()
            if connection is not self._connection:
                continue  # shut out, and so is what was in it
            if not received:
                await self._await_return()
            elif heard := self._read(received):
                return heard
        return []

    def heard(self) -> Sequence[Heard]:
        """The answers that lie there, without waiting."""
        return self._read(self._connection.received()) if self.closed is None else []

    async def sign_of_life(self) -> None:
        """Return when anything more comes from the bot, its end included."""
        if self.closed is None:
            await self._life.park()

    async def settle(self) -> None:
        """Return when all that was read from the bot before this call can be had from
        :meth:`heard`, and every write that returned before it has been reported.
        """
        await self._connection.settle()

    def _close(self, end: End) -> None:
        if self.closed is None:  # the first end is the one that counts
            self.closed = end
            self._life.unpark_all()
            self._returned.unpark_all()

    def _read(self, received: Sequence[Received]) -> list[Heard]:
        """The answers among what was received, up to what closes the session."""
        if received:
            self._life.unpark_all()
            del self.resume_tokens[1:]
        heard: list[Heard] = []
        for payload, at in received:
            try:
                messages = messages_in(payload)
            except WireError as error:
                self._close(End(Ended.MALFORMED, str(error)))
                return heard
            self._left -= 1 + len(messages)
            if self._left < 0:
                self._close(End(Ended.FLOODED))
                return heard
            for message in messages:
                match message:
                    case Answer():
                        heard.append(Heard(message, at))
                    case Goodbye(reason):
                        self._close(End(Ended.GOODBYE, reason))
                        return heard
                    case Hello():
                        self._close(End(Ended.MALFORMED, "a second hello"))
                        return heard
                    case _:
                        assert_never(message)
        return heard


def messages_in(payload: bytes) -> tuple[FromBot, ...]:
    """Read a bot's batch; raises WireError for whatever cannot be read.

    Where our own reading fails at it, that is told the operator and blamed on the bytes all the
    same: no SDK sends such, and a fault of the host would void a game at the sender's will.
    """
    try:
        return decode_from_bot(payload)
    except WireError:
        raise
    except Exception as error:
        _log.exception("a batch of %d bytes could not be read", len(payload))
        raise WireError("what it sent cannot be read") from error


def _count_in(payload: bytes) -> int:
    """How many messages a bot's batch has."""
    try:
        return count_from_bot(payload)
    except WireError:
        return len(payload) // SHORTEST_BYTES


def _no_matter(is_away: bool) -> None: ...


def _call_all(calls: Sequence[Written], began_at: float, at: float) -> None:
    for call in calls:
        call(began_at, at)


def _reason(end: End) -> str:
    """What the bot is told: nothing where it left by itself."""
    if end.ended in _MALFORMED:
        return f"{end.ended.value}: {end.detail}" if end.detail else end.ended.value
    return end.detail if end.ended is Ended.ARENA else ""
