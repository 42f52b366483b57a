"""Words for figures and times that people are told: n/a and inf, never NaN; names in any script,
and what others wrote, made fit to be shown.
"""

import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime

LEFT_TO_RIGHT_MARK = "\u200e"
NOT_THERE = "n/a"


def counted(number: int, noun: str) -> str:
    """A number with its noun in the right form.

    >>> counted(1, "match"), counted(2, "match"), counted(0, "round"), counted(6000, "board")
    ('1 match', '2 matches', '0 rounds', '6,000 boards')
    """
    ending = "es" if noun.endswith("ch") else "s"
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}{ending}"


def stamp(time: datetime) -> str:
    """A time as tables have it and people see it: ISO 8601 in UTC, to the second.

    >>> stamp(datetime(2026, 3, 21, 12, 0, 0, 5, tzinfo=UTC))
    '2026-03-21T12:00:00Z'
    """
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def printable(text: str) -> str:
    """What somebody else wrote, on one line and without what would steer a terminal."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


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
