"""A session: a bot that was welcomed, as messages in both directions.

What is told a bot goes out in batches; what it says is decoded, and judged as far as it can be
without knowing a game: whether it is a message, and one for this moment. A session knows neither
gRPC, nor games, nor what its end costs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import NamedTuple, assert_never

import trio

from arena.referee.connection import Close, Connection, Received
from hokm.session import Answer, Decision, FromReferee, Goodbye, Hello
from hokm.wire import REASON_LENGTH, WireError, decode_from_bot, encode_from_referee

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


THE_ARENA = End(Ended.ARENA)
_MALFORMED = (Ended.MALFORMED, Ended.FLOODED)


class Session:
    """A bot that was welcomed. Messages told in one tick of the scheduler go out as one batch.

    One task at a time may :meth:`hear`. After the end of what is heard the bot can still be told
    things, until :meth:`end`.
    """

    def __init__(
        self, connection: Connection, hello: Hello, *, ready: Callable[["Session"], None]
    ) -> None:
        self.hello = hello
        self.closed: End | None = None
        """Why no more is heard; None while there is more to come."""
        self._connection = connection
        self._ready = ready
        self._is_ended = False
        self._left = SPARE_RECEIVED
        """How many more answers and batches are heard."""
        self._batch: list[FromReferee] = []
        self._on_sent: list[Callable[[float], None]] = []
        self._life = trio.lowlevel.ParkingLot()

    # -- to the bot

    def tell(self, message: FromReferee, sent: Callable[[float], None] | None = None) -> None:
        """Say something to the bot, with the next batch. ``sent`` is called with the time at which
        its write returned, and never if it does not; it must not raise.
        """
        if self._is_ended:
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
        self._close(end)
        self._connection.end(Close.MALFORMED if end.ended in _MALFORMED else Close.DONE)

    # -- from the bot

    async def hear(self) -> Sequence[Heard]:
        """The answers that came, at least one, in order; empty once the session is closed."""
        while self.closed is None:
            received = await self._connection.receive()
            if not received:
                self._close(End(Ended.BROKEN))
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

    def _read(self, received: Sequence[Received]) -> list[Heard]:
        """The answers among what was received, up to what closes the session."""
        if received:
            self._life.unpark_all()
        heard: list[Heard] = []
        for payload, at in received:
            try:
                messages = decode_from_bot(payload)
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


def _call_all(calls: Sequence[Callable[[float], None]], at: float) -> None:
    for call in calls:
        call(at)


def _reason(end: End) -> str:
    """What the bot is told: nothing where it left by itself."""
    if end.ended in _MALFORMED:
        return f"{end.ended.value}: {end.detail}" if end.detail else end.ended.value
    return end.detail if end.ended is Ended.ARENA else ""
