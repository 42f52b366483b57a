"""A match from the command line, as somebody at a terminal waits for it: wall time, and the CPU
time of the arena and its bots together.
"""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import table

ARENA = [sys.executable, "-m", "arena"]
TARGETS = {"arena --help": 0.3}
"""Seconds (design)."""
TIMEOUT_SECONDS = 300.0

FIRST_CARD = """\
import time
from pathlib import Path

from hokm import Bot, run


class FirstCard(Bot):
    def play(self, view):
        mark = Path("{mark}")
        if not mark.exists():
            mark.write_text(str(time.monotonic()))
        return view.playable[0]


run(FirstCard)
"""
"""A bot that notes when it is first asked for a card. The clock is that of the machine."""

MANIFEST = """\
schema = 1
name = "first-card"
owner = "benchmark"
version = "1"
command = ["python", "bot.py"]
language = "Python"
protocol = 1
variants = [2, 3, 4]
"""


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds, of the wall and of CPU; no CPU where it was not measured apart."""

    wall_seconds: tuple[float, ...]
    cpu_seconds: tuple[float, ...] = ()


def measure(*, rounds: int, boards: int) -> dict[str, Took]:
    measures: dict[str, Callable[[], tuple[float, float | None]]] = {
        "an interpreter that does nothing": lambda: timed([sys.executable, "-c", ""]),
        "arena --help": lambda: timed([*ARENA, "--help"]),
        "from a cold start to the first card": first_card,
        f"house against house, {boards} boards": lambda: timed(
            [*ARENA, "match", "house", "house", "--boards", str(boards), "--seed", "speed"]
        ),
    }
    taken: dict[str, list[tuple[float, float | None]]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, one in measures.items():
            taken[name].append(one())
    return {
        name: Took(
            tuple(wall for wall, _ in times), tuple(cpu for _, cpu in times if cpu is not None)
        )
        for name, times in taken.items()
    }


def timed(command: list[str]) -> tuple[float, float | None]:
    cpu, start = children_cpu(), time.monotonic()
    subprocess.run(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
        timeout=TIMEOUT_SECONDS,
    )
    return time.monotonic() - start, children_cpu() - cpu


def first_card() -> tuple[float, float | None]:
    with tempfile.TemporaryDirectory() as folder:
        bot, mark = Path(folder, "first-card"), Path(folder, "mark")
        bot.mkdir()
        (bot / "bot.toml").write_text(MANIFEST, encoding="utf-8")
        (bot / "bot.py").write_text(FIRST_CARD.format(mark=mark), encoding="utf-8")
        start = time.monotonic()
        timed([*ARENA, "match", str(bot), str(bot), "--boards", "1"])
        return float(mark.read_text(encoding="utf-8")) - start, None


def children_cpu() -> float:
    """Of processes that have ended, and of those that they waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def report(taken: dict[str, Took]) -> str:
    rows = [["Match", "wall s", "CPU s", "target"]]
    for name, took in taken.items():
        cpu = f"{statistics.median(took.cpu_seconds):.2f}" if took.cpu_seconds else ""
        wall = f"{statistics.median(took.wall_seconds):.2f}"
        rows.append([name, wall, cpu, f"{TARGETS.get(name, '')}"])
    return table(rows)
