"""What a bot's home and a ladder say to each other about seats, as values.

A home is a process on the author's machine that says that its bot is there, hears of seats, and
starts a process for each. The order: a hello, a welcome; then offers of the ladder, and what the
home says to each. Nothing here says against whom a seat is, or which cards are dealt. These classes
know nothing of protobuf or gRPC: :mod:`hokm.wire` turns them into bytes and back.
"""

from dataclasses import dataclass, field
from enum import Enum

ALIVE_SECONDS = 10.0
"""How often at least a home says something, if only that it is alive."""

MOST_SEATS_AT_ONCE = 64
"""Seats that a home may offer, each of which is a process."""


class Partners(Enum):
    """How partners are made at a casual table of four."""

    FIXED = "fixed"
    """Who came first sits opposite who came third."""
    SECOND_ACE = "second_ace"
    """The second ace draws them."""


@dataclass(frozen=True, slots=True)
class TableWish:
    """A kind of casual table: 2 to 4 players."""

    players: int = 4
    partners: Partners = Partners.FIXED


# -- what a home says


@dataclass(frozen=True, slots=True)
class HomeHello:
    """The first message: what it speaks, which bot it is of, how many seats it takes at once.

    ``playing`` are the offers whose processes still run, where it comes back. ``table`` is where it
    would sit down, None where it is there for rated matches.
    """

    protocol: int
    sdk: str
    name: str
    version: str
    seats: int
    playing: tuple[int, ...] = ()
    table: TableWish | None = None


class HomeAnswerKind(Enum):
    """What a home says to an offer."""

    TAKEN = "taken"
    """A process was started for it."""
    REFUSED = "refused"
    """None will come."""
    FINISHED = "finished"
    """Its process has ended."""


@dataclass(frozen=True, slots=True)
class HomeAnswer:
    """What becomes of an offer."""

    offer: int
    kind: HomeAnswerKind


@dataclass(frozen=True, slots=True)
class HomeAlive:
    """It is still there."""


@dataclass(frozen=True, slots=True)
class HomeDraining:
    """It takes part in no more matches; those under way it plays to their end."""


FromHome = HomeHello | HomeAnswer | HomeAlive | HomeDraining


# -- what a ladder says


@dataclass(frozen=True, slots=True)
class HomeWelcome:
    """The ladder has taken note; ``bot`` is the name under which it plays there."""

    protocol: int
    arena: str
    bot: str


@dataclass(frozen=True, slots=True)
class SeatOffer:
    """A seat, for whoever comes with the ticket, a secret, and says hello in time."""

    offer: int
    ticket: str = field(repr=False)
    within_seconds: float


@dataclass(frozen=True, slots=True)
class SeatOver:
    """Nothing more is played at a seat: its process is to end."""

    offer: int


ToHome = HomeWelcome | SeatOffer | SeatOver
