"""`ladder.toml`: written to be read by people, read strictly."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from arena.ladder.errors import LadderError
from arena.ladder.settings import Settings, parse_settings, read_settings
from hokm.records import Format
from hokm.rules.options import Rules
from hokm.session import ClockRules

FILE = Path("club/ladder.toml")


def complaint(settings: Settings, *, old: str, new: str) -> str:
    """Return what is said about an edited file; it is always one line."""
    text = settings.toml()
    assert old in text
    with pytest.raises(LadderError) as caught:
        parse_settings(text.replace(old, new, 1), where=FILE)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_ladder_plays_sixteen_boards_of_four_players_unless_it_is_told_otherwise() -> None:
    settings = Settings.of("club")
    assert settings == Settings("club")
    assert (settings.rules, settings.format, settings.length) == (Rules.of(4), Format.BOARDS, 16)
    assert (settings.clock, settings.anchor) == (ClockRules(1.0, 30.0), None)


@pytest.mark.parametrize(
    "settings",
    [
        Settings.of("club"),
        Settings.of("باشگاه", anchor="house-30", players=2, length=4),
        Settings.of("x", clock=ClockRules(0.25, 0.0), options={"pause_after": "first_round"}),
        Settings.of("x", format=Format.CLASSIC, options={"target_points": "5"}),
        Settings.of("x", players=3, options={"removed_two": "H"}),
        Settings.of("x", tick_seconds=0.0),
        Settings.of("x", tick_seconds=0.05),
    ],
)
def test_what_is_written_is_read_back_the_same(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "ladder.toml"
    file.write_text(settings.toml(), encoding="utf-8")
    assert read_settings(file) == settings


def test_a_new_ladder_has_a_masking_tick_and_one_that_is_older_than_it_has_none() -> None:
    written = Settings.of("club").toml()
    assert "tick_seconds = 0.005 " in written
    older = "".join(line for line in written.splitlines(True) if "tick_seconds" not in line)
    assert parse_settings(older, where=Path("x")).tick_seconds == 0


def test_every_option_is_written_out_so_that_no_later_default_can_change_it() -> None:
    written = tomllib.loads(Settings.of("club").toml())["rules"]
    assert written == Rules.of(4).options()


def test_a_match_is_counted_in_boards_or_in_pairs_of_races() -> None:
    assert "boards = 16 " in Settings.of("club").toml()
    assert "games = 4 " in Settings.of("club", format=Format.CLASSIC).toml()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "boards = 16",
            "board = 16",
            "ladder.toml: board: is not a known key; did you mean boards",
        ),
        ("# anchor = ", "anchr = 1 #", "anchr: is not a known key; did you mean anchor?"),
        ("move_seconds", "move_second", "clock.move_second: is not a known key; did you mean"),
        ("points_win", "point_win", "rules.point_win: is not a known key; did you mean points_win"),
        ("players = 4\n", "", "players: is missing"),
        ("players = 4", "players = 4.0", "players: 4.0 is not a whole number"),
        ("schema = 1", "shema = 1", "schema: is missing; did you mean it by shema?"),
        ("boards = 16", "zzz = 16", "zzz: is not a known key; the keys here are schema, "),
        ("[clock]", "clock = 1\n[clok]", "clok: is not a known key; did you mean clock?"),
        ("players = 4", "players = 5", "is played by 2, 3 or 4, not by 5; put back"),
        ('"boards"', '"duplicate"', "format: 'duplicate' is no format; take boards or classic"),
        ("schema = 1", "schema = 2", "schema: 2 is not known to this arena; update the arena"),
        ("bank_seconds = 30.0", "bank_seconds = true", "bank_seconds: True is not a number"),
        ("bank_seconds = 30.0", "bank_seconds = nan", "bank_seconds 0 or more"),
        ('"hakem"', '"partner"', "pause_after must be hakem, first_round or right_opponent"),
        ("[rules]", "[rules", "is not TOML"),
        ('name = "club"', 'name = "a club"', "name 'a club' has ' '"),
    ],
)
def test_what_a_file_says_wrong_is_told_with_its_key(old: str, new: str, said: str) -> None:
    assert said in complaint(Settings.of("club"), old=old, new=new)


@pytest.mark.parametrize(("players", "sides"), [(4, 2), (3, 3), (2, 2)])
def test_every_entrant_of_a_match_is_a_side_of_its_own(players: int, sides: int) -> None:
    assert Settings.of("club", players=players).sides == sides


def test_a_key_that_is_missing_is_not_taken_for_a_known_one_like_it() -> None:
    said = complaint(Settings.of("club", format=Format.CLASSIC), old='name = "club"\n', new="")
    assert said.endswith("name: is missing; put back what arena ladder init wrote")


def test_a_folder_without_the_file_is_no_ladder(tmp_path: Path) -> None:
    with pytest.raises(LadderError, match=r"has no ladder\.toml; .* arena ladder init"):
        read_settings(tmp_path / "ladder.toml")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"players": 3, "format": Format.CLASSIC}, "with three players play boards"),
        ({"players": 3, "options": {"points_win": "2"}}, "rated boards count 1, 2 and 3 points"),
        (
            {"format": Format.CLASSIC, "options": {"teams": "second_ace"}},
            "teams=second_ace moves no rating",
        ),
        ({"length": 0}, "boards must be 1 to 1000, not 0"),
        ({"options": {"points_kot": "3"}}, "rated boards count 1, 2 and 3 points"),
        ({"options": {"target_points": "5"}}, "target_points has no meaning with boards"),
        ({"clock": ClockRules(0.0, 30.0)}, "move_seconds must be above 0"),
        ({"anchor": "-x"}, "anchor '-x' begins with '-'"),
        ({"tick_seconds": -0.1}, "tick_seconds must be 0"),
        ({"tick_seconds": 1.5}, "tick_seconds must be 0"),
    ],
)
def test_a_ladder_nobody_can_play_is_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Settings.of("club", **arguments)
