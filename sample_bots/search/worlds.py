"""What the hidden cards may be: deals that fit, weighed by what the others have chosen so far.

Every deal that ``hokm.sampling`` draws is possible; not every one is as plausible. A hakem names
the suit that is longest in its first cards, and a card that nobody with such a hand would have
played speaks against that hand. So more deals are drawn than are looked at, and those looked at are
taken in proportion to how well what was named and played goes with them, if everybody mostly does
as *house* advises.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import comb
from random import Random

from playout import SUITS, Hand, Table

from hokm import View
from hokm.cards import card_set
from hokm.sampling import Sampler
from hokm.solver.openhand import by_strength

DEALT_FIRST = 5
"""Cards from which trump is named (rulebook 1.3)."""


class Worlds:
    """Hands as they may be, in the middle of their tricks, for the seat of a view that is to play.

    ``doubt`` is how often a seat plays a card that is not advised, to how often it plays the one
    that is; with 1 nothing is concluded from plays.
    """

    def __init__(self, view: View, chance: Random, *, doubt: float) -> None:
        assert view.trump is not None
        self._chance, self._doubt = chance, doubt
        self._own, self._hakem, self._trump = view.seat, view.hakem, view.trump
        self._sampler = Sampler(view)
        self._table = Table(view.variant.side_of, view.trump_suit)
        tricks = (*(trick.plays for trick in view.tricks), view.trick)
        self._plays = [
            (play.seat, by_strength(play.card.bit, view.trump))
            for plays in tricks
            for play in plays
        ]
        self._pack = card_set(view.variant.pack)
        self._discarded = card_set(view.discarded)

    @property
    def deals(self) -> int:
        """How many deals fit."""
        return self._sampler.deals

    def draw(self) -> tuple[Hand, float]:
        """One deal that fits, played on to where the view is, and how plausible it is."""
        sample, trump, own, doubt = (
            self._sampler.sample(self._chance),
            self._trump,
            self._own,
            self._doubt,
        )
        hands = [by_strength(hand, trump) for hand in sample.hands]
        for seat, card in self._plays:
            hands[seat] |= card
        packs = [by_strength(self._pack & ~sample.gone, trump)] * len(hands)
        packs[own] = by_strength(self._pack & ~self._discarded, trump)
        hand = Hand(self._table, hands, packs=packs, turn=self._hakem)
        plausible = 1.0
        if self._hakem != own and trump.suit is not None:
            seen = hands[self._hakem] | by_strength(sample.gone, trump)
            lengths = [(seen & suit).bit_count() for suit in SUITS]
            trumps = lengths.pop(trump)
            plausible = named(trumps, tuple(sorted(lengths)))
        for seat, card in self._plays:
            if doubt < 1 and seat != own and hand.advised() != card:
                plausible *= doubt
            hand.play(card)
        return hand, plausible


def kept(pool: Sequence[tuple[Hand, float]], number: int, chance: Random) -> list[tuple[Hand, int]]:
    """So many hands of the pool, in proportion to how plausible they are: each with how often it is
    taken, in no order.
    """
    step = sum(plausible for _, plausible in pool) / number
    at, total = chance.random() * step, 0.0
    taken: list[tuple[Hand, int]] = []
    for hand, plausible in pool:
        total += plausible
        times = 0
        while at < total:
            times += 1
            at += step
        if times:
            taken.append((hand, times))
    chance.shuffle(taken)
    return taken


@lru_cache(maxsize=4096)
def named(trumps: int, others: tuple[int, ...]) -> float:
    """The chance that the trump suit is the longest of the first cards dealt, of suits of those
    lengths; of equally long ones each is named as often.
    """
    likely = 0.0
    for counts in product(*(range(min(length, DEALT_FIRST) + 1) for length in others)):
        of_trumps = DEALT_FIRST - sum(counts)
        if max(counts) <= of_trumps <= trumps:
            ways = comb(trumps, of_trumps)
            for length, count in zip(others, counts, strict=True):
                ways *= comb(length, count)
            likely += ways / (1 + counts.count(of_trumps))
    # A little for a hakem that names what it likes.
    return 0.01 + likely / comb(trumps + sum(others), DEALT_FIRST)
