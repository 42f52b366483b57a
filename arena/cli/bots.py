"""``arena bot``: the bots that come with the arena, and whether a bot plays by the protocol. How
that is found out is in :mod:`arena.conformance`, its printing in :mod:`arena.cli.conformance`.
"""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.errors import FAILED, UNDECIDED, Misuse
from arena.cli.options import (
    Bank,
    Confine,
    Json,
    MoveTime,
    Wheels,
    checked_seconds,
    checked_seed,
    require_posix,
)
from arena.wording import counted, printable

_HELP = "Begin, list, check, pack or unpack bots; tell their history."

app = typer.Typer(help=_HELP, no_args_is_help=True)


@app.callback(help=_HELP)
def _bot() -> None:
    pass


@app.command("list")
def list_bots(json_: Json = False) -> None:
    """List the bundled bots. Each can be named where a BOT is asked for."""
    from arena.cli import show
    from arena.ladder.bots.entrants import find_bot, load_bot, sample_names

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
            metavar="BOT",
            help="A folder with a bot.toml, its archive, or a bundled bot.",
            show_default=False,
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
    ] = 10.0,
    limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="When to stop checks and matches; what was not run by then fails the bot.",
        ),
    ] = 240.0,
    logs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep what the bot prints, a file a process."),
    ] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Show each failure in full, also those that are alike.")
    ] = False,
    no_matches: Annotated[
        bool,
        typer.Option("--no-matches", help="Leave out its matches with itself; so does --only."),
    ] = False,
    move_time: MoveTime = 1.0,
    bank: Bank = 30.0,
    sandbox: Confine = False,
    wheels: Wheels = None,
    list_: Annotated[bool, typer.Option("--list", help="List the checks, and run none.")] = False,
    json_: Json = False,
) -> None:
    """Check that a bot plays by the protocol and the rules.

    It is what a ladder does with a bot that is sent in. Its files are looked at, and what it needs
    is made. A scripted referee talks with processes of the bot and plays it all that is lawful and
    rare, then games made up from a seed. At last it plays short matches with itself. It prints each
    check, and for each mistake the exchange of the plainest check that shows it, what was expected,
    and where that is written. Nothing is asked that the bot.toml does not claim.

    The exit status is 0 for a bot that is accepted, 1 for one that is refused, 3 where the arena
    itself failed and nothing is known of the bot.
    """
    from arena.cli import conformance

    if list_:
        conformance.list_checks(as_json=json_)
        return
    if bot is None:
        raise Misuse("name a BOT to check, or --list the checks")
    require_posix()
    if seed is not None:
        checked_seed(seed)
    from hokm.session import ClockRules

    ask = conformance.Ask(
        bot=bot,
        only=tuple(only),
        skip=tuple(skip),
        seed=seed,
        fuzz_seconds=checked_seconds("--fuzz", fuzz),
        limit_seconds=checked_seconds("--limit", limit, least=1.0),
        logs=logs,
        show_all=all_,
        plays_matches=not no_matches,
        clock=ClockRules(
            move_seconds=checked_seconds("--move-time", move_time, least=0.001),
            bank_seconds=checked_seconds("--bank", bank),
        ),
        is_confined=sandbox,
        wheels=wheels,
    )
    verdict = conformance.check(ask, as_json=json_).value
    if verdict != "accepted":
        raise typer.Exit(FAILED if verdict == "refused" else UNDECIDED)


@app.command("pack", no_args_is_help=True)
def pack(
    bot: Annotated[str, typer.Argument(metavar="BOT", help="A folder with a bot.toml.")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="A file to make, or a folder to put <digest>.zip into.  "
            "[default: hokm-arena/bundles in $XDG_DATA_HOME or ~/.local/share]",
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Make one file of a bot, its archive.

    It has the same bytes on any machine and day. Hidden files, __pycache__ and *.log stay out, as
    they do of its digest. Where a BOT is asked for the archive does as well as the folder. See
    docs/submit.md.
    """
    from arena.cli import show
    from arena.cli.places import bot_folder, bundles_folder
    from arena.ladder.bots import archive

    folder = bot_folder(bot)
    is_folder = out is None or out.is_dir() or out.suffix.lower() != archive.SUFFIX
    into = bundles_folder() if out is None else out
    packed = archive.pack(folder, into=into, file=None if is_folder else out)
    entrant = packed.entrant
    if json_:
        show.print_json(
            {
                "file": str(packed.file),
                "name": entrant.name,
                "version": entrant.version,
                "owner": entrant.owner,
                "digest": entrant.digest,
                "files": packed.files,
                "bytes": packed.size_bytes,
            }
        )
        return
    files = f"{counted(packed.files, 'file')}, {packed.size_bytes:,} bytes"
    for line in (
        f"{entrant.name} {entrant.version} ({entrant.owner}): {files}",
        f"digest  {entrant.digest}",
        f"file    {packed.file}",
    ):
        show.print_line(show.results(), printable(line))


@app.command("unpack", no_args_is_help=True)
def unpack(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An archive of a bot.")],
    into: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The folder to make.  [default: one named by the digest, where arena bot pack "
            "puts archives]",
        ),
    ] = None,
    digest: Annotated[
        str | None, typer.Option(metavar="HEX", help="Which bot it has to be, 64 hex digits.")
    ] = None,
) -> None:
    """Make a folder of an archive.

    It is there whole or not at all, and nothing in it is run. An archive whose name is a digest
    must hold the bot of that digest.
    """
    from arena.cli import show
    from arena.cli.places import bundles_folder
    from arena.ladder.bots import archive

    if digest is not None and archive.named_digest(Path(digest)) is None:
        raise Misuse(f"--digest {digest!r} is not 64 hex digits, as arena bot pack prints them")
    entrant = archive.unpack(file, into, into=bundles_folder(), digest=digest)
    for line in (
        f"{entrant.name} {entrant.version} ({entrant.owner})",
        f"digest  {entrant.digest}",
        f"folder  {entrant.folder}",
    ):
        show.print_line(show.results(), printable(line))
