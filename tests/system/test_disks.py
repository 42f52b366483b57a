"""Disks that are full, read-only or gone in the middle: one line says so, nothing that counted is
lost, and once the disk is mended the same command comes to the same results.

The command line runs in a process of its own, mostly with a runner that starts no bots; disks are
small file systems in memory, mounted where no other process sees them.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import trio

from arena.ladder.audit import check
from arena.ladder.events.playing import play_event
from arena.ladder.ladder import Ladder
from arena.ladder.schedules import RoundRobin
from arena.ladder.settings import Settings
from arena.ladder.testing import InProcessRunner
from hokm.records import load, verify
from tests.system.processes import GOOD, write_bot

# The command line with a runner that starts nothing, the same secret each time, and something that
# happens to the disk in the middle: HURT is run by a shell once that many matches were played.
COMMAND = """
import os, subprocess, sys
from contextlib import asynccontextmanager
from functools import partial
import arena.cli.event, arena.cli.local
from arena.cli import main
from arena.ladder.testing import InProcessRunner

class Runner(InProcessRunner):
    def stop(self): pass
    def abort(self): pass
    async def play(self, plan, *, watcher):
        record = await super().play(plan, watcher=watcher)
        if len(self.played) == 5 and "HURT" in os.environ:
            subprocess.run(os.environ["HURT"], shell=True, check=True)
        return record

@asynccontextmanager
async def open_runner(**_):
    yield Runner()

if "REAL" not in os.environ:
    arena.cli.event.open_runner = arena.cli.local.open_runner = open_runner
arena.cli.event.play_event = partial(
    arena.cli.event.play_event, draw=lambda _: bytes(range(32))
)
raise SystemExit(main())
"""

Result = subprocess.CompletedProcess[str]


@dataclass
class Disk:
    """A small file system at `folder`, which only processes started by `run` see."""

    folder: Path
    holder: "subprocess.Popen[bytes]"

    def __post_init__(self) -> None:
        self.environment = os.environ | {"XDG_STATE_HOME": str(self.folder.parent / "state")}

    def run(self, *words: object, **more: str) -> Result:
        """Run a command where the disk is seen; `more` is added to its environment."""
        return subprocess.run(
            ["nsenter", f"--mount=/proc/{self.holder.pid}/ns/mnt", *map(str, words)],
            env=self.environment | more,
            capture_output=True,
            text=True,
            check=False,
        )

    def arena(self, *words: object, **more: str) -> Result:
        return self.run(sys.executable, "-c", COMMAND, *words, **more)

    def do(self, script: str) -> None:
        result = self.run("sh", "-ec", script, DISK=str(self.folder))
        assert result.returncode == 0, result.stderr

    def fill(self, *, left_kib: int) -> None:
        """Leave so much room, and no more."""
        self.do(
            'dd if=/dev/zero of="$DISK/ballast" bs=1k 2>/dev/null || true; '
            f'truncate -s -{left_kib}k "$DISK/ballast"'
        )

    def seen(self, path: Path) -> Path:
        """The path by which this process reaches what is on the disk."""
        return Path(f"/proc/{self.holder.pid}/root{path}")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    script = 'mount -t tmpfs -o size=4m none "$0" && echo mounted && exec cat'
    try:
        holder = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", script, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        pytest.skip("no unshare here, so no disk of our own")
    assert holder.stdin is not None
    assert holder.stdout is not None
    with holder.stdout, holder.stdin:
        is_mounted = holder.stdout.readline() == b"mounted\n"
        if is_mounted:
            yield Disk(folder, holder)
    holder.wait()
    if not is_mounted:
        pytest.skip("only root may mount a disk of its own here")


@pytest.fixture(scope="module")
def bots(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("authors")
    return [write_bot(folder / name, GOOD).folder for name in ("ada", "bob", "cyd")]


@pytest.fixture(scope="module")
def made(bots: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder as it was made, to be copied."""
    folder = tmp_path_factory.mktemp("made") / "club"
    with Ladder.init(folder, Settings.of("club", players=2, length=2)) as ladder:
        for bot in bots:
            ladder.add(str(bot))
    return folder


@pytest.fixture(scope="module")
def undisturbed(made: Path, tmp_path_factory: pytest.TempPathFactory) -> object:
    """What it comes to if nothing happens."""
    folder = copied(made, tmp_path_factory.mktemp("undisturbed"))
    with Ladder.open(folder) as ladder:
        play = partial(play_event, schedule=RoundRobin(4), draw=lambda _: bytes(range(32)))
        trio.run(play, ladder, InProcessRunner())
    return outcome(folder)


@pytest.fixture
def club(disk: Disk, made: Path) -> Path:
    """The ladder on the disk."""
    copied(made, disk.seen(disk.folder))
    return disk.folder / "club"


def copied(folder: Path, into: Path) -> Path:
    return Path(shutil.copytree(folder, into / folder.name))


def done(result: Result) -> Result:
    assert result.returncode == 0, result.stdout + result.stderr
    return result


def told(result: Result) -> str:
    """The one line that a command ended with which did not do what was asked."""
    assert result.returncode == 1, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    *_, line = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert result.stderr.count("error: ") == 1
    assert "; " in line, "it says what to do"
    return line


def outcome(folder: Path) -> object:
    with Ladder.open(folder) as ladder:
        attempts = [(a.match, a.number, a.record_digest) for a in ladder.store.attempts()]
        bots = [(bot.name, bot.failed_starts, bot.is_active) for bot in ladder.store.bots()]
        assert len(attempts) == 12
        assert check(ladder) == []
        return attempts, bots, ladder.store.results(), ladder.store.ratings()


# -- a ladder's run

FULL = ("No space left on device", "database or disk is full", "disk I/O error")


@pytest.mark.parametrize("left_kib", [0, 64, 200])
def test_a_run_on_a_full_disk_goes_on_once_there_is_room(
    disk: Disk, club: Path, undisturbed: object, tmp_path: Path, left_kib: int
) -> None:
    disk.fill(left_kib=left_kib)
    line = told(disk.arena("ladder", "run", club, "--no-sandbox", "--cycles", 4))
    assert any(problem in line for problem in FULL)
    assert str(club) in line
    disk.do('rm "$DISK/ballast"')
    done(disk.arena("ladder", "run", club, "--no-sandbox", "--cycles", 4))
    assert outcome(copied(disk.seen(club), tmp_path)) == undisturbed


DAMAGES = {
    "read-only": (
        # Whatever is open for writing stays so, as on a disk that the kernel has given up.
        'mount --bind "$DISK" "$DISK"; mount -o remount,bind,ro "$DISK"',
        'umount -l "$DISK"',
        "Read-only file system",
    ),
    "records are a file": (
        'mv "$DISK/club/records" "$DISK/away"; touch "$DISK/club/records"',
        'rm "$DISK/club/records"; mv "$DISK/away" "$DISK/club/records"',
        "records/.* cannot be written",
    ),
    "no database": (
        'mv "$DISK/club/ladder.db" "$DISK/away"',
        'mv "$DISK/away" "$DISK/club/ladder.db"',
        "ladder.db: was removed or replaced",
    ),
    "another database": (
        'mv "$DISK/club/ladder.db" "$DISK/away"; cp "$DISK/away" "$DISK/club/ladder.db"',
        'mv "$DISK/away" "$DISK/club/ladder.db"',
        "ladder.db: was removed or replaced",
    ),
    "the folder is elsewhere": (
        'mv "$DISK/club" "$DISK/away"',
        'rm -rf "$DISK/club"; mv "$DISK/away" "$DISK/club"',
        "ladder.db: was removed or replaced",
    ),
    "full": (
        'dd if=/dev/zero of="$DISK/ballast" bs=1k 2>/dev/null || true',
        'rm "$DISK/ballast"',
        "|".join(FULL),
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_disk_that_fails_in_the_middle_ends_the_run_and_loses_nothing(
    disk: Disk, club: Path, undisturbed: object, tmp_path: Path, damage: str
) -> None:
    hurt, mend, says = DAMAGES[damage]
    result = disk.arena(
        "ladder", "run", club, "--no-sandbox", "--cycles", 4, HURT=hurt, DISK=str(disk.folder)
    )
    assert re.search(says, told(result))
    disk.do(mend)
    with Ladder.open(copied(disk.seen(club), tmp_path / "then")) as ladder:
        assert 3 <= len(ladder.store.results()) <= 5  # what was committed, and no more
    done(disk.arena("ladder", "run", club, "--no-sandbox", "--cycles", 4))
    assert outcome(copied(disk.seen(club), tmp_path)) == undisturbed


def test_a_run_on_a_read_only_disk_goes_on_once_it_can_write(
    disk: Disk, club: Path, undisturbed: object, tmp_path: Path
) -> None:
    disk.do('mount -o remount,ro "$DISK"')
    line = told(disk.arena("ladder", "run", club, "--no-sandbox", "--cycles", 4))
    assert str(club) in line
    disk.do('mount -o remount,rw "$DISK"')
    done(disk.arena("ladder", "run", club, "--no-sandbox", "--cycles", 4))
    assert outcome(copied(disk.seen(club), tmp_path)) == undisturbed


@pytest.mark.parametrize("gone", ['umount -l "$DISK"', 'rm -r "$DISK/club"'])
def test_a_ladder_that_is_gone_in_the_middle_is_one_line(disk: Disk, club: Path, gone: str) -> None:
    result = disk.arena(
        "ladder", "run", club, "--no-sandbox", "--cycles", 4, HURT=gone, DISK=str(disk.folder)
    )
    assert "ladder.db: was removed or replaced while it was in use" in told(result)


def test_a_note_of_a_process_that_cannot_be_written_is_no_bots_fault(
    disk: Disk, club: Path, tmp_path: Path
) -> None:
    state = disk.folder / "state"
    disk.do('mkdir -p "$DISK/state/hokm-arena/running"')
    copy = copied(disk.seen(club), tmp_path)
    disk.fill(left_kib=0)
    line = told(
        disk.arena("ladder", "run", copy, "--no-sandbox", REAL="1", XDG_STATE_HOME=str(state))
    )
    assert line.startswith(f"error: {state}/hokm-arena/running/")
    assert "No space left on device; make room there" in line
    with Ladder.open(copy) as ladder:
        assert ladder.store.attempts() == ()
        assert {bot.failed_starts for bot in ladder.store.bots()} == {0}


# -- making one


@pytest.mark.parametrize("left_kib", [0, 40])
def test_a_ladder_is_made_once_there_is_room(disk: Disk, left_kib: int) -> None:
    folder = disk.folder / "club"
    disk.fill(left_kib=left_kib)
    line = told(disk.arena("ladder", "init", folder))
    assert any(problem in line for problem in FULL)
    assert str(folder) in line
    disk.do('rm "$DISK/ballast"')
    done(disk.arena("ladder", "init", folder))
    done(disk.arena("ladder", "check", folder))


@pytest.mark.parametrize(
    ("hurt", "mend"),
    [
        ('dd if=/dev/zero of="$DISK/ballast" bs=1k 2>/dev/null || true', 'rm "$DISK/ballast"'),
        ('mount -o remount,ro "$DISK"', 'mount -o remount,rw "$DISK"'),
    ],
)
def test_a_bot_is_entered_once_the_disk_takes_it(
    disk: Disk, club: Path, tmp_path: Path, hurt: str, mend: str
) -> None:
    bot = write_bot(tmp_path / "dan", GOOD).folder
    disk.do(hurt)
    line = told(disk.arena("ladder", "add", club, bot))
    assert str(disk.folder) in line
    disk.do(mend)
    assert "dan" in done(disk.arena("ladder", "add", club, bot)).stdout
    done(disk.arena("ladder", "check", club))
    assert list(disk.seen(club).rglob(".*")) == []


# -- a match


def test_a_record_that_finds_no_room_is_told_after_the_result(disk: Disk, bots: list[Path]) -> None:
    disk.fill(left_kib=0)
    file = disk.folder / "match.json"
    words = ("match", *bots[:2], "--boards", 2, "--seed", "x", "--record", file)
    result = disk.arena(*words)
    assert told(result) == (
        f"error: {file}: No space left on device; make room there, then run the command again"
    )
    assert "ada against bob" in result.stdout
    disk.do('rm "$DISK/ballast"')
    done(disk.arena(*words))
    assert verify(load(disk.seen(file))) == ()
    assert [path.name for path in disk.seen(disk.folder).iterdir()] == ["match.json"]


def test_logs_that_find_no_room_end_no_match(disk: Disk, tmp_path: Path) -> None:
    loud = """
        from hokm import Bot, run

        class Loud(Bot):
            def play(self, view):
                print("x" * 10_000)
                return view.playable[0]

        run(Loud)
    """
    bots = [write_bot(tmp_path / name, loud).folder for name in ("ada", "bob")]
    disk.do('mkdir "$DISK/logs"')
    disk.fill(left_kib=0)
    words = ("match", *bots, "--players", 2, "--boards", 1, "--logs", disk.folder / "logs")
    result = done(disk.arena(*words, REAL="1"))
    assert "2 COMPLETED" in result.stdout
    assert "Traceback" not in result.stderr


# -- output that nobody takes


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize(
    "words",
    [
        ("ladder", "standings", "FOLDER"),
        ("ladder", "standings", "FOLDER", "--json"),
        ("ladder", "run", "FOLDER", "--no-sandbox"),
        ("match", "BOT", "BOT", "--boards", "1", "--json"),
        ("match", "BOT", "BOT", "--boards", "1"),
        ("bot", "list"),
    ],
)
def test_results_that_cannot_be_printed_are_one_line(
    tmp_path: Path, bots: list[Path], made: Path, words: tuple[str, ...]
) -> None:
    folder = copied(made, tmp_path)
    places = {"FOLDER": str(folder), "BOT": str(bots[0])}
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [sys.executable, "-c", COMMAND, *(places.get(word, word) for word in words)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    line = told(result)
    assert line.startswith("error: standard output: No space left on device; ")
    if "run" in words:
        with Ladder.open(folder) as ladder:
            assert len(ladder.store.results()) == 3  # what was played counts


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_progress_that_cannot_be_printed_ends_nothing(tmp_path: Path, made: Path) -> None:
    folder = copied(made, tmp_path)
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [sys.executable, "-c", COMMAND, "ladder", "run", str(folder), "--no-sandbox", "--json"],
            stdout=subprocess.PIPE,
            stderr=full,
            text=True,
            check=False,
        )
    assert result.returncode == 0
    assert '"complete": true' in result.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("command", ["match", "ladder"])
def test_a_log_of_the_arena_that_cannot_be_written_is_one_line_and_ends_nothing(
    tmp_path: Path, bots: list[Path], made: Path, command: str
) -> None:
    words = {
        "match": ["match", *bots[:2], "--players", "2", "--boards", "1"],
        "ladder": ["ladder", "run", copied(made, tmp_path), "--no-sandbox", "--cycles", "1"],
    }
    result = subprocess.run(
        [sys.executable, "-c", COMMAND, *map(str, words[command]), "--log-file", "/dev/full"],
        env=os.environ | {"REAL": "1", "XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout
    told = [line for line in result.stderr.splitlines() if "/dev/full" in line]
    assert told == [
        "the log /dev/full cannot be written: No space left on device; play goes on without it"
    ]
    assert "Traceback" not in result.stderr
