"""What a ladder plays, fixed when it is made, and the file that says so: `ladder.toml`.

Ratings of different games, formats or match lengths do not compare, so all that makes them what
they are stands in one value which never changes. Reading is strict: a key that is misspelt would
otherwise be a setting that is silently not there. This module knows no database and no bot.
"""

import difflib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn

from arena.ladder.entrants import checked_name
from arena.ladder.errors import LadderError
from hokm.records import Format
from hokm.rules.options import OPTIONS, Rules
from hokm.session import ClockRules

SETTINGS_FILE: Final = "ladder.toml"
SCHEMA: Final = 1

DEFAULT_LENGTH: Final = {Format.BOARDS: 16, Format.CLASSIC: 4}
"""16 boards are 32 hands (statistics, 2.1); 4 pairs are 8 races of about ten hands each."""

MOST_LENGTH: Final = 1000
"""A match is the unit that is played again after a fault; one that takes a day would never end."""

_LENGTH_KEYS: Final = {Format.BOARDS: "boards", Format.CLASSIC: "pairs"}
_PUT_BACK: Final = "put back what arena ladder init wrote"
_RATED_POINTS: Final = (1, 2, 3)  # what rated boards take (rulebook 1.6)


@dataclass(frozen=True, slots=True)
class Settings:
    """What every match of a ladder has in common.

    `length` counts boards, or mirrored pairs of races. `anchor` is the name of the bot that stands
    at 1500 once it is entered; without one the field's mean does.

    Raises ValueError for what no ladder can have, saying what it can.
    """

    name: str
    rules: Rules = field(default_factory=lambda: Rules.of(4))
    format: Format = Format.BOARDS
    length: int = DEFAULT_LENGTH[Format.BOARDS]
    clock: ClockRules = field(default_factory=ClockRules)
    anchor: str | None = None

    def __post_init__(self) -> None:
        for key, name in (("name", self.name), ("anchor", self.anchor)):
            if name is not None and _name(key, name) != name:
                raise ValueError(f"{key} {name!r} is not in Unicode's composed form (NFC)")
        _refuse_three(self.rules.players)
        if self.rules.play is not self.format.play:
            raise ValueError(f"rules for {self.rules.play.value} do not fit {self.format.value}")
        points = (self.rules.points_win, self.rules.points_kot, self.rules.points_hakem_kot)
        if self.format is Format.BOARDS and points != _RATED_POINTS:
            raise ValueError("rated boards count 1, 2 and 3 points; leave points_* out")
        if not 1 <= self.length <= MOST_LENGTH:
            raise ValueError(f"{self.length_key} must be 1 to {MOST_LENGTH}, not {self.length}")
        if not (0 < self.clock.move_seconds < 3600 and 0 <= self.clock.bank_seconds < 3600):
            raise ValueError(
                "move_seconds must be above 0, bank_seconds 0 or more, both below 3600"
            )

    @classmethod
    def of(
        cls,
        name: str,
        *,
        players: int = 4,
        format: Format = Format.BOARDS,  # noqa: A002 - the field's word, and the file's
        length: int | None = None,
        clock: ClockRules | None = None,
        options: Mapping[str, str] | None = None,
        anchor: str | None = None,
    ) -> "Settings":
        """Settings from what a person says, with defaults for what is not said.

        `options` are those of the rules, as texts. Raises ValueError saying what is wrong.
        """
        _refuse_three(players)  # before its options are judged
        return cls(
            name=_name("name", name),
            rules=Rules.of(players, play=format.play, options=options),
            format=format,
            length=DEFAULT_LENGTH[format] if length is None else length,
            clock=ClockRules() if clock is None else clock,
            anchor=None if anchor is None else _name("anchor", anchor),
        )

    @property
    def length_key(self) -> str:
        """What a match is counted in: `boards` or `pairs`."""
        return _LENGTH_KEYS[self.format]

    def toml(self) -> str:
        """`ladder.toml`. Every option is written out, so that no later default can change it."""
        anchor = (
            "# anchor = ...  # none: the mean of the field stands at 1500"
            if self.anchor is None
            else f"anchor = {json.dumps(self.anchor, ensure_ascii=False)}  # stands at 1500"
        )
        options = [f"{key} = {json.dumps(text)}" for key, text in self.rules.options().items()]
        return "\n".join(
            [
                "# What this ladder plays, fixed when it was made: ratings under other settings do",
                "# not compare. For other settings make another ladder (arena ladder init).",
                f"schema = {SCHEMA}",
                f"name = {json.dumps(self.name, ensure_ascii=False)}",
                f"players = {self.rules.players}",
                f'format = "{self.format.value}"',
                f"{self.length_key} = {self.length}  # a match",
                anchor,
                "",
                "[clock]  # of each seat: the move's time first, then the bank of the hand",
                f"move_seconds = {float(self.clock.move_seconds)}",
                f"bank_seconds = {float(self.clock.bank_seconds)}",
                "",
                "[rules]  # the options of the rulebook, as text",
                *options,
                "",
            ]
        )


def read_settings(file: Path) -> Settings:
    """Read a `ladder.toml`.

    Raises LadderError for one that is not there, cannot be read, or does not say what it should.
    """
    try:
        text = file.read_bytes().decode()
    except FileNotFoundError:
        remedy = "give the folder of a ladder, or make one with arena ladder init"
        raise LadderError(file.parent, f"has no {SETTINGS_FILE}", remedy=remedy) from None
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise LadderError(file, problem, remedy="make it readable") from error
    except UnicodeDecodeError as error:
        raise LadderError(file, "is not UTF-8", remedy=_PUT_BACK) from error
    return parse_settings(text, where=file)


def parse_settings(text: str, *, where: Path) -> Settings:
    """Read the text of a `ladder.toml` that came from `where`. Raises as `read_settings`."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LadderError(where, f"is not TOML: {error}", remedy=_PUT_BACK) from error
    document = _Table(where, values, prefix="")
    if (schema := document.whole("schema")) != SCHEMA:
        document.refuse("schema", f"{schema} is not known to this arena", "update the arena")
    formats = {known.value: known for known in Format}
    if (chosen := document.text("format")) not in formats:
        document.refuse("format", f"{chosen!r} is no format", f"take {' or '.join(formats)}")
    length_key = _LENGTH_KEYS[formats[chosen]]
    known = ("schema", "name", "players", "format", length_key, "anchor", "clock", "rules")
    document.refuse_unknown(known)
    clock = document.table("clock")
    clock.refuse_unknown(("move_seconds", "bank_seconds"))
    rules = document.table("rules")
    rules.refuse_unknown(OPTIONS)
    try:
        return Settings.of(
            document.text("name"),
            players=document.whole("players"),
            format=formats[chosen],
            length=document.whole(length_key),
            clock=ClockRules(clock.number("move_seconds"), clock.number("bank_seconds")),
            options={key: rules.text(key) for key in rules.values},
            anchor=document.text("anchor") if "anchor" in document.values else None,
        )
    except ValueError as error:
        raise LadderError(where, str(error), remedy=_PUT_BACK) from error


def _refuse_three(players: int) -> None:
    if players == 3:
        raise ValueError("a ladder for 3 players comes in a later version; take 4 or 2")


def _name(key: str, text: str) -> str:
    try:
        return checked_name(text)
    except ValueError as error:
        raise ValueError(f"{key} {text!r} {error}") from None


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of the file; what is wrong in it is told by file and key."""

    file: Path
    values: dict[str, object]
    prefix: str

    def refuse(self, key: str, problem: str, remedy: str = _PUT_BACK) -> NoReturn:
        raise LadderError(f"{self.file}: {self.prefix}{key}", problem, remedy=remedy)

    def refuse_unknown(self, known: Iterable[str]) -> None:
        for key in self.values:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                remedy = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(known)}"
                self.refuse(key, "is not a known key", remedy)

    def table(self, key: str) -> "_Table":
        value = self._required(key)
        if not isinstance(value, dict):
            self.refuse(key, "is not a table")
        return _Table(self.file, value, prefix=f"{key}.")

    def text(self, key: str) -> str:
        value = self._required(key)
        if not isinstance(value, str):
            self.refuse(key, f"{value!r} is not a text")
        return value

    def whole(self, key: str) -> int:
        value = self._required(key)
        if type(value) is not int:  # to Python, true is an integer
            self.refuse(key, f"{value!r} is not a whole number")
        return value

    def number(self, key: str) -> float:
        value = self._required(key)
        if type(value) is not float and type(value) is not int:
            self.refuse(key, f"{value!r} is not a number")
        return float(value)

    def _required(self, key: str) -> object:
        if key not in self.values:
            near = difflib.get_close_matches(key, self.values, n=1)
            remedy = f"did you mean it by {near[0]}?" if near else _PUT_BACK
            self.refuse(key, "is missing", remedy)
        return self.values[key]
