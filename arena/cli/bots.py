"""``arena bot``: the bots that come with the arena, and whether a bot plays by the protocol. How
that is found out is in :mod:`arena.conformance`, its printing in :mod:`arena.cli.conformance`.
"""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.errors import FAILED, Misuse
from arena.cli.options import Json, checked_seconds, require_posix

app = typer.Typer(
    help="List the bundled bots, check a bot, or tell its history.", no_args_is_help=True
)


@app.callback()
def _bot() -> None:
    """List the bundled bots, check a bot, or tell its history."""


@app.command("list")
def list_bots(json_: Json = False) -> None:
    """List the bundled bots. Each can be named where a BOT is asked for."""
    from arena.cli import show
    from arena.ladder.entrants import find_bot, load_bot, sample_names

    bots = [load_bot(find_bot(name)) for name in sample_names()]
    if not json_:
        show.print_bots(bots, show.results())
        return
    rows = [
        {
            "name": bot.name,
            "version": bot.version,
            "owner": bot.owner,
            "players": list(bot.variants),
            "language": bot.language,
            "digest": bot.digest,
            "folder": str(bot.folder),
        }
        for bot in bots
    ]
    show.print_json({"bots": rows})


@app.command("check", no_args_is_help=True)
def check(
    bot: Annotated[
        str | None,
        typer.Argument(
            metavar="BOT", help="A folder with a bot.toml, or a bundled bot.", show_default=False
        ),
    ] = None,
    only: Annotated[
        list[str],
        typer.Option(
            metavar="NAME", help="Run this check alone; may be repeated, and have * in it."
        ),
    ] = [],  # noqa: B006  # typer wants a list, and nobody changes it
    skip: Annotated[
        list[str],
        typer.Option(metavar="NAME", help="Leave this check out; as --only."),
    ] = [],  # noqa: B006
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Repeat the chances of a run; TEXT:N begins the fuzz with its match N.  "
            "[default: a new one]",
        ),
    ] = None,
    fuzz: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long games are made up.")
    ] = 20.0,
    limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="When to stop; what was not run by then fails the bot."
        ),
    ] = 110.0,
    logs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep what the bot prints, a file a process."),
    ] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Show each failure in full, also those that are alike.")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the checks, and run none.")] = False,
    json_: Json = False,
) -> None:
    """Check that a bot plays by the protocol and the rules.

    A scripted referee talks with processes of the bot and plays it all that is lawful and rare,
    then games made up from a seed. It prints each check, and for each mistake the exchange of the
    plainest check that shows it, what was expected, and where that is written. Nothing is asked
    that the bot.toml does not claim.
    """
    from arena.cli import conformance

    if list_:
        conformance.list_checks(as_json=json_)
        return
    if bot is None:
        raise Misuse("name a BOT to check, or --list the checks")
    require_posix()
    ask = conformance.Ask(
        bot=bot,
        only=tuple(only),
        skip=tuple(skip),
        seed=seed,
        fuzz_seconds=checked_seconds("--fuzz", fuzz),
        limit_seconds=checked_seconds("--limit", limit, least=1.0),
        logs=logs,
        show_all=all_,
    )
    if not conformance.check(ask, as_json=json_):
        raise typer.Exit(FAILED)
