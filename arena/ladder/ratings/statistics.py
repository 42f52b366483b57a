"""What a series of results between two sides says, and how surely: score, Elo, normalized Elo, LOS.

The unit is the *board*: one deal played in every room with the sides rotated. Its two hands are
anything but independent, so they are never counted as two games. All formulas start from how often
each outcome occurred and what it is worth; this module does not know what a card, a match or a
rating list is.

What is infinite or undefined is None, never a NaN: the Elo of a side that won everything, say, or
the error of a sample without any spread.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from arena.ladder.ratings.elo import SCALE, expected_score, rating_difference

Z95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""

NELO_PER_SD = 800 / math.log(10)
"""C = 347.4356, the scale of normalized Elo: near an even score without draws (sd ½) it is Elo."""

BOARD_LIMIT = 5
"""A hand is worth at most 3 points to the hakem's side and 2 to the other, so a board at most 5
either way."""


class Unit(Enum):
    """What one counted outcome is. The value is the factor of sd in a normalized score."""

    GAME = 1.0
    PAIR = math.sqrt(2.0)
    """Two games that share their deal: a duplicate board, or a mirrored pair of races. The sd of
    the pair's mean times √2 is the sd of a single game, so that nElo reads the same whether games
    were paired or not."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How often each outcome occurred: `counts[i]` times the one worth `values[i]`, from 0 to 1."""

    counts: tuple[int, ...]
    values: tuple[float, ...]
    unit: Unit

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.values):
            raise ValueError(f"{len(self.counts)} counts do not fit {len(self.values)} values")
        if any(count < 0 for count in self.counts):
            raise ValueError(f"counts {self.counts} hold a negative one")
        if any(not 0.0 <= value <= 1.0 for value in self.values):
            raise ValueError(f"values {self.values} are not all scores from 0 to 1")

    @property
    def total(self) -> int:
        """How many outcomes there are."""
        return sum(self.counts)


def games(won: int, drawn: int, lost: int) -> Outcomes:
    """Independent single games."""
    return Outcomes((lost, drawn, won), (0.0, 0.5, 1.0), Unit.GAME)


def trinomial(differences: Iterable[int]) -> Outcomes:
    """Boards (or mirrored pairs of races) by the sign of their difference: lost, level, won.

    >>> trinomial([2, 0, 0, -1, 5]).counts
    (1, 2, 2)
    """
    tally = Counter((d > 0) - (d < 0) for d in differences)
    return Outcomes((tally[-1], tally[0], tally[1]), (0.0, 0.5, 1.0), Unit.PAIR)


def pentanomial(differences: Iterable[int]) -> Outcomes:
    """Boards in five classes: D ≤ −3, −2..−1, 0, 1..2, ≥ 3, worth 0, ¼, ½, ¾, 1."""
    tally = Counter(_pentanomial_class(d) for d in differences)
    return Outcomes(tuple(tally[k] for k in range(5)), (0.0, 0.25, 0.5, 0.75, 1.0), Unit.PAIR)


def by_points(differences: Iterable[int]) -> Outcomes:
    """Boards by their difference D itself, −5 to 5: eleven classes worth ½ + D/10.

    Raises ValueError for a difference beyond ±5, which no board can have.
    """
    tally = Counter(differences)
    scale = range(-BOARD_LIMIT, BOARD_LIMIT + 1)
    if beyond := sorted(set(tally) - set(scale)):
        raise ValueError(f"a board is worth at most {BOARD_LIMIT} points either way, not {beyond}")
    return Outcomes(
        tuple(tally[d] for d in scale), tuple(0.5 + d / (2 * BOARD_LIMIT) for d in scale), Unit.PAIR
    )


class Classes(Enum):
    """Which boards count as equal outcomes; figures of different classes do not compare."""

    PENTANOMIAL = "pentanomial"
    """Five classes, see :func:`pentanomial`: what fastchess and fishtest count of pairs."""
    POINTS = "points"
    """The difference itself, see :func:`by_points`."""
    SIGN = "sign"
    """Won, level or lost, see :func:`trinomial`; the one that fits pairs of races."""

    def outcomes(self, differences: Iterable[int]) -> Outcomes:
        """The outcomes of boards with these differences."""
        match self:
            case Classes.PENTANOMIAL:
                return pentanomial(differences)
            case Classes.POINTS:
                return by_points(differences)
            case Classes.SIGN:
                return trinomial(differences)


@dataclass(frozen=True, slots=True)
class ScoreStatistics:
    """What the outcomes say about the first side. Errors are half widths at 95 %.

    With N outcomes, frequencies p and values a:

    * `score` μ = Σ p a; `variance` σ² = Σ p (a − μ)², the population's;
    * `elo` = −400 log10(1/μ − 1); `elo_error` = (Elo(μ + Zσ/√N) − Elo(μ − Zσ/√N)) / 2;
    * `nelo` = C (μ − ½)/(u σ) and `nelo_error` = Z C/(u √N), u = √2 for pairs and 1 for games;
    * `los`, the likelihood of superiority, = Φ((μ − ½) √N/σ).

    Without any outcome all are None. Without spread (σ = 0) `elo_error` and `nelo` are None and
    `los` is its limit. `elo` is None at μ = 0 and 1, `elo_error` wherever an end of the interval is
    not a score between them.
    """

    total: int
    score: float | None
    variance: float | None
    elo: float | None
    elo_error: float | None
    nelo: float | None
    nelo_error: float | None
    los: float | None


def score_statistics(outcomes: Outcomes) -> ScoreStatistics:
    """Score, Elo, normalized Elo and LOS of `outcomes`, as fastchess and fishtest compute them."""
    total = outcomes.total
    if total == 0:
        return ScoreStatistics(0, None, None, None, None, None, None, None)
    tally = list(zip(outcomes.counts, outcomes.values, strict=True))
    score = math.fsum(count * value for count, value in tally) / total
    variance = math.fsum(count * (value - score) ** 2 for count, value in tally) / total
    sd = math.sqrt(variance)
    unit = outcomes.unit.value
    return ScoreStatistics(
        total=total,
        score=score,
        variance=variance,
        elo=rating_difference(score),
        elo_error=_elo_error(score, Z95 * sd / math.sqrt(total)),
        nelo=NELO_PER_SD * (score - 0.5) / (unit * sd) if sd > 0 else None,
        nelo_error=Z95 * NELO_PER_SD / (unit * math.sqrt(total)),
        los=likelihood_of_superiority(score - 0.5, standard_error=sd / math.sqrt(total)),
    )


def likelihood_of_superiority(lead: float, *, standard_error: float) -> float:
    """The probability Φ(lead/SE) of a positive true lead; where SE is 0, its limit 0, ½ or 1."""
    if standard_error > 0:
        return 0.5 * math.erfc(-lead / standard_error / math.sqrt(2.0))
    return 0.5 + 0.5 * ((lead > 0) - (lead < 0))


def vp_score(difference: int, *, boards: int) -> float:
    """What a match of so many boards is worth by its difference in points, from 0 to 1:
    1/(1 + 10^(−Δ/(1.35 √N))). It learns a third more from a match than its sign does.

    >>> round(vp_score(3, boards=16), 6)
    0.782316
    """
    return expected_score(difference * SCALE / (1.35 * math.sqrt(boards)), 0.0)


def boards_to_separate(nelo: float) -> float:
    """Boards after which a true gap of `nelo` shows at 95 % (two-sided) with a power of 95 %.

    N = (Z₀.₉₇₅ + Z₀.₉₅)² C²/(2 nElo²) = 784,300/nElo². Raises ValueError for a gap of 0, which
    never shows.

    >>> round(boards_to_separate(50))
    314
    """
    if nelo == 0:
        raise ValueError("a gap of 0 nElo cannot be shown by any number of boards")
    z_power = 1.6448536269514722  # one-sided 95 % quantile
    return ((Z95 + z_power) * NELO_PER_SD / nelo) ** 2 / 2


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """A series of boards between two sides, as the first of them sees it.

    `won`, `drawn` and `lost` count boards by the sign of their difference, and `by_sign` follows
    from them alone. `points_per_board` is the mean difference, `points_error` its half width at
    95 %, Z·sd/√N with the population's sd: None without boards, or where all boards agree.
    """

    won: int
    drawn: int
    lost: int
    points_per_board: float | None
    points_error: float | None
    by_sign: ScoreStatistics

    @property
    def boards(self) -> int:
        """How many boards were played: won, drawn and lost."""
        return self.won + self.drawn + self.lost


def head_to_head(differences: Sequence[int]) -> HeadToHead:
    """What boards with these differences (points of the first side minus the second's) say.

    >>> series = head_to_head([2, 0, 0, -1])
    >>> series.won, series.drawn, series.lost, series.points_per_board
    (1, 2, 1, 0.25)
    """
    signs = trinomial(differences)
    lost, drawn, won = signs.counts
    boards = len(differences)
    mean = sum(differences) / boards if boards else None
    error = None
    if mean is not None and len(set(differences)) > 1:
        sd = math.sqrt(math.fsum((d - mean) ** 2 for d in differences) / boards)
        error = Z95 * sd / math.sqrt(boards)
    return HeadToHead(won, drawn, lost, mean, error, score_statistics(signs))


def _elo_error(score: float, half_width: float) -> float | None:
    low, high = rating_difference(score - half_width), rating_difference(score + half_width)
    return None if half_width == 0 or low is None or high is None else (high - low) / 2


def _pentanomial_class(difference: int) -> int:
    size = 0 if difference == 0 else 1 if abs(difference) <= 2 else 2
    return 2 + size if difference > 0 else 2 - size
