"""A ladder that is killed at random moments ends as one that nobody touched.

The real command plays real bots, is killed with SIGKILL, and is given again until it is done.
`KILLS` says how often at least, `KILLS_SEED` at which moments; `make kills` does it at length.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from arena.ladder.ladder import Ladder
from arena.ladder.proof.document import EVENT_FILE
from arena.ladder.settings import SETTINGS_FILE
from hokm.outcome import Ending
from hokm.records import load, substance_digest, verify
from tests.system.processes import write_bot

KILLS = int(os.environ.get("KILLS", "6"))
SEED = os.environ.get("KILLS_SEED") or str(random.SystemRandom().randrange(10**9))

BOT = """
    import subprocess
    from hokm import Bot, run

    # One that leaves: it has to be found and ended, whatever becomes of its bot and of the arena.
    subprocess.Popen(["sleep", "1000"], start_new_session=True)

    class {name}(Bot):
        def play(self, view):
            return view.playable[{choice}]

    run({name})
"""
BOTS = {"Lowest": "0", "Highest": "-1", "Middle": "len(view.playable) // 2"}

BEACON = "a beacon that publishes one value"
# In a sandbox what a bot leaves ends with it, whoever kills the arena; here it has to be found.
RUN = ("--entropy", "ab" * 32, "--hello-time", 60, "--no-sandbox")


class Machine:
    """What the command line sees: a home of its own, in which notes of processes lie."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = os.environ | {"XDG_STATE_HOME": str(home), "TMPDIR": str(home)}

    def start(self, *words: object) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "arena", "ladder", *map(str, words)],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: object) -> str:
        """Run a command to its end, which must be a good one, and return what it printed."""
        process = self.start(*words)
        out, err = process.communicate()
        assert process.returncode == 0, f"{words}: {process.returncode}\n{out}\n{err}"
        return out

    def bots_alive(self) -> list[int]:
        """Every process that a bot is or has started: its home was the bot's folder."""
        mark = f"HOME={self.home}".encode()
        return [
            int(entry.name)
            for entry in Path("/proc").glob("[1-9]*")
            if any(line.startswith(mark) for line in environment_of(entry))
        ]

    def notes(self) -> list[Path]:
        return [path for path in (self.home / "hokm-arena").rglob("*") if path.is_file()]


def environment_of(entry: Path) -> list[bytes]:
    try:
        return (entry / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path)
    yield machine
    for pid in machine.bots_alive():  # if a test has failed
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def bots(tmp_path: Path) -> list[Path]:
    """The folders of bots that always play the same; each leaves a process behind."""
    folder = tmp_path / "authors"
    folder.mkdir()
    sources = {name: BOT.format(name=name, choice=choice) for name, choice in BOTS.items()}
    return [write_bot(folder / name.lower(), source).folder for name, source in sources.items()]


class Killer:
    """Kills at moments that a seed gives."""

    def __init__(self, *, longest_seconds: float) -> None:
        self._dice = random.Random(SEED)
        self._longest_seconds = longest_seconds
        self.kills = 0

    def let_run(self, process: "subprocess.Popen[str]", *, folder: Path) -> bool:
        """Whether the process came to its end, which must be a good one, before it was killed."""
        with process:
            began = time.monotonic()
            if self._dice.random() < 0.5:
                moment = "at random"
                self._wait(process, self._dice.uniform(0, self._longest_seconds))
            else:  # also those written at the very end
                moment = "as a file is written"
                self._wait_for_file(process, folder, count=self._dice.randint(1, 3))
                self._wait(process, self._dice.uniform(0, 0.02))
            process.kill()
            seconds = time.monotonic() - began
            out, err = process.communicate()
        if process.returncode == -signal.SIGKILL:
            self.kills += 1
            say(f"kill {self.kills}: {moment}, {seconds:.2f} s after the start")
            return False
        assert process.returncode == 0, f"{out}\n{err}"
        return True

    def _wait(self, process: "subprocess.Popen[str]", seconds: float) -> None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)

    def _wait_for_file(self, process: "subprocess.Popen[str]", folder: Path, *, count: int) -> None:
        before = files_with_times(folder)
        for _ in range(count):
            while process.poll() is None and files_with_times(folder) == before:
                time.sleep(0.005)
            before = files_with_times(folder)


def files_with_times(folder: Path) -> Mapping[Path, int]:
    found = {}
    for path in (folder / "records", folder / "secret", folder / "bots"):
        for inside, _, names in os.walk(path):  # which minds nothing that goes meanwhile
            for file in (Path(inside) / name for name in names):
                try:
                    found[file] = file.stat().st_mtime_ns
                except OSError:  # renamed meanwhile
                    found[file] = 0
    return found


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - what a failure is made again with, and how far it is


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def begun(machine: Machine, folder: Path, bots: list[Path]) -> None:
    """Make a ladder whose event has begun: its secret is drawn, its entropy is fixed, and no match
    is decided.
    """
    machine.run("init", folder, "--players", 2, "--boards", 1, "--move-time", 60)
    machine.run("add", folder, *bots)
    machine.run("announce", folder, "--beacon", BEACON)
    with machine.start("run", folder, *RUN) as process:
        assert process.stderr is not None
        assert "ev1 begins" in process.stderr.readline()
        process.kill()
        process.communicate()


def assert_whole(machine: Machine, folder: Path) -> None:
    """A ladder whose event is over, with every match played once and for good."""
    machine.run("check", folder)
    with Ladder.open(folder) as ladder:
        assert ladder.store.scheduled() == ()
        assert ladder.store.voided() == ()
        [event] = ladder.store.events()
        assert event.is_over
        results = [result.match for result in ladder.store.results()]
        assert len(results) == len(set(results)) == 3
        attempts = ladder.store.attempts()
        assert [(attempt.match, attempt.number) for attempt in attempts] == [
            (match, 1) for match in results
        ]
        assert {path for path in files_in(ladder.records_folder) if path.endswith(".gz")} == {
            attempt.record for attempt in attempts
        }
        for attempt in attempts:
            record = load(ladder.records_folder / attempt.record)
            assert verify(record) == ()
            assert substance_digest(record) == attempt.record_digest
            endings = [
                game.outcome and game.outcome.ending for room in record.rooms for game in room.games
            ]
            assert endings == [Ending.COMPLETED] * 2
    assert machine.bots_alive() == []
    assert machine.notes() == []
    leftovers = [
        path for path in files_in(folder) if "/." in f"/{path}" or path.endswith(("-wal", "-shm"))
    ]
    assert leftovers == []


def is_over(folder: Path, *, copied_to: Path) -> bool:
    """Whether the event is over. A copy is looked at: the next run finds what the kill has left."""
    copied_to.mkdir(exist_ok=True)
    for file in folder.glob("ladder.*"):
        shutil.copy(file, copied_to)
    try:
        with Ladder.open(copied_to) as ladder:
            return any(event.is_over for event in ladder.store.events())
    finally:
        shutil.rmtree(copied_to)


def outcome(folder: Path) -> object:
    with Ladder.open(folder) as ladder:
        digests = {attempt.match: attempt.record_digest for attempt in ladder.store.attempts()}
        published = (ladder.records_folder / "ev1" / EVENT_FILE).read_bytes()
        return ladder.store.results(), ladder.store.ratings(), digests, published


@pytest.mark.timeout(300 + 30 * KILLS)
def test_a_ladder_killed_at_random_moments_ends_as_one_that_was_left_alone(
    machine: Machine, bots: list[Path], tmp_path: Path
) -> None:
    say(f"KILLS={KILLS} KILLS_SEED={SEED}")
    start = tmp_path / "start"
    begun(machine, start, bots)

    def copy(name: str) -> Path:
        return Path(shutil.copytree(start, tmp_path / name / "club"))

    whole = copy("whole")
    began = time.monotonic()
    machine.run("run", whole, *RUN)
    seconds = time.monotonic() - began
    assert_whole(machine, whole)
    standings = machine.run("standings", whole, "--json")

    # So that a run sees some matches end, however fast the machine is today.
    killer = Killer(longest_seconds=seconds / 2)
    ladders = 0
    while killer.kills < KILLS:
        ladders += 1
        torn = copy(f"torn{ladders}")
        while not killer.let_run(machine.start("run", torn, *RUN), folder=torn):
            if is_over(torn, copied_to=tmp_path / "seen"):
                break  # the kill came after the end; the same command would begin another event
        assert_whole(machine, torn)
        assert outcome(torn) == outcome(whole)
        assert files_in(torn) == files_in(whole)
        assert machine.run("standings", torn, "--json") == standings
        shutil.rmtree(torn)
        say(f"{killer.kills} kills of {ladders} ladders: each as the one that was left alone")


@pytest.mark.timeout(300 + 30 * KILLS)
def test_a_ladder_killed_while_it_is_made_is_made_by_the_same_commands(
    machine: Machine, bots: list[Path], tmp_path: Path
) -> None:
    say(f"KILLS={KILLS} KILLS_SEED={SEED}")
    commands = (
        ("init", "--players", 2, "--boards", 1, "--move-time", 60),
        *(("add", bot) for bot in bots),
        ("announce", "--beacon", BEACON),
        ("announce", "--beacon", BEACON),
    )
    whole = tmp_path / "whole" / "club"
    began = time.monotonic()
    for command, *words in commands:
        machine.run(command, whole, *words)
    killer = Killer(longest_seconds=(time.monotonic() - began) / len(commands))
    ladders = 0
    while killer.kills < KILLS / 2:
        ladders += 1
        torn = tmp_path / f"torn{ladders}" / "club"
        for command, *words in commands:
            while not killer.let_run(machine.start(command, torn, *words), folder=torn):
                if command == "init" and (torn / SETTINGS_FILE).exists():
                    break  # it was made, and there is nothing more to say
        machine.run("check", torn)
        with Ladder.open(torn) as ladder, Ladder.open(whole) as other:
            assert ladder.store.bots() == other.store.bots()
            assert ladder.settings == other.settings
        assert files_in(torn) == files_in(whole)
        say(f"{killer.kills} kills of {ladders} ladders")
    machine.run("run", torn, *RUN)
    assert_whole(machine, torn)
