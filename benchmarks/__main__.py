"""`make bench`: every figure of the speed page, as tables and as JSON in benchmarks/results/."""

import argparse
import json
import os
import platform
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import core, environment, match, referee, sandbox, store

RESULTS = Path(__file__).resolve().parent / "results"
PARTS = ("core", "environment", "referee", "match", "store", "sandbox")


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    core_processes: int
    core_hands: int
    core_rounds: int
    duel_boards: int
    environment_games: int
    environment_steps: int
    environment_rounds: int
    at_once: tuple[int, ...]
    referee_rounds: int
    referee_seconds: float
    warm_up_seconds: float
    match_rounds: int
    match_boards: int
    store_bots: int
    store_matches: int
    store_rounds: int
    sandbox_rounds: int


WHOLE = Size(7, 150, 5, 2, 1024, 1000, 5, (1, 16, 64, 256), 3, 2.5, 0.7, 3, 16, 300, 200_000, 5, 25)
"""Some four minutes on two quiet cores."""
QUICK = Size(1, 100, 3, 2, 1024, 500, 3, (1, 64), 1, 1.0, 0.3, 1, 2, 100, 20_000, 1, 5)
TINY = Size(1, 2, 1, 1, 8, 60, 1, (2,), 1, 0.1, 0.05, 1, 1, 8, 200, 1, 1)
"""For the test that all of this still runs."""


def run(size: Size, parts: tuple[str, ...] = PARTS) -> dict[str, object]:
    """Measure the parts, printing a table of each; all the figures."""
    figures: dict[str, object] = {"machine": machine()}
    if "core" in parts:
        rates = core.in_processes(
            size.core_processes,
            hands=size.core_hands,
            rounds=size.core_rounds,
            boards=size.duel_boards,
        )
        print(core.report(rates), flush=True)
        figures["core"] = {
            **{
                name: {"rate": rate.median, "ratio": rate.ratio, **asdict(rate)}
                for name, rate in rates.rates.items()
            },
            "duel_milliseconds": rates.duel_milliseconds,
        }
    if "environment" in parts:
        stepped = environment.measure(
            games=size.environment_games,
            steps=size.environment_steps,
            hands=size.core_hands,
            rounds=size.environment_rounds,
        )
        print(f"\n{environment.report(stepped)}", flush=True)
        figures["environment"] = {
            "missing": stepped.missing,
            **{
                name: {"rate": rate.median, "ratio": rate.ratio, **asdict(rate)}
                for name, rate in stepped.rates.items()
            },
        }
    if "referee" in parts:
        measured = referee.in_turn(
            size.at_once,
            rounds=size.referee_rounds,
            seconds=size.referee_seconds,
            warm_up_seconds=size.warm_up_seconds,
        )
        print(f"\n{referee.report(measured)}", flush=True)
        figures["referee"] = [{**asdict(one), "rate": one.rate} for one in measured]
    if "match" in parts:
        taken = match.measure(rounds=size.match_rounds, boards=size.match_boards)
        print(f"\n{match.report(taken)}", flush=True)
        figures["match"] = {name: asdict(took) for name, took in taken.items()}
    if "store" in parts:
        grown = store.measure(
            bots=size.store_bots, matches=size.store_matches, rounds=size.store_rounds
        )
        print(f"\n{store.report(grown)}", flush=True)
        figures["store"] = [{**asdict(one), "median": one.median} for one in grown]
    if "sandbox" in parts:
        starts = sandbox.measure(rounds=size.sandbox_rounds)
        print(f"\n{sandbox.report(starts)}", flush=True)
        figures["sandbox"] = starts if isinstance(starts, str) else [asdict(one) for one in starts]
    return figures


def machine() -> dict[str, object]:
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything: half a minute")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; else all")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"there is no part {min(unknown)!r}: the parts are {', '.join(PARTS)}")
    print(", ".join(f"{name} {value}" for name, value in machine().items()), end="\n\n")
    figures = run(QUICK if given.quick else WHOLE, tuple(given.parts) or PARTS)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    path.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    print(f"\nWritten to {os.path.relpath(path)}")


if __name__ == "__main__":
    main()
