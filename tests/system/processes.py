"""Real bots for the system tests: written to a folder, entered, and played through the runner."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

from arena.ladder.bots.entrants import Entrant, load_bot
from arena.ladder.matches.boards import MatchPlan, Secret, local_match_id
from arena.ladder.matches.room import Trouble
from arena.ladder.matches.runner import Runner, open_runner
from hokm.records import Format, GameRecord, Policy
from hokm.rules.options import Rules
from hokm.session import ClockRules

GOOD = """
    from hokm import Bot, run

    class Lowest(Bot):
        def play(self, view):
            return view.playable[0]

    run(Lowest)
"""


def write_bot(folder: Path, source: str, *, concurrent: int = 1) -> Entrant:
    """A bot of that source in a new folder, which gives it its name and its owner."""
    folder.mkdir()
    (folder / "bot.py").write_text(f"{dedent(source)}\n# {folder.name}\n")
    (folder / "bot.toml").write_text(
        f'schema = 1\nname = "{folder.name}"\nowner = "{folder.name}"\nversion = "1"\n'
        'command = ["python", "bot.py"]\nprotocol = 1\nvariants = [2, 3, 4]\n'
        f"concurrent = {concurrent}\n"
    )
    return load_bot(folder)


def plan(
    *entrants: Entrant,
    players: int = 2,
    kind: Format = Format.BOARDS,
    length: int = 1,
    clock: ClockRules | None = None,
    policy: Policy = Policy.RATED,
    cap_seconds: float | None = None,
    at_once: int = 1,
    resume_seconds: float = 0.0,
) -> MatchPlan:
    """A match outside any event, always with the same deals."""
    secret = Secret(bytes(32))
    return MatchPlan(
        match=local_match_id(secret, tuple(entrant.name for entrant in entrants)),
        format=kind,
        rules=Rules.of(players, play=kind.play),
        length=length,
        entrants=entrants,
        clock=ClockRules() if clock is None else clock,
        policy=policy,
        secret=secret,
        cap_seconds=cap_seconds,
        at_once=at_once,
        resume_seconds=resume_seconds,
    )


@dataclass
class Notes:
    """A watcher that keeps what it is told."""

    games: list[tuple[int, GameRecord]] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)

    def game_over(self, plan: MatchPlan, room: int, game: GameRecord) -> None:
        self.games.append((room, game))

    def trouble(self, plan: MatchPlan, trouble: Trouble) -> None:
        self.troubles.append(trouble)


@asynccontextmanager
async def runner(folder: Path, *, hello_seconds: float = 30.0) -> AsyncIterator[Runner]:
    """A runner on loopback whose notes and logs are in ``folder``."""
    async with open_runner(
        concurrency=2,
        python=sys.executable,
        running=folder / "running",
        logs=folder / "logs",
        hello_seconds=hello_seconds,
    ) as running:
        yield running


def runs(pid: int) -> bool:
    """Whether a process is alive; one that ended and that nobody has reaped is not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"
