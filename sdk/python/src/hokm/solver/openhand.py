"""A hand with all its cards open: what a solver is asked about.

It says where the cards lie, what is trump, and who leads or has led; it knows nothing of the tricks
that were taken before, and nothing of how a solver works.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hokm.cards import Card, CardSet, Seat, Trump, card_set, cards_in
from hokm.rules.tricks import SUIT_OF, height, legal_cards

if TYPE_CHECKING:
    from hokm.rules.position import Position


@dataclass(frozen=True, slots=True)
class OpenHand:
    """What is left of a hand: the cards of every seat, and the trick that is on.

    ``hands[seat]`` are the cards held now, without those on the table; ``trick`` are those on the
    table in order of play, led by ``leader``. With two and three seats everybody plays alone, with
    four the seats opposite are partners.

    >>> from hokm import Seat, Trump, parse_cards
    >>> from hokm.cards import card_set
    >>> hands = tuple(card_set(parse_cards(text)) for text in ("AS 2H", "3H KS", "AH QS", "4H JS"))
    >>> OpenHand(hands, Trump.HEARTS, Seat(0)).turn
    0
    """

    hands: tuple[CardSet, ...]
    trump: Trump
    leader: Seat
    trick: tuple[Card, ...] = ()

    @classmethod
    def of_position(cls, position: "Position") -> "OpenHand":
        """What is left of the hand that is simulated."""
        leader = Seat((position.turn - len(position.trick)) % len(position.hands))
        return cls(tuple(position.hands), position.trump, leader, tuple(position.trick))

    @property
    def turn(self) -> Seat:
        """The seat that is to play."""
        return Seat((self.leader + len(self.trick)) % len(self.hands))

    @property
    def tricks_left(self) -> int:
        """Tricks still to be taken, the one that is on among them."""
        return self.hands[self.turn].bit_count()

    @property
    def playable(self) -> CardSet:
        """The cards the seat :attr:`turn` may play (rulebook 1.4)."""
        return legal_cards(self.hands[self.turn], SUIT_OF[self.trick[0]] if self.trick else None)

    def refuse_impossible(self) -> None:
        """Raise ValueError unless this can be: somebody is to play, the hands are as long as they
        must be, and no card is in two places.
        """
        seats, played = len(self.hands), len(self.trick)
        if not 2 <= seats <= 4 or not 0 <= self.leader < seats or played >= seats:
            raise ValueError(
                f"no hand has {seats} seats, {played} cards played, led by {self.leader}"
            )
        left = self.tricks_left
        if left == 0:
            raise ValueError("this hand is over: nobody holds a card")
        everywhere, cards = card_set(self.trick), len(set(self.trick))
        for place in range(seats):
            hand = self.hands[(self.leader + place) % seats]
            wanted = left - 1 if place < played else left
            if hand.bit_count() != wanted:
                seat = (self.leader + place) % seats
                raise ValueError(f"seat {seat} holds {hand.bit_count()} cards, not {wanted}")
            everywhere |= hand
            cards += wanted
        if everywhere.bit_count() != cards or cards < played or everywhere >> 52:
            raise ValueError("a card is in two places, or there is no such card")


class _Raised(dict[int, int]):
    """Thirteen bits of one suit, low rank to high, as bits from weak to strong under one trump."""

    def __init__(self, trump: Trump) -> None:
        self._trump = trump

    def __missing__(self, ranks: int) -> int:
        cards = cards_in(CardSet(ranks))
        found = self[ranks] = sum(1 << height(card.rank, self._trump) - 1 for card in cards)
        return found


_SAME: Final = (Trump.CLUBS, Trump.DIAMONDS, Trump.HEARTS, Trump.SPADES, Trump.SAR)
"""Under these the order of the bits is that of the cards' strength (rulebook 5)."""

_RAISED: Final[dict[Trump, _Raised]] = {
    trump: _Raised(trump) for trump in Trump if trump not in _SAME
}

_SUIT: Final = 0x1FFF


def by_strength(cards: CardSet, trump: Trump) -> CardSet:
    """The set in which, suit by suit, the strongest card of that trump has the highest bit: solvers
    then need only one order. :func:`cards_of_strength` goes back.
    """
    raised = _RAISED.get(trump)
    if raised is None:
        return cards
    return CardSet(
        raised[cards & _SUIT]
        | raised[cards >> 13 & _SUIT] << 13
        | raised[cards >> 26 & _SUIT] << 26
        | raised[cards >> 39] << 39
    )


def cards_of_strength(trump: Trump) -> Sequence[Card]:
    """By the number of its bit in :func:`by_strength`, every card."""
    return _BACK[trump]


def _back(trump: Trump) -> tuple[Card, ...]:
    every = cards_in(CardSet((1 << 52) - 1))
    return tuple(sorted(every, key=lambda card: by_strength(card.bit, trump)))


_BACK: Final = {trump: _back(trump) for trump in Trump}
