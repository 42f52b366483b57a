"""``arena match``: what may be asked of it. How it is played is in :mod:`arena.cli.local`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from arena.cli.errors import FAILED, Misuse
from arena.cli.options import (
    Bank,
    Concurrency,
    Confine,
    Drain,
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
    checked_seed,
    checked_tick,
    option_texts,
    require_posix,
)

SHORT_HELP = "Play bots against each other and say which is better."

HELP = f"""{SHORT_HELP}

A BOT is a folder with a bot.toml, an archive of one (see arena bot pack), or the name of a bundled
bot (see arena bot list). Two bots play as two sides, with two players or four; three bots play each
for itself; four sit at a table of four in the order named, the first and third against the others.
The same bot may be named twice.
remote:NAME is a bot that somebody starts, anywhere, with a ticket that is written for it; see
--listen, and docs/serve.md.

Every deal is played once in each room, the sides changing places, so that luck of the cards falls
out; figures come with error bars. Ctrl-C finishes the games under way and shows what there is; a
second one stops at once.
"""

EPILOG = """\b
Options of the rules (--option NAME=VALUE), each where it has a meaning:
  points_win, points_kot, points_hakem_kot   what a hand counts: 1, 2 and 3
  pause_after         who holds five cards while trump is named:
                      hakem, first_round, right_opponent
  play_out            on: play all tricks although a hand is decided
  removed_two         the two taken out with three players: C, D, H, S
  draw_choice_public  with two players: others see what is kept
  modes               what may be named: suit, or more such as suit,sar,nar
                        sar      no trump
                        nar      no trump, the 2 high and the ace low
                        tak_nar  no trump, the ace high, then 2, 3 ... king
  kot_in_modes        on: seven to none is a kot in sar, nar, tak_nar too
and in races (--format classic):
  target_points       7
  first_hakem         ace_draw, random, seat:0 …
  next_hakem          right, left, winner
  cut                 on: with four, the hakem's partner cuts the pack
  teams               second_ace: four bots draw partners for each pair anew
"""

CONCURRENT_GAMES = 1024
"""The most that a bot's hello may ask for; hokm.wire has it too, and takes long to import."""

MOST_BOARDS = 10_000
MOST_PAIRS = 500
"""What fits into one record, which may have some 60,000 hands; a pair of races has 20 to 50."""

_PLAYERS = {2: 4, 3: 3, 4: 4}


def match(
    bots: Annotated[
        list[str],
        typer.Argument(
            metavar="BOT",
            help="Two to four: folders with a bot.toml, bundled bots, or remote:NAME.",
        ),
    ],
    players: Annotated[
        int | None,
        typer.Option(
            help="Seats at the table: 2, 3 or 4.  [default: 3 for three bots, else 4]",
            metavar="N",
        ),
    ] = None,
    format_: Annotated[
        Literal["boards", "classic"],
        typer.Option(
            "--format", help="Single boards, or mirrored pairs of races with a moving hakem."
        ),
    ] = "boards",
    boards: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=MOST_BOARDS, help="Deals to play.  [default: 16]"),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=MOST_PAIRS,
            help="Pairs of races to play, with --format classic.  [default: 4]",
        ),
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Repeat the deals of a seed: 64 hex digits, or any text. Use it to repeat a "
            "match, not to compete: a bot that guesses the text knows the deals.  "
            "[default: a new one]",
        ),
    ] = None,
    option: Options = (),  # type: ignore[assignment]  # never changed
    policy: Annotated[
        Literal["casual", "rated"],
        typer.Option(help="The third refused action in a hand loses the game, or the first."),
    ] = "casual",
    move_time: MoveTime = 1.0,
    bank: Bank = 30.0,
    tick: Tick = 0.0,
    hello_time: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="What a bot may take from its start, or its ticket, to its hello.  "
            "[default: 10, with a remote bot 60]",
        ),
    ] = None,
    concurrency: Concurrency = None,
    at_once: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=CONCURRENT_GAMES,
            help="Games to play at once in each room, if all its bots take so many.",
        ),
    ] = 1,
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the record: FILE.json or FILE.json.gz."),
    ] = None,
    logs: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep what the bots print.  [default: kept only if something goes wrong]",
        ),
    ] = None,
    sandbox: Confine = False,
    wheels: Wheels = None,
    json_: Json = False,
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Where remote bots come to; 0.0.0.0 or [::] for all addresses of this machine.",
        ),
    ] = None,
    advertise: Annotated[
        str | None,
        typer.Option(
            metavar="HOST",
            help="The name by which they reach it.  [default: the HOST of --listen, or this "
            "machine's name]",
        ),
    ] = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The certificate (chain), in PEM."),
    ] = None,
    tls_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Its key, in PEM."),
    ] = None,
    client_ca: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Let in only bots with a certificate from one of these, in PEM.",
        ),
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure",
            help="Do without TLS although others can reach the address.",
        ),
    ] = False,
    tickets: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where the files with the tickets go.  [default: a temporary folder]",
        ),
    ] = None,
    metrics: Metrics = None,
    log_format: LogFormat = None,
    log_file: LogFile = None,
    log_level: LogLevel = "info",
    drain: Drain = 60.0,
    resume: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="How long a bot may be away whose stream breaks; in rated play not at all.  "
            "[default: 0, with a remote bot 30]",
        ),
    ] = None,
) -> None:
    """See HELP."""
    require_posix()
    if len(bots) not in _PLAYERS:
        raise Misuse(f"a match has two, three or four bots, not {len(bots)}")
    if format_ == "boards" and games is not None:
        raise Misuse("--games counts pairs of races; give --boards, or --format classic")
    if format_ == "classic" and boards is not None:
        raise Misuse("--boards does not count races; give --games, or --format boards")
    if seed is not None:
        checked_seed(seed)
    if record is not None:
        check_record(record)

    from arena.cli import listening, local
    from arena.cli.operating import Operating

    has_remote = any(map(listening.is_remote, bots))
    if hello_time is None:
        hello_time = listening.HELLO_SECONDS if has_remote else 10.0
    if resume is None:
        resume = listening.RESUME_SECONDS if has_remote and policy == "casual" else 0.0
    if resume and policy == "rated":
        raise Misuse(
            "--resume: in rated play a broken stream is a crash; leave it out, or play casual"
        )
    ask = local.Ask(
        bots=tuple(bots),
        players=_PLAYERS[len(bots)] if players is None else players,
        format=format_,
        length=games if format_ == "classic" else boards,
        seed=seed,
        options=option_texts(option),
        policy=policy,
        move_seconds=checked_seconds("--move-time", move_time, least=0.001),
        bank_seconds=checked_seconds("--bank", bank),
        tick_seconds=checked_tick(tick),
        hello_seconds=checked_seconds("--hello-time", hello_time, least=0.1),
        resume_seconds=checked_seconds("--resume", resume),
        concurrency=concurrency,
        at_once=at_once,
        record=record,
        logs=logs,
        listening=listening.listening(
            tuple(bots),
            listen=listen,
            advertise=advertise,
            tls_cert=tls_cert,
            tls_key=tls_key,
            client_ca=client_ca,
            tickets=tickets,
            insecure=insecure,
        ),
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
    if not local.match(ask, as_json=json_):
        raise typer.Exit(FAILED)


def check_record(file: Path) -> None:
    """Before an hour is played, not after."""
    if not file.name.endswith((".json", ".json.gz")):
        raise Misuse(f"--record {file}: a record's name ends in .json or .json.gz")
    from hokm.records.files import refuse_unwritable

    try:
        refuse_unwritable(file)
    except OSError as error:
        raise Misuse(
            f"--record {file}: {error.strerror}; name a file that can be made, in a folder that "
            "is there"
        ) from error
