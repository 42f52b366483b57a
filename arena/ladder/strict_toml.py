"""Strict reading of TOML: what is wrong is told by file and key, with what would have been right.

A key that is misspelt would otherwise be a setting that is silently not there, so unknown keys are
refused with the nearest known one. This module does not know what any key means.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NoReturn, Protocol


class MakeError(Protocol):
    """An error for whoever wrote the file: where, what is wrong, what to do."""

    def __call__(self, where: str, problem: str, *, remedy: str) -> Exception: ...


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
        where = f"{self._file}: {self._prefix}{key}"
        raise self._error(where, problem, remedy=remedy or self._remedy(key))

    def refuse_unknown(self, known: Iterable[str]) -> None:
        keys = tuple(known)
        for key in self.values:
            if key not in keys:
                remedy = _nearest(key, keys, "did you mean {}?")
                remedy = remedy or f"the keys here are {', '.join(keys)}"
                self.refuse(key, "is not a known key", remedy=remedy)

    def table(self, key: str) -> "Table":
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
        value = self.required(key)
        if not isinstance(value, str):
            self.refuse(key, f"{value!r} is not a text")
        return value

    def whole(self, key: str, *, least: int | None = None) -> int:
        value = self.required(key)
        # To Python, true is an integer.
        if type(value) is not int or (least is not None and value < least):
            bound = "" if least is None else f" from {least} up"
            self.refuse(key, f"{value!r} is not a whole number{bound}")
        return value

    def number(self, key: str) -> float:
        value = self.required(key)
        if type(value) is not float and type(value) is not int:
            self.refuse(key, f"{value!r} is not a number")
        return float(value)

    def texts(self, key: str) -> list[str]:
        value = self.required(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.refuse(key, f"{value!r} is not a list of texts")
        return value

    def wholes(self, key: str) -> list[int]:
        value = self.required(key)
        if not isinstance(value, list) or not all(type(item) is int for item in value):
            self.refuse(key, f"{value!r} is not a list of whole numbers")
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
