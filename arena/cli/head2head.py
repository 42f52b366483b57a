"""``arena head2head``: two bots against each other, over all that they played."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.errors import FAILED, Misuse
from arena.cli.options import Json, refuse_no_ladder_here

if TYPE_CHECKING:
    from rich.console import Console

    from arena.ladder.ratings.head_to_head import Series
    from hokm.records import MatchRecord


def head2head(
    first: Annotated[str, typer.Argument(metavar="A", help="The name of a bot.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The name of another.")],
    ladder: Annotated[Path, typer.Option(metavar="DIR", help="The ladder's folder.")] = Path("."),
    records: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH", help="Records, or a folder of them, in place of a ladder; repeatable."
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Print all matches of two bots, and what they say.

    Figures are A's. All boards of all matches count as one series, whether a match moves ratings or
    not; bots are known by name.
    """
    from arena.cli import show
    from arena.ladder.ladder import Ladder
    from arena.ladder.ratings.head_to_head import series_of_ladder, series_of_records
    from arena.wording import printable

    if first == second:
        raise Misuse(f"{first} does not play against itself: name two bots")
    problems: list[str] = []
    if records:
        series = series_of_records(_read(records, problems), first, second)
    else:
        refuse_no_ladder_here(ladder, otherwise=", or --records PATH")
        with Ladder.open(ladder) as opened:
            series = series_of_ladder(opened, first, second)
    for problem in problems:
        show.print_line(show.errors(), f"error: {printable(problem)}; it is left out")
    if json_:
        show.print_json(_json(series))
    else:
        _print(series, show.results())
    if problems:
        raise typer.Exit(FAILED)


def _read(paths: list[Path], problems: list[str]) -> "Iterator[tuple[str, MatchRecord]]":
    """The records there, one at a time; what is none is noted."""
    from arena.export.sources import Damaged, record_files, records_of_files

    for path in paths:
        for found in records_of_files(record_files(path)):
            if isinstance(found, Damaged):
                problems.append(found.problem)
            else:
                yield found.origin.file, found.record


def _json(series: "Series") -> dict[str, object]:
    from arena.cli.report import SCALES
    from arena.ladder.ratings.head_to_head import Score
    from hokm.records import Format

    boards, signs = series.boards, series.boards.by_sign
    is_boards = series.format is Format.BOARDS
    said = series.residual
    return {
        "first": series.first,
        "second": series.second,
        "format": series.format.value,
        "matches": {score.value: series.matches_of(score) for score in Score},
        "boards": {"won": boards.won, "drawn": boards.drawn, "lost": boards.lost},
        "differences": {str(d): count for d, count in series.differences.items()},
        "points_per_board": boards.points_per_board if is_boards else None,
        "points_error": boards.points_error if is_boards else None,
        "scale": SCALES[series.format],
        "elo": {
            "value": None if signs.elo is None else signs.elo + 0.0,  # never a minus zero
            "error": signs.elo_error,
        },
        "nelo": {"value": signs.nelo, "error": signs.nelo_error},
        "los": signs.los,
        "residual": None
        if said is None
        else {
            "matches": said.matches,
            "score": said.score,
            "expected": said.expected,
            "z": said.z,
        },
        "played": [
            {
                "match": met.match,
                "score": met.score.value,
                "difference": met.difference,
                "boards": list(met.differences),
                "record": met.record,
            }
            for met in series.matches
        ],
    }


def _print(series: "Series", console: "Console") -> None:
    from arena.cli.report import SCALES, shown_elo
    from arena.cli.show import named_columns, print_line, records_folder
    from arena.ladder.ratings.head_to_head import Score
    from arena.wording import counted, kept_apart, percent, printable, signed, with_error
    from hokm.records import Format

    first, second = kept_apart(series.first), kept_apart(series.second)
    print_line(console, f"{first} against {second}: {counted(len(series.matches), 'match')}")
    if not series.matches:
        return
    boards, signs, said = series.boards, series.boards.by_sign, series.residual
    is_boards = series.format is Format.BOARDS
    unit = "board" if is_boards else "pair"
    won, drawn, lost = (series.matches_of(score) for score in Score)
    points = with_error(boards.points_per_board, boards.points_error, digits=2)
    differences = ", ".join(f"{count} of {d:+d}" for d, count in series.differences.items())
    lines = {
        "matches": f"{won}-{drawn}-{lost}, won-drawn-lost",
        f"{unit}s": f"{boards.won}-{boards.drawn}-{boards.lost}: {differences}",
        f"points/{unit}": points if is_boards else "",
        "Elo": with_error(shown_elo(boards), signs.elo_error, digits=1),
        "nElo": with_error(signs.nelo, signs.nelo_error, digits=1),
        "LOS": percent(signs.los),
        "residual": ""
        if said is None
        else f"z {signed(said.z, 1)}: {said.score:g} of {counted(said.matches, 'rated match')}, "
        f"where the ratings of all expect {said.expected:.1f}",
    }
    console.print()
    for name, text in lines.items():
        if text:
            print_line(console, f"{name:<12}  {text}")
    print_line(console, f"± at 95 %; Elo on the scale {SCALES[series.format]}, LOS of {unit}s")
    table = named_columns("match")
    for heading in (f"{unit}s", "points" if is_boards else "races"):
        table.add_column(heading, justify="right", no_wrap=True)
    for met in series.matches:
        signs_ = [(d > 0) - (d < 0) for d in met.differences]
        table.add_row(
            kept_apart(met.match),
            "-".join(str(signs_.count(sign)) for sign in (1, 0, -1)),
            f"{met.difference:+d}",
        )
    console.print()
    console.print(table)
    folder = records_folder((met.match, met.record) for met in series.matches)
    print_line(console, f"records       {printable(folder)}")
