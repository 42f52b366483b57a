"""What happened at a table. State changes only through events, and a seat learns only through its
view of them.

Every event class says what a seat sees of it: :meth:`Event.seen_by` builds that up from nothing,
field by field, and a class that does not say it cannot be made. Rulebook 6 is the table of what may
be known, and when.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache

from hokm.actions import Draw
from hokm.cards import CARDS, Card, Seat, Trump
from hokm.outcome import HandResult


class Event(ABC):
    """Something that happened. Events are past; fields a seat may not know are None in what it
    sees, and what a seat sees is seen again just so.
    """

    __slots__ = ()

    @abstractmethod
    def seen_by(self, seat: Seat) -> "Event":
        """The event as that seat learns of it."""


class PublicEvent(Event):
    """An event that everybody sees whole."""

    __slots__ = ()

    def seen_by(self, seat: Seat) -> "Event":
        """The event itself."""
        return self


@dataclass(frozen=True, slots=True)
class CardTurned(PublicEvent):
    """In the ace draw for the first hakem, ``seat`` received ``card``, face up (rulebook 1.9)."""

    seat: Seat
    card: Card


@dataclass(frozen=True, slots=True)
class PartnerDrawn(PublicEvent):
    """``seat`` received the second ace: its player is the hakem's partner, and from here on sits
    ``opposite`` the hakem, having changed chairs with whoever sat there (rulebook 2.1).

    The cards before this went to chairs as they were; everything after it names them as they are.
    """

    seat: Seat
    opposite: Seat

    @property
    def chairs(self) -> tuple[Seat, ...]:
        """The chair that the player at each seat had in the draw.

        >>> PartnerDrawn(Seat(1), opposite=Seat(0)).chairs
        (1, 0, 2, 3)
        """
        moved = {self.seat: self.opposite, self.opposite: self.seat}
        return tuple(moved.get(seat, seat) for seat in map(Seat, range(4)))


@dataclass(frozen=True, slots=True)
class HandStarted(PublicEvent):
    """A hand begins. ``number`` counts from 1 within the game; ``scores`` are the points by side so
    far.
    """

    number: int
    hakem: Seat
    dealer: Seat
    scores: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DeckCut(PublicEvent):
    """``seat`` cut ``position`` cards from the top to the bottom (rulebook 2.2)."""

    seat: Seat
    position: int


@dataclass(frozen=True, slots=True)
class PacketDealt(Event):
    """``seat`` was dealt ``count`` cards; ``cards`` are known to that seat alone."""

    seat: Seat
    count: int
    cards: tuple[Card, ...] | None

    def seen_by(self, seat: Seat) -> "Event":
        """The cards for the seat they were dealt to, their number for the others."""
        if seat == self.seat or self.cards is None:
            return self
        return _unseen_packet(self.seat, self.count)


@cache
def _unseen_packet(seat: Seat, count: int) -> PacketDealt:
    """A packet as the others see it, made once."""
    return PacketDealt(seat, count, None)


@dataclass(frozen=True, slots=True)
class TrumpDeclared(PublicEvent):
    """``seat``, the hakem, named trump."""

    seat: Seat
    trump: Trump


@dataclass(frozen=True, slots=True)
class CardsDiscarded(Event):
    """``seat`` laid ``count`` cards face down; ``cards`` are known to that seat alone (rulebook
    4.2).
    """

    seat: Seat
    count: int
    cards: tuple[Card, ...] | None

    def seen_by(self, seat: Seat) -> "Event":
        """The cards for the seat that discarded them, their number for the other."""
        if seat == self.seat or self.cards is None:
            return self
        return CardsDiscarded(self.seat, self.count, None)


@dataclass(frozen=True, slots=True)
class CardOffered(Event):
    """``seat`` looks at the top of the stock, ``stock`` cards with this one (rulebook 4.3)."""

    seat: Seat
    stock: int
    card: Card | None

    def seen_by(self, seat: Seat) -> "Event":
        """The card for the drawer; for the other, whose turn it is and the size of the stock."""
        if seat == self.seat or self.card is None:
            return self
        return CardOffered(self.seat, self.stock, None)


@dataclass(frozen=True, slots=True)
class DrawChosen(Event):
    """``seat`` kept the card it was offered, or refused it; ``second`` is the card below it.

    Kept, the second card was discarded; refused, it was taken. ``public`` says whether the table
    tells the opponent which (the option ``draw_choice_public``); it is a rule of the table, known
    to all.
    """

    seat: Seat
    choice: Draw | None
    second: Card | None
    public: bool

    def seen_by(self, seat: Seat) -> "Event":
        """All for the drawer; for the other the choice where it is public, never a card."""
        if seat == self.seat:
            return self
        return DrawChosen(self.seat, self.choice if self.public else None, None, self.public)


@dataclass(frozen=True, slots=True)
class CardPlayed(PublicEvent):
    """``seat`` played ``card`` to the trick."""

    seat: Seat
    card: Card


@dataclass(frozen=True, slots=True)
class TrickTaken(PublicEvent):
    """``seat`` took the trick, and leads the next one."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class HandEnded(PublicEvent):
    """The hand is over. Hakem and dealer of the next hand are None where there is none: on boards,
    at a race's end.
    """

    result: HandResult
    next_hakem: Seat | None
    next_dealer: Seat | None


CARD_PLAYED: tuple[tuple[CardPlayed, ...], ...] = tuple(
    tuple(CardPlayed(Seat(seat), card) for card in CARDS) for seat in range(4)
)
"""Every play of a card, made once: ``CARD_PLAYED[seat][card]``."""

TRICK_TAKEN: tuple[TrickTaken, ...] = tuple(TrickTaken(Seat(seat)) for seat in range(4))
"""Every taking of a trick, made once, by seat."""
