"""`python -m simulations NAME`: a simulation, as a table.

A simulation is a module of this package with `LEAGUES`, how many it plays at full size, `PAGE`, the
page that shows it, as seen from docs/, and `report`, which plays and returns a table in Markdown.
"""

import argparse
import importlib
from typing import Protocol, cast

from simulations.page import write_part

NAMES = ("coverage", "sequential", "adaptive", "luck", "nar", "tuning")


class Simulation(Protocol):
    """What a module of this package has."""

    LEAGUES: int
    PAGE: str

    def report(self, leagues: int, *, seed: int) -> str:
        """Play so many leagues, all from this seed; the table."""


def main(arguments: list[str] | None = None) -> None:
    """Run one simulation."""
    parser = argparse.ArgumentParser(prog="python -m simulations", description=__doc__)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--leagues", type=int, help="how many are played; else its full size")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", action="store_true", help="write the table into its page")
    given = parser.parse_args(arguments)
    simulation = cast(Simulation, importlib.import_module(f"simulations.{given.name}"))
    table = simulation.report(given.leagues or simulation.LEAGUES, seed=given.seed)
    print(table)
    if given.page:
        print(f"Written to {write_part(simulation.PAGE, table, name=given.name)}")


if __name__ == "__main__":
    main()
