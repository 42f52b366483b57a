"""JSON in general: its canonical form and digests; and JSON from outside, parsed strictly and read
key by key with errors that say where. Knows nothing of what a record holds.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable
from enum import Enum
from typing import NoReturn, TypeAlias, TypeVar

from hokm.cards import Card, parse_cards
from hokm.errors import HokmError, NotationError, quoted

Json: TypeAlias = "bool | int | str | list[Json] | dict[str, Json] | None"

T = TypeVar("T")
E = TypeVar("E", bound=Enum)


LARGEST_VALUES = 8 * 2**20
"""A document of more values is not let into memory, whatever its length: empty lists take twenty
times their text. A record has less than one for eight of its bytes.
"""


class RecordError(HokmError, ValueError):
    """A document that is no record, or a damaged one; the text says where and what."""


def parsed(data: bytes) -> Json:
    """The document in these bytes, with integers for its only numbers; raises RecordError."""
    refuse_too_many(data)
    try:
        document: Json = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_float=_no_such_number,
            parse_constant=_no_such_number,
        )
    except UnicodeDecodeError as error:
        raise RecordError(f"not UTF-8 text, at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise RecordError(f"not JSON, or cut off: {error}") from None
    except (ValueError, RecursionError) as error:
        raise RecordError(f"not JSON as a record has it: {error}") from None
    return document


def refuse_too_many(data: bytes) -> None:
    """Raise RecordError for a text of more values than are read."""
    # What stands inside texts is counted too: no record has enough of it to matter.
    if sum(map(data.count, (b",", b"[", b"{"))) > LARGEST_VALUES:
        raise RecordError(f"over {LARGEST_VALUES} values: no record has so many")


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError(f"a key stands twice in one object, among {quoted(list(entries))}")
    return entries


def _no_such_number(text: str) -> NoReturn:
    raise ValueError(f"{quoted(text)} is no integer, and a record has no other numbers")


def canonical(document: Json) -> bytes:
    """The bytes of a document of which every digest is taken."""
    text = json.dumps(
        document, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )
    # Half a surrogate pair has no UTF-8. It can come in a text from outside only, such as a cause.
    return text.encode("utf-8", errors="replace")


def sha256_of(document: Json) -> str:
    """The SHA-256 of the canonical form, in hex digits."""
    return hashlib.sha256(canonical(document)).hexdigest()


def name_text(text: str) -> str:
    """The text itself, if it can be a name or an id; raises ValueError saying why not.

    Two spellings of one name would be two names, so the composed form (NFC) is the only one. What
    has no bytes in UTF-8, and control characters, are in no name.
    """
    if not unicodedata.is_normalized("NFC", text):
        raise ValueError(
            f"{quoted(text)} is not in Unicode's composed form (NFC), as names must be"
        )
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        raise ValueError(f"{quoted(text)} has a character in it that is in no name")
    return text


class At:
    """A value of a document and the way to it, for errors that say where: ``step`` is the key or
    the place ``inside`` another, None for the document itself.
    """

    __slots__ = ("_inside", "_step", "value")

    def __init__(
        self, value: Json, *, inside: "At | None" = None, step: str | int | None = None
    ) -> None:
        self.value = value
        self._inside = inside
        self._step = step

    @property
    def path(self) -> str:
        """As in ``rooms[0].games``; put together only where an error asks for it."""
        before = "" if self._inside is None else self._inside.path
        match self._step:
            case None:
                return ""
            case int():
                return f"{before}[{self._step}]"
            case _:
                return f"{before}.{self._step}" if before else self._step

    def wrong(self, what: str) -> RecordError:
        """The error to raise: what is wrong with this value."""
        return RecordError(f"{self.path or 'document'}: {what}")

    def entries(self, *required: str, optional: tuple[str, ...] = ()) -> "dict[str, At]":
        """The entries of an object with just these keys; an optional one that is absent is null."""
        if not isinstance(self.value, dict):
            raise self.wrong("expected an object")
        for key in required:
            if key not in self.value:
                raise self.wrong(f"{key!r} is missing")
        for key in self.value:
            if key not in required and key not in optional:
                raise self.wrong(f"{quoted(key)} is no key of this version")
        keys = (*required, *optional)
        return {key: At(self.value.get(key), inside=self, step=key) for key in keys}

    def items(self) -> "list[At]":
        """Every item of a list."""
        if not isinstance(self.value, list):
            raise self.wrong("expected a list")
        return [At(value, inside=self, step=place) for place, value in enumerate(self.value)]

    def each(self, read: "Callable[[At], T]") -> tuple[T, ...]:
        """Every item as ``read`` has it."""
        return tuple([read(item) for item in self.items()])

    def each_if_any(self, read: "Callable[[At], T]") -> tuple[T, ...]:
        """Every item as ``read`` has it; none where the list was left out."""
        return () if self.value is None else self.each(read)

    def maybe(self, read: "Callable[[At], T]") -> T | None:
        """As ``read`` has it; None for null."""
        return None if self.value is None else read(self)

    def text(self) -> str:
        """A text that has a form in UTF-8."""
        if not isinstance(self.value, str):
            raise self.wrong("expected a text")
        if not self.value.isascii():
            try:
                self.value.encode()
            except UnicodeEncodeError:  # it has no bytes, so nobody could have the same digest
                raise self.wrong(f"{quoted(self.value)} has half a surrogate pair in it") from None
        return self.value

    def name(self) -> str:
        """The name of a bot, an owner or a player, as ``name_text`` has it."""
        text = self.text()
        try:
            return name_text(text)
        except ValueError as error:
            raise self.wrong(str(error)) from None

    def number(self, low: int = 0, high: int = 2**32 - 1) -> int:
        """A whole number; what counts games and hands has 32 bits (hokm-shuffle-v1)."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.wrong("expected a whole number")
        if not low <= self.value <= high:
            raise self.wrong(f"{quoted(self.value)} is not from {low} to {high}")
        return self.value

    def truth(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.wrong("expected true or false")
        return self.value

    def kind(self, kinds: type[E]) -> E:
        """The member of an enum whose value is this text."""
        for kind in kinds:
            if kind.value == self.value:
                return kind
        raise self.wrong(
            f"{quoted(self.value)} is none of {', '.join(str(kind.value) for kind in kinds)}"
        )

    def hex(self) -> bytes:
        """Bytes, from pairs of hex digits in small letters."""
        if not re.fullmatch(r"(?:[0-9a-f]{2})*", text := self.text()):
            raise self.wrong("expected pairs of hex digits 0-9 a-f")
        return bytes.fromhex(text)

    def hash(self) -> bytes:
        """32 bytes: a seed, a secret, a commitment, a digest."""
        if len(value := self.hex()) != 32:
            raise self.wrong("expected 64 hex digits")
        return value

    def cards(self) -> tuple[Card, ...]:
        """Cards, as ``parse_cards`` reads them."""
        try:
            return parse_cards(self.text())
        except NotationError as error:
            raise self.wrong(str(error)) from None
