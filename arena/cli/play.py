"""``arena play``: what may be asked of it. How it is played is in :mod:`arena.cli.sitting`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from arena.cli.errors import FAILED, Misuse
from arena.cli.match import MOST_BOARDS, MOST_PAIRS, check_record
from arena.cli.options import (
    Confine,
    Options,
    Wheels,
    checked_seconds,
    checked_seed,
    option_texts,
    require_posix,
)

MOVE_SECONDS = 1800.0
"""The clock of a table at which nobody is in a hurry; it is there for what hangs."""

BOARDS = 4

SHORT_HELP = "Play against bots yourself, at this terminal."

HELP = f"""{SHORT_HELP}

You sit at a table of bots and are asked as they are: what trump is to be, which card you play. At
the question, ? tells what can be answered. Bots take the other seats in the order of the seats; the
last one named takes all that are left. With four the seat opposite yours is your partner's.

The record is kept, and arena replay shows the game again with all cards open. q leaves the table,
and so does Ctrl-C, at once.
"""


def play(
    bots: Annotated[
        list[str],
        typer.Option(
            "--with",
            metavar="BOT",
            help="A folder with a bot.toml, an archive, or a bundled bot; may be repeated.  "
            "[default: house]",
            show_default=False,
        ),
    ] = [],  # noqa: B006  # typer wants a list, and nobody changes it
    players: Annotated[
        int, typer.Option(metavar="N", min=2, max=4, help="Seats at the table: 2, 3 or 4.")
    ] = 4,
    format_: Annotated[
        Literal["boards", "classic"],
        typer.Option("--format", help="A race with a moving hakem, or single boards."),
    ] = "classic",
    boards: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=MOST_BOARDS,
            help=f"Boards to play, with --format boards.  [default: {BOARDS}]",
        ),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=MOST_PAIRS, help="Races to play.  [default: 1]"),
    ] = None,
    seat: Annotated[int, typer.Option(metavar="S", min=0, max=3, help="Where you sit.")] = 0,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="What the record calls you.")
    ] = "person",
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Repeat the deals of a seed: 64 hex digits, or any text.  [default: a new one]",
        ),
    ] = None,
    option: Options = (),  # type: ignore[assignment]  # never changed
    move_time: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="What each move may take, yours and the bots', before the bank pays.",
        ),
    ] = MOVE_SECONDS,
    bank: Annotated[
        float, typer.Option(metavar="SECONDS", help="What a seat has besides, for a whole hand.")
    ] = 0.0,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where the record goes: FILE.json or FILE.json.gz.  [default: a new file in "
            "~/.local/share/hokm-arena/games]",
        ),
    ] = None,
    sandbox: Confine = False,
    wheels: Wheels = None,
) -> None:
    """See HELP."""
    require_posix()
    if format_ == "classic" and boards is not None:
        raise Misuse("--boards does not count races; give --games, or --format boards")
    if format_ == "boards" and games is not None:
        raise Misuse("--games counts races; give --boards, or --format classic")
    if seed is not None:
        checked_seed(seed)
    if record is not None:
        check_record(record)

    from arena.cli import sitting

    ask = sitting.Ask(
        bots=tuple(bots) or ("house",),
        players=players,
        format=format_,
        length=(boards or BOARDS) if format_ == "boards" else (games or 1),
        seat=seat,
        name=name,
        seed=seed,
        options=option_texts(option),
        move_seconds=checked_seconds("--move-time", move_time, least=0.001),
        bank_seconds=checked_seconds("--bank", bank),
        record=record,
        is_confined=sandbox,
        wheels=wheels,
    )
    if not sitting.sit_down(ask):
        raise typer.Exit(FAILED)
