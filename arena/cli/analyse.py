"""``arena analyse``: what the decisions of a recorded match cost."""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.errors import Misuse
from arena.cli.options import Json

PICTURE = "FILE.svg|FILE.png"


def analyse(
    file: Annotated[
        Path, typer.Argument(metavar="RECORD", help="A record of a match, .json or .json.gz.")
    ],
    bot: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only the decisions of this bot.")
    ] = None,
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
    top: Annotated[
        int, typer.Option(metavar="N", min=0, max=1000, help="How many moments to show.")
    ] = 3,
    samples: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=10_000,
            help="Deals that fit what a seat knew, for each of its decisions: an even number; 0 "
            "judges by open cards alone, in a quarter of the time.",
        ),
    ] = 10,
    out: Annotated[
        Path | None, typer.Option(metavar=PICTURE, help="Draw it into a file, too.")
    ] = None,
    json_: Json = False,
) -> None:
    """Say what every decision of a match cost, in tricks and in points.

    Every card is held against the best one, all cards open and everybody playing as well as can be
    from then on; and, which is fairer, against the best one in the mean over deals that fit what
    the seat knew. See docs/analysis.md. With four seats it needs the extra solver.
    """
    if samples % 2:
        raise Misuse(f"--samples {samples}: the deals are halved, so name an even number")
    if out is not None and out.suffix not in (".svg", ".png"):
        raise Misuse(f"{out} is no picture that is drawn here: end its name in .svg or .png")

    from arena.cli import analysing

    analysing.analyse_file(
        analysing.Ask(
            file=file,
            bot=bot,
            room=room,
            game=game,
            hand=hand,
            top=top,
            samples=samples,
            out=out,
            is_json=json_,
        )
    )
