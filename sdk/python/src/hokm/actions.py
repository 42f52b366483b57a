"""What a seat may do. Actions are imperative: a wish, judged by the rules before anything happens.

An action carries no seat and no decision: who sent it, and in answer to what, is the table's
business.
"""

from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from hokm.cards import CARDS, Card, CardSet, Trump, cards_text


class Draw(Enum):
    """The choice of a two-seat draw: the card that was looked at, or the unseen one below it."""

    KEEP = "keep"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class CutDeck:
    """Cut ``position`` cards, 1 to 51, from the top to the bottom (rulebook 2.2)."""

    position: int


@dataclass(frozen=True, slots=True)
class DeclareTrump:
    """Name trump (rulebook 1.3)."""

    trump: Trump


@dataclass(frozen=True, slots=True)
class DiscardCards:
    """Lay cards face down before the draw: the hakem three, the other two (rulebook 4.2)."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class ChooseDraw:
    """Keep the card looked at or refuse it (rulebook 4.3)."""

    choice: Draw


@dataclass(frozen=True, slots=True)
class PlayCard:
    """Play a card to the trick (rulebook 1.4)."""

    card: Card


Action = CutDeck | DeclareTrump | DiscardCards | ChooseDraw | PlayCard

CUTS: tuple[CutDeck, ...] = tuple(CutDeck(position) for position in range(1, 52))
"""Every cut of 52 cards: ``CUTS[k - 1].position == k``."""

PLAYS: tuple[PlayCard, ...] = tuple(PlayCard(card) for card in CARDS)
"""Every play, made once: ``PLAYS[card].card == card``."""


class _PlaysInSuit(dict[int, tuple[PlayCard, ...]]):
    """The plays of a set within one suit, ascending; filled as met, 8192 a suit at most."""

    def __missing__(self, cards: int) -> tuple[PlayCard, ...]:
        lowest = cards & -cards
        found = self[cards] = (PLAYS[lowest.bit_length() - 1], *self[cards ^ lowest])
        return found


_PLAYS_IN_SUIT = _PlaysInSuit({0: ()})


def plays_of(cards: CardSet) -> tuple[PlayCard, ...]:
    """The plays of those cards, ascending."""
    return _PLAYS_IN_SUIT.get(cards) or (
        _PLAYS_IN_SUIT[cards & 0x1FFF]
        + _PLAYS_IN_SUIT[cards & 0x1FFF << 13]
        + _PLAYS_IN_SUIT[cards & 0x1FFF << 26]
        + _PLAYS_IN_SUIT[cards & 0x1FFF << 39]
    )


DECLARATIONS: tuple[DeclareTrump, ...] = tuple(DeclareTrump(trump) for trump in Trump)
"""Every declaration, made once: ``DECLARATIONS[trump].trump == trump``."""

DRAWS: tuple[ChooseDraw, ChooseDraw] = (ChooseDraw(Draw.KEEP), ChooseDraw(Draw.REFUSE))
"""Both draw choices, keep first."""


def action_text(action: Action) -> str:
    """An action in a few words, for a log or a record: ``play 7C``, ``declare S``, ``keep``."""
    match action:
        case CutDeck(position):
            return f"cut {position}"
        case DeclareTrump(trump):
            return f"declare {trump.letter}"
        case DiscardCards(cards):
            return f"discard {cards_text(cards)}"
        case ChooseDraw(choice):
            return choice.value
        case PlayCard(card):
            return f"play {card}"
        case _:
            assert_never(action)
