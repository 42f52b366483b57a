"""Bots that stay at home, with real processes: beside bundled ones, killed, back, drained."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from arena.ladder.facts import AWAY, Bot
from arena.ladder.ladder import Ladder
from arena.service.accounts import ALL_SCOPES, issue, register
from hokm.records import load, verify
from tests.system.processes import runs

if os.name != "posix":
    pytest.skip("the arena runs bots on POSIX systems", allow_module_level=True)

GUARD_SECONDS = 90.0
BOT = """
import json, os, sys, time
from pathlib import Path
from hokm import Bot, run

class Rostam(Bot):
    name = "rostam"
    def play(self, view):
        Path(f"playing-{os.getpid()}").touch()
        time.sleep(float(os.environ["THINKS"]))
        return view.playable[0]

run(Rostam, **json.loads(sys.argv[1]))
"""

Process = subprocess.Popen[str]


class World:
    """A ladder that stands, and the machine of an author."""

    def __init__(self, folder: Path) -> None:
        self.club = folder / "club"
        self.home = folder / "home"
        self.home.mkdir()
        (self.home / "bot.py").write_text(BOT)
        self._begun: list[Process] = []
        self._state = folder / "state"
        self.arena("ladder", "init", self.club, "--players", 2, "--boards", 1, "--tick", 0)
        self.arena("ladder", "add", self.club, "greedy", "house-10")
        with Ladder.open(self.club) as ladder:
            accounts = ladder.store.accounts
            at = "2026-01-01T00:00:00Z"
            owner = register(accounts, "maryam", at=at)
            self.token = issue(
                accounts, owner, label="t", scopes=ALL_SCOPES, random=os.urandom(32), at=at, most=9
            )

    def arena(self, *words: object) -> str:
        process = self.begin(sys.executable, "-m", "arena", *words)
        out, err = process.communicate(timeout=GUARD_SECONDS)
        assert process.returncode == 0, err
        return out

    def begin(self, *words: object, cwd: Path | None = None, **variables: str) -> Process:
        process = subprocess.Popen(
            list(map(str, words)),
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"XDG_STATE_HOME": str(self._state)} | variables,
        )
        self._begun.append(process)
        return process

    def serve(self, *options: object) -> tuple[Process, str]:
        """The server, and its address."""
        serving = self.begin(
            *(sys.executable, "-m", "arena", "serve", self.club, "--listen", "127.0.0.1:0"),
            *("--no-sandbox", "--concurrency", 1, "--event-matches", 4, *options),
        )
        assert serving.stderr is not None
        while not (found := re.match(r"listening at (\S+)", serving.stderr.readline())):
            assert serving.poll() is None
        return serving, found[1]

    def stay(self, server: str, *, thinks_seconds: float = 0.0, **arguments: object) -> Process:
        asked = json.dumps({"server": server, "seats": 2} | arguments)
        return self.begin(
            *(sys.executable, "bot.py", asked),
            cwd=self.home,
            HOKM_ARENA_TOKEN=self.token,
            THINKS=str(thinks_seconds),
        )

    def bot(self) -> Bot | None:
        with Ladder.open(self.club) as ladder:
            return next((bot for bot in ladder.store.bots() if bot.name == "rostam"), None)

    def played(self) -> int:
        """Matches of the bot that came to a result."""
        with Ladder.open(self.club) as ladder:
            numbers = [bot.number for bot in ladder.store.bots() if bot.name == "rostam"]
            return sum(bool({*numbers} & {*result.entrants}) for result in ladder.store.results())

    def playing(self) -> list[int]:
        """The processes at home that play now."""
        pids = [int(file.name.partition("-")[2]) for file in self.home.glob("playing-*")]
        return [pid for pid in pids if runs(pid)]

    def end(self) -> None:
        for process in self._begun:
            process.kill()
            process.communicate()
        for pid in self.playing():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.end()


def until(is_so: Callable[[], object]) -> None:
    end = time.monotonic() + GUARD_SECONDS
    while not is_so():
        assert time.monotonic() < end, "it has not come to that"
        time.sleep(0.1)


def ended(process: Process) -> tuple[int, str]:
    _, said = process.communicate(timeout=GUARD_SECONDS)
    return process.returncode, said


def test_a_bot_at_home_is_rated_with_bundled_ones_killed_back_and_drained(world: World) -> None:
    serving, server = world.serve("--remote", "together")
    first = world.stay(server, thinks_seconds=0.2)
    until(world.playing)
    pids = world.playing()
    first.kill()  # in a match
    until(lambda: not any(map(runs, pids)))
    second = world.stay(server)
    until(lambda: world.played() >= 3)
    bot = world.bot()
    assert bot is not None
    assert bot.is_active
    second.send_signal(signal.SIGINT)
    status, said = ended(second)
    assert status == 0, said
    assert "taking part in no more" in said
    bot = world.bot()
    assert bot is not None
    assert bot.inactive_because == AWAY
    serving.send_signal(signal.SIGTERM)
    status, log = ended(serving)
    assert status == 0
    assert world.token not in log
    table = json.loads(world.arena("ladder", "standings", world.club, "--json"))
    [row] = [row for row in table["rows"] if row["bot"] == "rostam"]
    assert "remote" in row["flags"]
    assert row["matches_played"] >= 3
    world.arena("ladder", "check", world.club)
    assert world.playing() == []


def test_a_server_that_is_killed_finds_its_bots_at_home_again(world: World) -> None:
    serving, server = world.serve("--remote", "together")
    home = world.stay(server)
    until(lambda: world.played() >= 1)
    serving.kill()
    serving.communicate()
    before = world.played()
    port = server.rpartition(":")[2]
    again = world.begin(
        *(sys.executable, "-m", "arena", "serve", world.club, "--listen", f"127.0.0.1:{port}"),
        *("--no-sandbox", "--concurrency", 1, "--event-matches", 4, "--remote", "together"),
    )
    until(lambda: world.played() > before)
    home.send_signal(signal.SIGINT)
    status, said = ended(home)
    assert status == 0
    assert said.count("is not reached") == 1
    assert said.count("back as rostam") == 1
    again.send_signal(signal.SIGTERM)
    assert ended(again)[0] == 0


def test_casual_tables_are_open_to_anybody_and_move_no_rating(world: World) -> None:
    serving, server = world.serve("--casual", "open", "--casual-wait", "0.5")
    casual = world.stay(server, casual=True, players=2, games=1, token="")
    assert ended(casual)[0] == 0
    [file] = (world.club / "records" / "casual").glob("*.json.gz")
    record = load(file)
    assert list(verify(record)) == []
    assert [entrant.name for entrant in record.entrants] == ["rostam", "house"]
    assert world.bot() is None
    rated = world.stay(server)
    status, said = ended(rated)
    assert (status, said) == (
        1,
        "hokm: this ladder takes no bots that stay at home; send yours in: arena submit\n",
    )
    serving.send_signal(signal.SIGTERM)
    assert ended(serving)[0] == 0
    world.arena("ladder", "check", world.club)


def test_a_wrong_token_is_told_and_that_is_all(world: World) -> None:
    _, server = world.serve("--remote", "together")
    status, said = ended(world.stay(server, token="hokm_" + "x" * 43))
    assert status == 1
    assert said.startswith("hokm: this token is not known here, or was revoked")
    assert said.count("\n") == 1


def test_a_bot_at_home_ends_once_its_token_is_revoked(world: World) -> None:
    _, server = world.serve("--remote", "together")
    home = world.stay(server)
    until(lambda: (bot := world.bot()) is not None and bot.is_active)
    world.arena("owner", "revoke", world.club, "maryam", "--label", "t", "--because", "it was seen")
    status, said = ended(home)
    assert status == 1
    assert "was revoked" in said
    assert not world.playing()
