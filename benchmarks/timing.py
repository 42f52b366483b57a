"""What the time between messages tells of another hand, with and without a masking tick, by real
processes on this machine: `python -m benchmarks.timing`.

A listener plays against a bot that thinks longer where it has a choice. Both note when they were
asked; afterwards the listener's times are sorted by what the other had. What tells them apart is
the distance of Kolmogorov and Smirnov: 0 not at all, 1 always.
"""

import argparse
import math
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.match import ARENA, MANIFEST
from benchmarks.measure import table

BOT = """\
import os
import time
from pathlib import Path

from hokm import Bot, run

notes = open(Path("{notes}", f"{name}-{{os.getpid()}}"), "w", encoding="utf-8", buffering=1)


class Noting(Bot):
    def play(self, view):
        asked_at = time.monotonic()
        had_choice = len(view.playable) > 1
        thinks = {choice_seconds} if had_choice else {forced_seconds}
        while time.monotonic() < asked_at + thinks:
            pass
        print(asked_at, int(had_choice), file=notes)
        return view.playable[0]


run(Noting)
"""

TICKS = (0.0, 0.005, 0.01)


@dataclass(frozen=True, slots=True)
class Told:
    """What a listener has measured: seconds between two of its plays where the other had a choice
    in between, and where it had none.
    """

    tick_seconds: float
    choice: tuple[float, ...]
    forced: tuple[float, ...]

    @property
    def distance(self) -> float:
        """Between the two distributions."""
        return max(
            abs(_share(self.choice, limit) - _share(self.forced, limit))
            for limit in (*self.choice, *self.forced)
        )

    @property
    def by_chance(self) -> float:
        """The distance that is exceeded by chance once in a hundred times."""
        return 1.63 * math.sqrt(1 / len(self.choice) + 1 / len(self.forced))


def measure(
    tick_seconds: float, *, boards: int, choice_seconds: float, forced_seconds: float
) -> Told:
    """Play a match of two, one room after the other."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        (folder / "notes").mkdir()
        # The listener always takes as long, so that all that differs is the other's.
        listener = _bot(folder, "listener", 0.0003, 0.0003)
        thinker = _bot(folder, "thinker", choice_seconds, forced_seconds)
        match = ["match", str(listener), str(thinker), "--players", "2", "--boards", str(boards)]
        how = ["--concurrency", "1", "--tick", str(tick_seconds), "--seed", "timing"]
        subprocess.run(
            [*ARENA, *match, *how], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        return _told(folder / "notes", tick_seconds)


def _bot(folder: Path, name: str, choice_seconds: float, forced_seconds: float) -> Path:
    bot = folder / name
    bot.mkdir()
    (bot / "bot.toml").write_text(MANIFEST.replace("first-card", name), encoding="utf-8")
    source = BOT.format(
        notes=folder / "notes",
        name=name,
        choice_seconds=choice_seconds,
        forced_seconds=forced_seconds,
    )
    (bot / "bot.py").write_text(source, encoding="utf-8")
    return bot


def _told(notes: Path, tick_seconds: float) -> Told:
    plays = sorted(
        (float(asked_at), file.name.startswith("listener"), had_choice == "1")
        for file in notes.iterdir()
        for asked_at, had_choice in map(str.split, file.read_text(encoding="utf-8").splitlines())
    )
    choice, forced = list[float](), list[float]()
    for (before, first, _), (_, second, had), (after, third, _) in zip(
        plays, plays[1:], plays[2:], strict=False
    ):
        # Not over the gap between two boards, which is no thinking.
        if (first, second, third) == (True, False, True) and after - before < 0.1:
            (choice if had else forced).append(after - before)
    return Told(tick_seconds, tuple(choice), tuple(forced))


def _share(times: Sequence[float], limit: float) -> float:
    return sum(seconds <= limit for seconds in times) / len(times)


def report(told: Sequence[Told]) -> str:
    rows = [["Time between two plays", "choices", "none", "distance", "by chance"]]
    for one in told:
        tick = f"a tick of {one.tick_seconds * 1000:g} ms" if one.tick_seconds else "no tick"
        counts = [str(len(one.choice)), str(len(one.forced))]
        rows.append([tick, *counts, f"{one.distance:.2f}", f"{one.by_chance:.2f}"])
    return table(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=40)
    parser.add_argument("--choice", type=float, default=0.002, help="seconds a choice takes")
    parser.add_argument("--forced", type=float, default=0.0003, help="seconds the only card takes")
    asked = parser.parse_args()
    told = [
        measure(tick, boards=asked.boards, choice_seconds=asked.choice, forced_seconds=asked.forced)
        for tick in TICKS
    ]
    print(report(told))


if __name__ == "__main__":
    main()
