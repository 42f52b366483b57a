"""Tricks: which cards may be played, and which card takes.

Legality and trick strength have their one home here; a deal that is played through events and a
position that a bot simulates both ask these tables. Everything is precomputed: a card's strength is
one look-up.
"""

from collections.abc import Sequence

from hokm.cards import CARDS, Card, CardSet, Rank, Seat, Suit, Trump

SUIT_CARDS: tuple[CardSet, ...] = tuple(suit.cards for suit in Suit)
"""The cards of each suit as a set."""

SUIT_OF: tuple[int, ...] = tuple(number // 13 for number in range(52))
"""The suit of each card as a plain number: ``SUIT_OF[card]``."""

SEAT_AFTER: tuple[tuple[Seat, ...], ...] = tuple(
    tuple(Seat((seat + 1) % seats) for seat in range(seats)) for seats in range(5)
)
"""Who plays next: ``SEAT_AFTER[seats][seat]`` (rulebook 1.2)."""


def legal_cards(hand: CardSet, led: int | None) -> CardSet:
    """The cards of a hand that may be played when suit ``led`` was led, None for the lead (rulebook
    1.4).
    """
    if led is None:
        return hand
    return hand & SUIT_CARDS[led] or hand


def height(rank: Rank, trump: Trump) -> int:
    """How high a rank stands within its suit under that trump, 1 to 13 (rulebook 1.1 and 5)."""
    if trump is Trump.NAR:
        return 13 - rank
    if trump is Trump.TAK_NAR:
        return 13 if rank is Rank.ACE else 12 - rank
    return rank + 1


def _strength(card: Card, trump: Trump, led: Suit) -> int:
    """0 for a card that cannot take the trick; else higher takes (rulebook 1.5)."""
    if card.suit is trump.suit:
        return 13 + height(card.rank, trump)
    return height(card.rank, trump) if card.suit is led else 0


STRENGTH: tuple[tuple[tuple[int, ...], ...], ...] = tuple(
    tuple(tuple(_strength(card, trump, led) for card in CARDS) for led in Suit) for trump in Trump
)
"""``STRENGTH[trump][led][card]``: 0 for a card that cannot take; of the others the highest takes.
"""


def taker(cards: Sequence[Card], *, trump: Trump) -> int:
    """The place in a trick, from 0 for the lead, of the card that takes it (rulebook 1.5)."""
    strength = STRENGTH[trump][SUIT_OF[cards[0]]]
    return max(range(len(cards)), key=lambda place: strength[cards[place]])
