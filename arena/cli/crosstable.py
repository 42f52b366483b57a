"""``arena crosstable``: everybody against everybody, of the matches that move ratings."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from arena.cli.errors import Misuse
from arena.cli.options import Json

if TYPE_CHECKING:
    from rich.console import Console

    from arena.ladder.ratings.crosstable import Crosstable, Encounter, Standing


def crosstable(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The ladder's folder.")],
    top: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            help="Only the best N bots.  [default: as many as fit]",
        ),
    ] = None,
    csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV, a line a pair, in place of a table.")
    ] = False,
    json_: Json = False,
) -> None:
    """Print what every two bots of a ladder came to.

    A cell is matches won, drawn and lost by the bot of its row against that of its column, of those
    that move ratings. It is marked ! where the results go against the ratings of both.
    """
    if csv and json_:
        raise Misuse("--csv and --json are two forms of the same: take one")

    from arena.cli import show
    from arena.ladder.ladder import Ladder
    from arena.ladder.ratings.crosstable import crosstable as table_of

    with Ladder.open(folder) as ladder:
        table = table_of(ladder.settings, ladder.store.bots(), ladder.store.pairs())
    if json_:
        show.print_json(_json(table, top=top))
    elif csv:
        _print_csv(table, top=top)
    else:
        _print_table(table, show.results(), top=top)


def _json(table: "Crosstable", *, top: int | None) -> dict[str, object]:
    rows = table.rows[:top]
    shown = {row.name for row in rows}
    return {
        "ladder": table.settings.name,
        "scale": table.settings.scale,
        "bots": len(table.rows),
        "rows": [
            {
                "rank": row.rank,
                "bot": row.name,
                "mle": row.mle,
                "sisters": [name for name in row.sisters if name in shown],
                "against": [_figures(one) for one in row.encounters if one.opponent in shown],
            }
            for row in rows
        ],
    }


def _figures(one: "Encounter") -> dict[str, object]:
    return {
        "bot": one.opponent,
        "matches": {
            "won": one.matches_won,
            "drawn": one.matches_drawn,
            "lost": one.matches_lost,
        },
        "boards": {"won": one.boards_won, "drawn": one.boards_drawn, "lost": one.boards_lost},
        "points": one.difference,
        "score": one.residual.score,
        "expected": one.residual.expected,
        "z": one.residual.z,
        "is_odd": one.is_odd,
    }


TOLD = 20
"""So many of the pairs that go against the ratings are told, the oddest first."""

_COLUMNS: Final = (
    *("rank", "bot", "opponent", "matches_won", "matches_drawn", "matches_lost"),
    *("boards_won", "boards_drawn", "boards_lost", "points", "score", "expected", "z"),
)


def _print_csv(table: "Crosstable", *, top: int | None) -> None:
    import csv
    import sys

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(_COLUMNS)
    rows = table.rows[:top]
    shown = {row.name for row in rows}
    for row in rows:
        for one in row.encounters:
            if one.opponent in shown:
                writer.writerow(
                    [
                        *(row.rank, row.name, one.opponent),
                        *(one.matches_won, one.matches_drawn, one.matches_lost),
                        *(one.boards_won, one.boards_drawn, one.boards_lost, one.difference),
                        *(one.residual.score, one.residual.expected, one.residual.z),
                    ]
                )


def _print_table(table: "Crosstable", console: "Console", *, top: int | None) -> None:
    from arena.cli.show import named_columns, print_line
    from arena.ladder.ratings.crosstable import ODD
    from arena.wording import counted, kept_apart, plain, signed

    settings, count = table.settings, len(table.rows)
    print_line(console, f"{settings.name}: {settings.scale}, {counted(count, 'bot')} by rank")
    if not count:
        print_line(console, "No match that moves ratings is played yet")
        return
    rows = table.rows[: top if top is not None else _fitting(table, console.width)]
    grid = named_columns("#", "bot", gap=1)
    grid.add_column("MLE", justify="right", no_wrap=True)
    for row in rows:
        grid.add_column(str(row.rank), justify="right", no_wrap=True)
    for row in rows:
        cells = ["·" if row is other else _cell(row, other.name) for other in rows]
        grid.add_row(str(row.rank), kept_apart(row.name), plain(row.mle, 0), *cells)
    console.print()
    # One that was asked for and is wider than the terminal is left to it whole.
    console.width = max(console.width, _width(rows))
    console.print(grid)
    console.print()
    print_line(console, "Matches won-drawn-lost by the bot of the row against that of the column")
    shown = {row.name for row in rows}
    if any(shown.intersection(row.sisters) for row in rows):
        print_line(console, "= are of one owner: what they play against each other moves no rating")
    if settings.sides > 2:
        print_line(console, "A match counts once against each of the others in it")
    if len(rows) < count:
        told = (
            f"The best {len(rows)} of {count}; --top {count} shows all, and so do --csv and --json"
        )
        print_line(console, told)
    odd = table.odd
    if odd:
        print_line(console, f"! goes against the ratings of both, |z| over {ODD:g}:")
    for name, one in odd[:TOLD]:
        said = one.residual
        print_line(
            console,
            f"  {kept_apart(name)} against {kept_apart(one.opponent)}: {said.score:g} of "
            f"{counted(said.matches, 'match')}, expected {said.expected:.1f}, "
            f"z {signed(said.z, 1)}",
        )
    if len(odd) > TOLD:
        print_line(console, f"  and {len(odd) - TOLD} more: --json and --csv have every z")


def _cell(row: "Standing", opponent: str) -> str:
    one = row.against(opponent)
    if one is None:
        return "=" if opponent in row.sisters else ""
    mark = "!" if one.is_odd else ""
    return f"{mark}{one.matches_won}-{one.matches_drawn}-{one.matches_lost}"


def _fitting(table: "Crosstable", width: int) -> int:
    """How many of the best bots a table of that width has room for, two at least."""
    fitting = min(2, len(table.rows))
    for count in range(fitting, len(table.rows) + 1):
        if _width(table.rows[:count]) > width:
            break
        fitting = count
    return fitting


def _width(rows: "tuple[Standing, ...]") -> int:
    """Of the table of those rows."""
    from rich.cells import cell_len

    names = max(cell_len(row.name) + 1 for row in rows)
    columns = [
        max(len(str(row.rank)), *(len(_cell(other, row.name)) for other in rows)) for row in rows
    ]
    return len(str(len(rows))) + 1 + max(names, 4) + 5 + sum(1 + column for column in columns)
