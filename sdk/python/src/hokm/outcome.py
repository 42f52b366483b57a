"""How a hand and a game end: values with a reason.

A *hand* ends by the rules. A *game* (one hand of a board in one room, or one race) ends by the
rules or by a fault, and then a seat is named.
"""

from dataclasses import dataclass
from enum import Enum

from hokm.cards import Seat, Side


class HandKind(Enum):
    """How a hand was won (rulebook 1.6)."""

    WIN = "win"
    KOT = "kot"
    """Seven tricks to none, won by the hakem's side."""
    HAKEM_KOT = "hakem_kot"
    """Seven tricks to none, won against the hakem's side."""


@dataclass(frozen=True, slots=True)
class HandResult:
    """The end of one hand: who won, how, what it counts. ``points`` and ``tricks`` are by side."""

    winner: Side
    kind: HandKind
    points: tuple[int, ...]
    tricks: tuple[int, ...]


class Ending(Enum):
    """Why a game is over. Exactly one of these holds of every game."""

    COMPLETED = "COMPLETED"
    """Played to its end by the rules."""
    TIME = "TIME"
    """A seat's clock ran out."""
    ILLEGAL = "ILLEGAL"
    """A seat's action was refused by the rules, and the table's policy ends the game for it."""
    MALFORMED = "MALFORMED"
    """A seat sent what is no action, and the table's policy ends the game for it."""
    CRASH = "CRASH"
    """A seat's process exited or its stream broke."""
    STALL = "STALL"
    """A seat did not take what was written to it, or held its match beyond the cap."""
    NEVER_STARTED = "NEVER_STARTED"
    """A seat's process never said hello. Moves no rating."""
    HOST_FAULT = "HOST_FAULT"
    """The arena failed. No seat is at fault; moves no rating."""
    STOPPED = "STOPPED"
    """Whoever runs the arena stopped it. No seat is at fault; moves no rating."""

    @property
    def counts(self) -> bool:
        """Whether a game that ended so may move a rating."""
        return self not in (Ending.NEVER_STARTED, Ending.HOST_FAULT, Ending.STOPPED)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one game.

    ``points`` by side: of the hand on a board, of the race so far in a race. ``winner`` is the side
    that won the game, None where nobody did (a game that was stopped or voided). ``at_fault`` is
    the seat at fault, None where none is. ``cause`` is one line for a person, and safe to show to
    every seat.
    """

    ending: Ending
    points: tuple[int, ...]
    winner: Side | None
    at_fault: Seat | None = None
    cause: str = ""
