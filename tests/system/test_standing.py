"""A ladder that stands, as its operator starts it: killed, started again, told what to do."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.ladder.bots.archive import pack
from arena.ladder.facts import Submission, SubmissionState
from arena.ladder.ladder import Ladder
from tests.system.processes import write_bot

GUARD_SECONDS = 90

BOT = """
    from hokm import Bot, run

    class {name}(Bot):
        def play(self, view):
            return view.playable[{choice}]

    run({name})
"""


class Machine:
    """What the command line sees: a home of its own."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "club"
        self._environment = os.environ | {"XDG_STATE_HOME": str(home), "TMPDIR": str(home)}
        self._mark = f"HOME={home}".encode()
        self._served: subprocess.Popen[str] | None = None

    def start(self, *words: object) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "arena", *map(str, words)],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: object) -> str:
        process = self.start(*words)
        out, err = process.communicate()
        assert process.returncode == 0, f"{words}: {process.returncode}\n{out}\n{err}"
        return out

    def serve(self) -> None:
        # The sandbox is tested elsewhere, and not every machine has one.
        options = ("--no-sandbox", "--hello-time", 60, "--event-matches", 4, "--concurrency", 1)
        self._served = self.start("serve", self.folder, *options)

    def end(self, number: signal.Signals | None = None) -> str:
        """End the server, or wait for its end; what it said."""
        assert self._served is not None
        if number is not None:
            self._served.send_signal(number)
        out, err = self._served.communicate(timeout=GUARD_SECONDS)
        assert out == ""
        assert self._served.returncode == (-9 if number is signal.SIGKILL else 0), err
        self._served = None
        return err

    def close(self) -> None:
        if self._served is not None:
            self._served.kill()
            self._served.communicate()
        for pid in self.bots_alive():  # if a test has failed
            os.kill(pid, signal.SIGKILL)

    def results(self) -> list[str]:
        with Ladder.open(self.folder) as ladder:
            return [result.match for result in ladder.store.results()]

    def until(self, is_so: Callable[[], object]) -> None:
        end = time.monotonic() + GUARD_SECONDS
        while not is_so():
            assert time.monotonic() < end, "it has not come to that"
            assert self._served is None or self._served.poll() is None, self.end()
            time.sleep(0.1)

    def bots_alive(self) -> list[int]:
        found = []
        for entry in Path("/proc").glob("[1-9]*"):
            try:
                lines = (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(line.startswith(self._mark) for line in lines):
                found.append(int(entry.name))
        return found


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path)
    machine.run("ladder", "init", machine.folder, "--players", 2, "--boards", 1, "--tick", 0)
    sources = {"Lowest": "0", "Highest": "-1"}
    bots = [
        write_bot(tmp_path / name.lower(), BOT.format(name=name, choice=choice)).folder
        for name, choice in sources.items()
    ]
    machine.run("ladder", "add", machine.folder, "--no-sandbox", *bots, "greedy")
    yield machine
    machine.close()


def test_a_ladder_that_is_killed_goes_on_where_it_was_and_minds_its_operator(
    machine: Machine,
) -> None:
    machine.serve()
    machine.until(lambda: len(machine.results()) >= 2)
    machine.end(signal.SIGKILL)
    before = machine.results()
    machine.until(lambda: not machine.bots_alive())

    machine.serve()
    machine.until(lambda: len(machine.results()) >= len(before) + 1)
    assert machine.results()[: len(before)] == before
    refused = machine.start("serve", machine.folder, "--no-sandbox")
    _, err = refused.communicate(timeout=GUARD_SECONDS)
    assert (refused.returncode, "is being played by process" in err) == (1, True)

    machine.run("operate", machine.folder, "pause", "--because", "a new disk")
    time.sleep(2)
    machine.until(lambda: not machine.bots_alive())
    paused = machine.results()
    time.sleep(1)
    assert machine.results() == paused
    machine.run("operate", machine.folder, "void", paused[0], "--because", "a wrong card")
    machine.run("operate", machine.folder, "resume")
    machine.until(lambda: len(machine.results()) >= len(paused))
    machine.run("operate", machine.folder, "drain")
    err = machine.end()
    assert "paused by the operator (a new disk)" in err

    assert machine.results()[: len(paused) - 1] == paused[1:]
    machine.run("ladder", "check", machine.folder)
    deeds = json.loads(machine.run("operate", machine.folder, "log", "--json"))["deeds"]
    assert [deed["verb"] for deed in deeds] == ["pause", "void", "resume", "drain", "drained"]
    assert machine.bots_alive() == []


def test_what_was_sent_in_is_validated_while_matches_are_played(
    machine: Machine, tmp_path: Path
) -> None:
    """The check is a child of the server, and none of its bots': it is not to be ended as one that
    a bot left behind.
    """
    folder = write_bot(tmp_path / "broken", "this is no program\n").folder
    with Ladder.open(machine.folder) as ladder:
        archives = machine.folder / "submissions"
        archives.mkdir()
        packed = pack(folder, into=archives)
        accounts = ladder.store.accounts
        owner = accounts.register(name="ada", family="ada", at="2026-03-21T12:00:00Z")
        assert owner is not None
        accounts.submit(
            owner=owner.number,
            name="broken",
            version="1",
            digest=packed.entrant.digest,
            size_bytes=1,
            at="2026-03-21T12:00:00Z",
        )

    def submission() -> Submission:
        with Ladder.open(machine.folder) as ladder:
            found = ladder.store.accounts.submission(1)
        assert found is not None
        return found

    machine.serve()
    machine.until(lambda: submission().state.is_decided)
    assert submission().state is SubmissionState.REFUSED
    report = json.loads(submission().report or "")
    assert (report["verdict"], report["stage"]) == ("refused", "conformance")
    machine.until(machine.results)
    machine.end(signal.SIGTERM)
    assert machine.bots_alive() == []
    machine.run("ladder", "check", machine.folder)
