"""What is found of a decision, as values; and of whose account it goes.

Points are a side's own less the mean of the others', as everywhere: with two sides a hand that is
won instead of lost is two points.
"""

from dataclasses import dataclass
from enum import Enum

from hokm.cards import Seat
from hokm.records.values import HandRecord


class Kind(Enum):
    """What was decided."""

    DECLARATION = "declaration"
    LEAD = "lead"
    FOLLOW = "follow"
    """A card of the suit that was led, where there were several."""
    DISCARD = "discard"
    """A card by a seat that is out of the suit that was led: thrown away, or a trump."""
    LAYING = "laying down"
    """What is laid down before the draw, with two seats."""
    DRAW = "draw"
    """Whether to keep a card, with two seats."""


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that could have been done.

    ``tricks`` are those of its side in the whole hand if everybody plays as well as can be from
    then on, all cards open. ``points`` are what that comes to; None where it was not asked, since
    nothing was lost.
    """

    name: str
    tricks: int
    points: float | None


@dataclass(frozen=True, slots=True)
class Spot:
    """Where in a record a decision stands. Numbers count from 1; ``step`` is ``trump`` or ``play
    13``, the thirteenth card of the hand.
    """

    room: int
    game: int
    hand: int
    step: str

    def __str__(self) -> str:
        return f"room {self.room}, game {self.game}, hand {self.hand}, {self.step}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One decision with a choice, and what it cost.

    ``tricks_lost`` and ``points_lost`` are against open cards: what the best choice would have
    brought, less what this one brings, if everybody plays as well as can be from then on.
    ``fair_points_lost`` is against what the seat knew, in the mean over deals that fit it; None
    where it was not asked. It may come out below nothing by chance. ``options`` has every choice
    there was, the taken one among them.
    """

    spot: Spot
    seat: Seat
    entrant: int
    kind: Kind
    choice: str
    options: tuple[Option, ...]
    tricks_lost: int
    points_lost: float
    fair_points_lost: float | None = None

    @property
    def better(self) -> tuple[str, ...]:
        """What would have been best: in points where they are known, and of those in tricks."""

        def worth(option: Option) -> tuple[float, int]:
            """Points first, and of equal points tricks."""
            return (option.points or 0.0, option.tricks)

        best = max(map(worth, self.options))
        return tuple(option.name for option in self.options if worth(option) == best)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandAnalysis:
    """One hand: its moments in order, and the choices of which nothing is known, by kind and whose
    they were.

    ``entrants`` are the indices of those who sat, by side.
    """

    room: int
    game: int
    record: HandRecord
    entrants: tuple[tuple[int, ...], ...]
    moments: tuple[Moment, ...]
    left_out: tuple[tuple[Kind, int], ...] = ()
