"""`arena repro` as its users see it, but for the process: what may be asked, whose bot is told, and
what is printed. With processes it is in tests/system.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from arena.ladder.bots.entrants import load_bot
from arena.repro.feeding import Ask, Found
from arena.repro.retelling import Difference
from hokm.cards import Seat
from hokm.notes import Note
from hokm.records import Format, Place, load, save
from tests.arena.cli.conftest import MakeBot, RunCommand

TEXT = "hokm 4 hakem 1\ndeck 2C\n"

AT = Difference(
    place=Place(room=1, game=2, hand=1, step="play 21"),
    seat=Seat(0),
    trick=6,
    recorded="play AS",
    now="play 4C",
    sees=("holds 4C AS", "may: play 4C, AS"),
    text=TEXT,
    recorded_note=Note("the ace is out", (("win", 0.61),)),
)


PLAYED: list[bytes] = []


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Ask]:
    return []


@pytest.fixture
def find(monkeypatch: pytest.MonkeyPatch, asked: list[Ask]) -> Callable[[Found], None]:
    """Says what is found, in place of a process."""

    def find(found: Found) -> None:
        async def feed(ask: Ask, *, tell: Callable[[Difference], None]) -> Found:
            asked.append(ask)
            for difference in found.differences:
                tell(difference)
            return found

        monkeypatch.setattr("arena.cli.reproducing.feed", feed)

    find(Found(games=[1, 2], compared=26))
    return find


@pytest.fixture
def file(run: RunCommand, runner: object, make_bot: MakeBot, tmp_path: Path) -> Path:
    """The record of a match of a and b, three boards, which is played once."""
    file, made = tmp_path / "m.json", (make_bot("a"), make_bot("b"))
    if not PLAYED:
        words = ("match", *made, "--boards", 3, "--seed", 1, "--record", file)
        assert run(*words).status == 0
        PLAYED.append(file.read_bytes())
    file.write_bytes(PLAYED[0])
    return file


def bots(tmp_path: Path, name: str) -> Path:
    return tmp_path / "bots" / name


def test_a_bot_that_does_the_same_is_said_to_in_a_line(run, find, asked, file, tmp_path) -> None:
    ran = run("repro", file, "--seat", 1, "--room", 2, "--bot", bots(tmp_path, "a"))
    said = "the same: 26 decisions of a, seat 1 of room 2, in 2 games\n"
    assert (ran.status, ran.out, ran.err) == (0, said, "")
    [ask] = asked
    assert [game.number for game in ask.games] == [1, 2, 3]
    assert (ask.room.number, ask.slot, ask.entrant.name) == (2, 1, "a")
    assert not ask.is_paced
    assert not ask.stops_at_first
    assert ask.answer_seconds == 62.0  # twice a move and the bank


def test_each_difference_is_told_and_the_hand_once(run, find, file, tmp_path) -> None:
    again = replace(AT, place=replace(AT.place, step="play 25"), note=Note("now"))
    find(Found(games=[2], compared=13, differences=[AT, again], log="a line\x1b[0m\n"))
    ran = run("repro", file, "--seat", 0, "--bot", bots(tmp_path, "a"))
    assert ran.status == 1
    assert ran.out.splitlines() == [
        "room 1, game 2, hand 1, play 21, trick 6: seat 0",
        "  on record  play AS  (the ace is out; win 0.61)",
        "  now        play 4C",
        "  holds 4C AS",
        "  may: play 4C, AS",
        "  the hand so far, to paste into `arena replay -`:",
        "    hokm 4 hakem 1",
        "    deck 2C",
        "",
        "room 1, game 2, hand 1, play 25, trick 6: seat 0",
        "  on record  play AS  (the ace is out; win 0.61)",
        "  now        play 4C  (now)",
        "  holds 4C AS",
        "  may: play 4C, AS",
        "",
        "it was lost; the end of what it printed:",
        "  | a line\\x1b[0m",
        "2 differences in 13 decisions of a, seat 0 of room 1, in 1 game",
    ]


def test_the_same_as_json(run, find, file, tmp_path) -> None:
    find(Found(games=[2], compared=13, differences=[AT]))
    ran = run("repro", file, "--seat", 0, "--bot", bots(tmp_path, "a"), "--json")
    assert ran.status == 1
    answer = json.loads(ran.out)
    assert answer["bot"] == "a"
    assert answer["digest"] == answer["digest_now"]
    [difference] = answer["differences"]
    assert (difference["game"], difference["step"], difference["text"]) == (2, "play 21", TEXT)
    assert difference["recorded_note"] == {"text": "the ace is out", "numbers": {"win": 0.61}}
    assert difference["note"] is None


def test_one_that_does_not_start_is_a_failure_with_the_reason(run, find, file, tmp_path) -> None:
    find(Found(problem="a did not start: its process ended", log="Traceback\n"))
    ran = run("repro", file, "--seat", 0, "--bot", bots(tmp_path, "a"))
    assert ran.status == 1
    assert ran.out.endswith("  | Traceback\na did not start: its process ended\n")


def test_another_bot_than_played_is_said_to_be_one(run, find, file, make_bot) -> None:
    other = make_bot("a", under="later", comment="changed")
    ran = run("repro", file, "--seat", 0, "--bot", other)
    assert ran.status == 0
    assert ran.err.startswith(f"note: {other} is not what played as a: its digest is ")


def test_without_a_bot_it_is_the_copy_of_the_ladder_or_one_of_that_name(
    run, find, asked, file, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("repro", file, "--seat", 0).err.startswith("error: the files of a are not found")
    ladder = tmp_path / "club"
    (ladder / "records").mkdir(parents=True)
    (ladder / "ladder.toml").touch()
    digest = load_bot(bots(tmp_path, "a")).digest
    copytree(bots(tmp_path, "a"), ladder / "bots" / digest)
    kept = ladder / "records" / "m.json"
    save(kept, load(file))
    assert run("repro", kept, "--seat", 0).status == 0
    assert asked.pop().entrant.folder == (ladder / "bots" / digest).resolve()
    monkeypatch.chdir(tmp_path / "bots")
    assert run("repro", file, "--seat", 0).status == 0
    assert asked.pop().entrant.folder == bots(tmp_path, "a").resolve()


@pytest.mark.parametrize(
    ("words", "games", "until_hand"),
    [("--game 2", [2], None), ("--hand 2", [2], None), ("", [1, 2, 3], None)],
)
def test_a_board_is_chosen_by_game_or_by_hand(
    run, find, asked, file, tmp_path, words, games, until_hand
) -> None:
    assert run("repro", file, "--seat", 0, "--bot", bots(tmp_path, "a"), *words.split()).status == 0
    [ask] = asked
    assert [game.number for game in ask.games] == games
    assert ask.until_hand == until_hand


def test_of_a_race_a_hand_is_the_last_that_is_told(
    run, runner, find, asked, make_bot, tmp_path
) -> None:
    file, a = tmp_path / "race.json", make_bot("a")
    asks = ("match", a, make_bot("b"), "--format", "classic", "--games", 2, "--record", file)
    assert run(*asks).status == 0
    record = load(file)
    assert record.format is Format.CLASSIC
    ran = run("repro", file, "--seat", 0, "--bot", a, "--hand", 2, "--pace", "--first")
    assert ran.status == 0
    [ask] = asked
    assert ([game.number for game in ask.games], ask.until_hand) == ([1], 2)
    assert ask.is_paced
    assert ask.stops_at_first
    hands = len(record.rooms[0].games[0].hands)
    ran = run("repro", file, "--seat", 0, "--bot", a, "--hand", hands + 1)
    assert (ran.status, ran.err) == (
        2,
        f"error: --hand {hands + 1}: the last hand of game 1 is {hands}\n",
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--seat 0 --room 3", "--room 3: this record has rooms 1 to 2"),
        ("--seat 0 --game 4", "its bots were told of no game 4 in room 1"),
        ("--seat 0 --game 1 --hand 1", "give --game or --hand, not both"),
        ("--seat 0 --debug", "--debug runs the bot on this terminal, and there is none"),
        ("--seat 0 --bot nobody", "nobody"),
    ],
)
def test_what_is_not_there_is_a_misuse(run, find, asked, file, words, says) -> None:
    ran = run("repro", file, *words.split())
    assert ran.status == 2
    assert says in ran.err
    assert asked == []


def test_a_seat_that_is_not_at_the_table_is_a_misuse(run, runner, find, make_bot, tmp_path) -> None:
    file, a = tmp_path / "two.json", make_bot("a")
    assert (
        run("match", a, make_bot("b"), "--players", 2, "--boards", 1, "--record", file).status == 0
    )
    ran = run("repro", file, "--seat", 2, "--bot", a)
    assert (ran.status, ran.err) == (2, "error: --seat 2: this table has seats 0 to 1\n")
