"""`arena match` with real bot processes: every table, every way out, and nothing left behind.

Bots tell the test that they run by a FIFO: whoever opens it to read waits until one of them has it
open, and reads its end once the last of them is gone. So nothing here sleeps or polls.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hokm.cards import Trump
from hokm.records import Flag, load

if os.name != "posix":
    pytest.skip("the arena runs bots on POSIX systems", allow_module_level=True)

FIRST_LEGAL = """
from hokm import Bot, Card, View, run

class FirstLegal(Bot):
    def play(self, view: View) -> Card:
        return view.playable[0]

run(FirstLegal)
"""

LAST_LEGAL = FIRST_LEGAL.replace("playable[0]", "playable[-1]")

LAST_OF_ALL = """
from hokm import Bot, run

class LastOfAll(Bot):
    def cut(self, view):
        return view.legal[-1].position

    def declare(self, view):
        return view.legal[-1].trump

    def play(self, view):
        return view.playable[-1]

run(LastOfAll)
"""

CRASHING = """
import sys
from hokm import Bot, Card, View, run

class Crashing(Bot):
    def play(self, view: View) -> Card:
        print("about to fall", file=sys.stderr)
        raise ValueError("no idea what to play")

run(Crashing)
"""

THINKING = """
import os
import signal
from hokm import Bot, Card, View, run

here = None

class Thinking(Bot):
    def play(self, view: View) -> Card:
        global here
        if here is None:
            here = os.open({fifo!r}, os.O_WRONLY)
            os.write(here, b"x")
        {then}
        return view.playable[0]

run(Thinking)
"""

FOR_EVER = "signal.pause()"
NOT_AT_ALL = "pass"


MakeBot = Callable[..., Path]


@pytest.fixture
def make_bot(tmp_path: Path) -> MakeBot:
    def make_bot(name: str, code: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "bot.py").write_text(code, encoding="utf-8")
        (folder / "bot.toml").write_text(
            f'schema = 1\nname = "{name}"\nowner = "maryam"\nversion = "1"\n'
            'command = ["python", "bot.py"]\nprotocol = 1\nvariants = [2, 3, 4]\n',
            encoding="utf-8",
        )
        return folder

    return make_bot


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    path = tmp_path / "here"
    os.mkfifo(path)
    return path


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Starts a command line in a process of its own."""
    environment = os.environ | {"XDG_STATE_HOME": str(tmp_path / "state"), "TMPDIR": str(tmp_path)}
    begun: list[subprocess.Popen[str]] = []

    def begin(*words: object) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-m", "arena", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        begun.append(process)
        return process

    yield begin
    for process in begun:
        process.kill()
        process.communicate()


@pytest.fixture
def run(begin: Callable[..., "subprocess.Popen[str]"]) -> Callable[..., tuple[int, str, str]]:
    """Runs a command line to its end: its exit status, stdout and stderr."""

    def run(*words: object) -> tuple[int, str, str]:
        process = begin(*words)
        out, err = process.communicate()
        return process.returncode, out, err

    return run


def wait_until_one_plays(fifo: Path) -> int:
    """A descriptor that reads on to the end of the last bot that came to play."""
    descriptor = os.open(fifo, os.O_RDONLY)
    assert os.read(descriptor, 1) == b"x"
    return descriptor


def assert_all_are_gone(descriptor: int) -> None:
    with os.fdopen(descriptor, "rb") as stream:
        stream.read()  # returns at the end of the last process that has the FIFO open


@pytest.mark.parametrize(
    ("names", "words", "rooms"),
    [
        ("ab", ("--boards", 2), 2),
        ("ab", ("--players", 2, "--boards", 2), 2),
        ("abc", ("--boards", 2), 3),
        ("abcd", ("--boards", 2), 2),
        ("ab", ("--format", "classic", "--games", 1, "-o", "target_points=2"), 2),
    ],
)
def test_every_table_is_played_to_its_end_and_its_record_verifies(
    run, make_bot, tmp_path, names, words, rooms
):
    codes = (FIRST_LEGAL, LAST_LEGAL)
    bots = [make_bot(name, codes[index % 2]) for index, name in enumerate(names)]
    file = tmp_path / "match.json.gz"
    status, out, err = run("match", *bots, *words, "--record", file, "--json")
    assert (status, err) == (0, "")
    answer = json.loads(out)
    assert answer["complete"] is True
    length = answer.get("boards") or answer["games"]
    assert answer["endings"] == {"COMPLETED": rooms * length}
    assert all(bot["decisions"] > 0 and bot["cpu_seconds"] > 0 for bot in answer["entrants"])
    status, out, err = run("verify", file)
    assert (status, err) == (0, "")
    assert answer["substance_digest"] in out
    assert not list(tmp_path.glob("hokm-arena-*")), "logs of a match without faults were kept"


def test_cuts_modes_and_drawn_partners_are_played_and_verify(run, make_bot, tmp_path):
    bots = [make_bot(name, LAST_OF_ALL) for name in "abcd"]
    file = tmp_path / "match.json"
    options = ("cut=on", "modes=suit,tak_nar", "teams=second_ace", "target_points=3")
    words = [word for option in options for word in ("-o", option)]
    words += ["--format", "classic", "--games", "3", "--seed", "1"]
    status, out, err = run("match", *bots, *words, "--record", file, "--json")
    assert (status, err) == (0, "")
    answer = json.loads(out)
    assert answer["endings"] == {"COMPLETED": 6}
    assert sum(answer["gained"]) == 12
    assert run("verify", file)[0] == 0
    games = [game for room in load(file).rooms for game in room.games]
    assert any(game.seating for game in games)
    hands = [hand for game in games for hand in game.hands]
    assert {(hand.cut, hand.trump) for hand in hands} == {(51, Trump.TAK_NAR)}


def test_with_drawn_partners_a_bot_that_crashes_loses_with_whom_it_was_given(
    run, make_bot, tmp_path
):
    bots = [make_bot(name, FIRST_LEGAL) for name in "abc"] + [make_bot("d", CRASHING)]
    file = tmp_path / "match.json"
    # One room after the other, so that incidents come in order.
    words = ("--format", "classic", "--games", 4, "--seed", 2, "--concurrency", 1)
    drawn = ("-o", "teams=second_ace", "--record", file, "--json")
    status, out, _ = run("match", *bots, *words, *drawn)
    answer = json.loads(out)
    assert (status, answer["endings"], answer["gained"][3]) == (0, {"CRASH": 8}, 0)
    assert sum(answer["gained"]) == 16
    assert run("verify", file)[0] == 0
    games = [game for room in load(file).rooms for game in room.games]
    unplayed = [game for game in games if Flag.UNPLAYED in game.flags]
    # One room, whichever comes first, has its three incidents, which are its own: nobody else is of
    # its side all through. The other starts it once all the same.
    assert sorted(game.number for game in unplayed) == [2, 3, 4, 4]
    assert {tuple(game.hands) for game in unplayed} == {()}
    assert [bot["faults"] for bot in answer["entrants"]] == [0, 0, 0, 8]


def test_the_same_seed_and_the_same_bots_play_the_same_match(run, make_bot):
    words = (
        "match",
        make_bot("a", FIRST_LEGAL),
        make_bot("b", LAST_LEGAL),
        "--boards",
        2,
        "--json",
    )
    first, again, other = (
        json.loads(run(*words, "--seed", seed, "--concurrency", rooms)[1])
        for seed, rooms in (("s", 2), ("s", 1), ("t", 2))
    )
    assert first["substance_digest"] == again["substance_digest"]
    assert first["score"] == again["score"]
    assert first["substance_digest"] != other["substance_digest"]


def test_a_bot_that_crashes_loses_and_its_last_words_are_shown(run, make_bot, tmp_path):
    bots = make_bot("sound", FIRST_LEGAL), make_bot("unsound", CRASHING)
    status, out, err = run("match", *bots, "--boards", 2, "--json")
    answer = json.loads(out)
    assert (status, answer["complete"]) == (0, True)
    assert answer["endings"] == {"CRASH": 4}
    assert answer["score"] == {"wins": 2, "draws": 0, "losses": 0}
    assert answer["elo"]["value"] is None
    assert [bot["faults"] for bot in answer["entrants"]] == [0, 4]
    assert "fault: unsound CRASH (room " in err
    assert "  | ValueError: no idea what to play" in err
    assert f"  run it by hand: cd {bots[1]} && {sys.executable} bot.py" in err
    (kept,) = tmp_path.glob("hokm-arena-*")
    assert f"logs of the bots: {kept}\n" in err
    assert any("about to fall" in log.read_text() for log in kept.rglob("*.log"))


def test_a_bot_that_never_starts_makes_the_command_fail(run, make_bot):
    bots = make_bot("sound", FIRST_LEGAL), make_bot("mute", "raise SystemExit(7)")
    status, out, err = run("match", *bots, "--boards", 2, "--json")
    answer = json.loads(out)
    assert (status, answer["complete"], answer["spoilt"]) == (1, False, "NEVER_STARTED")
    assert "fault: mute NEVER_STARTED (room " in err
    assert "exit code 7" in err


def test_ctrl_c_finishes_the_games_under_way_and_shows_what_there_is(begin, make_bot, fifo):
    bot = make_bot("a", THINKING.format(fifo=str(fifo), then=NOT_AT_ALL))
    process = begin("match", bot, bot, "--boards", 1000, "--json")
    bots = wait_until_one_plays(fifo)
    process.send_signal(signal.SIGINT)
    assert_all_are_gone(bots)
    out, err = process.communicate()
    answer = json.loads(out)
    assert (process.returncode, answer["complete"], answer["spoilt"]) == (1, False, "STOPPED")
    assert answer["endings"]["COMPLETED"] >= 1
    assert sum(answer["endings"].values()) == 2000
    assert err.startswith("stopping: the games under way are finished")


def test_a_second_ctrl_c_waits_for_nobody(begin, make_bot, fifo):
    bot = make_bot("a", THINKING.format(fifo=str(fifo), then=FOR_EVER))
    process = begin("match", bot, bot, "--boards", 2, "--bank", 3000, "--json")
    bots = wait_until_one_plays(fifo)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("stopping: ")  # so that the two do not merge
    process.send_signal(signal.SIGINT)
    assert_all_are_gone(bots)
    out, err = process.communicate()
    assert process.returncode == 1
    assert json.loads(out)["endings"] == {"STOPPED": 4}
    assert err == "stopping at once\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only there do bots die with a killed arena")
def test_no_bot_outlives_an_arena_that_is_killed(begin, make_bot, fifo):
    bot = make_bot("a", THINKING.format(fifo=str(fifo), then=FOR_EVER))
    process = begin("match", bot, bot, "--boards", 2, "--bank", 3000)
    bots = wait_until_one_plays(fifo)
    process.kill()
    assert_all_are_gone(bots)
    out, _ = process.communicate()
    assert (process.returncode, out) == (-signal.SIGKILL, "")


def test_a_closed_pipe_is_no_fault(begin, make_bot):
    bot = make_bot("a", FIRST_LEGAL)
    process = begin("match", bot, bot, "--boards", 1)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with contextlib.closing(process.stderr):
        assert "Traceback" not in process.stderr.read()
    process.stdout = process.stderr = None
    assert process.wait() == 1
