"""``arena verify``: are a record, or a whole event, true to their rules, seeds and commitment?"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.errors import FAILED
from arena.cli.options import Json

if TYPE_CHECKING:
    from arena.cli.checking import Checked


def verify(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="Records, .json or .json.gz; the folder of an event, a ladder, an experiment; any "
            "folder of records.",
        ),
    ],
    earlier: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="An event.json that you kept: see that nothing it said was taken back.",
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Check records, or whole events, by playing them again.

    Every game is dealt from its seed and decided as recorded; what is not so is said. That finds
    accidents, and edits that break the play, a deck or the commitment; of an event also matches,
    boards or attempts that were left out, repeated or added, and entropy or pairings that do not
    follow. A forgery that is consistent throughout is told only by what was kept elsewhere: a
    digest, or an earlier event.json.
    """
    from arena.cli import checking, show
    from arena.ladder.proof.folder import load_event

    kept = None if earlier is None else load_event(earlier)
    is_ok = True
    records: list[dict[str, object]] = []
    events: list[dict[str, object]] = []
    with _progress() as checked:
        for path in paths:
            for check in checking.checks(path, earlier=kept, checked=checked):
                is_ok = is_ok and check.is_ok
                if json_:
                    into = records if isinstance(check, checking.Check) else events
                    into.append(check.json())
                    continue
                if check.problem is not None:
                    show.print_line(show.errors(), check.problem)
                for line in check.lines():
                    show.print_line(show.results(), line)
    if json_:
        show.print_json({"records": records, "events": events})
    if not is_ok:
        raise typer.Exit(FAILED)


@contextmanager
def _progress() -> Iterator["Checked"]:
    """On a terminal, a bar of the records of an event that are done; nothing elsewhere."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from arena.cli import show

    console = show.errors()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(20), MofNCompleteColumn())
    is_quiet = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=is_quiet) as progress:
        task = progress.add_task("", total=None)

        def checked(folder: Path, done: int, of: int) -> None:
            progress.update(task, description=folder.name, completed=done, total=of)

        yield checked
