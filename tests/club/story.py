"""A club's ladder from its first day on: three owners, eight bots, and a server that is killed.

Everything is done by the commands that an operator and authors type, each in a process of its own.
What comes out is what they would see.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.ladder.processes.sandbox import SandboxError, prepare
from tests.club import bots

OWNERS = ("maryam", "reza", "sara")

CURIOUS = "dozd"
"""The bot that looks around. It ends at the first thing that it gets, so it plays only where it is
confined; elsewhere it is refused.
"""

RATED_MATCHES = 3
"""How many a bot has played when it is taken to be rated."""

PATIENCE_SECONDS = 420.0
"""For each thing that is waited for; a guard against hanging."""

Say = Callable[[str], None]


@dataclass
class Seen:
    """What was seen in the end: standings and submissions by bot, reports and logs by bot."""

    standings: dict[str, Any] = field(default_factory=dict)
    submissions: dict[str, Any] = field(default_factory=dict)
    reports: dict[str, str] = field(default_factory=dict)
    curious_logs: list[str] = field(default_factory=list)
    others_logs: list[int] = field(default_factory=list)
    """Exit statuses where an owner asked for the logs of a match it was not in."""
    matches_before_kill: list[str] = field(default_factory=list)
    matches: list[str] = field(default_factory=list)
    unconfined: str = ""
    """Why there is no sandbox; empty where there is one."""
    ladder_holds: bool = False
    events_hold: bool = False
    written: list[Path] = field(default_factory=list)
    """Files that the curious bot made."""
    left: list[int] = field(default_factory=list)
    """Processes that were there after the end."""
    without: dict[str, str] = field(default_factory=dict)
    """What could not be had on this machine, and why."""


def why_unconfined(folder: Path) -> str:
    """Why nothing can be confined here, found out in a new folder; empty where it can."""
    folder.mkdir()
    try:
        prepare(folder, python=sys.executable)
    except SandboxError as error:
        return str(error)
    return ""


def faults_of(seen: Seen) -> list[str]:
    """What is wrong with what the curious bot came to, and with what was left; where it was not
    confined it has shown nothing, and nothing is asked of it.
    """
    faults = [] if seen.unconfined else _lessons(seen)
    if seen.left:
        faults.append(f"processes were left behind: {seen.left}")
    return faults


def _lessons(seen: Seen) -> list[str]:
    """What it learned; and that nobody knows, where it did not look to the end."""
    faults = []
    if not any("LOOKED" in log.splitlines() for log in seen.curious_logs):
        faults.append(f"none of {len(seen.curious_logs)} logs says that {CURIOUS} saw all it tried")
    for log in seen.curious_logs:
        faults += [f"{CURIOUS} {line}" for line in log.splitlines() if "GOT " in line]
    return [*faults, *(f"{CURIOUS} wrote {path}" for path in seen.written)]


class Club:
    """A folder with all that belongs to it, and the commands that are typed there."""

    def __init__(self, home: Path, *, say: Say, is_confined: bool) -> None:
        self.home = home
        self.is_confined = is_confined
        self.folder = home / "club"
        self.port = _free_port()
        self._say = say
        self._server: subprocess.Popen[bytes] | None = None
        self._log = (home / "serve.log").open("ab")
        self.environment = {
            name: value for name, value in os.environ.items() if "HOKM" not in name
        } | {
            "XDG_STATE_HOME": str(home),
            "XDG_CONFIG_HOME": str(home),
            "XDG_CACHE_HOME": str(home),
            "HOKM_ARENA_SERVER": f"127.0.0.1:{self.port}",
        }

    def run(self, *words: object, fails: bool = False) -> str:
        """Run a command to its end; what it printed."""
        self._say(f"$ arena {' '.join(map(str, words))}")
        done = self.tried(*words)
        if (done.returncode != 0) != fails:
            raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        self._say(done.stdout.rstrip())
        return done.stdout

    def tried(self, *words: object) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end, whatever it comes to, and say nothing."""
        return subprocess.run(
            [sys.executable, "-m", "arena", *map(str, words)],
            env=self.environment,
            cwd=self.home,
            capture_output=True,
            text=True,
        )

    def ask(self, *words: object) -> Any:
        """What a command prints as JSON."""
        done = self.tried(*words, "--json")
        return json.loads(done.stdout) if done.returncode == 0 else None

    def token(self, owner: str) -> tuple[str, Path]:
        """The words by which an owner shows who it is."""
        return "--token-file", self.home / f"{owner}.token"

    def serve(self) -> None:
        """Start the server."""
        options = ["--listen", f"127.0.0.1:{self.port}", "--remote", "together"]
        options += ["--event-matches", "8", "--validations", "2", "--hello-time", "60"]
        options += [] if self.is_confined else ["--no-sandbox"]
        self._say(f"$ arena serve club {' '.join(options)}")
        self._server = subprocess.Popen(
            [sys.executable, "-m", "arena", "serve", str(self.folder), *options],
            env=self.environment,
            cwd=self.home,
            stdout=self._log,
            stderr=self._log,
        )

    def kill(self) -> None:
        """Kill the server, with no time for anything."""
        assert self._server is not None
        self._say("(the server is killed)")
        self._server.kill()
        self._server.wait()

    def end(self) -> int:
        """Have the server end, as a machine that shuts down does; its exit status."""
        assert self._server is not None
        self._say("(the server is told to end)")
        self._server.send_signal(signal.SIGTERM)
        return self._server.wait(timeout=PATIENCE_SECONDS)

    def stay_home(self, bot: Path, *, owner: str) -> "subprocess.Popen[bytes]":
        """Start a bot that stays at home."""
        self._say(f"$ python {bot.name}/bot.py  # at home")
        token = (self.home / f"{owner}.token").read_text().strip()
        return subprocess.Popen(
            [sys.executable, "bot.py"],
            env=self.environment | {"HOKM_ARENA_TOKEN": token},
            cwd=bot,
            stdout=self._log,
            stderr=self._log,
        )

    def until(self, what: str, holds: Callable[[], bool]) -> None:
        """Wait for something, and fail with the server's last words if it does not come."""
        self._say(f"(until {what})")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not holds():
            assert self._server is not None
            if time.monotonic() > deadline or self._server.poll() is not None:
                log = (self.home / "serve.log").read_text(errors="replace")
                raise AssertionError(f"not {what}:\n{log[-4000:]}")
            time.sleep(1.0)

    def close(self) -> None:
        """End what is still there."""
        if self._server is not None and self._server.poll() is None:
            self._server.kill()
            self._server.wait()
        self._log.close()

    def processes(self) -> list[int]:
        """All that have this club's folder in their environment, but for this one."""
        mark = f"XDG_STATE_HOME={self.home}".encode()
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    words = (folder / "environ").read_bytes()
                except OSError:
                    continue
                if mark in words.split(b"\0"):
                    found.append(int(folder.name))
        return found


def tell(home: Path, *, say: Say, unconfined: str = "") -> Seen:
    """Live through it in a new folder ``home``; without a sandbox where ``unconfined`` says why."""
    club = Club(home, say=say, is_confined=not unconfined)
    seen = Seen(unconfined=unconfined)
    if unconfined:
        say(f"(without a sandbox, so {CURIOUS} is to be refused: {unconfined})")
    try:
        _tell(club, seen)
    finally:
        club.close()
    seen.left = club.processes()
    seen.written = list(home.rglob("x"))
    return seen


def _tell(club: Club, seen: Seen) -> None:
    club.run("ladder", "init", "club", "--players", 2, "--boards", 2, "--tick", 0)
    for owner in OWNERS:
        club.run("owner", "add", "club", owner, "--out", f"{owner}.token")
    sent, playing = _written(club, seen)
    club.serve()
    club.until("the service answers", lambda: club.ask("standings") is not None)
    for bot, owner in sent:
        club.run("submit", bot, *club.token(owner))
    home = bots.good(
        club.home / "anar",
        owner="sara",
        choice="max(view.playable, key=view.height)",
        home=f', server="127.0.0.1:{club.port}"',
    )
    at_home = club.stay_home(home, owner="sara")
    try:
        club.until("two matches are rated", lambda: len(_decided(club)) >= 2)
        seen.matches_before_kill = _decided(club)
        club.kill()
        club.serve()
        names = [*playing, "anar"]
        club.until(
            f"{', '.join(names)} have played {RATED_MATCHES} matches each",
            lambda: _is_rated(club, names),
        )
        _look(club, seen, sent)
        at_home.send_signal(signal.SIGINT)
        at_home.wait(timeout=PATIENCE_SECONDS)
    finally:
        if at_home.poll() is None:
            at_home.kill()
            at_home.wait()
    assert club.end() == 0
    club.run("ladder", "check", "club")
    seen.ladder_holds = True
    over = [
        event
        for event in sorted((club.folder / "records").iterdir())
        if json.loads((event / "event.json").read_text()).get("secret")
    ]
    for event in over:
        club.run("verify", event)
    seen.events_hold = bool(over)


def _written(club: Club, seen: Seen) -> tuple[list[tuple[Path, str]], list[str]]:
    """What is sent in, with its owner, and the names of those that are to play."""
    home = club.home
    low, high = "view.playable[0]", "view.playable[-1]"
    secrets = [club.folder, club.folder / "secret", club.folder / "ladder.db"]
    secrets += [club.folder / "bots", club.folder / "records", club.folder / "logs"]
    secrets += [home / f"{owner}.token" for owner in OWNERS] + [home]
    sent = [
        (bots.good(home / "sib", owner="maryam", choice=low), "maryam"),
        (bots.good(home / "gerdu", owner="reza", choice=high), "reza"),
        (bots.curious(home / CURIOUS, owner="sara", paths=_texts(secrets), port=club.port), "sara"),
        (bots.good(home / "tut", owner="maryam", choice="min(view.playable, key=view.height)"),
         "maryam"),
    ]  # fmt: skip
    try:
        sent.append((bots.in_typescript(home / "noghl", owner="reza"), "reza"))
    except RuntimeError as error:
        seen.without["noghl"] = str(error)
    playing = [bot.name for bot, _ in sent if club.is_confined or bot.name != CURIOUS]
    sent.append((bots.write(home / "ghalat", bots.ILLEGAL, owner="sara"), "sara"))
    sent.append((bots.write(home / "natamam", bots.UNFINISHED, owner="reza"), "reza"))
    return sent, playing


def _look(club: Club, seen: Seen, sent: Sequence[tuple[Path, str]]) -> None:
    club.run("standings")
    seen.standings = {row["bot"]: row for row in club.ask("standings")["rows"]}
    for owner in OWNERS:
        club.run("status", *club.token(owner))
        for one in club.ask("status", *club.token(owner))["submissions"]:
            seen.submissions[one["name"]] = one
    for bot, owner in sent:
        if seen.submissions[bot.name]["state"] == "refused":
            number = seen.submissions[bot.name]["number"]
            seen.reports[bot.name] = club.run("logs", number, *club.token(owner))
    seen.matches = _decided(club)
    for match in seen.matches:
        words = ("logs", match, *club.token("sara"))
        if CURIOUS in match:
            seen.curious_logs.append(club.tried(*words).stdout)
        elif "anar" not in match:
            seen.others_logs.append(club.tried(*words).returncode)


def _decided(club: Club) -> list[str]:
    found = club.ask("results", "--last", 1000)
    return [] if found is None else [one["match"] for one in found["results"]]


def _is_rated(club: Club, names: Sequence[str]) -> bool:
    found = club.ask("standings")
    rows = {} if found is None else {row["bot"]: row for row in found["rows"]}
    return all(name in rows and rows[name]["matches_played"] >= RATED_MATCHES for name in names)


def _texts(paths: Sequence[Path]) -> list[str]:
    return [str(path) for path in paths]


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
