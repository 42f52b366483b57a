"""What one rated match says about its players: the evidence that both ratings are made from.

A match of two players is one comparison; a game of three is three, one for each pair. The
comparisons of one match belong together: they come from the same deals, so error bars count them as
one unit. This module does not know how a score came about, nor what a rating is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Comparison:
    """`first` scored `score` against `second`, who scored `1 - score`.

    `score` lies in [0, 1]: 1 a win, ½ a draw, 0 a loss, or any fraction between. `weight` is the
    number of matches' worth of evidence it counts for. Players are known by name.

    Raises ValueError for a player compared with itself, a score outside [0, 1] or a weight that is
    not positive.
    """

    first: str
    second: str
    score: float
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise ValueError(
                f"{self.first!r} is compared with itself; a match of two copies is never rated"
            )
        if not 0.0 <= self.score <= 1.0:
            raise ValueError(
                f"{self.first!r} v {self.second!r}: score {self.score} is outside 0 to 1"
            )
        if not (0.0 < self.weight < math.inf):
            raise ValueError(
                f"{self.first!r} v {self.second!r}: weight {self.weight} is not positive and finite"
            )


RatedMatch: TypeAlias = tuple[Comparison, ...]
"""All comparisons of one match: one independent unit of evidence."""


def one_on_one(first: str, second: str, *, score: float) -> RatedMatch:
    """The match of two players, `score` being the first's."""
    return (Comparison(first, second, score),)


def free_for_all(ranks: Mapping[str, int]) -> RatedMatch:
    """A game of several players, one comparison a pair: the lower rank wins, equal ranks draw.

    >>> [c.score for c in free_for_all({"ada": 1, "bob": 2, "cyd": 2})]
    [1.0, 1.0, 0.5]
    """
    return tuple(
        Comparison(
            first,
            second,
            0.5 if ranks[first] == ranks[second] else float(ranks[first] < ranks[second]),
        )
        for first, second in combinations(ranks, 2)
    )
