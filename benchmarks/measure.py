"""How figures are made: short measurements taken in turn, so that what the machine does meanwhile
falls on all of them, and each set beside the floor of its own round.
"""

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of something a second, round by round, and the same as parts of a floor."""

    rounds: tuple[float, ...]
    ratios: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    @property
    def ratio(self) -> float:
        """The median of the rounds' ratios, which is steadier than the ratio of the medians."""
        return statistics.median(self.ratios)


def in_turn(
    measures: Mapping[str, Callable[[], float]], *, floor: str, rounds: int
) -> dict[str, Rate]:
    """Take every measure once a round, the floor first; each is a rate, more being better."""
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            gc.collect()
            taken[name].append(measure())
    return {name: Rate(tuple(rates), over(rates, taken[floor])) for name, rates in taken.items()}


def over(rates: Sequence[float], floors: Sequence[float]) -> tuple[float, ...]:
    return tuple(rate / floor for rate, floor in zip(rates, floors, strict=True))


def cpu_rate(work: Callable[[], int]) -> float:
    """What `work` counts, by the second of this process's CPU time."""
    start = time.process_time()
    done = work()
    return done / (time.process_time() - start)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns: the first to the left, figures to the right; the first row is the heading."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
