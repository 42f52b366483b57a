"""Is a bot better than another? The sequential test: how far boards speak for one of two answers.

H0 says that the first side is no better than a lower bound, H1 that it is as good as an upper one.
After every look the log-likelihood ratio of the two says whether one of them can be accepted or
more boards are needed, so that a clear case ends soon and a close one late, with error rates that
were chosen beforehand (Wald's SPRT; generalized, since the shares of the outcomes are not known and
are taken as they are most likely under each hypothesis: the GSPRT of fishtest and fastchess).

Bounds are *normalized* Elo unless said otherwise: with so many level boards a gap in Elo means
something else for every pair of bots. This module knows outcomes and their values; it does not know
what a board is, who plays it, or when a look is taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from arena.ladder.ratings.elo import expected_score
from arena.ladder.ratings.statistics import NELO_PER_SD, Outcomes, score_statistics

EMPTY_CELL: Final = 1e-3
"""What stands in for an outcome that has not occurred, as in fishtest and fastchess: without it the
most likely shares would forbid the outcome for ever.
"""

LARGEST_BOUND: Final = 200.0
"""Elo, either way. Beyond some 230 normalized Elo the iteration has no start; and what is so much
better needs no test.
"""

CLOSEST_BOUNDS: Final = 0.1
"""Elo. What is closer would take tens of millions of boards to tell apart, and in the end no number
of them: the ratio would drown in rounding.
"""

_CHANGE: Final = 1e-9  # of a share, at which the iteration ends: statistics, 2.4
_MOST_ROUNDS: Final = 100  # ten are enough in practice


class Model(Enum):
    """What the bounds of a test are measured in."""

    NORMALIZED = "normalized"
    """(μ − ½)/(u σ) times 347.4, u = √2 for pairs: how soon a gap can be seen."""
    LOGISTIC = "logistic"
    """The lead at which the mean score μ is the one to be expected."""


class Conclusion(Enum):
    """Why a test ends."""

    H1 = "H1"
    """The first side is better: as good as the upper bound rather than the lower one."""
    H0 = "H0"
    """It is not: as good as the lower bound rather than the upper one."""
    CAP = "cap"
    """As much was played as was to be, and neither is sure enough."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a test says after some outcomes.

    `to_go` is how many more the test may be expected to take, within its cap, if the gap is what it
    seems to be; None where nothing can be said of that, and 0 once there is a conclusion.
    """

    llr: float
    conclusion: Conclusion | None
    to_go: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sprt:
    """A test as it was planned.

    `alpha` is the chance to accept H1 at the lower bound `elo0`, `beta` that to accept H0 at the
    upper bound `elo1`; `cap` is the most outcomes it may take. Raises ValueError for what is no
    test, saying what would be one.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    cap: int
    model: Model = Model.NORMALIZED

    def __post_init__(self) -> None:
        for name, bound in (("lower", self.elo0), ("upper", self.elo1)):
            if not -LARGEST_BOUND <= bound <= LARGEST_BOUND:  # NaN is within none
                raise ValueError(
                    f"the {name} bound is {bound:g}; take one from {-LARGEST_BOUND:g} to "
                    f"{LARGEST_BOUND:g} Elo"
                )
        if not self.elo0 < self.elo1:
            raise ValueError(
                f"the bounds {self.elo0:g} and {self.elo1:g} are no interval; the lower one is "
                "first"
            )
        if self.elo1 - self.elo0 < CLOSEST_BOUNDS - 1e-9:  # 5.1 - 5 is a little less than 0.1
            raise ValueError(
                f"the bounds {self.elo0:g} and {self.elo1:g} are too close: take "
                f"{CLOSEST_BOUNDS:g} Elo apart, or more"
            )
        for name, chance in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0.0 < chance < 0.5:
                raise ValueError(f"{name} is a chance of error above 0 and below 0.5, not {chance}")
        if self.cap < 1:
            raise ValueError(f"the cap is 1 or more, not {self.cap}")

    @property
    def lower(self) -> float:
        """A = ln(β/(1 − α)): at or below it H0 is accepted."""
        return math.log(self.beta / (1.0 - self.alpha))

    @property
    def upper(self) -> float:
        """B = ln((1 − β)/α): at or above it H1 is accepted."""
        return math.log((1.0 - self.beta) / self.alpha)

    def look(self, outcomes: Outcomes) -> Look:
        """Judge what there is so far.

        >>> from arena.ladder.ratings.statistics import Outcomes, Unit
        >>> boards = Outcomes((0, 91, 798, 134, 1), (0.0, 0.25, 0.5, 0.75, 1.0), Unit.PAIR)
        >>> Sprt(elo0=0, elo1=20, cap=6000).look(boards).conclusion
        <Conclusion.H1: 'H1'>
        """
        ratio = llr(outcomes, self.elo0, self.elo1, model=self.model) if outcomes.total else 0.0
        conclusion = None
        if ratio >= self.upper:
            conclusion = Conclusion.H1
        elif ratio <= self.lower:
            conclusion = Conclusion.H0
        elif outcomes.total >= self.cap:
            conclusion = Conclusion.CAP
        to_go = 0 if conclusion is not None else self._to_go(outcomes, ratio)
        return Look(ratio, conclusion, to_go)

    def expected_total(self, nelo: float) -> float:
        """How many outcomes that are pairs a test with normalized bounds takes in the mean where
        the gap is truly `nelo`, the cap aside; some 10 % below what is seen, since it is looked at
        the ratio now and then only, and it overshoots.

        >>> [round(Sprt(elo0=0, elo1=20, cap=6000).expected_total(gap)) for gap in (0, 10, 20)]
        [800, 1308, 800]
        """
        t0, t1, t = (math.sqrt(2.0) * each / NELO_PER_SD for each in (self.elo0, self.elo1, nelo))
        return _expected_steps(
            0.0, self.lower, self.upper, drift=(t1 - t0) * (t - (t0 + t1) / 2), sd=t1 - t0
        )

    def _to_go(self, outcomes: Outcomes, ratio: float) -> int | None:
        if not outcomes.total:
            return None
        found, left = score_statistics(outcomes), self.cap - outcomes.total
        if not found.variance or found.score is None:
            # All alike: the ratio goes on as it went.
            if ratio == 0.0:
                return left
            bound = self.upper if ratio > 0 else self.lower
            return min(math.ceil(outcomes.total * (bound / ratio - 1)), left)
        sd = math.sqrt(found.variance)
        t = (found.score - 0.5) / sd
        if self.model is Model.NORMALIZED:
            scale = outcomes.unit.value / NELO_PER_SD
            t0, t1 = scale * self.elo0, scale * self.elo1
        else:
            t0, t1 = ((expected_score(elo, 0.0) - 0.5) / sd for elo in (self.elo0, self.elo1))
        steps = _expected_steps(
            ratio, self.lower, self.upper, drift=(t1 - t0) * (t - (t0 + t1) / 2), sd=t1 - t0
        )
        return min(math.ceil(steps), left)


def llr(outcomes: Outcomes, elo0: float, elo1: float, *, model: Model) -> float:
    """ln of how much more likely `outcomes` are under H1 than under H0: N Σ p̂ ln(p₁/p₀).

    p̂ are the shares that were seen and p₀, p₁ those that are most likely where the gap is exactly
    `elo0` or `elo1`. An outcome that has not occurred counts as 0.001.
    """
    total, shares = _regularized(outcomes)
    likeliest = _at_gap if model is Model.NORMALIZED else _at_mean
    p0 = likeliest(shares, outcomes, elo0)
    p1 = likeliest(shares, outcomes, elo1)
    return total * math.fsum(
        share * math.log(one / nought) for share, one, nought in zip(shares, p1, p0, strict=True)
    )


def llr_alt(outcomes: Outcomes, elo0: float, elo1: float) -> float:
    """The ratio for normalized bounds in closed form, near enough for plots and plans:
    G/2 ln((1 + (n − n₀)²)/(1 + (n − n₁)²)), with G games and n in units of 347.4 Elo.
    """
    total, shares = _regularized(outcomes)
    mean, sd = _moments(shares, outcomes.values)
    unit = outcomes.unit.value
    n = (mean - 0.5) / (unit * sd)
    games = unit**2 * total
    return (
        games
        / 2
        * math.log(
            (1.0 + (n - elo0 / NELO_PER_SD) ** 2) / (1.0 + (n - elo1 / NELO_PER_SD) ** 2),
        )
    )


# -- the most likely shares under a hypothesis


def _regularized(outcomes: Outcomes) -> tuple[float, list[float]]:
    counts = [count or EMPTY_CELL for count in outcomes.counts]
    total = math.fsum(counts)
    return total, [count / total for count in counts]


def _at_mean(shares: Sequence[float], outcomes: Outcomes, elo: float) -> list[float]:
    """The shares nearest to those seen whose mean is the score to be expected at that gap."""
    mean = expected_score(elo, 0.0)
    return _tilted(shares, [value - mean for value in outcomes.values])


def _at_gap(shares: Sequence[float], outcomes: Outcomes, nelo: float) -> list[float]:
    """The shares nearest to those seen that have μ − ½ = t σ.

    σ is not linear in the shares; so it is taken as it is near the last ones, again and again.
    """
    values = outcomes.values
    t = outcomes.unit.value * nelo / NELO_PER_SD
    found = [1.0 / len(values)] * len(values)
    for _ in range(_MOST_ROUNDS):
        mean, sd = _moments(found, values)
        excess = [
            value - 0.5 - 0.5 * t * sd * (1.0 + ((value - mean) / sd) ** 2) for value in values
        ]
        before, found = found, _tilted(shares, excess)
        if max(abs(new - old) for new, old in zip(found, before, strict=True)) < _CHANGE:
            break
    return found


def _tilted(shares: Sequence[float], excess: Sequence[float]) -> list[float]:
    """The p of largest Σ shares ln p among those with Σ p excess = 0: shares/(1 + θ excess), with θ
    the root of Σ shares excess/(1 + θ excess), which falls all the way between its two poles.
    """
    low, high = -1.0 / max(excess), -1.0 / min(excess)
    theta = 0.0
    while low < (theta := (low + high) / 2) < high:  # until no number is left between the two
        slope = math.fsum(
            share * over / (1.0 + theta * over) for share, over in zip(shares, excess, strict=True)
        )
        if slope > 0.0:
            low = theta
        else:
            high = theta
    return [share / (1.0 + theta * over) for share, over in zip(shares, excess, strict=True)]


def _moments(shares: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    mean = math.fsum(share * value for share, value in zip(shares, values, strict=True))
    variance = math.fsum(
        share * (value - mean) ** 2 for share, value in zip(shares, values, strict=True)
    )
    return mean, math.sqrt(variance)


# -- how long it takes


def _expected_steps(at: float, low: float, high: float, *, drift: float, sd: float) -> float:
    """The mean number of steps until a walk from `at` leaves the interval, as Brownian motion has
    it; every step moves it by `drift` in the mean, give or take `sd`.
    """
    below, above = at - low, high - at
    pull = 2.0 * drift / sd**2
    if abs(pull) * (below + above) < 1e-6:
        return below * above / sd**2
    # The chance to leave above; written so that nothing overflows whichever way it is pulled.
    if pull > 0:
        up = math.expm1(-pull * below) / math.expm1(-pull * (below + above))
    else:
        up = math.exp(pull * above) * (
            math.expm1(pull * below) / math.expm1(pull * (below + above))
        )
    return (up * above - (1.0 - up) * below) / drift
