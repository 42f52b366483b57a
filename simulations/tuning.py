"""Whether `arena tune` finds better values, on hills whose top is known.

A hill says what a bot is worth, in points a board, by its parameters: it falls from its top as a
parabola does, as steeply and as far as hills of bots may, and is level far from the top. The top
lies anywhere. Every board is noise of the size that boards between relatives have. All ways have as
many boards: the climb of `arena.tuning.climb`; values at random, of which the best is taken; and
the top of a parabola that is fitted to those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.ladder.bots.entrants import Parameter
from arena.tuning.climb import Climb

LEAGUES = 200
"""Hills for each number of parameters: the mean gain is known to some 4 % of what is possible."""

PAGE = "experiments.md"
PARAMETERS = (1, 2, 4, 8)
TRIALS = 64
BOARDS = 32
BOARD_DEVIATION = 0.9

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Hill:
    """A bot's worth by its parameters, each 0 to 1 and 0.5 by default."""

    top: Array
    widths: Array
    height: float

    @classmethod
    def drawn(cls, rng: np.random.Generator, parameters: int) -> Hill:
        """Any hill."""
        return cls(
            top=rng.uniform(0.1, 0.9, parameters),
            widths=rng.uniform(0.4, 1.0, parameters),
            height=rng.uniform(0.2, 0.8) / np.sqrt(parameters),
        )

    def worth(self, values: Array) -> float:
        """Points a board, less those at the top."""
        away = np.minimum(((values - self.top) / self.widths) ** 2, 1.0)
        return float(-self.height * away.sum())


Way = Callable[[Hill, np.random.Generator], Array]
"""Finds values on a hill, by so many trials of so many boards."""


def report(leagues: int, *, seed: int) -> str:
    """The table of the page."""
    ways: tuple[Way, ...] = (climbed, best_at_random, top_of_parabola)
    rows = [
        "| parameters | could be gained | by the climb | by the best at random | by a parabola |",
        "|---|---|---|---|---|",
    ]
    for parameters in PARAMETERS:
        rng = np.random.default_rng([seed, parameters])
        hills = [Hill.drawn(rng, parameters) for _ in range(leagues)]
        start = np.full(parameters, 0.5)
        possible = np.mean([-hill.worth(start) for hill in hills])
        shares = [
            np.mean([hill.worth(way(hill, rng)) - hill.worth(start) for hill in hills]) / possible
            for way in ways
        ]
        told = " | ".join(f"{share:.0%}".replace("%", " %") for share in shares)
        rows.append(f"| {parameters} | {possible:.2f} points a board | {told} |")
    return "\n".join(rows)


def climbed(hill: Hill, rng: np.random.Generator) -> Array:
    """As `arena tune` does it: two settings against each other in each trial."""
    parameters = [Parameter(f"p{place}", 0.5, 0.0, 1.0) for place in range(len(hill.top))]
    climb = Climb(parameters, trials=TRIALS, boards=BOARDS, mixed=rng.bytes(32))
    while (pair := climb.next()) is not None:
        climb.take(_seen(hill.worth(np.array(pair.up)) - hill.worth(np.array(pair.down)), rng))
    return np.array([found.value for found in climb.found])


def best_at_random(hill: Hill, rng: np.random.Generator) -> Array:
    """Settings at random against the default, of which the one that did best is taken."""
    tried, seen = _at_random(hill, rng)
    best: Array = tried[np.argmax(seen)]
    return best


def top_of_parabola(hill: Hill, rng: np.random.Generator) -> Array:
    """The same settings, and where a parabola for each parameter, fitted to them, has its top."""
    tried, seen = _at_random(hill, rng)
    count = len(hill.top)
    away = tried - 0.5
    features = np.hstack([np.ones((len(tried), 1)), away, away**2])
    # The variance of a trial over what a coefficient's may be: hills are some tenths of a point.
    ridge = np.eye(features.shape[1]) * BOARD_DEVIATION**2 / BOARDS / 0.5**2
    ridge[0, 0] = 0.0
    fit = np.linalg.solve(features.T @ features + ridge, features.T @ seen)
    slope, bend = fit[1 : count + 1], fit[count + 1 :]
    at_end = np.where(slope > 0, 0.5, -0.5)
    top = np.where(bend < 0, -slope / (2 * np.where(bend < 0, bend, -1.0)), at_end)
    found: Array = np.clip(0.5 + top, 0.0, 1.0)
    return found


def _at_random(hill: Hill, rng: np.random.Generator) -> tuple[Array, Array]:
    count = len(hill.top)
    tried = np.vstack([np.full((1, count), 0.5), rng.uniform(0.0, 1.0, (TRIALS, count))])
    start = hill.worth(tried[0])
    # The default against itself is level by symmetry, and need not be played.
    seen = [0.0, *(_seen(hill.worth(values) - start, rng) for values in tried[1:])]
    return tried, np.array(seen)


def _seen(truth: float, rng: np.random.Generator) -> float:
    """What the boards of a trial say."""
    return truth + float(rng.normal(0.0, BOARD_DEVIATION / np.sqrt(BOARDS)))
