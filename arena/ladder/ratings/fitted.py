"""What a fit of ratings says: who stands where, how surely, and what does not go with it.

Values and questions to them; how ratings are fitted is not known here, nor how a table is shown.
Whatever is said of pairs of players is an array of players × players.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.ladder.ratings.elo import START_RATING
from arena.ladder.ratings.statistics import Z95, likelihood_of_superiority

Array: TypeAlias = NDArray[np.float64]

SANDWICH_MATCHES = 30
"""Below this many matches a player has too few residuals to estimate their spread from."""

TIE = 6
"""Decimals of a rating beyond which two are equal: players with the same results differ there by
rounding alone."""


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


@dataclass(frozen=True, slots=True)
class Residual:
    """What `first` scored against `second` in `matches` matches, and what the ratings expect.

    z = (score − expected)/sd, where the variance of one score is φ p(1 − p): that of a win-or-loss
    game, times φ, the part of it that the scores of the whole field show (1 without draws). Large
    where a pair plays otherwise against each other than against the rest: a style that suits, or
    games that are thrown. 0 where scores have no spread at all.
    """

    first: str
    second: str
    matches: int
    score: float
    expected: float
    z: float


@dataclass(frozen=True, slots=True, eq=False)
class Meetings:
    """Of each pair of players, as arrays [i, j]: `matches` with a result between them, `scored` by
    i, what the fit `expected` i to score, and the `variance` of that."""

    matches: NDArray[np.int64]
    scored: Array
    expected: Array
    variance: Array

    @property
    def z(self) -> Array:
        """(scored − expected)/√variance; 0 without a variance."""
        surprise = self.scored - self.expected
        none = np.zeros_like(surprise)
        return np.divide(surprise, np.sqrt(self.variance), out=none, where=self.variance > 0.0)


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
    meetings: Meetings

    @property
    def is_connected(self) -> bool:
        """Whether results alone, without the prior, give finite and unique ratings (Ford 1957)."""
        return len(self.groups) <= 1

    def rating(self, player: str) -> float:
        """The rating of one player, from the same origin as `ratings`."""
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
        variances = np.diag(self.covariances[errors])
        return dict(zip(self.players, np.sqrt(variances).tolist(), strict=True))

    def bars(self, *, errors: Errors | None = None) -> dict[str, float]:
        """Player to the half width of its 95 % interval, relative to the mean of the field.

        The origin of this fit does not matter. Without `errors` the sandwich, but the model for a
        player with fewer than 30 matches or with a score of 0 or 100 %, whose residuals are too few
        or all of one sign.
        """
        centred = self.centred()
        by_kind = {kind: centred.standard_errors(kind) for kind in Errors}
        trusted = dict(zip(self.players, self._are_trusted().tolist(), strict=True))
        return {
            player: Z95 * by_kind[errors or _kind(is_trusted)][player]
            for player, is_trusted in trusted.items()
        }

    def difference(self, first: str, second: str, *, errors: Errors | None = None) -> Difference:
        """The lead of `first` over `second`; Var = C_ii + C_jj − 2 C_ij and LOS = Φ(lead/√Var).

        Without `errors` the kind is chosen as for `bars`: the sandwich where both players allow it.
        """
        i, j = self._index(first), self._index(second)
        are_trusted = self._are_trusted()
        covariance = self.covariances[errors or _kind(bool(are_trusted[i] and are_trusted[j]))]
        variance = float(covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j])
        standard_error = math.sqrt(max(variance, 0.0))  # a difference of nearly equal numbers
        lead = float(self.ratings[i] - self.ratings[j])
        return Difference(
            lead, standard_error, likelihood_of_superiority(lead, standard_error=standard_error)
        )

    def ranking(self) -> tuple[str, ...]:
        """The players, best first; equal ratings (to a millionth) by name."""
        table = self.table()
        return tuple(sorted(table, key=lambda name: (-round(table[name], TIE), name.encode())))

    def los_next(self, *, errors: Errors | None = None) -> dict[str, float | None]:
        """Player to the likelihood that it is better than the next of `ranking`; None for the last.

        The kind of error is chosen as for `difference`.
        """
        order = self.ranking()
        los: dict[str, float | None] = {
            player: self.difference(player, after, errors=errors).los
            for player, after in pairwise(order)
        }
        return los | dict.fromkeys(order[-1:])

    def rank_intervals(self, *, errors: Errors | None = None) -> dict[str, tuple[int, int]]:
        """Player to the best and the worst rank that the results leave open.

        The best is 1 + the number of players surely above it, the worst n − the number surely
        below: those whose difference to it has a 95 % interval without 0. The kind of error of each
        difference is chosen as for `difference`.
        """
        leads = self.ratings[:, None] - self.ratings[None, :]
        is_surely_above = leads > Z95 * self._standard_errors_of_leads(errors)
        best = 1 + is_surely_above.sum(axis=0)
        worst = len(self.players) - is_surely_above.sum(axis=1)
        intervals = zip(best.tolist(), worst.tolist(), strict=True)
        return dict(zip(self.players, intervals, strict=True))

    def residual(self, first: str, second: str) -> Residual:
        """How the results of `first` against `second` go with the ratings of all."""
        i, j = self._index(first), self._index(second)
        return self._residual(i, j, z=float(self.meetings.z[i, j]))

    def residuals(self, *, beyond: float = 0.0) -> list[Residual]:
        """Those of all pairs that met, with |z| of at least `beyond`, the largest first.

        Each pair once, with the player first that scored more than expected.
        """
        z = self.meetings.z
        is_told = (self.meetings.matches > 0) & (np.abs(z) >= beyond)
        pairs = [
            (i, j) if z[i, j] >= 0 else (j, i) for i, j in np.argwhere(np.triu(is_told)).tolist()
        ]
        told = [self._residual(i, j, z=float(z[i, j])) for i, j in pairs]
        return sorted(told, key=lambda r: (-r.z, r.first.encode(), r.second.encode()))

    def _residual(self, i: int, j: int, *, z: float) -> Residual:
        met = self.meetings
        return Residual(
            first=self.players[i],
            second=self.players[j],
            matches=int(met.matches[i, j]),
            score=float(met.scored[i, j]),
            expected=float(met.expected[i, j]),
            z=z,
        )

    def _index(self, player: str) -> int:
        try:
            return self.players.index(player)
        except ValueError:
            raise KeyError(f"{player!r} is not among the fitted players") from None

    def _are_trusted(self) -> NDArray[np.bool_]:
        """Of each player, whether the sandwich can be trusted."""
        shares = np.array(self.shares)
        return (np.array(self.matches) >= SANDWICH_MATCHES) & (shares > 0.0) & (shares < 1.0)

    def _standard_errors_of_leads(self, errors: Errors | None) -> Array:
        by_kind = {
            kind: np.diag(c)[:, None] + np.diag(c)[None, :] - 2.0 * c
            for kind, c in self.covariances.items()
        }
        are_trusted = self._are_trusted()
        variances = (
            by_kind[errors]
            if errors is not None
            else np.where(
                are_trusted[:, None] & are_trusted[None, :],
                by_kind[Errors.SANDWICH],
                by_kind[Errors.MODEL],
            )
        )
        return np.asarray(np.sqrt(np.maximum(variances, 0.0)), dtype=np.float64)

    def _relative_to(self, origin: Array, at: float) -> Fit:
        """With B = I − 1·originᵀ: ratings B R + at, covariances B C Bᵀ."""
        shift = np.eye(len(self.players)) - origin
        return replace(
            self,
            ratings=shift @ self.ratings + at,
            covariances={errors: shift @ c @ shift.T for errors, c in self.covariances.items()},
        )


def _kind(is_trusted: bool) -> Errors:
    return Errors.SANDWICH if is_trusted else Errors.MODEL
