"""Words for figures and times that people are told; what others wrote, made fit to be shown."""

from datetime import UTC, datetime


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
