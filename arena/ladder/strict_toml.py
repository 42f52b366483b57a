"""Strict reading of TOML: what is wrong is told by file and key, with what would have been right.

A key that is misspelt would otherwise be a setting that is silently not there, so unknown keys are
refused with the nearest known one. This module does not know what any key means.
"""

import difflib
import stat
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, NoReturn, Protocol

from hokm.errors import quoted

LARGEST_BYTES: Final = 16 * 1024
"""Ours have below 2 KiB. Keys of many dots take the parser a time that grows with their square:
0.6 s for a file of this size.
"""

DEEPEST: Final = 16
"""Ours have two levels. What is deeper could not even be shown in a message."""

_INTEGERS: Final = range(-(2**63), 2**63)  # those of TOML
_TOO_LONG: Final = "has an integer of more than 64 bits"


class MakeError(Protocol):
    """An error for whoever wrote the file: where, what is wrong, what to do."""

    def __call__(self, where: str, problem: str, *, remedy: str) -> Exception:
        """Make the error; raising it is for whoever asked."""


def read_text(file: Path, *, error: MakeError, remedy: str) -> str:
    """The text of a file of ours, if it can be one.

    Raises FileNotFoundError, and what `error` makes for anything else.
    """
    try:
        # A pipe would have us wait for whoever writes to it, and a device never ends.
        if not stat.S_ISREG(file.stat().st_mode):
            raise error(str(file), "is not a regular file", remedy=remedy)
        with file.open("rb") as stream:
            data = stream.read(LARGEST_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError as problem:
        what = f"cannot be read ({problem.strerror})"
        raise error(str(file), what, remedy="make it readable") from problem
    if len(data) > LARGEST_BYTES:
        raise error(str(file), f"is longer than {LARGEST_BYTES} bytes", remedy=remedy)
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        what = f"is not UTF-8 from byte {problem.start} on"
        raise error(str(file), what, remedy="save it as UTF-8") from problem


def shortened(text: str) -> str:
    """As much of a text from the file as its writer needs to know it by."""
    return text if len(text) <= 200 else f"{text[:200]}…"


def parsed(text: str, *, where: Path, error: MakeError, remedy: str) -> Mapping[str, object]:
    """The keys and values of a text that came from `where`; raises what `error` makes."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        what = f"is not TOML: {shortened(str(problem))}"
        raise error(str(where), what, remedy=remedy) from problem
    except ValueError:  # Python's own bound, 4300 digits
        raise error(str(where), _TOO_LONG, remedy=remedy) from None
    except RecursionError:
        raise error(str(where), "is nested too deeply", remedy=remedy) from None
    level: list[object] = [values]
    for _ in range(DEEPEST):
        if any(type(value) is int and value not in _INTEGERS for value in level):
            raise error(str(where), _TOO_LONG, remedy=remedy)
        level = [inner for value in level for inner in _inside(value)]
    if level:
        raise error(str(where), "is nested too deeply", remedy=remedy)
    return values


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


class Table:
    """A table of a file, read key by key.

    Args:
        values: what the file says.
        error: makes what is raised.
        remedy: what to do about a key that is missing or wrong, if nothing better is known.
        prefix: what stands before a key in messages.
    """

    def __init__(
        self,
        file: Path,
        values: Mapping[str, object],
        *,
        error: MakeError,
        remedy: Callable[[str], str],
        prefix: str = "",
    ) -> None:
        self.values = values
        self._file = file
        self._error = error
        self._remedy = remedy
        self._prefix = prefix

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def refuse(self, key: str, problem: str, *, remedy: str = "") -> NoReturn:
        """Raise the table's error: what is wrong with the value of a key, and what to do."""
        where = f"{self._file}: {self._prefix}{shortened(key)}"
        raise self._error(where, problem, remedy=remedy or self._remedy(key))

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """Refuse the first key that is none of the known ones, and name the nearest of them."""
        keys = tuple(known)
        for key in self.values:
            if key not in keys:
                remedy = _nearest(key, keys, "did you mean {}?")
                remedy = remedy or f"the keys here are {', '.join(keys)}"
                self.refuse(key, "is not a known key", remedy=remedy)

    def table(self, key: str) -> "Table":
        """The table that stands under a key, whose errors name it in full."""
        value = self.required(key)
        if not isinstance(value, dict):
            self.refuse(key, "is not a table")
        return Table(
            self._file,
            value,
            error=self._error,
            remedy=self._remedy,
            prefix=f"{self._prefix}{key}.",
        )

    def text(self, key: str) -> str:
        """A text."""
        value = self.required(key)
        if not isinstance(value, str):
            self.refuse(key, f"{quoted(value)} is not a text")
        return value

    def whole(self, key: str, *, least: int | None = None) -> int:
        """A whole number, not below `least`; true is none."""
        value = self.required(key)
        # To Python, true is an integer.
        if type(value) is not int or (least is not None and value < least):
            bound = "" if least is None else f" from {least} up"
            self.refuse(key, f"{quoted(value)} is not a whole number{bound}")
        return value

    def number(self, key: str) -> float:
        """A number, whole or not; true is none."""
        value = self.required(key)
        if type(value) is not float and type(value) is not int:
            self.refuse(key, f"{quoted(value)} is not a number")
        return float(value)

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self.required(key)
        if not isinstance(value, bool):
            self.refuse(key, f"{quoted(value)} is neither true nor false")
        return value

    def texts(self, key: str) -> list[str]:
        """A list of texts."""
        value = self.required(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.refuse(key, f"{quoted(value)} is not a list of texts")
        return value

    def wholes(self, key: str) -> list[int]:
        """A list of whole numbers."""
        value = self.required(key)
        if not isinstance(value, list) or not all(type(item) is int for item in value):
            self.refuse(key, f"{quoted(value)} is not a list of whole numbers")
        return value

    def required(self, key: str) -> object:
        """Whatever stands there."""
        if key not in self.values:
            # Only a slip of the pen: a known key of another name may be near as well.
            near = _nearest(key, self.values, "did you mean it by {}?", cutoff=0.8)
            self.refuse(key, "is missing", remedy=near)
        return self.values[key]


def _nearest(key: str, keys: Iterable[str], remedy: str, *, cutoff: float = 0.6) -> str:
    near = difflib.get_close_matches(key, list(keys), n=1, cutoff=cutoff)
    return remedy.format(near[0]) if near else ""
