"""What a ladder plays, fixed when it is made, and the file that says so: `ladder.toml`.

Ratings of different games, formats or match lengths do not compare, so all that makes them what
they are stands in one value which never changes. This module knows no database and no bot.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

from arena.ladder.bots.entrants import checked_name
from arena.ladder.errors import LadderError
from arena.ladder.strict_toml import Table, parsed, read_text
from hokm.errors import quoted
from hokm.records import Format
from hokm.rules.options import OPTIONS, Rules, Teams
from hokm.rules.variants import variant_of
from hokm.session import ClockRules

SETTINGS_FILE: Final = "ladder.toml"
SCHEMA: Final = 1

DEFAULT_LENGTH: Final = {Format.BOARDS: 16, Format.CLASSIC: 4}
"""16 boards are 32 hands (statistics, 2.1); 4 pairs are 8 races of about ten hands each."""

MOST_LENGTH: Final = 1000
"""A match is the unit that is played again after a fault; one that takes a day would never end."""

TICK_SECONDS: Final = 0.005
"""The masking tick of a new ladder: most bots answer in less."""

MOST_TICK_SECONDS: Final = 1.0
"""The whole game waits for it at every decision."""


class MatchScoring(Enum):
    """What a match of two is worth to a rating, between 0 and 1."""

    WIN_DRAW_LOSS = "win_draw_loss"
    """1, ½ or 0 by the sign of the difference of all its boards."""
    VP = "vp"
    """A share by the difference itself, 1/(1 + 10^(−Δ/(1.35 √N))) of N boards: a third more is
    learned from a match (statistics, 2.3)."""


_LENGTH_KEYS: Final = {Format.BOARDS: "boards", Format.CLASSIC: "games"}
_PUT_BACK: Final = "put back what arena ladder init wrote"
_RATED_POINTS: Final = (1, 2, 3)  # what rated boards take (rulebook 1.6)


@dataclass(frozen=True, slots=True)
class Settings:
    """What every match of a ladder has in common.

    `length` counts boards, or mirrored pairs of races. `anchor` is the name of the bot that stands
    at 1500 once it is entered; without one the field's mean does. `tick_seconds` is the masking
    tick (docs/protocol.md), 0 for none.

    Raises ValueError for what no ladder can have, saying what it can.
    """

    name: str
    rules: Rules = field(default_factory=lambda: Rules.of(4))
    format: Format = Format.BOARDS
    length: int = DEFAULT_LENGTH[Format.BOARDS]
    clock: ClockRules = field(default_factory=ClockRules)
    anchor: str | None = None
    tick_seconds: float = TICK_SECONDS
    score: MatchScoring = MatchScoring.WIN_DRAW_LOSS

    def __post_init__(self) -> None:
        for key, name in (("name", self.name), ("anchor", self.anchor)):
            if name is not None and _name(key, name) != name:
                raise ValueError(f"{key} {quoted(name)} is not in Unicode's composed form (NFC)")
        if self.format is Format.CLASSIC and self.sides != 2:
            raise ValueError("races are mirrored between two sides; with three players play boards")
        if self.rules.teams is Teams.SECOND_ACE:
            raise ValueError("teams=second_ace moves no rating: it is for casual matches")
        if self.rules.play is not self.format.play:
            raise ValueError(f"rules for {self.rules.play.value} do not fit {self.format.value}")
        points = (self.rules.points_win, self.rules.points_kot, self.rules.points_hakem_kot)
        if self.format is Format.BOARDS and points != _RATED_POINTS:
            raise ValueError("rated boards count 1, 2 and 3 points; leave points_* out")
        if self.score is MatchScoring.VP and (self.sides, self.format) != (2, Format.BOARDS):
            raise ValueError("score = vp is defined for boards between two sides")
        if not 1 <= self.length <= MOST_LENGTH:
            raise ValueError(f"{self.length_key} must be 1 to {MOST_LENGTH}, not {self.length}")
        if not (0 < self.clock.move_seconds < 3600 and 0 <= self.clock.bank_seconds < 3600):
            raise ValueError(
                "move_seconds must be above 0, bank_seconds 0 or more, both below 3600"
            )
        if not 0 <= self.tick_seconds <= MOST_TICK_SECONDS:
            raise ValueError(f"tick_seconds must be 0 (none) to {MOST_TICK_SECONDS:g}")

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
        tick_seconds: float = TICK_SECONDS,
        score: MatchScoring = MatchScoring.WIN_DRAW_LOSS,
    ) -> "Settings":
        """Settings from what a person says, with defaults for what is not said.

        `options` are those of the rules, as texts. Raises ValueError saying what is wrong.
        """
        return cls(
            name=_name("name", name),
            rules=Rules.of(players, play=format.play, options=options),
            format=format,
            length=DEFAULT_LENGTH[format] if length is None else length,
            clock=ClockRules() if clock is None else clock,
            anchor=None if anchor is None else _name("anchor", anchor),
            tick_seconds=tick_seconds,
            score=score,
        )

    @property
    def scale(self) -> str:
        """The name of what ratings here are comparable in: `4p-boards-16`, `2p-boards-8-vp`,
        `4p-classic-4`. Options of the rules change it too and stand in the settings.
        """
        ending = "-vp" if self.score is MatchScoring.VP else ""
        return f"{self.rules.players}p-{self.format.value}-{self.length}{ending}"

    @property
    def sides(self) -> int:
        """How many entrants a match has, each a side of its own."""
        return variant_of(self.rules).sides

    @property
    def length_key(self) -> str:
        """What a match is counted in: `boards` or `games`, which are mirrored pairs of races."""
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
                f'score = "{self.score.value}"  # what a match is worth',
                anchor,
                "",
                "[clock]  # of each seat: the move's time first, then the bank of the hand",
                f"move_seconds = {float(self.clock.move_seconds)}",
                f"bank_seconds = {float(self.clock.bank_seconds)}",
                f"tick_seconds = {float(self.tick_seconds)}  # thinking shows in whole ticks only",
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
        text = read_text(file, error=LadderError, remedy=_PUT_BACK)
    except FileNotFoundError:
        remedy = "give the folder of a ladder, or make one with arena ladder init"
        raise LadderError(file.parent, f"has no {SETTINGS_FILE}", remedy=remedy) from None
    return parse_settings(text, where=file)


def parse_settings(text: str, *, where: Path) -> Settings:
    """Read the text of a `ladder.toml` that came from `where`. Raises as `read_settings`."""
    values = parsed(text, where=where, error=LadderError, remedy=_PUT_BACK)
    document = Table(where, values, error=LadderError, remedy=lambda _: _PUT_BACK)
    if (schema := document.whole("schema")) != SCHEMA:
        document.refuse("schema", f"{schema} is not known to this arena", remedy="update the arena")
    formats = {known.value: known for known in Format}
    if (chosen := document.text("format")) not in formats:
        remedy = f"take {' or '.join(formats)}"
        document.refuse("format", f"{quoted(chosen)} is no format", remedy=remedy)
    length_key = _LENGTH_KEYS[formats[chosen]]
    known = ("schema", "name", "players", "format", length_key, "score", "anchor", "clock", "rules")
    document.refuse_unknown(known)
    scores = {known.value: known for known in MatchScoring}
    # Ladders that are older than the choice count wins, draws and losses.
    score = document.text("score") if "score" in document else MatchScoring.WIN_DRAW_LOSS.value
    if score not in scores:
        remedy = f"take {' or '.join(scores)}"
        document.refuse("score", f"{quoted(score)} is no score", remedy=remedy)
    clock = document.table("clock")
    clock.refuse_unknown(("move_seconds", "bank_seconds", "tick_seconds"))
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
            anchor=document.text("anchor") if "anchor" in document else None,
            # Ladders that are older than the tick have none.
            tick_seconds=clock.number("tick_seconds") if "tick_seconds" in clock else 0.0,
            score=scores[score],
        )
    except ValueError as error:
        raise LadderError(where, str(error), remedy=_PUT_BACK) from error


def _name(key: str, text: str) -> str:
    try:
        return checked_name(text)
    except ValueError as error:
        raise ValueError(f"{key} {quoted(text)} {error}") from None
