"""The commands, and what becomes of their errors."""

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

import typer

import arena
from arena.cli import (
    analyse,
    backup,
    bots,
    closing,
    crosstable,
    duel,
    errors,
    export,
    head2head,
    history,
    ladder,
    looking,
    luck,
    match,
    operate,
    owner,
    play,
    replay,
    repro,
    scaffold,
    serve,
    sprt,
    status,
    submit,
    tune,
    verify,
)

app = typer.Typer(
    help="A referee and a rated ladder for bots that play the card game Hokm.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help is there in half the time
    pretty_exceptions_enable=False,
)
app.command(
    "match", help=match.HELP, short_help=match.SHORT_HELP, epilog=match.EPILOG, no_args_is_help=True
)(match.match)
app.command(
    "sprt", help=sprt.HELP, short_help=sprt.SHORT_HELP, epilog=sprt.EPILOG, no_args_is_help=True
)(sprt.sprt)
app.command("tune", help=tune.HELP, short_help=tune.SHORT_HELP, no_args_is_help=True)(tune.tune)
app.command("duel", help=duel.HELP, short_help=duel.SHORT_HELP, no_args_is_help=True)(duel.duel)
app.command("play", help=play.HELP, short_help=play.SHORT_HELP)(play.play)
app.command("verify", no_args_is_help=True)(verify.verify)
app.command("replay", no_args_is_help=True)(replay.replay)
app.command(
    "repro", short_help="Tell a bot a recorded match again, and compare.", no_args_is_help=True
)(repro.repro)
app.command("luck", no_args_is_help=True)(luck.luck)
app.command("analyse", short_help="Say what every decision of a match cost.", no_args_is_help=True)(
    analyse.analyse
)
app.command("crosstable", no_args_is_help=True)(crosstable.crosstable)
app.command("head2head", no_args_is_help=True)(head2head.head2head)
app.command("export", no_args_is_help=True)(export.export)
ladder.app.command("backup", no_args_is_help=True)(backup.backup)
ladder.app.command("restore", no_args_is_help=True)(backup.restore)
ladder.app.command("move", no_args_is_help=True)(backup.move)
app.command("register", no_args_is_help=True)(submit.register)
app.command("submit", no_args_is_help=True)(submit.submit)
app.command("status")(status.status)
app.command("logs", no_args_is_help=True)(status.logs)
app.command("withdraw", no_args_is_help=True)(submit.withdraw)
app.command("standings")(looking.standings)
app.command("results")(looking.results)
app.command("record", no_args_is_help=True)(looking.record)
app.command("serve", no_args_is_help=True)(serve.serve)
app.add_typer(operate.app, name="operate")
app.add_typer(owner.app, name="owner")
ladder.app.command("graph", no_args_is_help=True)(history.graph)
app.add_typer(ladder.app, name="ladder")
bots.app.command("new", no_args_is_help=True)(scaffold.new)
bots.app.command("history", no_args_is_help=True)(history.history)
app.add_typer(bots.app, name="bot")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status; raises KeyboardInterrupt, and our faults."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that has no ± or no Persian shows escapes; it is no reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with closing.UNDO:
            status = app(argv, prog_name="arena", standalone_mode=False)
        if (unwritten := _unwritten_output()) is not None:
            raise unwritten
    except (Exception, BaseExceptionGroup) as error:
        failure = errors.failure_of(error)
        _unwritten_output()
        if failure is None:  # a fault of ours: the traceback is what helps
            raise
        with suppress(OSError):  # then nobody can be told
            print(failure.text, file=sys.stderr)
        return failure.status
    if status == errors.INTERRUPTED:  # what typer makes of Ctrl-C
        raise KeyboardInterrupt
    return status if isinstance(status, int) else 0


def _unwritten_output() -> OSError | None:
    """What keeps the results from their reader, a full disk say; they are given up then."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        # Or Python would try again as it ends, and complain in its own way.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        return error
    return None


def _show_version(is_asked: bool) -> None:
    if is_asked:
        print(f"arena {arena.__version__}")
        raise typer.Exit


@app.callback()
def _arena(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass
