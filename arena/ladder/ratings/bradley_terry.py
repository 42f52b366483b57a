"""Bradley–Terry ratings (Ordo's model): those under which the results are likeliest; their errors.

The fit looks at all results at once, so their order does not matter, and it keeps getting sharper
as matches are added. It is a function of the evidence alone: the same matches in any other order
give the same numbers to the last bit. (Another machine, or another number of threads for numpy's
linear algebra, may differ in the last bits, some 1e-12 of a point.) This module does not know which
matches are rated, nor what is asked of a fit (`fitted.py`).

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
from itertools import product

import numpy as np
from numpy.typing import NDArray

from arena.ladder.ratings.comparison import Evidence
from arena.ladder.ratings.elo import SCALE, START_RATING
from arena.ladder.ratings.fitted import Array, Errors, Fit, Meetings

NATS_PER_POINT = math.log(10) / SCALE
"""κ, which turns rating points into the logarithm of odds."""

PRIOR_DRAWS = 1.0
"""v. One virtual draw is a prior of sd 546 Elo; it moves a player of 100 matches by about 1 % of
its way to 1500."""

STEP_CAP = 2.0
"""Nats. Far from the maximum the curvature is next to nothing and a full Newton step would
overshoot without end."""

CONVERGED = 1e-7
"""Nats. Steps shrink quadratically: after one as small as this the rest is below the rounding of a
double."""

MAX_STEPS = 200


class NotConnectedError(ValueError):
    """Without a prior these results have no finite maximum, or no unique one."""


def fit(evidence: Evidence, *, prior_draws: float = PRIOR_DRAWS) -> Fit:
    """The Bradley–Terry ratings of the evidence's players, by Newton's method.

    Without a prior (`prior_draws=0`) the mean is put at 1500 and covariances are those within the
    field.

    Raises NotConnectedError if there is no prior and the results do not bind all players into one
    group; ValueError for a negative prior.
    """
    if prior_draws < 0:
        raise ValueError(f"a prior of {prior_draws} virtual draws is negative")
    players = evidence.players
    scored = _by_pair(evidence, evidence.weights * evidence.scores)
    scored += _by_pair(evidence, evidence.weights * (1.0 - evidence.scores)).T
    weights = _both_ways(_by_pair(evidence, evidence.weights))

    groups = _strong_groups(scored)
    if prior_draws == 0 and len(groups) > 1:
        names = " | ".join(", ".join(players[i] for i in sorted(group)) for group in groups)
        raise NotConnectedError(
            f"without a prior these groups cannot be compared: {names}; use prior_draws > 0"
        )

    x = _maximise(scored, weights, prior_draws)
    inverse = _inverse(_curvature(x, weights, prior_draws), is_singular=prior_draws == 0)
    meat = _residual_products(evidence, x) + np.diag(_prior_curvature(x, prior_draws))
    totals, possible = scored.sum(axis=1), weights.sum(axis=1)
    return Fit(
        players=players,
        ratings=x / NATS_PER_POINT + START_RATING,
        covariances={
            Errors.MODEL: inverse / NATS_PER_POINT**2,
            Errors.SANDWICH: inverse @ meat @ inverse / NATS_PER_POINT**2,
        },
        matches=tuple(_match_counts(evidence).tolist()),
        shares=tuple(float(t / w) if w > 0 else 0.5 for t, w in zip(totals, possible, strict=True)),
        groups=tuple(frozenset(players[i] for i in group) for group in groups),
        meetings=_meetings(evidence, x, scored),
    )


def _by_pair(evidence: Evidence, values: Array) -> Array:
    """[i, j]: the sum of the values of all matches in which i stands before j in the row.

    `values` has a row for each kind of match and a column for each pair of its sides. The order of
    summation is that of the rows.
    """
    n = len(evidence.players)
    sums = np.zeros(n * n)
    for k, (a, b) in enumerate(evidence.pairs):
        cells = evidence.lineups[:, a] * n + evidence.lineups[:, b]
        sums += np.bincount(cells, evidence.counts * values[:, k], minlength=n * n)
    return sums.reshape(n, n)


def _both_ways(sums: Array) -> Array:
    both: Array = sums + sums.T
    return both


def _expected(evidence: Evidence, x: Array) -> Array:
    """The expected scores of all rows, in the shape of `scores`."""
    sides = x[evidence.lineups]
    first, second = np.array(evidence.pairs).T
    return _sigmoid(sides[:, first] - sides[:, second])


def _match_counts(evidence: Evidence) -> NDArray[np.int64]:
    """Of each player, in how many matches something of it counts."""
    counts = np.zeros(len(evidence.players), dtype=np.int64)
    sides = range(evidence.lineups.shape[1])
    counted = [np.zeros(len(evidence.counts), dtype=np.bool_) for _ in sides]
    for k, (a, b) in enumerate(evidence.pairs):
        for side in (a, b):
            counted[side] |= evidence.weights[:, k] > 0.0
    for side in sides:
        player = evidence.lineups[:, side]
        is_first = counted[side].copy()
        for earlier in range(side):
            is_first &= ~(counted[earlier] & (evidence.lineups[:, earlier] == player))
        np.add.at(counts, player[is_first], evidence.counts[is_first])
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
        step = np.linalg.solve(_regular(curvature, is_singular=prior_draws == 0), gradient)
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
    inverse = np.asarray(np.linalg.inv(_regular(curvature, is_singular=is_singular)))
    if is_singular and len(curvature):
        inverse -= 1.0 / (_lift(curvature) * len(curvature))
    return inverse


def _regular(curvature: Array, *, is_singular: bool) -> Array:
    """H, or H + c J where it is singular: on vectors that add up to 0 both act alike."""
    if not is_singular or len(curvature) == 0:
        return curvature
    return curvature + _lift(curvature) / len(curvature)


def _lift(curvature: Array) -> float:
    """c, of the size of the other eigenvalues."""
    return max(float(np.trace(curvature)) / len(curvature), 1.0)


def _residual_products(evidence: Evidence, x: Array) -> Array:
    """Σ u uᵀ over matches, u = Σ w (s − p)(e_i − e_j) over the comparisons of one match."""
    n = len(evidence.players)
    surprises = evidence.weights * (evidence.scores - _expected(evidence, x))
    residuals = np.zeros(evidence.lineups.shape)
    for k, (a, b) in enumerate(evidence.pairs):
        residuals[:, a] += surprises[:, k]
        residuals[:, b] -= surprises[:, k]
    products = np.zeros(n * n)
    for a, b in product(range(evidence.lineups.shape[1]), repeat=2):
        cells = evidence.lineups[:, a] * n + evidence.lineups[:, b]
        terms = evidence.counts * residuals[:, a] * residuals[:, b]
        products += np.bincount(cells, terms, minlength=n * n)
    return products.reshape(n, n)


def _meetings(evidence: Evidence, x: Array, scored: Array) -> Meetings:
    """What each pair scored against each other and what is expected of it.

    φ, the part that scores vary of what wins and losses would, is Σ w²(s − p)²/Σ w² p(1 − p) over
    all comparisons, times N/(N − n + 1) for the n − 1 ratings fitted to the N of them. A score from
    0 to 1 with the mean p varies by p(1 − p) at most, so what is more than 1 is no spread of
    scores but a misfit; it is taken for 1, and shows in z.
    """
    p = _expected(evidence, x)
    squares = evidence.weights**2
    as_games = _by_pair(evidence, squares * p * (1.0 - p))
    seen = _by_pair(evidence, squares * (evidence.scores - p) ** 2).sum()
    matches = _by_pair(evidence, (evidence.weights > 0.0).astype(np.float64))
    comparisons = float(matches.sum())
    free = comparisons - np.count_nonzero(_match_counts(evidence)) + 1
    phi = min(1.0, seen / as_games.sum() * comparisons / free) if free > 0 and seen > 0 else 1.0
    expected = _by_pair(evidence, evidence.weights * p)
    return Meetings(
        matches=_both_ways(matches).astype(np.int64),
        scored=scored,
        expected=expected + _by_pair(evidence, evidence.weights * (1.0 - p)).T,
        variance=phi * _both_ways(as_games),
    )
