"""Options that several commands share, and what is checked of them."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from arena.cli.errors import Misuse

MOST_SECONDS = 3600.0
MOST_TICK_SECONDS = 1.0  # arena.ladder.settings has it too, and takes long to import

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object in place of tables.")]

Options = Annotated[
    list[str],
    typer.Option(
        "--option", "-o", metavar="NAME=VALUE", help="Set an option of the rules; may be repeated."
    ),
]
MoveTime = Annotated[
    float, typer.Option(metavar="SECONDS", help="What each move may take before the bank pays.")
]
Bank = Annotated[
    float, typer.Option(metavar="SECONDS", help="What a seat has besides, for a whole hand.")
]
Tick = Annotated[
    float,
    typer.Option(
        "--tick",
        metavar="SECONDS",
        help="The masking tick: others see how long a bot thought in whole ticks only; 0: none.",
    ),
]
HelloTime = Annotated[
    float, typer.Option(metavar="SECONDS", help="What a bot may take from its start to its hello.")
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, max=1024, help="Rooms to play at once.  [default: the usable cores]"
    ),
]

Confine = Annotated[
    bool,
    typer.Option(
        "--sandbox",
        help="Confine the bots: no network, no files but their own, limits. See docs/security.md.",
    ),
]
ConfineLadder = Annotated[
    bool,
    typer.Option(
        "--sandbox/--no-sandbox",
        help="Whether the bots, and what is built of them, are confined: no network, no files but "
        "their own, limits. Where they cannot be, nothing is run but with --no-sandbox. See "
        "docs/security.md.",
    ),
]
BuildNetwork = Annotated[
    bool,
    typer.Option(
        "--build-network",
        help="Let what builds a bot reach the network, yours included; the bot itself never does.",
    ),
]
Wheels = Annotated[
    Path | None,
    typer.Option(
        envvar="HOKM_ARENA_WHEELS",
        metavar="DIR",
        help="Take the packages that bots require from the wheels there, and no network.",
    ),
]
Bundles = Annotated[
    str | None,
    typer.Option(
        envvar="HOKM_ARENA_BUNDLES",
        metavar="URL",
        help="Keep what is sent in there: s3://BUCKET/PREFIX, gs://…, az://… or file:///FOLDER. "
        "Credentials come from the environment.  [default: the ladder's folder]",
    ),
]
Drain = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        help="After a SIGTERM, how long the games under way may take to finish.",
    ),
]
Metrics = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Answer Prometheus there, at /metrics; 127.0.0.1:9117, say. Whoever reaches it may "
        "read it.",
    ),
]
LogFormat = Annotated[
    Literal["text", "json"] | None,
    typer.Option(
        envvar="HOKM_ARENA_LOG_FORMAT", help="Write a log for whoever operates this, on stderr."
    ),
]
LogFile = Annotated[
    Path | None,
    typer.Option(
        envvar="HOKM_ARENA_LOG_FILE", metavar="FILE", help="Write that log to the end of a file."
    ),
]
LogLevel = Annotated[
    Literal["debug", "info", "warning"],
    typer.Option(envvar="HOKM_ARENA_LOG_LEVEL", help="What of it is written."),
]


def refuse_no_ladder_here(ladder: Path, *, otherwise: str = "") -> None:
    """See that the folder one is in is a ladder where no other was named; one that was named says
    itself what is wrong with it.
    """
    if ladder == Path(".") and not (ladder / "ladder.toml").exists():
        raise Misuse(f"there is no ladder in this folder; give --ladder DIR{otherwise}")


def option_texts(pairs: Sequence[str]) -> dict[str, str]:
    """Options of the rules by name, from ``name=value`` each."""
    options: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise Misuse(f"--option {pair!r} is no NAME=VALUE, such as pause_after=first_round")
        if name in options:
            raise Misuse(f"--option {name} is there twice")
        options[name] = value
    return options


def checked_seconds(name: str, seconds: float, *, least: float = 0.0) -> float:
    """A time within bounds; NaN is within none."""
    if not least <= seconds < MOST_SECONDS:
        raise Misuse(f"{name} is from {least:g} to below {MOST_SECONDS:g} seconds, not {seconds:g}")
    return seconds


def checked_tick(seconds: float) -> float:
    """A masking tick within bounds."""
    if not 0 <= seconds <= MOST_TICK_SECONDS:
        raise Misuse(f"--tick is from 0 (none) to {MOST_TICK_SECONDS:g} second, not {seconds:g}")
    return seconds


def checked_seed(text: str) -> str:
    """A text that can be a seed."""
    if not text:
        raise Misuse("--seed is empty; give a text, or leave it out for a new one")
    try:
        text.encode()
    except UnicodeEncodeError:  # bytes that are no text in this locale, as Python hands them on
        raise Misuse("--seed is not UTF-8; give 64 hex digits, or a text") from None
    return text


def require_posix() -> None:
    """Bots run in process groups of their own, which only such systems have."""
    if os.name != "posix":
        raise Misuse("bots can be run on Linux and macOS only; the SDK (hokm) works here too")
