"""What rated matches say about their players: the evidence that both ratings are made from.

A match of two players is one comparison; a game of three is three, one for each pair. The
comparisons of one match belong together: they come from the same deals, so error bars count them as
one unit. Online Elo takes matches one by one. The fit takes all at once, as `Evidence`, where
matches that came out alike are one row. This module does not know how a score came about, nor what
a rating is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray


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


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Matches by kind: row k says that `counts[k]` matches came out exactly so.

    All rows have the same number of sides. `lineups[k]` are the players on them, as indices into
    `players`; `scores[k]` has, for each pair of sides in the order of `itertools.combinations`, the
    score of the first of the two against the second, from 0 to 1; `weights[k]` says how much that
    counts: 0 where it is no evidence, as between two bots of one owner in a game of three. A player
    may be on two sides of a row, if their pair has the weight 0.

    Rows are distinct and sorted (`grouped` makes them so), so that what is summed over them does
    not depend on the order in which the matches were played, not even in the last bit.
    """

    players: tuple[str, ...]
    lineups: NDArray[np.intp]
    scores: NDArray[np.float64]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The two sides that each column of `scores` and `weights` is about."""
        return list(combinations(range(self.lineups.shape[1]), 2))


def evidence_of(matches: Iterable[RatedMatch], players: Sequence[str] = ()) -> Evidence:
    """The evidence of rated matches, about everybody in `players` and in `matches`.

    Players are ordered as given, those met only in `matches` after them by name. What a match says
    of one pair in several comparisons is one, of their mean score and the sum of their weights.
    """
    kinds = Counter(match for match in matches if match)
    named = {name for match in kinds for c in match for name in (c.first, c.second)}
    everybody = tuple(dict.fromkeys((*players, *sorted(named))))
    index = {name: i for i, name in enumerate(everybody)}
    cast = [sorted({index[n] for c in match for n in (c.first, c.second)}) for match in kinds]
    sides = max([2, *map(len, cast)])
    columns = {pair: k for k, pair in enumerate(combinations(range(sides), 2))}
    lineups = np.zeros((len(kinds), sides), dtype=np.intp)
    scores, weights = np.full((2, len(kinds), len(columns)), 0.5)
    weights[:] = 0.0
    for k, (match, playing) in enumerate(zip(kinds, cast, strict=True)):
        # A match of fewer players has its last one on the sides left over, where nothing counts.
        lineups[k] = playing + playing[-1:] * (sides - len(playing))
        side = {player: place for place, player in enumerate(playing)}
        terms: dict[int, list[tuple[float, float]]] = {}
        for c in match:
            first, second = side[index[c.first]], side[index[c.second]]
            score = c.score if first < second else 1.0 - c.score
            column = columns[min(first, second), max(first, second)]
            terms.setdefault(column, []).append((score, c.weight))
        for column, entries in terms.items():
            weight = math.fsum(w for _, w in entries)
            mean = math.fsum(s * w for s, w in entries) / weight
            scores[k, column] = entries[0][0] if len(entries) == 1 else min(max(mean, 0.0), 1.0)
            weights[k, column] = weight
    counts = np.fromiter(kinds.values(), dtype=np.int64, count=len(kinds))
    return grouped(everybody, lineups, scores=scores, counts=counts, weights=weights)


def grouped(
    players: Sequence[str],
    lineups: NDArray[np.intp],
    *,
    scores: NDArray[np.float64],
    counts: NDArray[np.int64] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> Evidence:
    """The evidence of matches given as arrays, in any order: one row a match, or a kind of match.

    Shapes and meaning are those of `Evidence`; counts and weights are ones unless said. In what
    comes back the sides of each row stand in the order of `players`, so that a loss of A to B and a
    win of B over A are the same, and rows alike are one.

    Raises ValueError for shapes that do not fit, a score outside 0 to 1, a weight or count that is
    negative or not finite, and a player compared with itself.
    """
    rows, sides = lineups.shape
    pairs = list(combinations(range(sides), 2))
    counts = np.ones(rows, dtype=np.int64) if counts is None else counts
    weights = np.ones((rows, len(pairs))) if weights is None else weights
    if {scores.shape, weights.shape} != {(rows, len(pairs))} or counts.shape != (rows,):
        raise ValueError(
            f"{rows} rows of {sides} sides do not go with scores {scores.shape}, weights "
            f"{weights.shape} and counts {counts.shape}"
        )
    if len(set(players)) < len(players):
        raise ValueError(f"a player is named twice in {', '.join(players)}")
    if not np.all((lineups >= 0) & (lineups < len(players))):
        raise ValueError(f"a lineup has an index that none of the {len(players)} players has")
    if not np.all((scores >= 0.0) & (scores <= 1.0)):
        raise ValueError("a score is outside 0 to 1")
    if not np.all((weights >= 0.0) & (weights < math.inf)) or not np.all(counts >= 0):
        raise ValueError("a weight or a count is negative or not finite")
    for k, (i, j) in enumerate(pairs):
        if np.any((lineups[:, i] == lineups[:, j]) & (weights[:, k] > 0.0)):
            raise ValueError("a player is compared with itself; two copies are never rated")

    # What does not count would tell apart what is the same evidence.
    scores = np.where(weights > 0.0, scores, 0.5)
    order = np.argsort(lineups, axis=1, kind="stable")
    column_of = np.zeros((sides, sides), dtype=np.intp)
    for k, (i, j) in enumerate(pairs):
        column_of[i, j] = column_of[j, i] = k
    row = np.arange(rows)
    lineups = np.take_along_axis(lineups, order, axis=1)
    ordered_scores, ordered_weights = np.empty_like(scores), np.empty_like(weights)
    for k, (i, j) in enumerate(pairs):
        first, second = order[:, i], order[:, j]
        column = column_of[first, second]
        score = scores[row, column]
        ordered_scores[:, k] = np.where(first < second, score, 1.0 - score)
        ordered_weights[:, k] = weights[row, column]
    return _merged(tuple(players), lineups, ordered_scores, counts, ordered_weights)


def _merged(
    players: tuple[str, ...],
    lineups: NDArray[np.intp],
    scores: NDArray[np.float64],
    counts: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> Evidence:
    """The same rows sorted, those alike as one, those that nothing counts in left out."""
    says_something = (counts > 0) & np.any(weights > 0.0, axis=1)
    lineups, scores = lineups[says_something], scores[says_something]
    counts, weights = counts[says_something], weights[says_something]
    columns = [*lineups.T, *scores.T, *weights.T]
    order = np.lexsort(columns[::-1])  # whose last key is the first to sort by
    is_new = np.ones(len(order), dtype=np.bool_)
    if len(order):
        is_new[1:] = np.any([c[order][1:] != c[order][:-1] for c in columns], axis=0)
    starts = np.flatnonzero(is_new)
    kept = order[starts]
    totals = np.add.reduceat(counts[order], starts) if len(starts) else counts
    return Evidence(players, lineups[kept], scores[kept], totals, weights[kept])
