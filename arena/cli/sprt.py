"""``arena sprt``: what may be asked of it, and the options that ``arena duel`` shares with it.

How an experiment is played is in :mod:`arena.cli.trial`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from arena.cli.errors import FAILED, Misuse
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
    checked_seconds,
    checked_seed,
    checked_tick,
    option_texts,
    require_posix,
)

if TYPE_CHECKING:
    from arena.ladder.matches.experiment import Design
    from arena.ladder.ratings.sprt import Sprt

SHORT_HELP = "Test whether a new bot is better than an old one."

HELP = f"""{SHORT_HELP}

It takes as few boards as it can. They are played in batches; after each the log-likelihood ratio
says how much better they are explained if NEW is as good as the upper bound (H1) than if it is as
good as the lower one (H0). Once it is beyond its limit either way, or the cap is reached, the test
ends. Bounds are normalized Elo (nElo), as the column of that name in its result.

All of it lives in a folder: settings, secret, records, and the bots as they were. Ctrl-C finishes
the games under way; the same command then goes on, also after a kill. It moves no rating.

Exit status 0: the test ended, accepting either or at its cap. 1: it could not be completed.
"""

EPILOG = """\b
Presets (--preset), each part of which can be set otherwise:
  promotion   bounds 0 and 20, at most 6,000 boards: is the next version better?
  smoke       bounds 0 and 50, at most 1,000 boards: a quick look
"""

MOST_BOARDS = 1_000_000
MOST_BATCH = 1000
"""A batch is played again after a fault of the host, and nobody looks before it is done."""

CONCURRENT_GAMES = 1024


@dataclass(frozen=True, slots=True)
class _Preset:
    low: float
    high: float
    cap: int


_PRESETS = {"promotion": _Preset(0.0, 20.0, 6000), "smoke": _Preset(0.0, 50.0, 1000)}
"""Statistics, 2.4: boards to a verdict in the mean 900 to 1,500, and 160 to 300."""

New = Annotated[
    str,
    typer.Argument(
        metavar="NEW",
        help="A bot's folder or archive, or a bundled bot; FOLDER@REVISION is one as git has it.",
    ),
]
Old = Annotated[str, typer.Argument(metavar="OLD", help="The bot that it is compared with.")]
Players = Annotated[int, typer.Option(metavar="N", help="Seats at the table: 4 or 2.")]
KindOfPlay = Annotated[
    Literal["boards", "classic"],
    typer.Option("--format", help="Single boards, or mirrored pairs of races."),
]
ClassesOf = Annotated[
    Literal["pentanomial", "points", "sign"] | None,
    typer.Option(
        "--classes",
        help="Which boards are equal outcomes: by D <= -3, -2..-1, 0, 1..2, >= 3; by D itself; by "
        "its sign.  [default: pentanomial; of races, sign]",
    ),
]
Batch = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        max=MOST_BATCH,
        help="Boards (or pairs of races) between two looks.  [default: 16; 4 pairs]",
    ),
]
Seed = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Repeat the deals of a seed: 64 hex digits, or any text.  [default: a new one]",
    ),
]
PolicyOf = Annotated[
    Literal["casual", "rated"],
    typer.Option(
        "--policy", help="The third refused action in a hand loses the game, or the first."
    ),
]
AtOnce = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        max=CONCURRENT_GAMES,
        help="Games to play at once in each room, if both bots take so many.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="The folder of the experiment.  [default: one in this folder, named for the bots]",
    ),
]


def sprt(
    new: New,
    old: Old,
    preset: Annotated[
        Literal["promotion", "smoke"],
        typer.Option(help="Bounds and cap for a purpose; see below."),
    ] = "promotion",
    bounds: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="LO HI",
            help="nElo of H0 and H1 (logistic: Elo).  [default: the preset's]",
        ),
    ] = None,
    nelo0: Annotated[
        float | None, typer.Option(metavar="NELO", help="The lower bound alone.")
    ] = None,
    nelo1: Annotated[
        float | None, typer.Option(metavar="NELO", help="The upper bound alone.")
    ] = None,
    model: Annotated[
        Literal["normalized", "logistic"],
        typer.Option(help="What the bounds are: normalized Elo, or Elo of the mean score."),
    ] = "normalized",
    alpha: Annotated[
        float, typer.Option(metavar="P", help="The chance to accept H1 where H0 is true.")
    ] = 0.05,
    beta: Annotated[
        float, typer.Option(metavar="P", help="The chance to accept H0 where H1 is true.")
    ] = 0.05,
    cap: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=MOST_BOARDS,
            help="The most boards (or pairs of races).  [default: the preset's]",
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
    test = _test(
        _PRESETS[preset],
        bounds=bounds,
        nelo0=nelo0,
        nelo1=nelo1,
        model=model,
        alpha=alpha,
        beta=beta,
        cap=cap,
    )
    design = designed(
        test,
        boards=test.cap,
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
        (new, old),
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


def designed(
    test: "Sprt | None",
    *,
    boards: int,
    players: int,
    kind: str,
    classes: str | None,
    batch: int | None,
    option: dict[str, str],
    policy: str,
    move_seconds: float,
    bank_seconds: float,
    tick_seconds: float,
    at_once: int,
) -> "Design":
    """What was asked for, as one value. Raises Misuse for what cannot be meant."""
    from arena.ladder.matches.experiment import Design
    from arena.ladder.ratings.statistics import Classes
    from arena.ladder.settings import DEFAULT_LENGTH
    from hokm.records import Format, Policy
    from hokm.rules.options import Rules
    from hokm.session import ClockRules

    if players == 3:
        raise Misuse("this is between two bots, with --players 4 or 2; for three arena match A B C")
    form = Format(kind)
    default = Classes.PENTANOMIAL if form is Format.BOARDS else Classes.SIGN
    try:
        return Design(
            rules=Rules.of(players, play=form.play, options=option),
            format=form,
            boards=boards,
            batch=min(boards, DEFAULT_LENGTH[form] if batch is None else batch),
            test=test,
            classes=default if classes is None else Classes(classes),
            clock=ClockRules(
                move_seconds=checked_seconds("--move-time", move_seconds, least=0.001),
                bank_seconds=checked_seconds("--bank", bank_seconds),
            ),
            policy=Policy(policy),
            tick_seconds=checked_tick(tick_seconds),
            at_once=at_once,
        )
    except ValueError as error:
        raise Misuse(str(error)) from error


def carry_out(
    bots: tuple[str, str],
    design: "Design",
    *,
    seed: str | None,
    out: Path | None,
    concurrency: int | None,
    hello_seconds: float,
    metrics: str | None,
    log_format: str | None,
    log_file: Path | None,
    log_level: str,
    drain_seconds: float,
    is_confined: bool,
    wheels: Path | None,
    as_json: bool,
) -> None:
    """Play an experiment; leaves with a failure if it does not come to its end."""
    from arena.cli import trial
    from arena.cli.operating import Operating

    ask = trial.Ask(
        bots=bots,
        design=design,
        seed=None if seed is None else checked_seed(seed),
        out=out,
        concurrency=concurrency,
        hello_seconds=checked_seconds("--hello-time", hello_seconds, least=0.1),
        operating=Operating(
            metrics=metrics,
            log_format=log_format,
            log_file=log_file,
            log_level=log_level,
            drain_seconds=checked_seconds("--drain", drain_seconds),
        ),
        is_confined=is_confined,
        wheels=wheels,
    )
    if not trial.experiment(ask, as_json=as_json):
        raise typer.Exit(FAILED)


def _test(
    preset: _Preset,
    *,
    bounds: tuple[float, float] | None,
    nelo0: float | None,
    nelo1: float | None,
    model: str,
    alpha: float,
    beta: float,
    cap: int | None,
) -> "Sprt":
    from arena.ladder.ratings.sprt import Model, Sprt

    is_single = nelo0 is not None or nelo1 is not None
    if bounds is not None and is_single:
        raise Misuse("--bounds gives both; leave --nelo0 and --nelo1 out")
    if Model(model) is Model.LOGISTIC and bounds is None:
        raise Misuse("presets and --nelo are normalized Elo; with --model logistic give --bounds")
    low, high = bounds or (
        preset.low if nelo0 is None else nelo0,
        preset.high if nelo1 is None else nelo1,
    )
    try:
        return Sprt(
            elo0=low,
            elo1=high,
            alpha=alpha,
            beta=beta,
            cap=preset.cap if cap is None else cap,
            model=Model(model),
        )
    except ValueError as error:
        raise Misuse(str(error)) from error
