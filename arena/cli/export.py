"""``arena export``: what was played, as tables. What is in them is said in
:mod:`arena.export.schema`.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from arena.cli.errors import FAILED, Misuse

if TYPE_CHECKING:
    from arena.export.files import Write
    from arena.export.schema import Row, Table


def export(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Folders of ladders, experiments or records; records."),
    ],
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Where the files go; they replace those of their names."),
    ],
    format_: Annotated[
        Literal["csv", "parquet", "json", "pgn"],
        typer.Option(
            "--format", help="json: an object a line. pgn: rated matches, for Ordo and BayesElo."
        ),
    ] = "csv",
    table: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this table; may be repeated.  [default: all]"),
    ] = None,
) -> None:
    """Write what was played as tables, for other programs.

    Each table is a file in DIR: matches, entrants, boards, games, hands and plays of records, bots
    and ratings of ladders. A record that is damaged is said and left out; the rest is written, and
    the exit status is 1. Whoever has the tables knows every card, as with records.
    """
    _refuse_within_a_source(out)
    if format_ == "pgn":
        if table:
            raise Misuse("--table is of no use with --format pgn, which has results only")
        _export_pgn(paths, out)
        return
    if not _export_tables(paths, out, format_=format_, names=table or ()):
        raise typer.Exit(FAILED)


def _refuse_within_a_source(out: Path) -> None:
    from arena.export.sources import source_around

    if (found := source_around(out)) is not None:
        folder, what = found
        raise Misuse(f"--out {out} is in {folder}, which {what}: take a folder elsewhere")


def _export_tables(paths: Sequence[Path], out: Path, *, format_: str, names: Sequence[str]) -> bool:
    """Write them, and say how many rows each has; False if something had to be left out."""
    from collections import Counter

    from arena.cli import show
    from arena.export.schema import TABLES
    from arena.export.sources import Damaged, rows_from
    from arena.wording import printable

    known = [one.name for one in TABLES]
    for name in names:
        if name not in known:
            raise Misuse(f"--table {name} is no table: take {', '.join(known)}")
    tables = [one for one in TABLES if not names or one.name in names]
    opened, file_of = _format(format_)
    out.mkdir(parents=True, exist_ok=True)
    rows: Counter[type[Row]] = Counter()
    problems = 0
    console = show.errors()
    with opened(out, tables) as write, console.status("") as status:
        for found in rows_from(paths, {one.rows for one in tables}):
            if isinstance(found, Damaged):
                problems += 1
                show.print_line(console, f"error: {printable(found.problem)}; it is left out")
            else:
                for row in found:
                    write(row)
                    rows[type(row)] += 1
                status.update(f"{sum(rows.values())} rows")
    for one in tables:
        show.print_line(show.results(), f"{file_of(out, one)}: {rows[one.rows]} rows")
    return not problems


_Opened: TypeAlias = "Callable[[Path, Sequence[Table]], AbstractContextManager[Write]]"


def _format(name: str) -> "tuple[_Opened, Callable[[Path, Table], Path]]":
    """What writes the tables of a format, and the file it makes of each."""
    from arena.export import files

    if name == "csv":
        return files.csv_tables, files.csv_file
    if name == "json":
        return files.json_tables, files.json_file
    from arena.cli.operating import extra

    with extra("--format parquet", name="export"):
        from arena.export import parquet
    return parquet.parquet_tables, parquet.parquet_file


def _export_pgn(paths: Sequence[Path], out: Path) -> None:
    from arena.cli import show
    from arena.export.files import whole_files
    from arena.export.ladders import rated_matches
    from arena.export.sources import each_once, is_ladder
    from arena.ladder.ladder import Ladder
    from arena.ladder.ratings.pgn import pgn

    for path in paths:
        if not is_ladder(path):
            raise Misuse(f"--format pgn is for ladders, and {path} is none")
    out.mkdir(parents=True, exist_ok=True)
    file, games = out / "matches.pgn", 0
    with whole_files([file]) as [stream]:
        for path in each_once(paths):
            with Ladder.open(path) as ladder:
                for game in pgn(rated_matches(ladder)):
                    stream.write(game)
                    games += 1
    show.print_line(show.results(), f"{file}: {games} games")
