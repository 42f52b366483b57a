"""Deals that fit what one seat knows: where the cards that it has not seen may lie.

Every deal that fits is equally likely, exactly. It fits if each hand has its number of cards and
none of a suit that its seat has shown to be out of. So a sample is what a player should expect who
draws no conclusion from what others chose to play, keep or name; whoever wants to weighs the
samples. Chance is an argument, and what one would do with a deal is somebody else's business.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import comb
from typing import Protocol

from hokm.cards import NO_CARDS, Card, CardSet, Suit, card_set, cards_in
from hokm.rules.tricks import SUIT_CARDS
from hokm.view import View


class Chance(Protocol):
    """What is asked of a source of chance; a ``random.Random`` is one."""

    def randrange(self, stop: int, /) -> int:
        """A number from 0 to ``stop - 1``, each equally likely."""

    def shuffle(self, cards: list[Card], /) -> None:
        """Put a list into an order, each equally likely."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One way the unseen cards may lie.

    ``hands[seat]`` are bit sets. Where cards are still to be dealt, as before trump is named, they
    are dealt out: the hands are those with which the tricks will begin, this seat's own included.
    With two seats they are those held now; ``stock`` is what is left of the stock from the top on,
    the card on offer among it, and ``gone`` what the opponent has discarded. With three and four
    seats both are empty.
    """

    hands: tuple[CardSet, ...]
    stock: tuple[Card, ...] = ()
    gone: CardSet = NO_CARDS


class Sampler:
    """The deals that fit a view at this moment. It takes what it needs from the view once, and does
    not follow it. Raises ValueError for a view that no deal fits.

    >>> from random import Random
    >>> from hokm import Rules, Seat, View, parse_cards
    >>> from hokm.events import HandStarted, PacketDealt
    >>> view = View(Rules.of(4), Seat(0))
    >>> view.apply(HandStarted(1, Seat(0), Seat(3), (0, 0)))
    >>> view.apply(PacketDealt(Seat(0), 5, parse_cards("AS KS 4H 3H 2C")))
    >>> sampler, chance = Sampler(view), Random(1)
    >>> sample = sampler.sample(chance)
    >>> [hand.bit_count() for hand in sample.hands], view.hand_set & ~sample.hands[0]
    ([13, 13, 13, 13], 0)
    """

    def __init__(self, view: View) -> None:
        self._own = view.seat
        self._own_hand = view.hand_set
        self._offered = (view.offered,) if view.offered is not None else ()
        self._seats = view.variant.seats
        unseen = card_set(view.unseen)
        places = _places(view, unseen)
        self._groups = _groups(unseen, places)
        """Cards that may lie in the same places, and those places, by number."""
        found = list(_splits(self._groups, {place.number: place.size for place in places}))
        self._splits = [split for split, _ in found]
        """How many cards of each group go to each of its places, every way there is."""
        self._ways = list(accumulate(ways for _, ways in found))
        """The deals of those splits, added up: one is drawn in proportion to its own."""
        if not self._ways:
            raise ValueError("no deal fits this view: it has learned what cannot be")

    @property
    def deals(self) -> int:
        """How many deals fit; with two seats, orders of the stock do not count apart."""
        return self._ways[-1]

    def sample(self, chance: Chance) -> Sample:
        """One of the deals that fit, each equally likely."""
        ways = self._ways
        number = bisect_right(ways, chance.randrange(ways[-1])) if len(ways) > 1 else 0
        dealt = [0] * (self._seats + 2)
        stock: list[Card] = []
        for group, split in zip(self._groups, self._splits[number], strict=True):
            cards = list(group.cards)
            if len(group.places) > 1:
                chance.shuffle(cards)
            start = 0
            for place, size in zip(group.places, split, strict=True):
                part = cards[start : start + size]
                start += size
                if place == self._seats:
                    stock += part
                else:
                    bits = 0
                    for card in part:
                        bits |= 1 << card
                    dealt[place] |= bits
        dealt[self._own] |= self._own_hand
        return Sample(
            tuple(map(CardSet, dealt[: self._seats])),
            (*self._offered, *stock),
            CardSet(dealt[self._seats + 1]),
        )

    def samples(self, chance: Chance, number: int) -> Iterator[Sample]:
        """So many of them, each drawn anew: the same one may come again."""
        for _ in range(number):
            yield self.sample(chance)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where ``size`` unseen cards lie, all among ``may_hold``. Places are numbered: the seats, the
    stock, what the opponent has discarded.
    """

    number: int
    size: int
    may_hold: CardSet


@dataclass(frozen=True, slots=True)
class _Group:
    cards: tuple[Card, ...]
    places: tuple[int, ...]


def _places(view: View, unseen: CardSet) -> list[_Place]:
    """Every place with unseen cards; together they hold all of them."""
    variant, sizes = view.variant, list(view.counts)
    stock = view.stock - (view.offered is not None)
    others = sum(sizes) - sizes[view.seat]
    if view.trump is None or (not variant.stock and others < unseen.bit_count()):
        # The packets are not all dealt. It is the same number of cards for each in the end.
        sizes = [(len(variant.pack) - variant.stock) // variant.seats] * variant.seats
    sizes[view.seat] -= view.counts[view.seat]
    sizes += [stock, unseen.bit_count() - stock - sum(sizes)]
    everything = card_set(variant.pack)
    may_hold = [everything & ~_suits(voids) for voids in view.voids] + [everything] * 2
    return [_Place(number, size, may_hold[number]) for number, size in enumerate(sizes) if size]


def _suits(suits: frozenset[Suit]) -> CardSet:
    cards = 0
    for suit in suits:
        cards |= SUIT_CARDS[suit]
    return CardSet(cards)


def _groups(unseen: CardSet, places: Sequence[_Place]) -> list[_Group]:
    """The unseen cards by the places in which they may lie, those with the fewest first.

    Suits that nobody has shown a void in are one group, so that there are few ways to split.
    """
    by_places: dict[tuple[int, ...], int] = {}
    for suit in SUIT_CARDS:
        cards = unseen & suit
        if cards:
            # The place of a number holds the whole of a suit or nothing of it.
            open_places = tuple(place.number for place in places if place.may_hold & cards)
            by_places[open_places] = by_places.get(open_places, 0) | cards
    return [
        _Group(cards_in(CardSet(by_places[open_places])), open_places)
        for open_places in sorted(by_places, key=lambda key: (len(key), key))
    ]


def _splits(
    groups: Sequence[_Group], room: Mapping[int, int]
) -> Iterator[tuple[tuple[tuple[int, ...], ...], int]]:
    """Every way to fill the room that the places have with those groups: for each group how many
    cards go to each of its places, and how many deals that makes.
    """
    if not groups:
        yield (), 1
        return
    first = groups[0]
    for part, ways in _parts(len(first.cards), [room[place] for place in first.places]):
        taken = dict(zip(first.places, part, strict=True))
        left = {place: size - taken.get(place, 0) for place, size in room.items()}
        for parts, more in _splits(groups[1:], left):
            yield (part, *parts), ways * more


def _parts(cards: int, room: Sequence[int]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Every way to part so many cards among places with that much room, and in how many ways which
    cards can be chosen for it.
    """
    if not room:
        if not cards:
            yield (), 1
        return
    rest = sum(room[1:])
    for size in range(max(0, cards - rest), min(cards, room[0]) + 1):
        for part, ways in _parts(cards - size, room[1:]):
            yield (size, *part), comb(cards, size) * ways
