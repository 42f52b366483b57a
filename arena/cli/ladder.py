"""``arena ladder``: a rated ladder in a folder. What a ladder does is in :mod:`arena.ladder`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from arena.cli.errors import FAILED, Misuse
from arena.cli.options import (
    Bank,
    BuildNetwork,
    Concurrency,
    ConfineLadder,
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
    checked_seconds,
    checked_tick,
    option_texts,
    require_posix,
)
from arena.cli.scheduling import (
    Cycles,
    Kind,
    Least,
    Matches,
    Most,
    Near,
    Rounds,
    Seeds,
    Third,
    schedule_of,
)
from arena.wording import printable

if TYPE_CHECKING:
    from arena.ladder.ladder import Ladder
    from arena.ladder.schedules import Place

app = typer.Typer(help="A rated ladder in a folder.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The ladder's folder.")]


@app.command(no_args_is_help=True)
def init(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that is empty, or not there yet.")
    ],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="[default: the folder's name]")
    ] = None,
    players: Annotated[int, typer.Option(metavar="N", help="Seats at the table: 4, 3 or 2.")] = 4,
    format_: Annotated[
        Literal["boards", "classic"],
        typer.Option("--format", help="Single boards, or mirrored pairs of races."),
    ] = "boards",
    boards: Annotated[
        int | None, typer.Option(metavar="N", help="Boards in a match.  [default: 16]")
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Pairs of races in a match, with --format classic.  [default: 4]"
        ),
    ] = None,
    score: Annotated[
        Literal["win_draw_loss", "vp"],
        typer.Option(
            help="What a match is worth to a rating: by who has more of all boards, or by how much."
        ),
    ] = "win_draw_loss",
    option: Options = (),  # type: ignore[assignment]  # never changed
    move_time: MoveTime = 1.0,
    bank: Bank = 30.0,
    tick: Tick = 0.005,
    anchor: Annotated[
        str | None,
        typer.Option(
            metavar="BOT", help="The bot that stands at 1500.  [default: the field's mean does]"
        ),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Keep its rows on a PostgreSQL server: postgresql://USER@HOST/DATABASE?schema=NAME"
            " (the password from ~/.pgpass or PGPASSWORD; the schema is by default the ladder's "
            "name, and holds one ladder).  [default: in the folder]",
        ),
    ] = None,
) -> None:
    """Make a ladder. What it plays is fixed from then on: other settings make another ladder."""
    from arena.cli.backup import server_at
    from arena.ladder.ladder import Ladder
    from arena.ladder.settings import MatchScoring, Settings
    from hokm.records import Format
    from hokm.session import ClockRules

    if format_ == "boards" and games is not None:
        raise Misuse("--games counts pairs of races; give --boards, or --format classic")
    if format_ == "classic" and boards is not None:
        raise Misuse("--boards does not count races; give --games, or --format boards")
    try:
        settings = Settings.of(
            folder.resolve().name if name is None else name,
            players=players,
            format=Format(format_),
            length=games if format_ == "classic" else boards,
            clock=ClockRules(
                move_seconds=checked_seconds("--move-time", move_time, least=0.001),
                bank_seconds=checked_seconds("--bank", bank),
            ),
            options=option_texts(option),
            anchor=anchor,
            tick_seconds=checked_tick(tick),
            score=MatchScoring(score),
        )
    except ValueError as error:
        raise Misuse(str(error)) from error
    server = None if database is None else server_at(database, schema=settings.name)
    with Ladder.init(folder, settings, database=server):
        print(f"{settings.name} ({settings.scale}): a ladder in {folder}; ", end="")
        print(f"next, arena ladder add {folder} BOT...")
        if settings.anchor is not None:
            print(f"anchor {settings.anchor} is not entered yet")


@app.command(no_args_is_help=True)
def add(
    folder: Folder,
    bots: Annotated[
        list[str],
        typer.Argument(metavar="BOT", help="Bots' folders or archives, or names of bundled bots."),
    ],
    rated: Annotated[
        bool | None,
        typer.Option(
            "--rated/--unrated", help="Whether its matches move ratings.  [default: rated]"
        ),
    ] = None,
    wheels: Wheels = None,
    sandbox: ConfineLadder = True,
    build_network: BuildNetwork = False,
) -> None:
    """Enter bots. Each is copied as it is now, and plays from the next stage on.

    What it requires is installed, and what is to be built is built, now; a bot for which that fails
    is not entered.

    Bots of one owner play each other and are not rated by it; to compare two of your own, see arena
    sprt and arena duel. What differs in its manifest only is the same program, and stays one bot.
    The bundled bot random is unrated unless --rated is given: a match with it says too little.
    """
    from arena.cli.confining import for_builds
    from arena.cli.places import bot_folder, environments
    from arena.ladder.bots.entrants import load_bot
    from arena.ladder.events import announcing
    from arena.ladder.ladder import Entry, Ladder

    folders = [bot_folder(text) for text in bots]
    for place in folders:
        load_bot(place)  # or it would be found out when those before it are entered
    made = environments(
        wheels,
        confine=for_builds(sandbox, is_ladder=True, unseen=[folder]),
        has_network=build_network,
    )
    with Ladder.open(folder, environments=made) as ladder:
        for place in folders:
            added = ladder.add(str(place), rated=rated)
            announcing.republish(ladder)
            bot = f"{added.bot.name} {added.bot.version} ({added.bot.owner})"
            if added.entry is Entry.SAME_PROGRAM:
                print(f"{place.name}: the same program as {bot}, which stands for both")
            else:
                unrated = "" if added.bot.rated else ", unrated"
                sisters = ", ".join(sister.name for sister in added.sisters)
                apart = f"; of one owner with {sisters}: never rated against it" if sisters else ""
                print(f"{bot}: {added.entry.value}{unrated}{apart}")


@app.command(no_args_is_help=True)
def withdraw(
    folder: Folder,
    bots: Annotated[list[str], typer.Argument(metavar="NAME", help="Bots that are entered.")],
) -> None:
    """Take bots out. What they have played still counts; what is still to be played is void.

    arena ladder add takes one back.
    """
    from arena.ladder.ladder import Ladder

    with Ladder.open(folder) as ladder:
        for name in bots:
            print(f"{ladder.withdraw(name).name}: withdrawn")


@app.command(no_args_is_help=True)
def announce(
    folder: Folder,
    beacon: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Whose value will be mixed into the deals, and which: a public source of chance "
            "that publishes it later.  [default: what entrants bring with arena ladder nonce]",
        ),
    ] = None,
    call_off: Annotated[
        bool,
        typer.Option("--call-off", help="End the one that is announced, unplayed, and reveal it."),
    ] = False,
    kind: Kind = "round-robin",
    cycles: Cycles = None,
    seeds: Seeds = None,
    near: Near = None,
    rounds: Rounds = None,
    third: Third = False,
    matches: Matches = None,
    least: Least = None,
    most: Most = None,
    json_: Json = False,
) -> None:
    """Bind yourself to the deals of the next event; play nothing.

    Publish what is printed. Then let entrants bring nonces, or wait for the beacon; arena ladder
    run mixes that in, and plays. See docs/fair-deals.md.
    """
    require_posix()
    import os

    from arena.cli import show
    from arena.ladder.events import announcing
    from arena.ladder.ladder import Ladder
    from arena.ladder.proof.document import EVENT_FILE
    from hokm.deck import SEED_BYTES

    schedule = schedule_of(
        kind,
        cycles=cycles,
        seeds=seeds,
        near=near,
        rounds=rounds,
        third=third,
        matches=matches,
        least=least,
        most=most,
    )
    if call_off:
        with Ladder.open(folder) as ladder, ladder.held():
            event = announcing.call_off(ladder)
        assert event.secret is not None
        if json_:
            show.print_json({"event": event.name, "secret": event.secret.hex()})
        else:
            print(f"{event.name} is called off, its secret was {event.secret.hex()}")
        return
    with Ladder.open(folder) as ladder, ladder.held():
        event = announcing.announce(
            ladder, schedule=schedule, beacon=beacon, secret=os.urandom(SEED_BYTES)
        )
        digest = announcing.document_of(ladder, event).announcement.digest
        file = ladder.records_folder / event.name / EVENT_FILE
    if json_:
        show.print_json(
            {
                "event": event.name,
                "schedule": json.loads(event.schedule),
                "commitment": event.commitment.hex(),
                "announcement_digest": digest,
                "beacon": beacon,
                "document": str(file),
            }
        )
        return
    if beacon is None:
        source = f"what entrants bring: arena ladder nonce {folder} BOT HEX"
        then = f"arena ladder run {folder}"
    else:
        source, then = beacon, f"arena ladder run {folder} --entropy VALUE"
    for line in (
        f"{event.name} is announced: {schedule}",
        f"commitment    {event.commitment.hex()}",
        f"announcement  {digest}",
        f"entropy       {source}",
        f"Publish these lines now, and {file}; then {then}",
    ):
        show.print_line(show.results(), printable(line))


@app.command(no_args_is_help=True)
def nonce(
    folder: Folder,
    bot: Annotated[str, typer.Argument(metavar="BOT", help="The name of one that is entered.")],
    value: Annotated[str, typer.Argument(metavar="HEX", help="64 hex digits.")],
) -> None:
    """Take an entrant's nonce for the event that is announced.

    It is taken once, before the event begins, and shown in its document; the deals follow from it.
    """
    require_posix()
    from arena.ladder.events import announcing
    from arena.ladder.ladder import Ladder
    from arena.ladder.proof.entropy import parse_nonce

    try:
        brought = parse_nonce(value)
    except ValueError as error:
        raise Misuse(str(error)) from error
    with Ladder.open(folder) as ladder, ladder.held():
        event = announcing.take_nonce(ladder, bot, nonce=brought)
        print(f"{bot}: its nonce for {event.name} is {brought.hex()}, and stays so")


@app.command(no_args_is_help=True)
def run(
    folder: Folder,
    entropy: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE",
            help="What the beacon published that was announced, to the letter.",
        ),
    ] = None,
    kind: Kind = "round-robin",
    cycles: Cycles = None,
    seeds: Seeds = None,
    near: Near = None,
    rounds: Rounds = None,
    third: Third = False,
    matches: Matches = None,
    least: Least = None,
    most: Most = None,
    concurrency: Concurrency = None,
    hello_time: HelloTime = 10.0,
    sandbox: ConfineLadder = True,
    build_network: BuildNetwork = False,
    wheels: Wheels = None,
    json_: Json = False,
    metrics: Metrics = None,
    log_format: LogFormat = None,
    log_file: LogFile = None,
    log_level: LogLevel = "info",
    drain: Drain = 60.0,
) -> None:
    """Play an event, or the rest of one, and print the standings. One that was announced is played
    as it was announced.

    Ctrl-C finishes the games under way, a second one stops at once; the same command then goes on.
    """
    require_posix()
    from arena.cli import event, show, table
    from arena.cli.confining import for_builds
    from arena.cli.operating import Operating
    from arena.cli.places import environments
    from arena.ladder.ladder import Ladder

    hello_seconds = checked_seconds("--hello-time", hello_time, least=0.1)
    schedule = schedule_of(
        kind,
        cycles=cycles,
        seeds=seeds,
        near=near,
        rounds=rounds,
        third=third,
        matches=matches,
        least=least,
        most=most,
    )
    operating = Operating(
        metrics=metrics,
        log_format=log_format,
        log_file=log_file,
        log_level=log_level,
        drain_seconds=checked_seconds("--drain", drain),
    )
    made = environments(
        wheels,
        confine=for_builds(sandbox, is_ladder=True, unseen=[folder]),
        has_network=build_network,
    )
    with Ladder.open(folder, environments=made) as ladder:
        played = event.play(
            ladder,
            schedule=schedule,
            beacon_value=entropy,
            concurrency=concurrency,
            hello_seconds=hello_seconds,
            operating=operating,
            is_confined=sandbox,
        )
        if json_:
            show.print_json(
                {
                    "event": played.name,
                    "commitment": played.commitment.hex(),
                    "entropy": None if played.entropy is None else played.entropy.hex(),
                    "secret": None if played.secret is None else played.secret.hex(),
                    "complete": played.is_over,
                    "ranking": [
                        {"bot": name, **_placed_by(place)} for name, place in ladder.ranking(played)
                    ],
                    "standings": ladder.standings().json(),
                }
            )
        else:
            _print_standings(ladder)
            if places := ladder.ranking(played):
                table.print_places(
                    places, show.results(), event=played.name, is_over=played.is_over
                )
            records = ladder.records_folder / played.name
            then = f"; check them with arena verify {records}" if played.is_over else " so far"
            print(f"\nRecords of the matches: {records}{then}")
    if not played.is_over:
        raise typer.Exit(FAILED)


@app.command(no_args_is_help=True)
def standings(folder: Folder, json_: Json = False) -> None:
    """Print the standings, also while matches are played."""
    from arena.cli import show
    from arena.ladder.ladder import Ladder

    with Ladder.open(folder) as ladder:
        if json_:
            show.print_json(ladder.standings().json())
        else:
            _print_standings(ladder)


@app.command(no_args_is_help=True)
def check(folder: Folder, json_: Json = False) -> None:
    """Check that bots, records, secrets and ratings are as they were."""
    from arena.cli import show
    from arena.ladder import audit
    from arena.ladder.ladder import Ladder

    with Ladder.open(folder) as ladder:
        problems = [str(problem) for problem in audit.check(ladder)]
    if json_:
        show.print_json({"ok": not problems, "problems": problems})
    else:
        for line in problems or [f"{folder}: ok"]:
            show.print_line(show.results(), line)
    if problems:
        raise typer.Exit(FAILED)


def _placed_by(place: "Place") -> dict[str, object]:
    if place.points is None:
        return {"reached": place.reached}
    return {"points": place.points, "buchholz": place.buchholz}


def _print_standings(ladder: "Ladder") -> None:
    from arena.cli import show, table

    table.print_standings(ladder.standings(), show.results())
