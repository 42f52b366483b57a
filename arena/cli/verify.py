"""``arena verify``: is a record true to its rules, its seeds and its commitment?"""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.errors import FAILED
from arena.cli.options import Json


def verify(
    records: Annotated[
        list[Path], typer.Argument(metavar="RECORD", help="Records, .json or .json.gz.")
    ],
    json_: Json = False,
) -> None:
    """Check records: every game is dealt and played again.

    What is not so is said. That finds accidents, and edits that break the play, a deck or the
    commitment. A forgery that is consistent throughout is told only by its digest, kept elsewhere.
    """
    from arena.cli import checking, show

    checks = [checking.check(file) for file in records]
    if json_:
        show.print_json({"records": [check.json() for check in checks]})
    else:
        for check in checks:
            if check.problem is not None:
                show.print_line(show.errors(), check.problem)
            for line in check.lines():
                show.print_line(show.results(), line)
    if not all(check.is_ok for check in checks):
        raise typer.Exit(FAILED)
