"""A table's options: what may be chosen, what each defaults to, and which combinations make no
sense.

One table holds them all; a match states its options in its header and every record carries them. An
option that has no meaning at a table is refused there rather than ignored, and is None in its
:class:`Rules`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Self

from hokm.cards import Seat, Suit, Trump
from hokm.errors import RulesError, quoted


class Play(Enum):
    """What is played: single boards, or a race to the target (rulebook, Terms)."""

    BOARDS = "boards"
    RACE = "race"


class PauseAfter(Enum):
    """Who holds five cards while the hakem names trump (rulebook 2.3, 3.3)."""

    HAKEM = "hakem"
    RIGHT_OPPONENT = "right_opponent"
    FIRST_ROUND = "first_round"


class NextHakem(Enum):
    """Who is hakem after the hakem's side lost (rulebook 2.6, 3.8, 4.6)."""

    RIGHT = "right"
    LEFT = "left"
    WINNER = "winner"


class Teams(Enum):
    """How four players come by their partners (rulebook 2.1)."""

    FIXED = "fixed"
    SECOND_ACE = "second_ace"


class HakemDraw(Enum):
    """How the first hakem of a race is found (rulebook 1.9)."""

    ACE_DRAW = "ace_draw"
    RANDOM = "random"
    SEAT = "seat"


@dataclass(frozen=True, slots=True)
class FirstHakem:
    """The first hakem of a race: drawn, or the named ``seat`` (None where it is drawn)."""

    draw: HakemDraw
    seat: Seat | None = None

    def __str__(self) -> str:
        return self.draw.value if self.seat is None else f"seat:{self.seat}"


@dataclass(frozen=True, slots=True)
class Rules:
    """The options of one table, all of them; None where an option has no meaning there.

    >>> Rules.of(4).pause_after
    <PauseAfter.HAKEM: 'hakem'>
    >>> Rules.of(2, play=Play.RACE, options={"target_points": "5"}).target_points
    5
    """

    players: int
    play: Play
    points_win: int
    points_kot: int
    points_hakem_kot: int
    pause_after: PauseAfter | None
    play_out: bool | None
    removed_two: Suit | None
    draw_choice_public: bool | None
    modes: tuple[Trump, ...]
    kot_in_modes: bool
    target_points: int | None
    first_hakem: FirstHakem | None
    next_hakem: NextHakem | None
    teams: Teams | None
    cut: bool | None

    @classmethod
    def of(
        cls, players: int, *, play: Play = Play.BOARDS, options: Mapping[str, str] | None = None
    ) -> Self:
        """The rules of a table of two, three or four, with defaults for every option not named.

        ``options`` are texts, as a command line has them. Raises :class:`~hokm.errors.RulesError`
        saying which option is wrong and what it may be.
        """
        if players not in (2, 3, 4):
            raise RulesError(f"Hokm is played by 2, 3 or 4, not by {players}")
        given = dict(options or {})
        values: dict[str, object] = {}
        for name, option in OPTIONS.items():
            text = given.pop(name, None)
            values[name] = option.value(text, name=name, players=players, play=play)
        if given:
            name = min(given)
            known = ", ".join(OPTIONS)
            raise RulesError(f"there is no option {quoted(name)}; the options are {known}")
        rules = cls(players=players, play=play, **values)  # type: ignore[arg-type]  # a parser for each field
        rules._refuse_senseless()
        return rules

    def _refuse_senseless(self) -> None:
        if not 1 <= self.points_win <= self.points_kot <= self.points_hakem_kot:
            raise RulesError(
                "points must keep 1 <= points_win <= points_kot <= points_hakem_kot, not "
                f"{self.points_win}, {self.points_kot}, {self.points_hakem_kot} (rulebook 1.6)"
            )
        if self.kot_in_modes and not self.modes:
            raise RulesError(
                "kot_in_modes=on has no meaning where no mode is allowed: leave it out, or add "
                "one, modes=suit,sar say (rulebook 5)"
            )
        first = self.first_hakem
        if self.teams is Teams.SECOND_ACE and first and first.draw is not HakemDraw.ACE_DRAW:
            raise RulesError(
                "teams=second_ace goes on with the ace draw: it needs first_hakem=ace_draw, not "
                f"{first} (rulebook 2.1)"
            )

    def options(self) -> dict[str, str]:
        """Every option that has a meaning at this table, as text that :meth:`of` reads back."""
        return {
            field.name: _text(value)
            for field in fields(self)
            if field.name in OPTIONS and (value := getattr(self, field.name)) is not None
        }


@dataclass(frozen=True, slots=True)
class _Option:
    """One option: its reader, its default by number of players (absent: no meaning there), where it
    applies.
    """

    read: Callable[[str, int], object]
    expected: Mapping[int, str]
    default: Mapping[int, object]
    races_only: bool = False

    def value(self, text: str | None, *, name: str, players: int, play: Play) -> object:
        if players not in self.default or (self.races_only and play is Play.BOARDS):
            if text is None:
                return None
            where = f"with {players} players" if players not in self.default else "with boards"
            raise RulesError(f"{name} has no meaning {where}: leave it out")
        if text is None:
            return self.default[players]
        try:
            return self.read(text, players)
        except (ValueError, KeyError):
            expected = self.expected[players]
            raise RulesError(f"{name} must be {expected}, not {quoted(text)}") from None


def _text(value: object) -> str:
    match value:
        case bool():
            return "on" if value else "off"
        case Suit():
            return value.letter
        case tuple():
            return ",".join(["suit", *(mode.name.lower() for mode in value)])
        case Enum():
            return str(value.value)
        case _:
            return str(value)


def _switch(text: str, players: int) -> bool:
    return {"on": True, "off": False}[text]


def _number(low: int, high: int) -> Callable[[str, int], int]:
    def read(text: str, players: int) -> int:
        # int() would read " 7", "+7" and "1_0" too.
        if not (text.isascii() and text.isdecimal() and low <= int(text) <= high):
            raise ValueError
        return int(text)

    return read


def _pause_after(text: str, players: int) -> PauseAfter:
    pause = PauseAfter(text)
    if players == 3 and pause is PauseAfter.RIGHT_OPPONENT:
        raise ValueError
    return pause


def _next_hakem(text: str, players: int) -> NextHakem:
    return {choice.value: choice for choice in _SUCCESSIONS[players]}[text]


def _first_hakem(text: str, players: int) -> FirstHakem:
    if text.startswith("seat:"):
        return FirstHakem(HakemDraw.SEAT, Seat(_number(0, players - 1)(text[5:], players)))
    draw = HakemDraw(text)
    if draw is HakemDraw.SEAT:
        raise ValueError
    return FirstHakem(draw)


def _modes(text: str, players: int) -> tuple[Trump, ...]:
    first, *names = text.split(",")
    modes = {mode.name.lower(): mode for mode in Trump if mode.suit is None}
    if first != "suit" or len(set(names)) != len(names):
        raise ValueError
    return tuple(sorted(modes[name] for name in names))


_SUCCESSIONS: Mapping[int, tuple[NextHakem, ...]] = {
    2: (NextHakem.WINNER,),
    3: (NextHakem.WINNER, NextHakem.RIGHT),
    4: (NextHakem.RIGHT, NextHakem.LEFT),
}


def _everywhere(value: object) -> dict[int, object]:
    return dict.fromkeys((2, 3, 4), value)


_ON_OFF = dict.fromkeys((2, 3, 4), "on or off")
_POINTS = dict.fromkeys((2, 3, 4), "a number from 1 to 100")

OPTIONS: Mapping[str, _Option] = {
    "points_win": _Option(_number(1, 100), _POINTS, _everywhere(1)),
    "points_kot": _Option(_number(1, 100), _POINTS, _everywhere(2)),
    "points_hakem_kot": _Option(_number(1, 100), _POINTS, _everywhere(3)),
    "pause_after": _Option(
        _pause_after,
        {3: "first_round or hakem", 4: "hakem, first_round or right_opponent"},
        {3: PauseAfter.FIRST_ROUND, 4: PauseAfter.HAKEM},
    ),
    "play_out": _Option(_switch, _ON_OFF, {2: False, 4: False}),
    "removed_two": _Option(
        lambda text, players: {suit.letter: suit for suit in Suit}[text],
        {3: "C, D, H or S"},
        {3: Suit.CLUBS},
    ),
    "draw_choice_public": _Option(_switch, _ON_OFF, {2: True}),
    "modes": _Option(
        _modes,
        dict.fromkeys((2, 3, 4), "suit, with any of sar, nar, tak_nar after it"),
        _everywhere(()),
    ),
    "kot_in_modes": _Option(_switch, _ON_OFF, _everywhere(False)),
    "target_points": _Option(_number(1, 100), _POINTS, _everywhere(7), races_only=True),
    "first_hakem": _Option(
        _first_hakem,
        {seats: f"ace_draw, random or seat:0 to seat:{seats - 1}" for seats in (2, 3, 4)},
        _everywhere(FirstHakem(HakemDraw.ACE_DRAW)),
        races_only=True,
    ),
    "next_hakem": _Option(
        _next_hakem,
        {
            seats: " or ".join(choice.value for choice in choices)
            for seats, choices in _SUCCESSIONS.items()
        },
        {seats: choices[0] for seats, choices in _SUCCESSIONS.items()},
        races_only=True,
    ),
    "teams": _Option(
        lambda text, players: Teams(text),
        {4: "fixed or second_ace"},
        {4: Teams.FIXED},
        races_only=True,
    ),
    "cut": _Option(_switch, {4: "on or off"}, {4: False}, races_only=True),
}
"""Every option by name: the one place that says what a table may choose."""
