"""Tables for a terminal, and JSON in their place. Nothing is computed here."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from arena.cli.report import SCALES, MatchReport, shown_elo
from arena.ladder.bots.entrants import Entrant
from arena.wording import counted, kept_apart, percent, plain, with_error
from hokm.records import Format

_FILE_COLUMNS = 200
"""What is not a terminal takes a table as wide as it is: folded names are found by no search."""


def results() -> Console:
    """Where results go."""
    return _console(stderr=False)


def errors() -> Console:
    """Where progress and faults go."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    is_wide = not stream.isatty() and "COLUMNS" not in os.environ
    return Console(stderr=stderr, highlight=False, width=_FILE_COLUMNS if is_wide else None)


def print_json(document: object) -> None:
    """One object, whole."""
    print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def print_line(console: Console, text: str) -> None:
    """A line as it is: a terminal breaks it where it must, a copy of it is whole."""
    console.print(text, markup=False, soft_wrap=True)


def named_columns(*columns: str, gap: int = 2) -> Table:
    """A table whose named columns give way where a terminal is narrow; ``gap`` is between them."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap - 1, 0, 0))
    for heading in columns:
        table.add_column(heading, overflow="fold", min_width=min(len(heading), 5))
    return table


def print_match(report: MatchReport, console: Console) -> None:
    """What a match came to."""
    record = report.record
    is_boards = record.format is Format.BOARDS
    count = counted(record.games, "board" if is_boards else "pair")
    count = count if is_boards else f"{count} of races"
    names = [kept_apart(report.side(team)) for team in range(report.plan.teams)]
    if report.plan.draws_partners:
        print_line(console, f"{', '.join(names)}: partners drawn anew, {count}")
    else:
        versus = " against ".join(names)
        print_line(console, f"{versus}: {record.rules.players} players, {count}")
    if report.score.spoilt is not None:
        done = f"{len(report.score.boards)} of {count} finished"
        print_line(console, f"NOT COMPLETE ({report.score.spoilt.value}): {done}")
    if report.score.boards:
        console.print()
        if report.plan.draws_partners:
            console.print(_gained(report))
        else:
            console.print(_pairs(report))
            print_line(console, f"± at 95 %; Elo on the scale {SCALES[record.format]}")
    console.print()
    console.print(_bots(report))
    console.print()
    endings = ", ".join(f"{count} {ending}" for ending, count in report.endings.items())
    for name, text in (
        ("games", endings),
        ("took", f"{report.seconds:.1f} s for {report.decisions} decisions"),
        ("match", record.match),
        ("seed", "" if record.secret is None else record.secret.hex()),
        ("commitment", record.commitment.hex()),
        ("digest", report.digest),
        ("record", "" if report.file is None else str(report.file)),
    ):
        if text:
            print_line(console, f"{name:<10}  {text}")


def print_bots(bots: Sequence[Entrant], console: Console) -> None:
    """Bots that can be named."""
    table = named_columns("bot", "version", "owner", "players", "language")
    for bot in bots:
        players = ", ".join(map(str, bot.variants))
        table.add_row(
            kept_apart(bot.name), bot.version, kept_apart(bot.owner), players, bot.language
        )
    console.print(table)


def _pairs(report: MatchReport) -> Table:
    is_boards = report.record.format is Format.BOARDS
    table = named_columns("first", "second")
    for heading in ("W-D-L", *(["points/board"] if is_boards else []), "Elo", "nElo", "LOS"):
        table.add_column(heading, justify="right", no_wrap=True)
    for pair in report.pairs:
        series, signs = pair.series, pair.series.by_sign
        points = with_error(series.points_per_board, series.points_error, digits=2)
        table.add_row(
            kept_apart(pair.first),
            kept_apart(pair.second),
            f"{series.won}-{series.drawn}-{series.lost}",
            *([points] if is_boards else []),
            with_error(shown_elo(series), signs.elo_error, digits=1),
            with_error(signs.nelo, signs.nelo_error, digits=1),
            percent(signs.los),
        )
    return table


def _gained(report: MatchReport) -> Table:
    """Where partners are drawn nobody is another's opponent all through: there is no Elo."""
    table = named_columns("bot")
    for heading in ("races won", "of"):
        table.add_column(heading, justify="right", no_wrap=True)
    races = len(report.plan.rooms) * len(report.score.boards)
    for label, won in zip(report.labels, report.gained, strict=True):
        table.add_row(kept_apart(label), str(won), str(races))
    return table


def _bots(report: MatchReport) -> Table:
    table = named_columns("bot", "version")
    for heading in ("CPU s", "decisions", "mean ms", "max ms", "refused", "faults"):
        table.add_column(heading, justify="right", no_wrap=True)
    for label, entrant, own in zip(
        report.labels, report.record.entrants, report.conduct, strict=True
    ):
        table.add_row(
            kept_apart(label),
            entrant.version,
            plain(own.cpu_seconds, 2),
            str(own.decisions),
            plain(_thousandfold(own.mean_seconds), 2),
            plain(_thousandfold(own.longest_seconds), 1),
            str(own.refusals),
            str(own.faults),
        )
    return table


def _thousandfold(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds


def records_folder(records: Iterable[tuple[str, str]]) -> str:
    """The folder of records, by match and file, which is said once in place of all their paths.
    That of a ladder has each under the id of its match.
    """
    folders = []
    for match, file in records:
        folder, is_below, _ = file.rpartition(f"/{match}")
        folders.append(folder if is_below else str(Path(file).parent))
    if len({os.path.isabs(folder) for folder in folders}) > 1:
        folders = list(map(os.path.abspath, folders))
    return os.path.commonpath(folders) or os.curdir
