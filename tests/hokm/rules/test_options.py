"""A table's options: defaults, refusals, and that what is written is read back."""

from collections.abc import Mapping
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hokm.cards import Seat, Suit
from hokm.errors import HokmError, RulesError, quoted
from hokm.rules.options import (
    OPTIONS,
    FirstHakem,
    HakemDraw,
    NextHakem,
    PauseAfter,
    Play,
    Rules,
    Teams,
)

CHOICES: Mapping[int, Mapping[str, tuple[str, ...]]] = {
    4: {
        "pause_after": ("hakem", "first_round", "right_opponent"),
        "play_out": ("off", "on"),
        "modes": ("suit", "suit,sar", "suit,nar,tak_nar", "suit,sar,nar,tak_nar"),
        "kot_in_modes": ("off", "on"),
    },
    3: {
        "pause_after": ("first_round", "hakem"),
        "removed_two": ("C", "D", "H", "S"),
        "modes": ("suit", "suit,sar", "suit,nar,tak_nar", "suit,sar,nar,tak_nar"),
        "kot_in_modes": ("off", "on"),
    },
    2: {
        "play_out": ("off", "on"),
        "draw_choice_public": ("on", "off"),
        "modes": ("suit", "suit,sar", "suit,nar,tak_nar", "suit,sar,nar,tak_nar"),
        "kot_in_modes": ("off", "on"),
    },
}
"""What may be chosen everywhere by number of players, the default first."""

CHOICES_IN_RACES: Mapping[int, Mapping[str, tuple[str, ...]]] = {
    4: {
        "first_hakem": ("ace_draw", "random", "seat:0", "seat:1", "seat:2", "seat:3"),
        "next_hakem": ("right", "left"),
        "teams": ("fixed",),
        "cut": ("off", "on"),
    },
    3: {
        "first_hakem": ("ace_draw", "random", "seat:0", "seat:1", "seat:2"),
        "next_hakem": ("winner", "right"),
    },
    2: {"first_hakem": ("ace_draw", "random", "seat:0", "seat:1"), "next_hakem": ("winner",)},
}

TABLES = tuple(product((2, 3, 4), Play))
NUMBERS = ("points_win", "points_kot", "points_hakem_kot")


def choices(players: int, play: Play) -> Mapping[str, tuple[str, ...]]:
    races = CHOICES_IN_RACES[players] if play is Play.RACE else {}
    return {**CHOICES[players], **races}


def makes_sense(chosen: Mapping[str, str]) -> bool:
    return not (chosen["kot_in_modes"] == "on" and chosen["modes"] == "suit")


def refused(players: int, play: Play, **options: str) -> str:
    with pytest.raises(RulesError) as error:
        Rules.of(players, play=play, options=options)
    return str(error.value)


# -- what is written is read back


@pytest.mark.parametrize(("players", "play"), TABLES)
@given(data=st.data())
def test_options_read_back_to_equal_rules(players: int, play: Play, data: st.DataObject) -> None:
    chosen = {
        name: data.draw(st.sampled_from(texts)) for name, texts in choices(players, play).items()
    }
    assume(makes_sense(chosen))
    numbers = sorted(data.draw(st.tuples(*[st.integers(1, 100)] * 3)))
    chosen |= dict(zip(NUMBERS, map(str, numbers), strict=True))
    if play is Play.RACE:
        chosen["target_points"] = str(data.draw(st.integers(1, 100)))
    table = Rules.of(players, play=play, options=chosen)
    assert table.options() == chosen
    assert Rules.of(players, play=play, options=table.options()) == table
    assert hash(Rules.of(players, play=play, options=table.options())) == hash(table)


@pytest.mark.parametrize(("players", "play"), TABLES)
def test_every_combination_of_choices_is_a_table_of_its_own(players: int, play: Play) -> None:
    open_to_all = choices(players, play)
    seen = set()
    expected = 0
    for texts in product(*open_to_all.values()):
        chosen = dict(zip(open_to_all, texts, strict=True))
        if not makes_sense(chosen):
            continue
        table = Rules.of(players, play=play, options=chosen)
        assert Rules.of(players, play=play, options=table.options()) == table
        seen.add(table)
        expected += 1
    assert len(seen) == expected


@pytest.mark.parametrize(("players", "play"), TABLES)
def test_defaults_are_those_of_the_rulebook(players: int, play: Play) -> None:
    expected = {name: texts[0] for name, texts in choices(players, play).items()}
    expected |= {"points_win": "1", "points_kot": "2", "points_hakem_kot": "3"}
    if play is Play.RACE:
        expected["target_points"] = "7"
    table = Rules.of(players, play=play)
    assert table.options() == expected
    assert Rules.of(players, play=play, options=expected) == table


def test_every_option_has_a_meaning_somewhere() -> None:
    somewhere = {name for players, play in TABLES for name in choices(players, play)}
    assert somewhere | {*NUMBERS, "target_points"} == set(OPTIONS)


def test_options_are_typed() -> None:
    race = Rules.of(4, play=Play.RACE, options={"first_hakem": "seat:2", "pause_after": "hakem"})
    assert race.first_hakem == FirstHakem(HakemDraw.SEAT, Seat(2))
    assert race.pause_after is PauseAfter.HAKEM
    assert race.next_hakem is NextHakem.RIGHT
    assert race.teams is Teams.FIXED
    assert race.cut is False
    assert race.removed_two is None
    assert Rules.of(3, options={"removed_two": "H"}).removed_two is Suit.HEARTS


# -- refusals


@pytest.mark.parametrize("players", [-1, 0, 1, 5, 6])
def test_other_numbers_of_players_are_refused(players: int) -> None:
    with pytest.raises(RulesError, match=f"played by 2, 3 or 4, not by {players}"):
        Rules.of(players)


def test_an_unknown_option_is_refused_with_the_known_ones() -> None:
    message = refused(4, Play.BOARDS, pause="hakem")
    assert message.startswith("there is no option 'pause'; the options are points_win, points_kot,")
    assert all(name in message for name in OPTIONS)


@pytest.mark.parametrize(("players", "play"), TABLES)
@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_without_meaning_is_refused_even_with_its_default(
    name: str, players: int, play: Play
) -> None:
    if name in choices(players, play) or name in NUMBERS:
        return
    if name == "target_points" and play is Play.RACE:
        return
    default = {**CHOICES[4], **CHOICES[3], **CHOICES[2], **CHOICES_IN_RACES[4]}
    text = default[name][0] if name in default else "7"
    anywhere = {*CHOICES[players], *CHOICES_IN_RACES[players], "target_points"}
    where = "with boards" if name in anywhere else f"with {players} players"
    assert refused(players, play, **{name: text}) == (
        f"{name} has no meaning {where}: leave it out"
    )
    assert getattr(Rules.of(players, play=play), name) is None


@pytest.mark.parametrize("name", [*NUMBERS, "target_points"])
@pytest.mark.parametrize(
    "text", ["0", "101", "-1", "", "seven", "1.5", " 7", "+7", "1_0", "٧", "1" * 5000]
)
def test_numbers_are_from_1_to_100(name: str, text: str) -> None:
    message = refused(4, Play.RACE, **{name: text})
    assert message == f"{name} must be a number from 1 to 100, not {quoted(text)}"


@pytest.mark.rule("1.6")
@pytest.mark.parametrize(
    "points", [("2", "1", "3"), ("1", "4", "3"), ("5", "5", "4"), ("4", "2", "3")]
)
def test_points_that_fall_are_refused(points: tuple[str, str, str]) -> None:
    message = refused(4, Play.BOARDS, **dict(zip(NUMBERS, points, strict=True)))
    assert message == (
        "points must keep 1 <= points_win <= points_kot <= points_hakem_kot, not "
        f"{', '.join(points)} (rulebook 1.6)"
    )


@pytest.mark.parametrize(
    ("players", "name", "text", "expected"),
    [
        (4, "pause_after", "dealer", "hakem, first_round or right_opponent"),
        (3, "pause_after", "right_opponent", "first_round or hakem"),
        (4, "play_out", "yes", "on or off"),
        (2, "play_out", "True", "on or off"),
        (3, "removed_two", "2C", "C, D, H or S"),
        (3, "removed_two", "c", "C, D, H or S"),
        (3, "removed_two", "", "C, D, H or S"),
        (3, "removed_two", "CD", "C, D, H or S"),
        (2, "draw_choice_public", "", "on or off"),
        (4, "modes", "sar", "suit, with any of sar, nar, tak_nar after it"),
        (4, "modes", "suit,clubs", "suit, with any of sar, nar, tak_nar after it"),
        (4, "modes", "suit,", "suit, with any of sar, nar, tak_nar after it"),
        (2, "kot_in_modes", "1", "on or off"),
        (4, "first_hakem", "seat:4", "ace_draw, random or seat:0 to seat:3"),
        (3, "first_hakem", "seat:3", "ace_draw, random or seat:0 to seat:2"),
        (2, "first_hakem", "seat:2", "ace_draw, random or seat:0 to seat:1"),
        (4, "first_hakem", "seat:-1", "ace_draw, random or seat:0 to seat:3"),
        (4, "first_hakem", "seat:", "ace_draw, random or seat:0 to seat:3"),
        (4, "first_hakem", "seat", "ace_draw, random or seat:0 to seat:3"),
        (4, "next_hakem", "winner", "right or left"),
        (3, "next_hakem", "left", "winner or right"),
        (2, "next_hakem", "right", "winner"),
        (4, "teams", "random", "fixed or second_ace"),
        (4, "cut", "26", "on or off"),
    ],
)
def test_a_value_out_of_range_is_refused_with_what_it_may_be(
    players: int, name: str, text: str, expected: str
) -> None:
    message = refused(players, Play.RACE, **{name: text})
    assert message == f"{name} must be {expected}, not {text!r}"


@pytest.mark.rule("2.1")
@pytest.mark.parametrize("first", ["random", "seat:2"])
def test_a_second_ace_needs_a_first_one(first: str) -> None:
    message = refused(4, Play.RACE, teams="second_ace", first_hakem=first)
    assert message == (
        "teams=second_ace goes on with the ace draw: it needs first_hakem=ace_draw, not "
        f"{first} (rulebook 2.1)"
    )
    table = Rules.of(4, play=Play.RACE, options={"teams": "second_ace"})
    assert table.teams is Teams.SECOND_ACE
    assert Rules.of(4, play=Play.RACE, options=table.options()) == table


@pytest.mark.rule("5")
@pytest.mark.parametrize(("players", "play"), TABLES)
def test_kot_in_modes_needs_a_mode(players: int, play: Play) -> None:
    expected = (
        "kot_in_modes=on has no meaning where no mode is allowed: leave it out, or add one, "
        "modes=suit,sar say (rulebook 5)"
    )
    assert refused(players, play, kot_in_modes="on") == expected
    assert refused(players, play, kot_in_modes="on", modes="suit") == expected
    table = Rules.of(players, play=play, options={"kot_in_modes": "on", "modes": "suit,tak_nar"})
    assert table.kot_in_modes
    assert not Rules.of(players, play=play, options={"kot_in_modes": "off"}).kot_in_modes


def test_a_refused_table_is_an_error_of_this_library_and_a_value_error() -> None:
    assert issubclass(RulesError, HokmError)
    assert issubclass(RulesError, ValueError)
