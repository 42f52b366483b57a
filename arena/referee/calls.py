"""What the bridge hands on of services that are not the referee's: one call, as bytes.

The seam behind which gRPC lives for them, as :mod:`arena.referee.connection` is for bots' streams.
A method is a full name, requests and replies are bytes, and how a call ends is a value; nothing
here says what any of it means, or who may call.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol


class Status(Enum):
    """How a call ended; each is a status of gRPC of the same name."""

    OK = "OK"
    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    """What was sent is not what was asked for; again the same will not do."""
    NOT_FOUND = "NOT_FOUND"
    ALREADY_EXISTS = "ALREADY_EXISTS"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    """Who calls is known, and may not."""
    UNAUTHENTICATED = "UNAUTHENTICATED"
    """Who calls is not known."""
    RESOURCE_EXHAUSTED = "RESOURCE_EXHAUSTED"
    """A quota, or too often."""
    FAILED_PRECONDITION = "FAILED_PRECONDITION"
    """Not as things stand."""
    UNIMPLEMENTED = "UNIMPLEMENTED"
    UNAVAILABLE = "UNAVAILABLE"
    """Not now; the same again may do."""
    INTERNAL = "INTERNAL"
    """A fault of the arena's."""
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    """It took too long. The bridge ends a call so; nobody else has to."""


class CallGone(Exception):
    """The caller is gone, or the bridge has ended the call: nothing more can be said or heard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """What a caller of another service may use up."""

    calls: int = 32
    """Calls at once, all services together. Most take milliseconds; the rest are uploads and
    downloads."""
    calls_of_a_host: int = 8
    """Calls at once from one address (IPv6: one /64)."""
    message_bytes: int = (1 << 20) + (1 << 10)
    """A message: a piece of a file of 1 MiB, and what is around it."""
    message_seconds: float = 30.0
    """How long a message may be waited for, or be on its way to a caller that does not read."""
    call_seconds: float = 600.0
    """How long a call may take: 52 MiB at 90 kB a second."""
    lasting: int = 64
    """Calls at once that last, counted apart: who stays for hours takes nobody's place."""
    lasting_of_a_host: int = 16
    """Of those, from one address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The services that a network server has beside the referee: the names of the methods of each,
    by its full name, ``{"hokm.v1.LadderService": {"GetStandings", ...}}``. Calls of those that are
    ``lasting``, by full name of service and method (``hokm.v1.SeatService/OfferSeats``), last as
    long as both sides want, and each message is waited for as for any.
    """

    methods: Mapping[str, frozenset[str]]
    lasting: frozenset[str] = frozenset()
    limits: CallLimits = CallLimits()


class Call(Protocol):
    """One call. Everything here is for the trio thread; one task may receive while one sends."""

    @property
    def service(self) -> str:
        """The full name of the service, such as ``hokm.v1.LadderService``."""

    @property
    def method(self) -> str:
        """The name of the method within it."""

    @property
    def host(self) -> str:
        """Who calls, by address, as :func:`arena.referee.serving.host_of` has it."""

    def metadata(self, name: str) -> str:
        """A text that came with the call; empty if none. It may be secret: it goes into no log."""

    async def receive(self) -> bytes | None:
        """The next request, None once the caller has said all, or is gone and that is not
        known yet. Nothing is read ahead of it.

        Raises:
            CallGone: where nobody calls any more.
        """

    async def send(self, reply: bytes) -> None:
        """Send a reply; returns when there is room for another.

        Raises:
            CallGone: as :meth:`receive`.
        """

    def end(self, status: Status = Status.OK, details: str = "") -> None:
        """End the call; ``details`` is a line for a person. A second one is ignored."""
