"""``arena luck``: what entrants gained a hand, less what their cards alone were worth."""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import Json


def luck(
    records: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="Records, .json or .json.gz; or the folder of a ladder, an event, an experiment.",
        ),
    ],
    games: Annotated[bool, typer.Option("--games", help="Show every game as well.")] = False,
    json_: Json = False,
) -> None:
    """Tell luck from skill in games that were not doubled.

    That is, where a deal was not played in every room with the sides rotated. A fixed reference
    plays the same decks against itself; what it makes of them more than of others is luck, and is
    taken off. That is unbiased, and narrows the error bars. Where every room played a deal the luck
    falls out by itself: compare boards then, as arena match does. No rating comes of this.
    """
    from arena.cli import luck_table, show
    from arena.export.sources import record_files

    report = luck_table.read([file for path in records for file in record_files(path)])
    if json_:
        show.print_json(report.json(with_games=games))
    else:
        luck_table.print_luck(report, show.results(), with_games=games)
