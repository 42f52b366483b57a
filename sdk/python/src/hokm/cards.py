"""Cards, suits, ranks and seats: the nouns everything else is made of.

A card is a small integer under a typed name, a hand is a bit set of cards: rules that simulate
millions of hands want nothing larger. The numbering is that of ``hokm-shuffle-v1``: ``card = 13 *
suit + rank`` with suits C D H S = 0..3 and ranks 2..A = 0..12. This module knows nothing of trump,
tricks or turns.
"""

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING, NewType, Self

from hokm.errors import NotationError, quoted

Seat = NewType("Seat", int)
"""A place at the table, numbered 0, 1, ... in order of play: ``seat + 1`` plays next (rulebook
1.2).
"""

Side = NewType("Side", int)
"""What scores: with four seats side 0 is seats {0, 2} and side 1 is {1, 3}; else every seat is its
own side.
"""

if TYPE_CHECKING:

    class CardSet(int):
        """A set of cards as bits: card ``c`` is in the set if bit ``1 << c`` is on; at most 52.

        What ``&``, ``|`` and ``^`` make of a set is a set again.
        """

        def __and__(self, other: int, /) -> "CardSet": ...
        def __or__(self, other: int, /) -> "CardSet": ...
        def __xor__(self, other: int, /) -> "CardSet": ...
else:
    # A plain int once it runs: simulations make several with every card that is played.
    CardSet = int

SUIT_LETTERS = "CDHS"
RANK_LETTERS = "23456789TJQKA"


class Suit(IntEnum):
    """The four suits in the order of the card numbering."""

    CLUBS = 0
    DIAMONDS = 1
    HEARTS = 2
    SPADES = 3

    @property
    def letter(self) -> str:
        """``C``, ``D``, ``H`` or ``S``."""
        return SUIT_LETTERS[self]

    @property
    def symbol(self) -> str:
        """The suit as it is printed on a card: ♣ ♦ ♥ ♠."""
        return "♣♦♥♠"[self]

    @property
    def cards(self) -> CardSet:
        """All thirteen cards of the suit."""
        return CardSet(0x1FFF << (13 * self))


class Rank(IntEnum):
    """The thirteen ranks, low to high as they stand with a suit as trump (rulebook 1.1)."""

    TWO = 0
    THREE = 1
    FOUR = 2
    FIVE = 3
    SIX = 4
    SEVEN = 5
    EIGHT = 6
    NINE = 7
    TEN = 8
    JACK = 9
    QUEEN = 10
    KING = 11
    ACE = 12

    @property
    def letter(self) -> str:
        """One character: ``2`` … ``9``, ``T``, ``J``, ``Q``, ``K``, ``A``."""
        return RANK_LETTERS[self]


class Trump(IntEnum):
    """What a hakem may name. The suits have the numbers of :class:`~hokm.cards.Suit`; the modes
    have no trump suit.

    ``SAR`` keeps aces high, ``NAR`` reverses the order (2 high, ace low), ``TAK_NAR`` reverses it
    with the ace on top (rulebook 5). A table allows modes only where its rules say so.
    """

    CLUBS = 0
    DIAMONDS = 1
    HEARTS = 2
    SPADES = 3
    SAR = 4
    NAR = 5
    TAK_NAR = 6

    @property
    def suit(self) -> Suit | None:
        """The trump suit, or None in a mode without one."""
        return Suit(self) if self < Trump.SAR else None

    @property
    def letter(self) -> str:
        """``C``, ``D``, ``H``, ``S``, or the mode's name."""
        return SUIT_LETTERS[self] if self < Trump.SAR else self.name

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what :attr:`letter` wrote; raises :class:`~hokm.errors.NotationError` on anything
        else.
        """
        for trump in cls:
            if trump.letter == text:
                return trump
        raise NotationError(f"{quoted(text)} is no trump: expected C, D, H, S, SAR, NAR or TAK_NAR")


class Card(int):
    """One card, 0..51. There is one object a card: ``Card(5) is Card(5)``.

    >>> card = Card.parse("AS")
    >>> card.suit, card.rank, int(card)
    (<Suit.SPADES: 3>, <Rank.ACE: 12>, 51)
    """

    __slots__ = ()

    def __new__(cls, number: int) -> "Card":
        """The card of that number; raises ValueError outside 0..51."""
        if not 0 <= number < 52:
            raise ValueError(f"there is no card {number}: cards are numbered 0 to 51")
        return CARDS[number]

    @classmethod
    def of(cls, suit: Suit, rank: Rank) -> "Card":
        """The card of that suit and rank."""
        return CARDS[13 * suit + rank]

    @classmethod
    def parse(cls, text: str) -> "Card":
        """Read rank and suit letter (``TC``, ``as``) or symbol (``A♠``); raises NotationError."""
        if len(text) == 2:
            rank = RANK_LETTERS.find(text[0].upper())
            suit = max(SUIT_LETTERS.find(text[1].upper()), "♣♦♥♠".find(text[1]))
            if rank >= 0 and suit >= 0:
                return CARDS[13 * suit + rank]
        raise NotationError(
            f"{quoted(text)} is no card: expected a rank 2-9 T J Q K A and a suit C D H S, "
            "as in 'TC'"
        )

    @property
    def suit(self) -> Suit:
        """The card's suit."""
        return _SUIT_OF[self]

    @property
    def rank(self) -> Rank:
        """The card's rank."""
        return _RANK_OF[self]

    @property
    def bit(self) -> CardSet:
        """The set that holds this card alone."""
        return CardSet(1 << self)

    @property
    def symbol(self) -> str:
        """As printed for a person: ``A♠``, ``T♣``."""
        return self.rank.letter + self.suit.symbol

    def __str__(self) -> str:
        return self.rank.letter + self.suit.letter

    def __repr__(self) -> str:
        return f"<Card {self}>"


CARDS: tuple[Card, ...] = tuple(int.__new__(Card, number) for number in range(52))
"""Every card in ascending order: ``CARDS[c] == c``."""

_SUIT_OF = tuple(Suit(number // 13) for number in range(52))
_RANK_OF = tuple(Rank(number % 13) for number in range(52))

NO_CARDS = CardSet(0)


def card_set(cards: Iterable[Card]) -> CardSet:
    """The set of those cards."""
    bits = 0
    for card in cards:
        bits |= 1 << card
    return CardSet(bits)


def cards_in(cards: CardSet) -> tuple[Card, ...]:
    """The cards of a set, ascending."""
    return _IN_SUIT.get(cards) or (
        _IN_SUIT[cards & 0x1FFF]
        + _IN_SUIT[cards & 0x1FFF << 13]
        + _IN_SUIT[cards & 0x1FFF << 26]
        + _IN_SUIT[cards & 0x1FFF << 39]
    )


class _InSuit(dict[int, tuple[Card, ...]]):
    """The cards of a set within one suit, ascending; filled as met, 8192 a suit at most."""

    def __missing__(self, cards: int) -> tuple[Card, ...]:
        lowest = cards & -cards
        found = self[cards] = (CARDS[lowest.bit_length() - 1], *self[cards ^ lowest])
        return found


_IN_SUIT = _InSuit({0: ()})


def parse_cards(text: str) -> tuple[Card, ...]:
    """Read cards separated by white space, in the order written; raises NotationError."""
    return tuple(Card.parse(word) for word in text.split())


def cards_text(cards: Iterable[Card]) -> str:
    """Cards in the order given, as :func:`parse_cards` reads them."""
    return " ".join(map(str, cards))
