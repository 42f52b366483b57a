"""A picture of what a match's decisions cost: by bot and kind, and from game to game.

Matplotlib draws it: it is of the extra `graph`. An SVG is the same bytes for the same losses.
"""

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from arena.analysis.losses import PLAYED, EntrantLosses
from arena.analysis.values import Kind
from arena.graph import picture
from arena.wording import LEFT_TO_RIGHT_MARK


def draw(losses: Sequence[EntrantLosses], labels: Sequence[str], file: Path, *, title: str) -> None:
    """Draw the losses of the entrants of those labels into a file. Raises OSError, and ValueError
    for a name that ends in none of `FORMATS`.
    """
    with picture(file, inches=(11.0, 4.5), title=title) as figure:
        by_kind, by_game = figure.subplots(1, 2)
        _draw_kinds(by_kind, losses, labels)
        _draw_games(by_game, losses, labels)


def _draw_kinds(axes: Axes, losses: Sequence[EntrantLosses], labels: Sequence[str]) -> None:
    """A column an entrant of what it lost a hand against open cards; beside it, paler and hatched,
    against what it knew.
    """
    axes.set_ylabel("points lost a hand")
    axes.grid(axis="y", alpha=0.25)
    colours = mpl.colormaps["tab10"]
    has_fair = any(entrant.total.fair_points is not None for entrant in losses)
    width = 0.38 if has_fair else 0.6
    for place, entrant in enumerate(losses):
        top, fair_top = 0.0, 0.0
        for number, kind in enumerate(PLAYED):
            loss = entrant.by_kind.get(kind)
            if loss is None or not entrant.hands:
                continue
            height = loss.points / entrant.hands
            left = place - (width / 2 if has_fair else 0)
            axes.bar(left, height, width, bottom=top, color=colours(number))
            top += height
            # What fell below nothing by chance has no height.
            fair = max(loss.fair_points or 0.0, 0.0) / entrant.hands
            axes.bar(
                place + width / 2,
                fair,
                width,
                bottom=fair_top,
                color=colours(number),
                alpha=0.5,
                hatch="//",
            )
            fair_top += fair
    for number, kind in enumerate(PLAYED):
        axes.bar(0, 0, 0, color=colours(number), label=_words(kind))
    if has_fair:
        axes.bar(0, 0, 0, color="grey", alpha=0.5, hatch="//", label="against what was known")
    axes.legend(fontsize=8)  # in a frame: it may lie on a column of its own colours
    axes.set_xticks(range(len(losses)), [LEFT_TO_RIGHT_MARK + label for label in labels])
    axes.set_xlim(-0.6, max(len(losses), 2) - 0.4)


def _draw_games(axes: Axes, losses: Sequence[EntrantLosses], labels: Sequence[str]) -> None:
    """What each entrant has lost up to each game, against open cards."""
    axes.set_xlabel("game")
    axes.set_ylabel("points lost up to it, open cards")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.grid(axis="y", alpha=0.25)
    for entrant, label in zip(losses, labels, strict=True):
        games = [game for game, _ in entrant.by_game]
        lost = list(accumulate(points for _, points in entrant.by_game))
        mark = "o" if len(games) == 1 else ""  # one point makes no line
        axes.plot(
            games, lost, marker=mark, drawstyle="steps-post", label=LEFT_TO_RIGHT_MARK + label
        )
    if losses:
        axes.legend(frameon=False, fontsize=8)


def _words(kind: Kind) -> str:
    return "out of the suit" if kind is Kind.DISCARD else kind.value
