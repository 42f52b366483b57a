"""``arena tune``: what may be asked of it. How it is played is in :mod:`arena.cli.climbing`."""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.errors import FAILED
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
    Wheels,
    checked_seconds,
    checked_seed,
    option_texts,
    require_posix,
)
from arena.cli.sprt import MOST_BATCH, MOST_BOARDS, AtOnce, Players, PolicyOf, Seed, designed

SHORT_HELP = "Find better values for the parameters of a bot."

HELP = f"""{SHORT_HELP}

What is tuned are the [parameters] of its bot.toml. Each trial moves all of them at once, up or
down by chance, plays that against the opposite move on the same deals, and takes a small step
towards what did better (SPSA). In the end what was found plays the bot as it was, on fresh deals:
that match, and not the trials, says whether it is better.

All of it lives in a folder, with the better bot in best/ and a picture. Ctrl-C finishes the games
under way; the same command then goes on, also after a kill. It moves no rating.

Exit status 0: all trials and the match after them are played. 1: it could not be completed.
"""

TRIALS = 64
BOARDS = 32
CONFIRM = 256
MOST_TRIALS = 100_000


def tune(
    bot: Annotated[
        str,
        typer.Argument(
            metavar="BOT", help="A bot's folder or archive, or a bundled bot, with [parameters]."
        ),
    ],
    opponent: Annotated[
        str | None,
        typer.Argument(
            metavar="OPPONENT",
            help="Whom both settings of a trial play.  [default: each other]",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str],
        typer.Option(
            metavar="NAME", help="Tune this parameter alone; may be repeated.  [default: all]"
        ),
    ] = [],  # noqa: B006  # typer wants a list, and nobody changes it
    trials: Annotated[
        int, typer.Option(metavar="N", min=2, max=MOST_TRIALS, help="Steps to take.")
    ] = TRIALS,
    boards: Annotated[
        int, typer.Option(metavar="N", min=1, max=MOST_BATCH, help="Deals in each trial.")
    ] = BOARDS,
    confirm: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=MOST_BOARDS,
            help="Fresh deals of the match after them; 0 for none.",
        ),
    ] = CONFIRM,
    players: Players = 4,
    seed: Seed = None,
    option: Options = (),  # type: ignore[assignment]  # never changed
    policy: PolicyOf = "rated",
    move_time: MoveTime = 1.0,
    bank: Bank = 30.0,
    hello_time: HelloTime = 10.0,
    concurrency: Concurrency = None,
    at_once: AtOnce = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The folder of the tuning.  [default: one in this folder, named for the bot]",
        ),
    ] = None,
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
    from arena.cli import climbing
    from arena.cli.operating import Operating

    def design(boards: int) -> "climbing.Design":
        return designed(
            None,
            boards=boards,
            players=players,
            kind="boards",
            classes=None,
            batch=None,
            option=option_texts(option),
            policy=policy,
            move_seconds=move_time,
            bank_seconds=bank,
            tick_seconds=0.0,
            at_once=at_once,
        )

    ask = climbing.Ask(
        bot=bot,
        opponent=opponent,
        only=tuple(only),
        trials=trials,
        design=design(boards),
        confirm=design(confirm) if confirm else None,
        seed=None if seed is None else checked_seed(seed),
        out=out,
        concurrency=concurrency,
        hello_seconds=checked_seconds("--hello-time", hello_time, least=0.1),
        operating=Operating(
            metrics=metrics,
            log_format=log_format,
            log_file=log_file,
            log_level=log_level,
            drain_seconds=checked_seconds("--drain", drain),
        ),
        is_confined=sandbox,
        wheels=wheels,
    )
    if not climbing.tune(ask, as_json=json_):
        raise typer.Exit(FAILED)
