"""What the sandbox costs at a start: commands with and without it, taken in turn."""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.ladder.bots.entrants import Limits
from arena.ladder.processes.launcher import death_signal_prefix
from arena.ladder.processes.sandbox import Sandbox, SandboxError, bounds_of, prepare
from benchmarks.measure import table

COMMANDS = {
    "a program that does nothing": ("/bin/true",),
    "a bot's interpreter, with the SDK and gRPC": (sys.executable, "-c", "import hokm.client"),
}
"""What is started, by what it is called."""


@dataclass(frozen=True, slots=True)
class Starts:
    """Seconds from the start to the end of a command, round by round."""

    what: str
    free_seconds: tuple[float, ...]
    confined_seconds: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """The median of the rounds' ratios."""
        pairs = zip(self.free_seconds, self.confined_seconds, strict=True)
        return statistics.median(confined / free for free, confined in pairs)

    @property
    def added_seconds(self) -> float:
        """The median of what the sandbox added."""
        pairs = zip(self.free_seconds, self.confined_seconds, strict=True)
        return statistics.median(confined - free for free, confined in pairs)


def measure(*, rounds: int) -> list[Starts] | str:
    """Start every command so often; or why there is no sandbox here."""
    with tempfile.TemporaryDirectory(prefix="hokm-") as folder:
        try:
            sandbox = prepare(Path(folder), python=sys.executable)
        except SandboxError as error:
            return str(error)
        (Path(folder) / "referee.sock").touch()
        return [_started(what, argv, sandbox, rounds=rounds) for what, argv in COMMANDS.items()]


def report(measured: list[Starts] | str) -> str:
    if isinstance(measured, str):
        return f"The sandbox is not measured: {measured}"
    rows = [
        [
            starts.what,
            f"{statistics.median(starts.free_seconds) * 1e3:.1f}",
            f"{statistics.median(starts.confined_seconds) * 1e3:.1f}",
            f"{starts.added_seconds * 1e3:.1f}",
            f"{starts.ratio:.2f}",
        ]
        for starts in measured
    ]
    heads = ["from start to end, median", "free ms", "confined ms", "added ms", "ratio"]
    return table([heads, *rows])


def _started(what: str, argv: Sequence[str], sandbox: Sandbox, *, rounds: int) -> Starts:
    free, confined = list[float](), list[float]()
    bot = sandbox.folder / "bot"
    bot.mkdir(exist_ok=True)
    bounds = bounds_of(Limits(), seconds=60.0)
    for _ in range(rounds):
        free.append(_seconds((*death_signal_prefix(), *argv), folder=bot))
        prefix = sandbox.around(argv, folder=bot, bounds=bounds)
        confined.append(_seconds((*death_signal_prefix(), *prefix, *argv), folder=bot))
    return Starts(what, tuple(free), tuple(confined))


def _seconds(words: Sequence[str], *, folder: Path) -> float:
    began = time.perf_counter()
    subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began
