"""What the sample bot *house* gains by naming nar with low cards, where the table allows it.

Every deal whose first five cards are for nar, as house judges, is played twice by house at all
seats: once as it is, once with a hakem that names a suit. The difference is what naming nar won.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from arena.ladder.ratings.statistics import Z95
from hokm import Card, Rules, Suit, View
from hokm.deck import shuffled
from hokm.rules.game import Board
from hokm.rules.variants import variant_of
from hokm.testing import play_many, seeds
from sample_bots.house.bot import House, best_suit, is_low

LEAGUES = 30_000
"""Deals a row: a minute on two idle cores."""

PAGE = "../sample_bots/house/README.md"


class SuitsOnly(House):
    """House, but for its nar."""

    def declare(self, view: View) -> Suit:
        """Name a suit, whatever the table allows."""
        return best_suit(view.hand)


def report(leagues: int, *, seed: int) -> str:
    """The gain with four, three and two seats, in so many deals each."""
    rows = [_row(players, deals=leagues, seed=seed) for players in (4, 3, 2)]
    return "\n".join(
        [
            f"{leagues:,} deals a row, seed {seed}.",
            "",
            "| seats | deals for nar | points a deal more than with a suit, at 95 % |",
            "|---|---|---|",
            *rows,
        ]
    )


def _row(players: int, *, deals: int, seed: int) -> str:
    rules = Rules.of(players, options={"modes": "suit,nar"})
    pack, seed_of = variant_of(rules).pack, seeds(f"{seed}", name="nar")
    decks = (shuffled(pack, seed_of(number)) for number in range(1, deals + 1))
    gains = [gain(rules, deck) for deck in decks if is_low(deck[:5])]
    if len(gains) < 2:
        return f"| {players} | {len(gains)} | - |"
    error = Z95 * stdev(gains) / math.sqrt(len(gains))
    return f"| {players} | {len(gains):,} | {fmean(gains):+.2f} ± {error:.2f} |"


def gain(rules: Rules, deck: Sequence[Card]) -> float:
    """How many points the hakem's side has more over the others where house may name nar."""
    others = [House() for _ in range(rules.players - 1)]
    named, suited = play_many(
        (Board(rules, deck, number=1), [hakem, *others]) for hakem in (House(), SuitsOnly())
    )
    return _margin(named.points) - _margin(suited.points)


def _margin(points: Sequence[int]) -> float:
    return points[0] - fmean(points[1:])
