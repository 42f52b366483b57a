"""What the bridge hands to the rest of the referee: one bot's stream, as bytes with stamps.

The seam behind which gRPC lives. :mod:`arena.referee.bridge` implements it over the wire and
:mod:`arena.referee.testing` in memory. Nothing here says what the bytes mean.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple, Protocol

Written = Callable[[float, float], None]
"""Called once, from the trio thread, with the times at which a write began and returned."""


class Received(NamedTuple):
    """One message of the wire as it was read: its bytes, and when, in seconds of the bridge's
    clock.
    """

    payload: bytes
    at: float


class Close(Enum):
    """How a stream is ended by the arena. None of them says more than its name."""

    DONE = "done"
    NO_SEAT = "no_seat"
    """The ticket names no seat, or one that is taken."""
    MALFORMED = "malformed"
    """What the bot sent is not what the protocol says."""
    STOPPED = "stopped"
    """The arena is going away."""
    SHUT_OUT = "shut_out"
    """The bot came back on another stream."""
    SILENT = "silent"
    """Nothing was said in time. The bridge ends a stream so; nobody else has to."""


class Connection(Protocol):
    """One stream. Everything here is for the trio thread; nothing but :meth:`receive` and
    :meth:`settle` waits.
    """

    @property
    def ticket(self) -> str:
        """The ticket it came with, empty if none. A secret: it goes into no log."""

    @property
    def resume_token(self) -> str:
        """The token of a bot that comes back, empty if none. As secret as a ticket."""

    async def receive(self) -> Sequence[Received]:
        """What has been read and not yet been taken, waiting for at least one; in order.

        Empty, now and ever after, once the stream has ended and all has been taken.
        """

    def received(self) -> Sequence[Received]:
        """The same without waiting: empty also when nothing lies there."""

    def post(self, payload: bytes, written: Written | None = None) -> None:
        """Write a message after those posted before. One that can no longer be written is dropped,
        and its ``written`` never called.
        """

    def end(self, close: Close = Close.DONE) -> None:
        """End the stream when all that was posted has been written; nothing is received any more.

        After ``Close.DONE`` the bot has a moment to end its half. A second call is ignored.
        """

    async def settle(self) -> None:
        """Return when everything read before this call lies in :meth:`received`, and every write
        that returned before it has been reported.
        """
