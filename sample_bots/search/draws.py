"""Plays the discards and draws of a two-seat hand on to its first trick, both seats as *house*
would.

House gives each card a worth, lays away what is worth least, and keeps the card it looks at if the
one below is worth no more on average. Cards are bits by strength, as in ``playout``.
"""

from collections.abc import Sequence

DISCARDS = (3, 2)
"""What the hakem and then the other lay away (rulebook 4.2)."""

CARDS = 52


def worths(trump: int | None) -> tuple[float, ...]:
    """What each card is worth, by the number of its bit: a trump more than any other."""
    return tuple(
        14 + 1 + card % 13 if card // 13 == trump else (1 + card % 13) ** 2 / 13
        for card in range(CARDS)
    )


class Draws:
    """A two-seat hand before its tricks, all cards open.

    ``hands`` and ``gone``, what each has discarded, by seat; ``stock`` from the top on, a bit each;
    ``turn`` the seat that is to discard or to draw.
    """

    __slots__ = ("_worths", "gone", "hands", "stock", "turn")

    def __init__(
        self,
        hands: Sequence[int],
        gone: Sequence[int],
        *,
        stock: Sequence[int],
        turn: int,
        worths: Sequence[float],
    ) -> None:
        self.hands = list(hands)
        self.gone = list(gone)
        self.stock = stock
        self.turn = turn
        self._worths = worths

    def discard(self, cards: int) -> None:
        """The seat whose turn it is lays those away, and it is the other's turn."""
        self.hands[self.turn] ^= cards
        self.gone[self.turn] |= cards
        self.turn = 1 - self.turn

    def discard_least(self, number: int) -> None:
        """Lay away so many of those worth least."""
        worths = self._worths
        cards = sorted(_numbers(self.hands[self.turn]), key=worths.__getitem__)
        self.discard(sum(1 << card for card in cards[:number]))

    def draw(self, *, keep: bool | None = None) -> None:
        """Draw until the stock is empty; ``keep`` says whether the first card is kept."""
        worths, hands, gone = self._worths, self.hands, self.gone
        seat, stock = self.turn, self.stock
        # Each card is seen by one seat before the tricks: what it has not seen is all the others.
        count = [CARDS - (hands[p] | gone[p]).bit_count() for p in (0, 1)]
        every = sum(worths)
        total = [every - sum(worths[n] for n in _numbers(hands[p] | gone[p])) for p in (0, 1)]
        for top in range(0, len(stock), 2):
            first, second = stock[top], stock[top + 1]
            worth = worths[first.bit_length() - 1]
            left, unseen = total[seat] - worth, count[seat] - 1
            is_kept = worth * unseen >= left if keep is None else keep
            keep = None
            kept, lost = (first, second) if is_kept else (second, first)
            hands[seat] |= kept
            gone[seat] |= lost
            total[seat] = left - worths[second.bit_length() - 1]
            count[seat] = unseen - 1
            seat = 1 - seat


def _numbers(cards: int) -> list[int]:
    return [card for card in range(CARDS) if cards >> card & 1]
