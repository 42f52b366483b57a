"""Plays what a small network values most, which learned Hokm from itself (``train.py``).

:meth:`Learned.decide_many` is asked about all boards that wait, and thinks about them in one pass
of the network: sixty positions take hardly longer than one. With two seats discards and draws go by
a rule; and so do the cards where no suit is trump, which the network never learned.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

# A network this small is one core's work; more threads would take the cores of other bots.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from hokm import Asked, Bot, Card, Suit, View, run
from hokm.actions import Action, PlayCard
from hokm.cards import CardSet, card_set

WEIGHTS = Path(__file__).with_name("weights.npz")

Floats = NDArray[np.float32]


class Learned(Bot):
    """The card, or the trump, of which the network expects the most points."""

    name = "learned"
    concurrent = 64

    @classmethod
    def decide_many(cls, asked: Sequence[Asked]) -> Iterator[tuple[Asked, Action]]:
        for_network = [one for one in asked if is_for_network(one.view)]
        for one in asked:
            if one not in for_network:
                yield one, one.decide()
        for seats in (2, 3, 4):  # usually all that wait are of one kind
            together = [one for one in for_network if one.view.variant.seats == seats]
            cards = best_cards([one.view for one in together])
            yield from zip(together, map(PlayCard, cards), strict=True)

    def declare(self, view: View) -> Suit:
        rows = np.stack([declaration_inputs(view, suit) for suit in Suit])
        return Suit(int(network(view.variant.seats, "declare")(rows).argmax()))

    def discard(self, view: View, count: int) -> Sequence[Card]:
        return sorted(view.hand, key=lambda card: worth(view, card))[:count]

    def keep(self, view: View) -> bool:
        assert view.offered is not None
        unseen = [worth(view, card) for card in view.unseen]
        return worth(view, view.offered) >= sum(unseen) / len(unseen)

    def play(self, view: View) -> Card:
        return simple_card(view) if view.trump_suit is None else best_cards([view])[0]


@cache
def network(seats: int, what: str) -> "Network":
    return load(WEIGHTS, f"{seats} {what}")


def is_for_network(view: View) -> bool:
    return isinstance(view.legal[0], PlayCard) and view.trump_suit is not None


def best_cards(views: Sequence[View]) -> list[Card]:
    """The best card for each view, from one pass over all of them; all of one variant."""
    if not views:
        return []
    positions = [Position(view) for view in views]
    inputs = np.stack([position.inputs() for position in positions])
    values = network(views[0].variant.seats, "play")(inputs)
    return [position.best(row) for position, row in zip(positions, values, strict=True)]


def worth(view: View, card: Card) -> float:
    """What a card is worth in a two-seat hand before the tricks, as `house` has it."""
    height = view.height(card)
    return 14 + height if card.suit == view.trump_suit else height * height / 13


def simple_card(view: View) -> Card:
    """The cheapest card that takes the trick, else the cheapest; the highest for a lead."""
    if view.led is None:
        return max(view.playable, key=view.height)
    return min(view.playable, key=lambda card: (not view.takes(card), view.height(card)))


# -- what the network is asked
#
# It gives a value to each of 52 places, where a place is a card as it stands *now*: suits in an
# order of their own (trump first), and within a suit the cards that are still out or on the table,
# from the top. So one place means "the highest trump there still is", whatever its rank and suit.
# A second, smaller one gives a value to five cards and a trump. Values are points of the hand, the
# own side's less the others', and a little for each trick.

PLACES: Final = 52
"""Four suits of thirteen places; the highest card of a suit is at its place 12."""

OWN: Final = 0
"""Where the inputs begin, each block after the one before it: the own cards, by place…"""
UNSEEN: Final = OWN + PLACES
"""…cards that may be elsewhere, by place"""
TAKING: Final = UNSEEN + PLACES
"""…own cards that would take the trick as it stands, by place; none for a lead"""
WINNING: Final = TAKING + PLACES
"""…the card that takes the trick as it stands, by place"""
WINNER: Final = WINNING + PLACES
"""…whose it is: the seat one, two or three turns later"""
PLACED: Final = WINNER + 3
"""…how many cards are on the table, 0 to 3"""
RUFF: Final = PLACED + 4
"""…whether trump was led"""
VOIDS: Final = RUFF + 1
"""…for those three seats, the suits (in that order of their own) they have shown to be out of"""
WON: Final = VOIDS + 3 * 4
"""…for three sides, the own first, how many tricks they have, 0 to 9"""
HAKEM: Final = WON + 3 * 10
"""…who is hakem: the own seat, or one, two or three turns later"""
PLAYED: Final = HAKEM + 4
"""…for those three seats, how many cards of each suit they have played"""
LEADS: Final = PLAYED + 3 * 4
"""…for those three seats, the suits they led"""
INPUTS: Final = LEADS + 3 * 4

DECLARED: Final = 52
"""Inputs of the declaration: the five cards, trump first, the other suits by length."""


def suit_order(view: View, trump: Suit) -> list[Suit]:
    """Trump, the suit that was led, then the others by length and height of what is held."""

    def preference(suit: Suit) -> tuple[bool, bool, int, int, int]:
        held = view.hand_set & suit.cards
        out = card_set(view.unseen) & suit.cards
        return (
            suit == trump,
            suit == view.led,
            held.bit_count(),
            held >> 13 * suit,
            -(out >> 13 * suit),
        )

    return sorted(Suit, key=preference, reverse=True)


def declaration_inputs(view: View, trump: Suit) -> Floats:
    """The seat's first cards, if that suit were trump."""
    inputs = np.zeros(DECLARED, np.float32)
    for slot, suit in enumerate(suit_order(view, trump)):
        for card in view.hand:
            if card.suit == suit:
                inputs[13 * slot + card.rank] = 1
    return inputs


class Position:
    """A view in the tricks as the network sees it."""

    def __init__(self, view: View) -> None:
        assert view.trump_suit is not None
        self.view = view
        self.order = suit_order(view, view.trump_suit)
        self.slots = {suit: slot for slot, suit in enumerate(self.order)}
        self.live = view.hand_set | card_set(view.unseen)
        for play in view.trick:
            self.live |= play.card.bit

    def place_of(self, card: Card) -> int:
        """A card's place: thirteen a suit, less one for every live card of the suit above it."""
        above = card.suit.cards & self.live & ~CardSet((2 << card) - 1)
        return 13 * self.slots[card.suit] + 12 - above.bit_count()

    def best(self, values: Floats) -> Card:
        return max(self.view.playable, key=lambda card: values[self.place_of(card)])

    def inputs(self) -> Floats:
        view, seats = self.view, self.view.variant.seats
        x = np.zeros(INPUTS, np.float32)
        for card in view.hand:
            x[OWN + self.place_of(card)] = 1
            x[TAKING + self.place_of(card)] = view.led is not None and view.takes(card)
        for card in view.unseen:
            x[UNSEEN + self.place_of(card)] = 1
        if view.winning is not None:
            x[WINNING + self.place_of(view.winning.card)] = 1
            x[WINNER + (view.winning.seat - view.seat) % seats - 1] = 1
        x[PLACED + len(view.trick)] = 1
        x[RUFF] = view.led is not None and view.led == view.trump_suit
        x[HAKEM + (view.hakem - view.seat) % seats] = 1
        self._fill_history(x)
        return x

    def _fill_history(self, x: Floats) -> None:
        view, seats, sides = self.view, self.view.variant.seats, self.view.variant.sides
        for side in range(3):
            won = view.tricks_won[(view.side + side) % sides] if side < sides else 0
            x[WON + 10 * side + min(9, won)] = 1
        for trick in (*(trick.plays for trick in view.tricks), view.trick):
            for number, play in enumerate(trick):
                place = (play.seat - view.seat) % seats - 1
                if place >= 0:
                    slot = self.slots[play.card.suit]
                    x[PLAYED + 4 * place + slot] += 1
                    if number == 0:
                        x[LEADS + 4 * place + slot] = 1
        for place in range(seats - 1):
            for suit in view.voids[(view.seat + place + 1) % seats]:
                x[VOIDS + 4 * place + self.slots[suit]] = 1


# -- the network


class Network:
    """Layers of weights and biases, with everything below zero cut off between them."""

    def __init__(self, layers: Iterable[tuple[Floats, Floats]]) -> None:
        self.layers = list(layers)

    @property
    def arrays(self) -> list[Floats]:
        """Weights and biases, layer by layer."""
        return [array for layer in self.layers for array in layer]

    def __call__(self, inputs: Floats) -> Floats:
        """One pass for all rows: (n, inputs) to (n, outputs)."""
        values = inputs
        for number, (weights, biases) in enumerate(self.layers):
            if number:
                values = np.maximum(values, 0)
            values = values @ weights + biases
        return values


def load(path: Path, name: str) -> Network:
    """The network of that name out of a file that :func:`save` wrote: ``4 play``, ``2 declare``."""
    with np.load(path) as stored:
        arrays = [stored[f"{name} {part}"].astype(np.float32) for part in parts(stored, name)]
    return Network(zip(arrays[::2], arrays[1::2], strict=True))


def save(path: Path, networks: dict[str, Network]) -> None:
    """Write networks by name, in half precision; others that the file holds stay."""
    arrays: dict[str, NDArray[np.float16]] = {}
    if path.exists():
        with np.load(path) as stored:
            arrays = dict(stored)
    for name, network in networks.items():
        for part, array in enumerate(network.arrays):
            arrays[f"{name} {part}"] = array.astype(np.float16)
    np.savez(path, **arrays)  # type: ignore[arg-type]


def parts(stored: Iterable[str], name: str) -> range:
    return range(sum(key.startswith(f"{name} ") for key in stored))


if __name__ == "__main__":
    run(Learned)
