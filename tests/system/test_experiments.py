"""`arena sprt` and `arena duel` with real processes: a verdict, a Ctrl-C, a kill, going on."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from hokm.records import load, substance_digest, verify

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what is left is seen in /proc")

HELLO = ("--hello-time", "60")  # the machine may be busy


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[list["subprocess.Popen[str]"]]:
    """The command lines that a test has begun, ended with it."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


class Arena:
    """Command lines in a folder of their own."""

    def __init__(self, folder: Path, begun: list["subprocess.Popen[str]"]) -> None:
        self.folder = folder
        self._begun = begun

    def begin(self, *words: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-m", "arena", *words],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"XDG_STATE_HOME": str(self.folder / "state")},
        )
        self._begun.append(process)
        return process

    def run(self, *words: str) -> tuple[int, dict[str, object], str]:
        """Exit status, the object that was printed, and stderr."""
        process = self.begin(*words, "--json")
        out, err = process.communicate()
        assert out, err
        return process.returncode, json.loads(out), err

    def digests(self, folder: str) -> dict[str, str]:
        """The substance of each record, by its file; each of them is true."""
        records = {file.name: load(file) for file in (self.folder / folder / "records").iterdir()}
        assert [verify(record) for record in records.values()] == [()] * len(records)
        return {name: substance_digest(record) for name, record in records.items()}

    def bots_alive(self) -> list[int]:
        """Every process of a bot: its home is a folder of ours."""
        found = []
        for entry in Path("/proc").glob("[1-9]*"):
            with suppress(OSError):
                environment = (entry / "environ").read_bytes().split(b"\0")
                if any(line.startswith(f"HOME={self.folder}".encode()) for line in environment):
                    found.append(int(entry.name))
        return found


@pytest.fixture
def arena(tmp_path: Path, begun: list["subprocess.Popen[str]"]) -> Arena:
    return Arena(tmp_path, begun)


def wait_for_batch(process: "subprocess.Popen[str]", number: int) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(f"batch {number}:"):
            return
    raise AssertionError(f"it ended before batch {number} was counted")


def test_greedy_is_better_than_random(arena: Arena) -> None:
    words = ("sprt", "greedy", "random", "--preset", "smoke", "--cap", "64", "--batch", "8")
    status, answer, err = arena.run(*words, *HELLO, "--out", "it")
    assert (status, answer["end"]) == (0, "H1"), err
    names = [f"b{number}.json.gz" for number in range(1, int(str(answer["batches_counted"])) + 1)]
    assert set(names) <= set(arena.digests("it"))
    assert arena.bots_alive() == []


def test_what_was_stopped_and_killed_ends_as_what_nobody_touched(arena: Arena) -> None:
    words = ("duel", "greedy", "greedy", "--boards", "24", "--batch", "4", "--seed", "s", *HELLO)
    whole = arena.run(*words, "--out", "whole")[1]

    process = arena.begin(*words, "--out", "it", "--json")
    wait_for_batch(process, 1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    stopped = json.loads(out)
    assert (process.returncode, stopped["end"], stopped["seed"]) == (1, "INTERRUPTED", None)
    assert "stopping: the games under way are finished" in err
    assert 4 <= stopped["counted"] < 24
    assert arena.bots_alive() == []

    process = arena.begin(*words, "--out", "it", "--json")
    wait_for_batch(process, stopped["batches_counted"] + 1)
    process.kill()
    out, _ = process.communicate()
    assert (process.returncode, out) == (-signal.SIGKILL, "")

    status, answer, err = arena.run(*words, "--out", "it")
    assert (status, answer["end"]) == (0, "COMPLETE"), err
    assert "goes on after " in err
    assert answer["differences"] == whole["differences"]
    assert arena.digests("it") == arena.digests("whole")
    assert arena.bots_alive() == []
