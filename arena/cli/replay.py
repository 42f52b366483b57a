"""``arena replay``: a record, or a hand that somebody pasted, to step through or as text."""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.errors import Misuse


def replay(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A record, or a hand as text; - reads it from standard input."
        ),
    ],
    room: Annotated[
        int | None, typer.Option(metavar="R", min=1, help="Only this room.  [default: all]")
    ] = None,
    game: Annotated[
        int | None, typer.Option(metavar="G", min=1, help="Only this game.  [default: all]")
    ] = None,
    hand: Annotated[
        int | None,
        typer.Option(metavar="H", min=1, help="Only this hand of a race.  [default: all]"),
    ] = None,
    lost: Annotated[
        str | None,
        typer.Option(
            metavar="BOT",
            help="Only the boards (or pairs of races) that this bot lost, in all rooms.",
        ),
    ] = None,
    seat: Annotated[
        int | None,
        typer.Option(
            metavar="S", min=0, help="Show what this seat was shown.  [default: all cards]"
        ),
    ] = None,
    step: Annotated[
        bool, typer.Option("--step", help="Wait for Enter after every trick, on a terminal.")
    ] = False,
    text: Annotated[
        bool, typer.Option("--text", help="Print the hands as short texts, to paste elsewhere.")
    ] = False,
    plain: Annotated[
        bool,
        typer.Option("--plain", help="Print, on a terminal too.  [default: print elsewhere only]"),
    ] = False,
) -> None:
    """Step through played hands, or print them, trick by trick.

    They are those of a record, or hands that were pasted as text. Every card is played again
    through the rules. On a terminal this is a program: ? tells its keys. Elsewhere, and with
    --plain, --step or --text, it prints. The lead of a trick is marked with >, trumps with ^, and
    the card that takes it with *.
    """
    if text and (seat is not None or step):
        raise Misuse("--text tells whole hands at once; leave out --seat and --step")

    from arena.cli import playback

    playback.replay_file(
        playback.Ask(
            file=file,
            room=room,
            game=game,
            hand=hand,
            lost=lost,
            seat=seat,
            in_steps=step,
            as_text=text,
            is_plain=plain,
        )
    )
