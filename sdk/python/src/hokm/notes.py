"""A note that a bot attaches to an action: a short text and some numbers, for its owner alone.

Nobody at the table is told of it, and it decides nothing. So what is wrong with a note costs the
note and nothing else. This module says what a note may be; it knows no bot, no wire and no record.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, SupportsFloat

NOTE_CHARACTERS: Final = 200
"""Of the text of a note, at most."""
NOTE_NUMBERS: Final = 8
"""In a note, at most."""
NUMBER_NAME_CHARACTERS: Final = 24
"""Of the name of one of them, at most; it is an identifier in ASCII."""

_NAME: Final = re.compile(rf"[A-Za-z_][A-Za-z0-9_]{{0,{NUMBER_NAME_CHARACTERS - 1}}}")


@dataclass(frozen=True, slots=True)
class Note:
    """What a bot says to its owner about an action: a text in one line, which may be empty, and
    finite numbers by name, in its order.
    """

    text: str = ""
    numbers: tuple[tuple[str, float], ...] = ()

    def __str__(self) -> str:
        """One line for a person."""
        numbers = ", ".join(f"{name} {value:.6g}" for name, value in self.numbers)
        return "; ".join(filter(None, [self.text, numbers]))


def wrong_with(note: Note) -> str:
    """Why this can be no note; empty for one that can."""
    if not note.text and not note.numbers:
        return "it says nothing"
    if len(note.text) > NOTE_CHARACTERS:
        return f"its text has {len(note.text)} characters, and {NOTE_CHARACTERS} is the most"
    if not note.text.isprintable():
        return "its text has a character in it that cannot be printed"
    if len(note.numbers) > NOTE_NUMBERS:
        return f"it has {len(note.numbers)} numbers, and {NOTE_NUMBERS} is the most"
    names = [name for name, _ in note.numbers]
    if len(set(names)) < len(names):
        return "two of its numbers have one name"
    if not all(map(_NAME.fullmatch, names)):
        return (
            f"the name of a number is 1 to {NUMBER_NAME_CHARACTERS} letters A to z, digits and _, "
            "not beginning with a digit"
        )
    if not all(math.isfinite(value) for _, value in note.numbers):
        return "one of its numbers is not finite"
    return ""


def fitted(text: object, numbers: Mapping[str, object]) -> tuple[Note | None, str]:
    """What of a text and numbers can be a note, None for nothing, and what was changed or left out,
    empty where all is as it was.

    A text is cut, and what cannot be printed in it becomes a blank. A number that is none, or has
    no good name, is left out, and so are those beyond the most.
    """
    wrong: list[str] = []
    said = text if isinstance(text, str) else str(text)
    line = "".join(one if one.isprintable() else " " for one in said[:NOTE_CHARACTERS])
    if line != said:
        wrong.append(f"its text is not one of {NOTE_CHARACTERS} printable characters at most")
    good: list[tuple[str, float]] = []
    for name, given in numbers.items():
        value = _number(given)
        if len(good) == NOTE_NUMBERS:
            wrong.append(f"it has {len(numbers)} numbers, and {NOTE_NUMBERS} is the most")
            break
        if value is None or not _NAME.fullmatch(name):
            wrong.append(f"{name[:NUMBER_NAME_CHARACTERS]!r} is no finite number by a short name")
        else:
            good.append((name, value))
    note = Note(line.strip(), tuple(good))
    return (note if note.text or note.numbers else None), "; ".join(wrong)


def _number(given: object) -> float | None:
    """Given as one; a text is none, whatever stands in it."""
    if isinstance(given, str | bytes) or not isinstance(given, SupportsFloat):
        return None
    try:
        value = float(given)
    except (TypeError, ValueError, OverflowError):  # an array, a whole number beyond any
        return None
    return value if math.isfinite(value) else None
