"""A picture of a tuning: for each parameter the way its value went, and what each trial said.

Matplotlib draws it: it is of the extra `graph`, and for this imported here alone. An SVG is the
same bytes for the same trials.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from arena.graph import picture
from arena.tuning.climb import Climb
from arena.tuning.study import Trial

_WIDTH_INCHES: Final = 9.0
_ROW_INCHES: Final = 2.4
_BETTER, _WORSE, _WAY = "tab:green", "tab:red", "tab:blue"


def draw(climb: Climb, trials: Sequence[Trial], *, file: Path, title: str) -> None:
    """Draw the way so far into a file, whose name ends in .svg or .png. Raises OSError."""
    rows = len(climb.parameters)
    inches = _WIDTH_INCHES, 0.9 + _ROW_INCHES * rows
    with picture(file, inches=inches, title=title) as figure:
        for place, axes in enumerate(figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]):
            _draw_way(axes, climb, trials, place=place)
        axes.set_xlabel(
            "trial; each tries two values of all parameters: green did better, red worse"
        )
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _draw_way(axes: Axes, climb: Climb, trials: Sequence[Trial], *, place: int) -> None:
    found = climb.found[place]
    parameter = found.parameter
    span = parameter.high - parameter.low
    axes.set_ylabel(parameter.name)
    axes.set_ylim(parameter.low - 0.04 * span, parameter.high + 0.04 * span)
    half = len(climb.way) // 2
    axes.axvspan(half, max(len(climb.way) - 1, half), color=_WAY, alpha=0.06, linewidth=0)
    axes.axhline(parameter.default, color="grey", linestyle="--", linewidth=1)
    axes.axhline(found.value, color=_WAY, linewidth=1, alpha=0.6)
    for trial in trials:
        pair, points = trial.pair, trial.points
        for value, sign in ((pair.up[place], 1), (pair.down[place], -1)):
            colour = "lightgrey" if points == 0 else _BETTER if sign * points > 0 else _WORSE
            axes.plot(pair.number, value, ".", markersize=3.5, color=colour)
    axes.plot(range(len(climb.way)), [values[place] for values in climb.way], color=_WAY)
    axes.set_title(
        f"{parameter.name}: {parameter.default:g} (dashed) → {found.value:.4g}, "
        f"the mean of the half that is shaded",
        loc="left",
    )
