"""``arena duel``: a fixed number of boards between two bots. How it is played is in
:mod:`arena.cli.trial`.
"""

from typing import Annotated

import typer

from arena.cli.errors import Misuse
from arena.cli.options import (
    Bank,
    Concurrency,
    Confine,
    Drain,
    HelloTime,
    Json,
    LogFile,
    LogFormat,
    LogLevel,
    Metrics,
    MoveTime,
    Options,
    Tick,
    Wheels,
    option_texts,
    require_posix,
)
from arena.cli.sprt import (
    MOST_BOARDS,
    AtOnce,
    Batch,
    ClassesOf,
    KindOfPlay,
    Out,
    Players,
    PolicyOf,
    Seed,
    carry_out,
    designed,
)

SHORT_HELP = "Play boards and say by how much a bot is better."

HELP = f"""{SHORT_HELP}

Like arena sprt it plays batches in a folder, can be interrupted and goes on with the same command;
but it stops at its number of boards whatever they show, so that its figures are not biased by when
it stopped. For a yes or no in fewer boards take arena sprt.

Exit status 0: all boards are played. 1: it could not be completed.
"""

BOARDS = 256
PAIRS = 64


def duel(
    first: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="A bot's folder or archive, or a bundled bot; FOLDER@REVISION is one as git "
            "has it.",
        ),
    ],
    second: Annotated[str, typer.Argument(metavar="B", help="The other one.")],
    boards: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=MOST_BOARDS, help=f"Deals to play.  [default: {BOARDS}]"
        ),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=MOST_BOARDS,
            help=f"Pairs of races to play, with --format classic.  [default: {PAIRS}]",
        ),
    ] = None,
    players: Players = 4,
    format_: KindOfPlay = "boards",
    classes: ClassesOf = None,
    batch: Batch = None,
    seed: Seed = None,
    option: Options = (),  # type: ignore[assignment]  # never changed
    policy: PolicyOf = "rated",
    move_time: MoveTime = 1.0,
    bank: Bank = 30.0,
    tick: Tick = 0.0,
    hello_time: HelloTime = 10.0,
    concurrency: Concurrency = None,
    at_once: AtOnce = 1,
    out: Out = None,
    sandbox: Confine = False,
    wheels: Wheels = None,
    json_: Json = False,
    metrics: Metrics = None,
    log_format: LogFormat = None,
    log_file: LogFile = None,
    log_level: LogLevel = "info",
    drain: Drain = 60.0,
) -> None:
    """See HELP."""
    require_posix()
    if format_ == "boards" and games is not None:
        raise Misuse("--games counts pairs of races; give --boards, or --format classic")
    if format_ == "classic" and boards is not None:
        raise Misuse("--boards does not count races; give --games, or --format boards")
    number = (boards or BOARDS) if format_ == "boards" else (games or PAIRS)
    design = designed(
        None,
        boards=number,
        players=players,
        kind=format_,
        classes=classes,
        batch=batch,
        option=option_texts(option),
        policy=policy,
        move_seconds=move_time,
        bank_seconds=bank,
        tick_seconds=tick,
        at_once=at_once,
    )
    carry_out(
        (first, second),
        design,
        seed=seed,
        out=out,
        concurrency=concurrency,
        hello_seconds=hello_time,
        metrics=metrics,
        log_format=log_format,
        log_file=log_file,
        log_level=log_level,
        drain_seconds=drain,
        is_confined=sandbox,
        wheels=wheels,
        as_json=json_,
    )
