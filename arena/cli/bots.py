"""``arena bot``: bots that come with the arena."""

import typer

from arena.cli.options import Json

app = typer.Typer(help="Bots that come with the arena.", no_args_is_help=True)


@app.callback()
def _bot() -> None:
    """Bots that come with the arena."""


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
