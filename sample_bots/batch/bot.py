"""Plays every card as greedy does, but thinks about all its boards at once.

A network takes hardly longer for sixty positions than for one. So this bot takes many games, and
:meth:`Batch.decide_many` is asked about all that wait: every card that may be played on any of the
boards becomes a row of features, one pass scores all rows, and the best row of a board is its card.
"""

from collections.abc import Iterator, Sequence

from hokm import Asked, Bot, Card, View, run
from hokm.actions import Action, PlayCard

Row = tuple[float, ...]

WEIGHTS: Row = (1, 100, -20, -1)
"""Lead high; else first of all take the trick, then keep trumps, then throw low."""


class Batch(Bot):
    """Greedy as a linear model with four features."""

    name = "batch"
    concurrent = 64

    @classmethod
    def decide_many(cls, asked: Sequence[Asked]) -> Iterator[tuple[Asked, Action]]:
        playing = [one for one in asked if isinstance(one.view.legal[0], PlayCard)]
        cards = best_cards([one.view for one in playing])
        yield from zip(playing, map(PlayCard, cards), strict=True)
        for one in asked:
            if one not in playing:  # trump, a discard, a draw: by the ordinary methods
                yield one, one.decide()

    def play(self, view: View) -> Card:
        return best_cards([view])[0]


def best_cards(views: Sequence[View]) -> list[Card]:
    """The best card for each view, from one pass over all of them."""
    rows = [features(view, card) for view in views for card in view.playable]
    scored = iter(scores(rows))
    return [max(view.playable, key=lambda _: next(scored)) for view in views]


def features(view: View, card: Card) -> Row:
    height = view.height(card)
    if view.led is None:
        return height, 0, 0, 0
    return 0, view.takes(card), card.suit == view.trump_suit, height


def scores(rows: Sequence[Row]) -> list[float]:
    """The pass: with numpy it would be ``rows @ WEIGHTS``, with a network its forward pass."""
    return [sum(w * x for w, x in zip(WEIGHTS, row, strict=True)) for row in rows]


if __name__ == "__main__":
    run(Batch)
