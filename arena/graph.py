"""A picture of ratings: Elo by round, and beside it where everybody stands, with the 95 % bars.

Matplotlib draws it: it is of the extra `graph`. Other pictures are set as this one is. An SVG is
the same bytes for the same ratings; its words stay text, so that names in any script are set by
whoever shows it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from arena.ladder.ratings.history import Curve
from arena.wording import LEFT_TO_RIGHT_MARK
from hokm.records.files import naming

FORMATS: Final = (".svg", ".png")
"""What a picture's name may end in."""

_WIDTH_INCHES: Final = 11.0
_LABEL_INCHES: Final = 0.19
"""What a line of a name takes."""

_LINES: Final = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)))
"""After so many bots as there are colours, the lines differ."""


def draw(curves: Sequence[Curve], file: Path, *, title: str) -> None:
    """Draw these bots, best first, into a file. Raises OSError, and ValueError for a name that ends
    in none of `FORMATS`.
    """
    height = max(4.5, 1.6 + _LABEL_INCHES * len(curves))
    with picture(file, inches=(_WIDTH_INCHES, height), title=title) as figure:
        by_round, now = figure.subplots(1, 2, width_ratios=(3, _share_of_bars(len(curves))))
        colours = _colours(len(curves))
        _draw_rounds(by_round, curves, colours=colours, labels_fit=int(height / _LABEL_INCHES) - 6)
        _draw_now(now, curves, colours=colours)


@contextmanager
def picture(file: Path, *, inches: tuple[float, float], title: str) -> Iterator[Figure]:
    """A figure so wide and high to draw into, which is then saved. Raises OSError, and ValueError
    for a name that ends in none of `FORMATS`.
    """
    if file.suffix not in FORMATS:
        raise ValueError(f"{file} ends in neither {' nor '.join(FORMATS)}")
    with mpl.rc_context(
        {
            "svg.hashsalt": "hokm-arena",
            "svg.fonttype": "none",
            "font.family": "sans-serif",
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    ):
        figure = Figure(figsize=inches, layout="constrained")
        # Before every text with a name in it: one in Persian letters would turn the figures round.
        figure.suptitle(LEFT_TO_RIGHT_MARK + title)
        yield figure
        _save(figure, file)


def _save(figure: Figure, file: Path) -> None:
    metadata = {"Date": None} if file.suffix == ".svg" else None
    with naming(file):
        try:
            figure.savefig(file, dpi=150, metadata=metadata)
        except OSError as error:
            if error.filename is None:  # it was begun, and half a picture is none
                with suppress(OSError):
                    file.unlink()
            raise


def _share_of_bars(count: int) -> float:
    """How wide the bars are, where the rounds take 3."""
    return 0.5 + min(count, 40) * 0.05


def _colours(count: int) -> list[tuple[float, float, float, float]]:
    few = mpl.colormaps["tab10"]
    # The second of each pair of tab20 is too pale for a thin line: the dark ones, and a dash later.
    return [few(place % 10) for place in range(count)]


def _draw_rounds(
    axes: Axes,
    curves: Sequence[Curve],
    *,
    colours: Sequence[tuple[float, float, float, float]],
    labels_fit: int,
) -> None:
    """Elo by round, with the names at the ends of the lines, moved apart where they would touch."""
    axes.set_xlabel("round")
    axes.set_ylabel("Elo, after each round")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis="y", alpha=0.25)
    shown = [(place, curve) for place, curve in enumerate(curves) if curve.points]
    if not shown:
        return
    for place, curve in shown:
        axes.plot(
            [point.round for point in curve.points],
            [point.elo for point in curve.points],
            color=colours[place],
            linestyle=_LINES[place // 10 % len(_LINES)],
            linewidth=1.4,
            marker="." if len(curve.points) < 20 else None,
        )
    last = max(curve.points[-1].round for _, curve in shown)
    ends = [curve.points[-1].elo for _, curve in shown]
    first = min(curve.points[0].round for _, curve in shown)
    axes.set_xlim(first - 0.5, last + 0.5)
    low, high = axes.get_ylim()
    gap = (high - low) / max(labels_fit, len(shown))
    for (place, curve), at in zip(shown, _apart(ends, gap=gap), strict=True):
        end = curve.points[-1]
        axes.annotate(
            f"{LEFT_TO_RIGHT_MARK}{curve.row.name}{LEFT_TO_RIGHT_MARK} {end.elo:.0f}",
            xy=(end.round, end.elo),
            xytext=(last + 0.5 + (last - first) * 0.03, at),
            color=colours[place],
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colours[place],
                "linewidth": 0.5,
                "alpha": 0.6,
                "relpos": (0, 0.5),
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )


def _draw_now(
    axes: Axes,
    curves: Sequence[Curve],
    *,
    colours: Sequence[tuple[float, float, float, float]],
) -> None:
    """The fitted ratings with their bars, a column each."""
    axes.set_ylabel("MLE ± 95 %, now")
    axes.grid(axis="y", alpha=0.25)
    shown = [
        (place, curve.row, curve.row.mle, curve.row.bar)
        for place, curve in enumerate(curves)
        if curve.row.mle is not None
    ]
    for column, (place, _, mle, bar) in enumerate(shown):
        axes.errorbar(column, mle, yerr=bar, color=colours[place], marker="o", ms=4, capsize=2)
    axes.set_xticks(
        range(len(shown)),
        [f"{LEFT_TO_RIGHT_MARK}#{row.rank} {row.name}" for _, row, _, _ in shown],
        rotation=90,
    )
    axes.set_xlim(-0.6, max(len(shown), 3) - 0.4)


def _apart(wanted: Sequence[float], *, gap: float) -> list[float]:
    """Places as near as can be to those wanted, in their order, each `gap` from the next at least:
    the least squares, by pooling whatever would be too near.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    blocks: list[tuple[float, int]] = []  # the mean of what is pooled, and of how many
    for rank, i in enumerate(order):
        mean, count = wanted[i] - rank * gap, 1
        while blocks and blocks[-1][0] >= mean:
            other, more = blocks.pop()
            mean, count = (mean * count + other * more) / (count + more), count + more
        blocks.append((mean, count))
    placed = [mean for mean, count in blocks for _ in range(count)]
    found = [0.0] * len(wanted)
    for rank, i in enumerate(order):
        found[i] = placed[rank] + rank * gap
    return found
