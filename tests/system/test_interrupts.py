"""Ctrl-C on a ladder that is being played: once finishes what is played, twice ends it.

The real command plays real bots, which write down what becomes of each of their games.
"""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from arena.ladder.audit import check
from arena.ladder.ladder import Ladder
from arena.ladder.settings import Settings
from tests.system.processes import write_bot

# Says by a FIFO that it plays, and plays on once a file is there. Its child leaves the group.
BOT = """
    import os, subprocess, time
    from pathlib import Path
    from hokm import Bot, run

    TOLD = {told!r}
    subprocess.Popen(["sleep", "1000"], start_new_session=True)

    def tell(word):
        with open(TOLD, "a") as told:
            told.write(word + "\\n")

    class Waiting(Bot):
        def game_started(self, view):
            tell("began")

        def play(self, view):
            if not Path(TOLD + ".go").exists():
                tell("waits")
                with open(TOLD + ".waits", "w") as waits:
                    waits.write("x")
                while not Path(TOLD + ".go").exists():
                    time.sleep(0.01)
            return view.playable[0]

        def game_ended(self, view, outcome):
            tell("ended")

    run(Waiting)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what is left is seen in /proc")


class Club:
    """A ladder of two bots on two cores: two rooms of three boards, in one match."""

    def __init__(self, folder: Path) -> None:
        self.home = folder
        self.folder = folder / "club"
        self.told = folder / "told"
        self.told.touch()
        waits = folder / "told.waits"
        os.mkfifo(waits)
        self._waits = os.open(waits, os.O_RDWR)
        source = BOT.format(told=str(self.told))
        with Ladder.init(self.folder, Settings.of("club", players=2, length=3)) as ladder:
            for name in ("ada", "bob"):
                ladder.add(str(write_bot(folder / name, source).folder))

    def close(self) -> None:
        os.close(self._waits)
        for pid in self.bots_alive():  # if a test has failed
            os.kill(pid, signal.SIGKILL)

    def run(self) -> "subprocess.Popen[str]":
        # Its bots tell what they do in a file.
        words = ["ladder", "run", self.folder, "--concurrency", 2, "--hello-time", 60]
        words += ["--no-sandbox", "--json"]
        return subprocess.Popen(
            [sys.executable, "-m", "arena", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"XDG_STATE_HOME": str(self.home / "state")},
        )

    def wait_for_both_rooms(self) -> None:
        for _ in range(2):
            os.read(self._waits, 1)

    def let_them_play(self) -> None:
        self.told.with_name("told.go").touch()

    def counts(self) -> Counter[str]:
        """How often each thing was told by a bot: two bots in each game."""
        return Counter(self.told.read_text().split())

    def bots_alive(self) -> list[int]:
        """Every process that a bot is or has started: its home was the bot's folder."""
        found = []
        for entry in Path("/proc").glob("[1-9]*"):
            with suppress(OSError):
                environment = (entry / "environ").read_bytes().split(b"\0")
                if any(line.startswith(f"HOME={self.folder}".encode()) for line in environment):
                    found.append(int(entry.name))
        return found


@pytest.fixture
def club(tmp_path: Path) -> Iterator[Club]:
    with closing(Club(tmp_path)) as club:
        yield club


def interrupt(process: "subprocess.Popen[str]") -> str:
    """Send one Ctrl-C, and return what is said to it."""
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    return process.stderr.readline()


def assert_goes_on(club: Club) -> None:
    """The same command finishes the event, each match once."""
    club.let_them_play()
    with club.run() as process:
        out, err = process.communicate()
    assert (process.returncode, json.loads(out)["complete"]) == (0, True), err
    with Ladder.open(club.folder) as ladder:
        assert [(a.match, a.number) for a in ladder.store.attempts()] == [("ev1/r1/ada~bob", 1)]
        assert check(ladder) == []
    assert club.bots_alive() == []


def test_ctrl_c_finishes_the_games_under_way_begins_none_and_leaves_nothing(club: Club) -> None:
    with club.run() as process:
        club.wait_for_both_rooms()
        assert process.stderr is not None
        assert process.stderr.readline().startswith("ev1 begins: ")
        assert interrupt(process).startswith("stopping: the games under way are finished; ")
        club.let_them_play()
        out, err = process.communicate()
    assert (process.returncode, json.loads(out)["complete"]) == (1, False)
    assert err == "ev1 is not over: the same command goes on with it\n"
    counts = club.counts()
    assert (counts["began"], counts["ended"]) == (4, 4)  # one game in each room, two bots each
    assert club.bots_alive() == []
    assert_goes_on(club)


def test_a_second_ctrl_c_ends_all_at_once_and_leaves_nothing(club: Club) -> None:
    with club.run() as process:
        club.wait_for_both_rooms()
        assert process.stderr is not None
        assert process.stderr.readline().startswith("ev1 begins: ")
        assert interrupt(process).startswith("stopping: ")
        assert interrupt(process) == "stopping at once\n"
        out, err = process.communicate()
    assert (process.returncode, json.loads(out)["complete"]) == (1, False)
    assert err == "ev1 is not over: the same command goes on with it\n"
    assert club.counts()["began"] == 4
    assert club.bots_alive() == []
    assert_goes_on(club)
