"""``arena ladder backup``, ``restore`` and ``move``: a ladder as one file, its rows elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.deeds import deed_of
from arena.cli.errors import Misuse
from arena.cli.options import Json, require_posix
from arena.wording import printable

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The ladder's folder.")]

if TYPE_CHECKING:
    from arena.ladder.store.address import Server

HERE = "sqlite"
"""How --database says that the database is in the ladder's folder."""


def server_at(database: str, *, schema: str) -> "Server":
    """What --database names; `schema` is for one that says none."""
    from arena.ladder.errors import LadderError
    from arena.ladder.store.address import Server

    try:
        return Server.parse(database, schema=schema)
    except LadderError as error:
        raise Misuse(str(error)) from None


def backup(
    folder: Folder,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that is not there yet.")],
    logs: Annotated[
        bool, typer.Option("--logs", help="With what bots wrote while they played.")
    ] = False,
    json_: Json = False,
) -> None:
    """Write a whole ladder into one file, also while it is played.

    It holds the secrets of the ladder; nobody but you can read it. arena ladder restore makes a
    ladder of it again, whatever keeps the rows of either.
    """
    require_posix()
    from arena.cli import show
    from arena.ladder.backup import back_up
    from arena.ladder.ladder import Ladder

    with Ladder.open(folder) as ladder:
        made = back_up(ladder, file, with_logs=logs, deed=deed_of("back up", file.name))
    if json_:
        show.print_json(
            {
                "ladder": made.name,
                "file": str(file),
                "rows": made.rows,
                "files": made.files,
                "skipped": list(made.skipped),
                "bundles_elsewhere": made.elsewhere,
            }
        )
        return
    for name in made.skipped:
        show.print_line(show.errors(), printable(f"left out, as it is no file: {folder / name}"))
    if made.elsewhere:
        text = f"not in it: archives that were sent in and are kept elsewhere ({made.elsewhere})"
        more = "copies of the bots that were entered are in it"
        show.print_line(show.errors(), printable(f"{text}; {more}"))
    text = f"{made.name}: {made.rows} rows and {made.files} files in {file}, closed to others"
    show.print_line(show.results(), printable(f"{text}: it holds the ladder's secrets"))


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What arena ladder backup made.")],
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that is empty, or not there yet.")
    ],
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Keep its rows on a PostgreSQL server, as with arena ladder init.  "
            "[default: in the folder]",
        ),
    ] = None,
    unchecked: Annotated[
        bool, typer.Option("--unchecked", help="Also one that arena ladder check finds fault with.")
    ] = False,
    json_: Json = False,
) -> None:
    """Make a ladder of a backup. Every file, row and rating is checked first.

    The ladder it was made of must not be played any more: both would deal the same cards.
    """
    require_posix()
    from arena.cli import show
    from arena.ladder import backup as backups

    if database is not None:
        server_at(database, schema="any")  # the backup may name another
    made = backups.restore(
        file,
        folder,
        database=database,
        is_checked=not unchecked,
        deed=deed_of("restore", file.name),
    )
    if json_:
        show.print_json({"ladder": made.name, "rows": made.rows, "files": made.files})
        return
    text = f"{made.name}: {made.rows} rows and {made.files} files; a ladder in {folder}"
    show.print_line(show.results(), printable(text))
    both = "play one of the two only, this or the one it was made of: they deal the same cards"
    show.print_line(show.errors(), both)


def move(
    folder: Folder,
    database: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="postgresql://USER@HOST/DATABASE?schema=NAME, or sqlite for the ladder's folder.",
        ),
    ],
    json_: Json = False,
) -> None:
    """Move a ladder's rows to a PostgreSQL server, or back.

    With sqlite they come back into its folder. Nothing may be played meanwhile. The rows are
    compared in both places before the old ones are removed.
    """
    require_posix()
    from arena.cli import show
    from arena.ladder.moving import move

    if database != HERE:
        server_at(database, schema="any")
    where = HERE if database == HERE else "a server"  # the address may hold a password
    moved = move(
        folder,
        database=None if database == HERE else database,
        deed=deed_of("move", f"its rows to {where}"),
    )
    if json_:
        show.print_json({"from": moved.source, "to": moved.target, "rows": moved.rows})
    elif moved.rows is None:
        show.print_line(show.results(), printable(f"{folder}: is in {moved.target} already"))
    else:
        text = f"{folder}: {moved.rows} rows moved from {moved.source} to {moved.target}"
        show.print_line(show.results(), printable(text))
