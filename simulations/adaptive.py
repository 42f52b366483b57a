"""How many fewer matches adaptive pairing needs than a round robin for ratings as good.

Bots are made up with a standard deviation of 300 Elo, and every match is won or lost with the
probability that the ratings give. A round robin of them, as far as it goes with so many matches a
bot, is fitted once. The adaptive schedule is asked batch by batch as a ladder asks it, with a fit
of all results before each. Of both it is seen how large the standard errors are, which their
pairings lead to, and how far the fitted ratings really are from those the bots were made with.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain
from multiprocessing import get_context
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.ladder.ratings.bradley_terry import NATS_PER_POINT, PRIOR_DRAWS, fit
from arena.ladder.ratings.comparison import grouped
from arena.ladder.ratings.elo import START_RATING
from arena.ladder.ratings.fitted import Array, Errors, Fit
from arena.ladder.schedules import Adaptive, Knowledge, Scheduled, Stage, State
from arena.ladder.schedules.adaptive import gains, information
from arena.ladder.schedules.round_robin import round_robin

LEAGUES = 40
"""Of 30 bots; a tenth as many are of 300."""

PAGE = "schedules.md"

SPREAD_ELO: Final = 300.0
MATCHES_A_BOT: Final = 100
SIZES: Final = ((30, 1), (300, 10))
"""Bots, and in which part of the leagues."""

MEASURES: Final = ("mean standard error", "worst standard error", "mean error", "worst error")

DESIGNS: Final = {
    "random pairs": "54 / 125",
    "the 12 nearest": "51 / 74",
    "largest p(1 − p)·Var": "47 / 79",
    "largest gain": "43.5 / 61",
}
"""What the plan of the ladder rests on: mean and worst standard error of 60 bots after 80 matches
each, as they were found by another program."""


def report(leagues: int, *, seed: int) -> str:
    """Play so many leagues of 30 bots, and a tenth of 300; the table in Markdown."""
    tasks = [
        (bots, number, seed)
        for bots, part in reversed(SIZES)
        for number in range(max(1, leagues // part))
    ]
    # One thread each: the matrices are small, and there is a process for every core.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        seen = list(pool.map(_league, *zip(*tasks, strict=True)))
    whole = f"round robin, {MATCHES_A_BOT} matches a bot"
    lines = [
        f"| bots | of their ratings | {whole} | adaptive, as many | as good with | fewer |",
        "|---|---|---|---|---|---|",
    ]
    for bots, _ in SIZES:
        of_size = [one for one in seen if one.bots == bots]
        lines += [_row(of_size, column) for column in range(len(MEASURES))]
        robin, adaptive = np.mean([one.covered for one in of_size], axis=0)
        lines.append(f"| {bots} | bars of 95 % that cover | {robin:.1%} | {adaptive:.1%} | | |")
    return "\n".join([*lines, "", *_published(seed)])


@dataclass(frozen=True, slots=True)
class Seen:
    """One league: the measures of the round robin, and those of adaptive after each batch, when
    `matches` a bot had been played; and of how many bots the 95 % bars cover the truth at the end,
    as a share, in the round robin and in the adaptive event."""

    bots: int
    round_robin: Array
    adaptive: Array
    matches: Array
    covered: tuple[float, float]


def seen_in(bots: int, rng: np.random.Generator, *, matches_a_bot: int = MATCHES_A_BOT) -> Seen:
    """Play one league."""
    truth = START_RATING + SPREAD_ELO * rng.standard_normal(bots)
    league = League(truth, rng)
    everybody = rng.permutation(bots)
    rounds = chain.from_iterable(iter(lambda: round_robin(bots), None))
    for _ in range(matches_a_bot):
        league.play([(everybody[a], everybody[b]) for a, b in next(rounds)])
    whole, covered = league.measures(), league.covered()

    league = League(truth, rng)
    total = bots * matches_a_bot // 2
    curve, matches = [], []
    for played in league.batches(Adaptive(total)):
        curve.append(league.measures())
        matches.append(2 * played / bots)
    return Seen(bots, whole, np.array(curve), np.array(matches), (covered, league.covered()))


class League:
    """Bots whose ratings are known, and all their results."""

    def __init__(self, truth: Array, rng: np.random.Generator) -> None:
        self._truth = truth
        self._rng = rng
        self._wins = np.zeros((len(truth), len(truth)), dtype=np.int64)  # of the row's bot

    def play(self, pairs: list[tuple[int, int]]) -> None:
        """A match of each."""
        first, second = np.array(pairs).T
        lead = NATS_PER_POINT * (self._truth[first] - self._truth[second])
        won = self._rng.random(len(pairs)) < 1.0 / (1.0 + np.exp(-lead))
        np.add.at(self._wins, (np.where(won, first, second), np.where(won, second, first)), 1)

    def batches(self, schedule: Adaptive) -> Iterator[int]:
        """Play an event; after each batch how many matches there have been."""
        bots = len(self._truth)
        names = tuple(map(str, range(bots)))
        stages: list[Stage] = []
        played = 0
        while True:
            state = State(
                names,
                tuple(range(bots)),
                self._rng.bytes(32),
                stages=tuple(stages),
                knowledge=self._knowledge(),
            )
            meetings = [pick.meeting for pick in schedule.picks(state)]
            if not meetings:
                return
            self.play([(first, second) for first, second in meetings])
            stages.append(Stage(state.field, tuple(Scheduled(m, (0.5, 0.5)) for m in meetings)))
            played += len(meetings)
            yield played

    def measures(self) -> Array:
        """`MEASURES` as they are now."""
        error = np.abs(self._off(self.fit()))
        errors = standard_errors(self._truth, self._wins + self._wins.T)
        return np.array([errors.mean(), errors.max(), error.mean(), error.max()])

    def covered(self) -> float:
        """The share of bots whose 95 % bar reaches the truth."""
        fitted = self.fit()
        bars = np.array(list(fitted.bars().values()))
        return float(np.mean(np.abs(self._off(fitted)) <= bars))

    def _off(self, fitted: Fit) -> Array:
        """How much too high each rating is, relative to the mean of the field."""
        off: Array = fitted.centred(at=0.0).ratings - (self._truth - self._truth.mean())
        return off

    def fit(self) -> Fit:
        """The ratings of all results, with the ladder's prior."""
        winner, loser = np.nonzero(self._wins)
        return fit(
            grouped(
                tuple(map(str, range(len(self._truth)))),
                np.column_stack((winner, loser)).astype(np.intp),
                scores=np.ones((len(winner), 1)),
                counts=self._wins[winner, loser],
            )
        )

    def _knowledge(self) -> Knowledge:
        fitted = self.fit()
        label = {name: at for at, group in enumerate(fitted.groups) for name in group}
        return Knowledge(
            ratings=fitted.ratings,
            covariance=fitted.covariances[Errors.MODEL],
            met=self._wins + self._wins.T,
            groups=tuple(label[name] for name in fitted.players),
            cpu_seconds=np.ones(len(self._truth)),
        )


def standard_errors(truth: Array, met: NDArray[np.int64]) -> Array:
    """Of each rating relative to the mean of the field, in Elo, if these have met so often."""
    weights = information(truth) * met
    half = np.tanh(0.5 * NATS_PER_POINT * (truth - START_RATING))
    prior = PRIOR_DRAWS * NATS_PER_POINT**2 * 0.25 * (1.0 - half * half)
    inverse = np.linalg.inv(np.diag(weights.sum(axis=1) + prior) - weights)
    centred = inverse - inverse.mean(axis=0)
    centred = centred - centred.mean(axis=1, keepdims=True)
    return np.asarray(np.sqrt(np.diag(centred)), dtype=np.float64)


def needed(curve: Array, matches: Array, *, target: float) -> float:
    """How many matches a bot bring the curve down to the target: between the last point above it
    and the next one; infinite if it stays above."""
    above = np.flatnonzero(curve > target)
    if not len(above):
        return float(matches[0])
    last = int(above[-1])
    if last == len(curve) - 1:
        return float("inf")
    share = (curve[last] - target) / (curve[last] - curve[last + 1])
    return float(matches[last] + share * (matches[last + 1] - matches[last]))


def designs(bots: int, matches_a_bot: int, rng: np.random.Generator) -> dict[str, Array]:
    """Standard errors by way of pairing, were the ratings known: the field lies at the quantiles of
    a normal distribution."""
    quantile = NormalDist(START_RATING, SPREAD_ELO).inv_cdf
    truth = np.array([quantile((at + 0.5) / bots) for at in range(bots)])
    total = bots * matches_a_bot // 2
    pairs = np.array([rng.choice(bots, 2, replace=False) for _ in range(total)])
    random = np.zeros((bots, bots), dtype=np.int64)
    np.add.at(random, (pairs[:, 0], pairs[:, 1]), 1)
    distance = np.abs(np.subtract.outer(np.arange(bots), np.arange(bots)))
    near = ((distance > 0) & (distance <= 6)).astype(np.int64)
    near = np.rint(near * (2 * total / near.sum())).astype(np.int64)
    simple = _greedily(truth, total, _simple_rule)
    largest = _greedily(truth, total, lambda weights, p: gains(weights, p, p @ p))
    met = dict(zip(DESIGNS, (random + random.T, near, simple, largest), strict=True))
    return {name: standard_errors(truth, one) for name, one in met.items()}


def _simple_rule(weights: Array, covariance: Array) -> Array:
    variances = np.diag(covariance)
    return weights * (np.add.outer(variances, variances) - 2 * covariance)


def _greedily(
    truth: Array, matches: int, worth: Callable[[Array, Array], Array]
) -> NDArray[np.int64]:
    weights = information(truth)
    p = np.eye(len(truth)) * SPREAD_ELO**2
    met = np.zeros((len(truth), len(truth)), dtype=np.int64)
    for _ in range(matches):
        value = worth(weights, p)
        np.fill_diagonal(value, -1.0)
        i, j = divmod(int(np.argmax(value)), len(truth))
        met[i, j] += 1
        met[j, i] += 1
        v = p[:, i] - p[:, j]
        p = p - np.outer(v, v) * (weights[i, j] / (1.0 + weights[i, j] * (v[i] - v[j])))
    return met


def _league(bots: int, number: int, seed: int) -> Seen:
    return seen_in(bots, np.random.default_rng([seed, bots, number]))


def _row(seen: list[Seen], column: int) -> str:
    whole = float(np.mean([one.round_robin[column] for one in seen]))
    curve = np.mean([one.adaptive[:, column] for one in seen], axis=0)
    count = needed(curve, seen[0].matches, target=whole)
    return (
        f"| {seen[0].bots} | {MEASURES[column]} | {whole:.0f} Elo | {curve[-1]:.0f} Elo "
        f"| {count:.0f} matches a bot | {1 - count / MATCHES_A_BOT:.0%} |"
    )


def _published(seed: int) -> Iterator[str]:
    yield "| 60 bots, 80 matches each | mean / worst standard error | the plan's |"
    yield "|---|---|---|"
    for name, errors in designs(60, 80, np.random.default_rng(seed)).items():
        yield f"| {name} | {errors.mean():.1f} / {errors.max():.0f} | {DESIGNS[name]} |"
