"""Whether the sequential test keeps its error rates, on boards of made-up bots.

Boards are drawn from the differences that a duel of real bots has shown, tilted until their true
normalized Elo is exactly a bound of the test, or the middle between both. There is a look after
every 16 boards, as `arena sprt` has it. What is counted is how often H1 is accepted, and after how
many boards the test ends.

The ratio is that of `arena.ladder.ratings.sprt`, computed for thousands of tests at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.ladder.ratings.sprt import EMPTY_CELL, Sprt
from arena.ladder.ratings.statistics import BOARD_LIMIT, NELO_PER_SD, Unit, pentanomial

LEAGUES = 4000
"""Tests at each gap. 4,000 tell an error rate of 5 % to ±0.7 %."""

PAGE = "experiments.md"
BATCH = 16

Array: TypeAlias = NDArray[np.float64]

BOUNDS = ((0.0, 10.0), (0.0, 20.0), (-10.0, 10.0), (0.0, 50.0))
CAP = 10**9  # far beyond all: what the error rates are promised for

DIFFERENCES = np.arange(-BOARD_LIMIT, BOARD_LIMIT + 1)
SHARES = np.array([0, 0, 0, 0.0396, 0.0012, 0.7701, 0.0283, 0.1591, 0.0006, 0.0011, 0])
"""Of the differences -5 to 5 in a long duel of two heuristic bots, the better one first."""

VALUES = np.array(pentanomial([]).values)
_CLASSES = np.array([np.argmax(pentanomial([int(d)]).counts) for d in DIFFERENCES])


@dataclass(frozen=True, slots=True)
class Characteristic:
    """What a test does where the gap is truly `nelo`: how often it accepts H1, and after how many
    boards it ends, in the mean and in all but 5 % of the tests.
    """

    nelo: float
    accepted: float
    mean_boards: float
    most_boards: float


def report(leagues: int, *, seed: int) -> str:
    """The table of the page."""
    rows = [
        "| bounds, nElo | H1 accepted | boards in the mean | 95 % end within | fixed number |",
        "|---|---|---|---|---|",
    ]
    for low, high in BOUNDS:
        test = Sprt(elo0=low, elo1=high, cap=CAP)
        found = characteristics(test, runs=leagues, seed=seed)
        rates = " / ".join(f"{100 * one.accepted:.1f} %" for one in found)
        means = " / ".join(f"{one.mean_boards:,.0f}" for one in found)
        most = " / ".join(f"{one.most_boards:,.0f}" for one in found)
        fixed = fixed_boards(test)
        rows.append(f"| [{low:g}, {high:g}] | {rates} | {means} | {most} | {fixed:,.0f} |")
    return "\n".join(rows)


def characteristics(test: Sprt, *, runs: int, seed: int) -> tuple[Characteristic, ...]:
    """Of a test with normalized bounds: where the gap is the lower bound, the middle, the upper."""
    rng = np.random.default_rng(seed)
    gaps = (test.elo0, (test.elo0 + test.elo1) / 2, test.elo1)
    return tuple(_characteristic(test, gap, runs=runs, rng=rng) for gap in gaps)


def fixed_boards(test: Sprt) -> float:
    """How many boards a test of a fixed number needs for errors of 5 % to both sides:
    (2 · 1.645)²/(t₁ − t₀)², t in sd of a board.
    """
    z = 1.6448536269514722
    return float((2 * z * NELO_PER_SD / (Unit.PAIR.value * (test.elo1 - test.elo0))) ** 2)


def _characteristic(
    test: Sprt, nelo: float, *, runs: int, rng: np.random.Generator
) -> Characteristic:
    shares = boards_with(nelo)
    counts = np.zeros((runs, len(VALUES)))  # of the tests that are not over
    accepted, ended_after = 0, []
    boards = 0
    while len(counts):
        boards += BATCH
        counts += rng.multinomial(BATCH, shares, size=len(counts))
        ratio = ratios(counts, test)
        is_over = (ratio >= test.upper) | (ratio <= test.lower)
        accepted += int((ratio >= test.upper).sum())
        ended_after += [boards] * int(is_over.sum())
        counts = counts[~is_over]
    return Characteristic(
        nelo, accepted / runs, float(np.mean(ended_after)), float(np.quantile(ended_after, 0.95))
    )


def boards_with(nelo: float) -> Array:
    """The shares of the five classes of boards between bots that are truly so far apart: those of
    the duel, made even, then tilted exponentially.
    """
    even = (SHARES + SHARES[::-1]) / 2
    shares: Array = np.bincount(_CLASSES, weights=even, minlength=len(VALUES)).astype(np.float64)
    low, high = -20.0, 20.0
    for _ in range(100):
        tilt = (low + high) / 2
        tilted: Array = shares * np.exp(tilt * (VALUES - 0.5))
        tilted = tilted / tilted.sum()
        if _nelo(tilted) < nelo:
            low = tilt
        else:
            high = tilt
    return tilted


def _nelo(shares: Array) -> float:
    mean = shares @ VALUES
    sd = np.sqrt(shares @ (VALUES - mean) ** 2)
    return float(NELO_PER_SD * (mean - 0.5) / (Unit.PAIR.value * sd))


def ratios(counts: Array, test: Sprt) -> Array:
    """The log-likelihood ratio of each row of counts, for normalized bounds."""
    regular = np.where(counts > 0, counts, EMPTY_CELL)
    total = regular.sum(axis=1)
    shares = regular / total[:, None]
    t0, t1 = (Unit.PAIR.value * bound / NELO_PER_SD for bound in (test.elo0, test.elo1))
    logs = np.log(_likeliest(shares, t1)) - np.log(_likeliest(shares, t0))
    ratio: Array = total * (shares * logs).sum(axis=1)
    return ratio


def _likeliest(shares: Array, t: float) -> Array:
    """`arena.ladder.ratings.sprt._at_gap`, row by row."""
    found = np.full_like(shares, 1 / shares.shape[1])
    for _ in range(100):
        mean = (found * VALUES).sum(axis=1, keepdims=True)
        sd = np.sqrt((found * (VALUES - mean) ** 2).sum(axis=1, keepdims=True))
        excess = VALUES - 0.5 - 0.5 * t * sd * (1 + ((VALUES - mean) / sd) ** 2)
        before, found = found, _tilted(shares, excess)
        if np.abs(found - before).max() < 1e-9:
            break
    return found


def _tilted(shares: Array, excess: Array) -> Array:
    """By Newton's method, and by halves where that would leave the poles."""
    low = -1 / excess.max(axis=1, keepdims=True)
    high = -1 / excess.min(axis=1, keepdims=True)
    theta = np.zeros_like(low)
    for _ in range(60):
        part = excess / (1 + theta * excess)
        slope = (shares * part).sum(axis=1, keepdims=True)
        low, high = np.where(slope > 0, theta, low), np.where(slope > 0, high, theta)
        step = slope / (shares * part**2).sum(axis=1, keepdims=True)
        if (np.abs(step) < 1e-12 * (1 + np.abs(theta))).all():
            break
        after = theta + step
        theta = np.where((low < after) & (after < high), after, (low + high) / 2)
    tilted: Array = shares / (1 + theta * excess)
    return tilted
