"""``arena operate``: what whoever runs a ladder may do to it, also while it is served.

Whoever may write the ladder's folder is its operator; a server that plays it looks each second.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.deeds import actor
from arena.cli.options import Json
from arena.wording import printable

if TYPE_CHECKING:
    from arena.service.operating import Verbs

app = typer.Typer(no_args_is_help=True)

Because = Annotated[
    str, typer.Option(metavar="TEXT", help="Why: a line that those may read whom it is about.")
]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why, for the log.")]
PublicReason = Annotated[
    str,
    typer.Option(
        metavar="TEXT", help="Why, for the log and whoever asks the ladder: arena status shows it."
    ),
]
BotName = Annotated[str, typer.Argument(metavar="BOT", help="The name of one that is entered.")]
MatchId = Annotated[str, typer.Argument(metavar="MATCH", help="Its id: ev3/r12/a~b.")]


@app.callback()
def operate(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The ladder's folder.")],
) -> None:
    """Pause, drain, take out bots and results. Each deed is kept with who did it and why.

    A running server minds it within a second or two.
    """
    context.obj = folder


@app.command()
def pause(context: typer.Context, because: PublicReason = "") -> None:
    """Have nothing more begun, until resume. What is under way is finished, and counts."""
    with _verbs(context) as verbs:
        verbs.pause(because=because)
    print("paused: what is under way is finished, and nothing more begun")


@app.command()
def resume(context: typer.Context, because: Reason = "") -> None:
    """Go on after a pause, with the event that was under way."""
    with _verbs(context) as verbs:
        verbs.resume(because=because)
    print("resumed")


@app.command()
def drain(context: typer.Context, because: PublicReason = "") -> None:
    """Have the server end once all matches and validations that are under way are done."""
    with _verbs(context) as verbs:
        verbs.drain(because=because)
    print("draining: arena serve ends once all that is under way is done")


@app.command(no_args_is_help=True)
def disable(context: typer.Context, bot: BotName, because: Because) -> None:
    """Take a bot out, from its next match on. What it played counts. Its owner cannot undo it."""
    with _verbs(context) as verbs:
        found = verbs.disable(bot, because=because)
    print(printable(f"{found.name}: {found.inactive_because}"))


@app.command(no_args_is_help=True)
def enable(context: typer.Context, bot: BotName, because: Reason = "") -> None:
    """Take a bot back that was disabled, or that did not start."""
    with _verbs(context) as verbs:
        found = verbs.enable(bot, because=because)
    print(printable(f"{found.name}: active"))


@app.command(no_args_is_help=True)
def void(context: typer.Context, match: MatchId, because: Because) -> None:
    """Strike out the result of a match. Ratings are as if it had not been played.

    Its record stays, and its event's document says that it was struck out, and why.
    """
    with _verbs(context) as verbs:
        verbs.void(match, because=because)
    print(printable(f"{match}: void, and ratings are worked out again"))


@app.command(no_args_is_help=True)
def requeue(context: typer.Context, match: MatchId, because: Because) -> None:
    """Have a match of the event under way played again, with other deals.

    What it came to is struck out, as by void; both attempts stay in the event's document.
    """
    with _verbs(context) as verbs:
        verbs.requeue(match, because=because)
    print(printable(f"{match}: to be played again, with other deals"))


@app.command()
def recompute(context: typer.Context, because: Reason = "", json_: Json = False) -> None:
    """Work out again all that follows from results, and say whether anything moved."""
    from arena.cli import show

    with _verbs(context) as verbs:
        moved = verbs.recompute(because=because)
    if json_:
        elo = [{"bot": name, "before": was, "after": now} for name, was, now in moved.elo]
        show.print_json({"moved": moved.is_anything, "elo": elo, "comparisons": moved.pairs})
        return
    for name, before, after in moved.elo:
        was, now = ("none" if one is None else f"{one:.1f}" for one in (before, after))
        print(printable(f"{name}: Elo was {was}, is {now}"))
    if moved.pairs:
        print("comparisons of bots were other than results say, and are put right")
    elif not moved.is_anything:
        print("nothing moved: all follows from the results")
    elif not moved.elo:
        print("Elo of earlier rounds was other than results say, and is put right")


@app.command()
def log(
    context: typer.Context,
    last: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The last so many.  [default: all]")
    ] = None,
    json_: Json = False,
) -> None:
    """Show what was done to the ladder: when, by whom, what, and why."""
    from arena.cli import show

    with _verbs(context) as verbs:
        deeds = verbs.log(last=last)
    if json_:
        show.print_json({"deeds": [asdict(deed) for deed in deeds]})
        return
    for deed in deeds:
        why = f": {deed.reason}" if deed.reason else ""
        line = f"{deed.number} {deed.at} {deed.actor} {deed.verb} {deed.subject}{why}"
        show.print_line(show.results(), printable(line))


@contextmanager
def _verbs(context: typer.Context) -> "Iterator[Verbs]":
    from arena.ladder.ladder import Ladder
    from arena.service.operating import Verbs

    with Ladder.open(context.obj) as ladder:
        yield Verbs(ladder, actor=actor(), now=lambda: datetime.now(UTC))
