"""Bradley–Terry ratings (Ordo's model): those under which the results are likeliest; their errors.

The fit looks at all results at once, so their order does not matter, and it keeps getting sharper
as matches are added. This module does not know which matches are rated, nor how a table is shown.

With x = κR nats, κ = ln 10/400, and p = 1/(1 + e^−(x_i − x_j)) the expected score of i against j,
the fit maximises

    Σ w [s ln p + (1 − s) ln(1 − p)]  +  Σ_i v/2 [ln q_i + ln(1 − q_i)]

over comparisons of score s and weight w. A draw is a score of ½: prior apart, the expected scores
then add up to every player's total. The second sum is the prior, v virtual draws of each player
with a fixed one at 1500: q = 1/(1 + e^−(x_i − x_0)). It keeps those finite who won everything, lost
everything or met nobody.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.ladder.comparison import RatedMatch
from arena.ladder.elo import SCALE, START_RATING
from arena.ladder.statistics import Z95, likelihood_of_superiority

Array: TypeAlias = NDArray[np.float64]

NATS_PER_POINT = math.log(10) / SCALE
"""κ, which turns rating points into the logarithm of odds."""

PRIOR_DRAWS = 1.0
"""v. One virtual draw is a prior of sd 546 Elo; it moves a player of 100 matches by about 1 % of
its way to 1500."""

SANDWICH_MATCHES = 30
"""Below this many matches a player has too few residuals to estimate their spread from."""

STEP_CAP = 2.0
"""Nats. Far from the maximum the curvature is next to nothing and a full Newton step would
overshoot without end."""

CONVERGED = 1e-7
"""Nats. Steps shrink quadratically: after one as small as this the rest is below the rounding of a
double."""

MAX_STEPS = 200


class Errors(Enum):
    """Where the covariance of the ratings comes from."""

    MODEL = "model"
    """H⁻¹/κ², H the negative curvature: right if every match were a single win-or-loss game of the
    model, and too wide where draws are many or the score of a match is an average."""

    SANDWICH = "sandwich"
    """H⁻¹ M H⁻¹/κ², M = Σ u uᵀ over matches plus the prior's curvature, u the residuals of one
    match: measured on the scores themselves, each match being one independent unit. Needs enough
    matches, and some won and some lost."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A lead in Elo, its standard error, and the likelihood of superiority."""

    elo: float
    standard_error: float
    los: float


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Fitted ratings of `players`, in their order; the arrays go by it too.

    Ratings and covariances (Elo²) are relative to a common origin: the prior's fixed player at
    first, or the field's mean without a prior. `anchored` and `centred` move it. Differences
    between players do not depend on it.

    `groups` are the sets of players whose results bind them together: within a group everybody is
    reached from everybody over players scored against. With more than one group the results alone
    say nothing final about the difference between groups; the prior does.
    """

    players: tuple[str, ...]
    ratings: Array
    covariances: dict[Errors, Array]
    matches: tuple[int, ...]
    shares: tuple[float, ...]
    """Of each player, what it scored divided by what it could have; ½ without matches."""
    groups: tuple[frozenset[str], ...]

    @property
    def is_connected(self) -> bool:
        """Whether results alone, without the prior, give finite and unique ratings (Ford 1957)."""
        return len(self.groups) <= 1

    def rating(self, player: str) -> float:
        return float(self.ratings[self._index(player)])

    def table(self) -> dict[str, float]:
        """Player to rating."""
        return dict(zip(self.players, self.ratings.tolist(), strict=True))

    def anchored(self, player: str, at: float = START_RATING) -> Fit:
        """The same fit with `player` standing `at`, free of error; all others then bear its
        noise."""
        origin = np.zeros(len(self.players))
        origin[self._index(player)] = 1.0
        return self._relative_to(origin, at)

    def centred(self, at: float = START_RATING) -> Fit:
        """The same fit with the mean of the field standing `at`, and errors relative to it."""
        return self._relative_to(np.full(len(self.players), 1.0 / max(len(self.players), 1)), at)

    def standard_errors(self, errors: Errors) -> dict[str, float]:
        """Player to the standard error of its rating, relative to the origin of this fit."""
        deviations = np.sqrt(np.diag(self.covariances[errors]))
        return dict(zip(self.players, deviations.tolist(), strict=True))

    def bars(self, *, errors: Errors | None = None) -> dict[str, float]:
        """Player to the half width of its 95 % interval, relative to the mean of the field.

        The origin of this fit does not matter. Without `errors` the sandwich, but the model for a
        player with fewer than 30 matches or with a score of 0 or 100 %, whose residuals are too few
        or all of one sign.
        """
        centred = self.centred()
        by_kind = {kind: centred.standard_errors(kind) for kind in Errors}
        return {
            player: Z95 * by_kind[errors or self._errors_for(player)][player]
            for player in self.players
        }

    def difference(self, first: str, second: str, *, errors: Errors | None = None) -> Difference:
        """The lead of `first` over `second`; Var = C_ii + C_jj − 2 C_ij and LOS = Φ(lead/√Var).

        Without `errors` the kind is chosen as for `bars`: the sandwich where both players allow it.
        """
        i, j = self._index(first), self._index(second)
        covariance = self.covariances[errors or self._errors_for(first, second)]
        variance = float(covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j])
        standard_error = math.sqrt(max(variance, 0.0))  # a difference of nearly equal numbers
        lead = float(self.ratings[i] - self.ratings[j])
        return Difference(
            lead, standard_error, likelihood_of_superiority(lead, standard_error=standard_error)
        )

    def _index(self, player: str) -> int:
        try:
            return self.players.index(player)
        except ValueError:
            raise KeyError(f"{player!r} is not among the fitted players") from None

    def _errors_for(self, *players: str) -> Errors:
        indices = [self._index(player) for player in players]
        if all(self.matches[i] >= SANDWICH_MATCHES and 0.0 < self.shares[i] < 1.0 for i in indices):
            return Errors.SANDWICH
        return Errors.MODEL

    def _relative_to(self, origin: Array, at: float) -> Fit:
        """With B = I − 1·originᵀ: ratings B R + at, covariances B C Bᵀ."""
        shift = np.eye(len(self.players)) - origin
        return replace(
            self,
            ratings=shift @ self.ratings + at,
            covariances={errors: shift @ c @ shift.T for errors, c in self.covariances.items()},
        )


class NotConnectedError(ValueError):
    """Without a prior these results have no finite maximum, or no unique one."""


def fit(
    matches: Iterable[RatedMatch], players: Sequence[str] = (), *, prior_draws: float = PRIOR_DRAWS
) -> Fit:
    """The Bradley–Terry ratings of everybody in `players` and in `matches`, by Newton's method.

    Players are ordered as given, those met only in `matches` after them by name. Without a prior
    (`prior_draws=0`) the mean is put at 1500 and covariances are those within the field.

    Raises NotConnectedError if there is no prior and the results do not bind all players into one
    group; ValueError for a negative prior.
    """
    if prior_draws < 0:
        raise ValueError(f"a prior of {prior_draws} virtual draws is negative")
    evidence = tuple(matches)
    named = {name for match in evidence for c in match for name in (c.first, c.second)}
    everybody = tuple(dict.fromkeys((*players, *sorted(named))))
    index = {name: i for i, name in enumerate(everybody)}
    scored, weights = _tallies(evidence, index)

    groups = _strong_groups(scored)
    if prior_draws == 0 and len(groups) > 1:
        names = " | ".join(", ".join(everybody[i] for i in sorted(group)) for group in groups)
        raise NotConnectedError(
            f"without a prior these groups cannot be compared: {names}; use prior_draws > 0"
        )

    x = _maximise(scored, weights, prior_draws)
    inverse = _inverse(_curvature(x, weights, prior_draws), is_singular=prior_draws == 0)
    meat = _residual_products(evidence, index, x) + np.diag(_prior_curvature(x, prior_draws))
    totals, possible = scored.sum(axis=1), weights.sum(axis=1)
    return Fit(
        players=everybody,
        ratings=x / NATS_PER_POINT + START_RATING,
        covariances={
            Errors.MODEL: inverse / NATS_PER_POINT**2,
            Errors.SANDWICH: inverse @ meat @ inverse / NATS_PER_POINT**2,
        },
        matches=tuple(_match_counts(evidence, index)),
        shares=tuple(float(t / w) if w > 0 else 0.5 for t, w in zip(totals, possible, strict=True)),
        groups=tuple(frozenset(everybody[i] for i in group) for group in groups),
    )


def _tallies(evidence: Sequence[RatedMatch], index: dict[str, int]) -> tuple[Array, Array]:
    """`scored[i, j]`, what i scored against j, and `weights[i, j]`, what there was to score.

    Sums are exact, so that the order of the matches does not show in the ratings.
    """
    terms: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for match in evidence:
        for c in match:
            i, j = index[c.first], index[c.second]
            terms.setdefault((i, j), []).append((c.weight * c.score, c.weight))
            terms.setdefault((j, i), []).append((c.weight * (1.0 - c.score), c.weight))
    scored, weights = np.zeros((len(index), len(index))), np.zeros((len(index), len(index)))
    for pair, entries in terms.items():
        scored[pair] = math.fsum(score for score, _ in entries)
        weights[pair] = math.fsum(weight for _, weight in entries)
    return scored, weights


def _match_counts(evidence: Sequence[RatedMatch], index: dict[str, int]) -> list[int]:
    counts = [0] * len(index)
    for match in evidence:
        for name in {name for c in match for name in (c.first, c.second)}:
            counts[index[name]] += 1
    return counts


def _strong_groups(scored: Array) -> list[list[int]]:
    """The strongly connected components of the graph "i scored against j"."""
    forward = scored > 0
    left = set(range(len(scored)))
    groups = []
    while left:
        start = min(left)
        group = _reachable(forward, start) & _reachable(forward.T, start)
        groups.append(sorted(group))
        left -= group
    return groups


def _reachable(edges: NDArray[np.bool_], start: int) -> set[int]:
    seen, frontier = {start}, [start]
    while frontier:
        new = {int(j) for j in np.flatnonzero(edges[frontier.pop()])} - seen
        seen |= new
        frontier += new
    return seen


def _sigmoid(x: Array) -> Array:
    # By tanh, which saturates where exp would overflow.
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * x), dtype=np.float64)


def _maximise(scored: Array, weights: Array, prior_draws: float) -> Array:
    """The maximum x in nats from 1500. The log-likelihood is concave, so there is only the one.

    Ladders take about ten steps, a chain of bots that each beat the next 3,000 times out of 3,000
    takes 39.
    """
    x: Array = np.zeros(len(scored))
    totals = scored.sum(axis=1)
    for _ in range(MAX_STEPS):
        expected = (weights * _sigmoid(x[:, None] - x[None, :])).sum(axis=1)
        gradient = totals - expected + prior_draws * (0.5 - _sigmoid(x))
        curvature = _curvature(x, weights, prior_draws)
        step = _inverse(curvature, is_singular=prior_draws == 0) @ gradient
        longest = float(np.max(np.abs(step), initial=0.0))
        x += step * (STEP_CAP / max(longest, STEP_CAP))
        if longest < CONVERGED:
            return x
    raise ArithmeticError(
        f"the fit of {len(x)} players has not converged in {MAX_STEPS} Newton steps"
    )


def _curvature(x: Array, weights: Array, prior_draws: float) -> Array:
    """H = Σ w p(1 − p)(e_i − e_j)(e_i − e_j)ᵀ + diag(v q(1 − q))."""
    p = _sigmoid(x[:, None] - x[None, :])
    off_diagonal = weights * p * (1.0 - p)
    curvature: Array = (
        np.diag(off_diagonal.sum(axis=1) + _prior_curvature(x, prior_draws)) - off_diagonal
    )
    return curvature


def _prior_curvature(x: Array, prior_draws: float) -> Array:
    q = _sigmoid(x)
    curvature: Array = prior_draws * q * (1.0 - q)
    return curvature


def _inverse(curvature: Array, *, is_singular: bool) -> Array:
    """H⁻¹; without a prior, where H·1 = 0 leaves only differences determined, the pseudo-inverse.

    With J = 11ᵀ/n the projection on that null direction, (H + c J)⁻¹ = H⁺ + J/c for any c ≠ 0.
    """
    n = len(curvature)
    if not is_singular or n == 0:
        return np.asarray(np.linalg.inv(curvature), dtype=np.float64)
    mean = np.full((n, n), 1.0 / n)
    lift = max(float(np.trace(curvature)) / n, 1.0)  # of the size of the other eigenvalues
    return np.asarray(np.linalg.inv(curvature + lift * mean) - mean / lift, dtype=np.float64)


def _residual_products(evidence: Sequence[RatedMatch], index: dict[str, int], x: Array) -> Array:
    """Σ u uᵀ over matches, u = Σ w (s − p)(e_i − e_j) over the comparisons of one match."""
    nats = x.tolist()
    cells: dict[tuple[int, int], list[float]] = {}
    for match in evidence:
        residuals: dict[int, float] = {}
        for c in match:
            i, j = index[c.first], index[c.second]
            residual = c.weight * (c.score - 0.5 - 0.5 * math.tanh(0.5 * (nats[i] - nats[j])))
            residuals[i] = residuals.get(i, 0.0) + residual
            residuals[j] = residuals.get(j, 0.0) - residual
        for i, u in residuals.items():
            for j, v in residuals.items():
                cells.setdefault((i, j), []).append(u * v)
    products = np.zeros((len(x), len(x)))
    for cell, terms in cells.items():
        products[cell] = math.fsum(terms)
    return products
