"""Figures and names as a person reads them: n/a and inf, never NaN; names in any script."""

import os
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from arena.wording import printable as printable

LEFT_TO_RIGHT_MARK = "\u200e"
NOT_THERE = "n/a"


def signed(value: float | None, digits: int) -> str:
    """A figure with its sign; what rounds to zero is no less than zero."""
    return NOT_THERE if value is None else f"{value:+z.{digits}f}"


def plain(value: float | None, digits: int) -> str:
    """A figure without a plus."""
    return NOT_THERE if value is None else f"{value:.{digits}f}"


def with_error(value: float | None, error: float | None, *, digits: int) -> str:
    """A figure and half the width of its 95 % interval."""
    return NOT_THERE if value is None else f"{signed(value, digits)} ± {plain(error, digits)}"


def percent(probability: float | None) -> str:
    """A probability; no sample makes it a certainty."""
    if probability is None:
        return NOT_THERE
    if probability < 0.001:
        return "<0.1 %"
    return ">99.9 %" if probability > 0.999 else f"{100 * probability:.1f} %"


def told_apart(names: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Labels for bots by name and version: the name; with its version, or a count, where another
    has the same.

    >>> told_apart([("mine", "1"), ("mine", "2"), ("greedy", "1"), ("greedy", "1")])
    ('mine 1', 'mine 2', 'greedy #1', 'greedy #2')
    """
    labels = []
    for place, (name, version) in enumerate(names):
        alike = [other for other in names if other[0] == name]
        if len(alike) == 1:
            labels.append(name)
        elif len(set(alike)) == len(alike):
            labels.append(f"{name} {version}")
        else:
            labels.append(f"{name} #{1 + sum(other[0] == name for other in names[:place])}")
    return tuple(labels)


def kept_apart(name: str) -> str:
    """A name that does not turn round what stands after it: figures that follow letters of a script
    written from right to left are shown in that direction, and columns with them.
    """
    is_rightward = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in name)
    return name + LEFT_TO_RIGHT_MARK if is_rightward else name


def records_folder(records: Iterable[tuple[str, str]]) -> str:
    """The folder of records, by match and file, which is said once in place of all their paths.
    That of a ladder has each under the id of its match.
    """
    folders = []
    for match, file in records:
        folder, is_below, _ = file.rpartition(f"/{match}")
        folders.append(folder if is_below else str(Path(file).parent))
    if len({os.path.isabs(folder) for folder in folders}) > 1:
        folders = list(map(os.path.abspath, folders))
    return os.path.commonpath(folders) or os.curdir
