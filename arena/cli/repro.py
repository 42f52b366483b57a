"""``arena repro``: a bot is told again what it was told in a recorded match."""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import Json


def repro(
    file: Annotated[Path, typer.Argument(metavar="RECORD", help="The record of a match.")],
    seat: Annotated[
        int,
        typer.Option(metavar="S", min=0, max=3, help="The bot's seat, as in the name of its log."),
    ],
    room: Annotated[int, typer.Option(metavar="R", min=1, help="In which room.")] = 1,
    game: Annotated[
        int | None, typer.Option(metavar="G", min=1, help="Only this game.  [default: all]")
    ] = None,
    hand: Annotated[
        int | None,
        typer.Option(
            metavar="H",
            min=1,
            help="With boards, only this board; in a race, no further than this hand.",
        ),
    ] = None,
    bot: Annotated[
        str | None,
        typer.Option(
            metavar="BOT",
            help="The bot's folder, FOLDER@REVISION of git, or a bundled one.  "
            "[default: the ladder's copy of what played, or a bot of that name]",
        ),
    ] = None,
    pace: Annotated[
        bool, typer.Option("--pace", help="Tell it as late as it was told then.")
    ] = False,
    first: Annotated[bool, typer.Option("--first", help="Stop at the first difference.")] = False,
    debug: Annotated[
        bool,
        typer.Option(
            "--debug",
            help="Run it on this terminal, a bot in Python under pdb, without any limit of time.",
        ),
    ] = False,
    wheels: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Take the packages it requires from these wheels."),
    ] = None,
    json_: Json = False,
) -> None:
    """Tell a bot again what it was told in a recorded match, and compare what it does.

    It gets the same messages, byte for byte but for the token of its welcome, in a process of its
    own. Where it does something else than on record, that is shown, and the game goes on as
    recorded. Exit status 1 if anything differs. A bot that decides by chance, or by the time it
    has, differs from itself.
    """
    from arena.cli import reproducing

    ask = reproducing.Ask(
        file=file,
        seat=seat,
        room=room,
        game=game,
        hand=hand,
        bot=bot,
        is_paced=pace,
        stops_at_first=first,
        is_debugged=debug,
        wheels=wheels,
    )
    if not reproducing.reproduce(ask, as_json=json_):
        raise typer.Exit(1)
