"""What happens at a table, and what each seat sees of it, is what was reviewed last."""

import re
from difflib import unified_diff

import pytest

from hokm.cards import Suit, Trump
from hokm.errors import RulesError
from hokm.rules.options import OPTIONS, HakemDraw, NextHakem, PauseAfter, Play, Rules, Teams
from tests.playthroughs.regenerate import FOLDER, PLAYTHROUGHS, text_of

COMMAND = "python tests/playthroughs/regenerate.py"


@pytest.mark.parametrize("name", PLAYTHROUGHS)
def test_a_playthrough_is_as_it_was(name: str) -> None:
    file = FOLDER / f"{name}.txt"
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    now = text_of(name)
    changes = unified_diff(
        before.splitlines(), now.splitlines(), f"{name}.txt, as reviewed", "now", lineterm=""
    )
    assert now == before, "\n".join(
        [f"{name}.txt is no longer what happens. If that is meant: {COMMAND}", *changes]
    )


def test_every_file_has_its_playthrough() -> None:
    files = {file.stem for file in FOLDER.glob("*.txt")}
    assert files == set(PLAYTHROUGHS), f"{COMMAND} writes and removes them"


@pytest.mark.parametrize("players", [4, 3, 2])
@pytest.mark.parametrize("option", OPTIONS)
def test_every_value_of_every_option_is_played(players: int, option: str) -> None:
    played = {
        _kind(playthrough.rules.options().get(option), default=_default(players, option))
        for playthrough in PLAYTHROUGHS.values()
        if playthrough.players == players
    }
    assert played >= _values(players, option)


@pytest.mark.parametrize("players", [4, 3, 2])
@pytest.mark.parametrize("mode", [mode for mode in Trump if mode.suit is None])
def test_every_mode_is_named(players: int, mode: Trump) -> None:
    named = [
        name
        for name, playthrough in PLAYTHROUGHS.items()
        if playthrough.players == players
        and re.search(rf"^TrumpDeclared.* trump={mode.letter}$", text_of(name), re.MULTILINE)
    ]
    assert named


_TEXTS = (
    *("on", "off", "1", "2"),
    *("suit", f"suit,{','.join(mode.name.lower() for mode in Trump if mode.suit is None)}"),
    *(suit.letter for suit in Suit),
    *(draw.value for draw in HakemDraw),
    *(f"seat:{seat}" for seat in range(4)),
    *(choice.value for choices in (PauseAfter, NextHakem, Teams) for choice in choices),
)
"""Among these is every value that an option may have: of numbers, the defaults and others."""

_NEEDED = {"kot_in_modes": {"modes": "suit,sar"}, "points_win": {"points_kot": "2"}}
"""What a value may need beside it to have a meaning."""


def _values(players: int, option: str) -> set[str | None]:
    """The kinds of values that the option may have at a table of races with so many players."""
    default = _default(players, option)
    return {
        _kind(text, default=default)
        for text in _TEXTS
        if default is not None and _is_accepted(players, {option: text, **_NEEDED.get(option, {})})
    } - {"the default number"}


def _is_accepted(players: int, options: dict[str, str]) -> bool:
    try:
        Rules.of(players, play=Play.RACE, options=options)
    except RulesError:
        return False
    return True


def _default(players: int, option: str) -> str | None:
    return Rules.of(players, play=Play.RACE).options().get(option)


def _kind(text: str | None, *, default: str | None) -> str | None:
    """One seat stands for all, and one number that is not the default for all such."""
    if text is not None and text.isdecimal():
        return "the default number" if text == default else "another number"
    return "seat:N" if text is not None and text.startswith("seat:") else text
