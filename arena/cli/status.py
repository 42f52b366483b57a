"""``arena status`` and ``arena logs``: what has become of one's bots on a ladder elsewhere."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from arena.cli.errors import Misuse
from arena.cli.options import Json
from arena.cli.servers import (
    HOW_TO_GET_A_TOKEN,
    Address,
    Insecure,
    Roots,
    TokenFile,
    Where,
    asking,
)
from arena.wording import printable

if TYPE_CHECKING:
    from rich.console import Console

    from arena.service import values
    from arena.service.client import Download, LadderClient

MOST_SHOWN: Final = 10
"""Submissions in the table; --json has all."""
FROM_WHEN: Final = "plays from the next stage on, and the standings rank it then"
"""Of a bot that was entered and has not played."""


def status(
    server: Address = None,
    ca: Roots = None,
    insecure: Insecure = False,
    token_file: TokenFile = None,
    json_: Json = False,
) -> None:
    """Say what a ladder does, and what became of your bots.

    The report of a submission is shown by arena logs NUMBER. Without a token it says what anybody
    may know.
    """
    from arena.cli import show

    where = Where(server, ca, insecure, token_file)
    own: values.OwnBots | None = None
    sent: list[values.Shown] = []
    with asking(where, needs_token=False) as client:
        ladder = client.status()
        if client.has_token:
            own, sent = client.bots(), list(client.submissions())
    if json_:
        show.print_json(_status_json(ladder) | ({} if own is None else _own_json(own, sent)))
        return
    _print_ladder(show.results(), ladder)
    if own is None:
        show.print_line(show.errors(), f"a token shows your bots as well: {HOW_TO_GET_A_TOKEN}")
    else:
        _print_own(show.results(), own, sent)


def _status_json(ladder: "values.ServiceStatus") -> dict[str, object]:
    return {
        "ladder": ladder.ladder,
        "paused": ladder.is_paused,
        "paused_because": ladder.paused_because or None,
        "event": ladder.event or None,
        "waiting": ladder.waiting,
        "validating": ladder.validating,
        "rated": ladder.rated or None,
        "alarm": ladder.alarm or None,
    }


def _own_json(own: "values.OwnBots", sent: list["values.Shown"]) -> dict[str, object]:
    allowance = own.allowance
    return {
        "bots": [
            {
                "name": bot.name,
                "version": bot.version,
                "digest": bot.digest,
                "rated": bot.is_rated,
                "inactive_because": bot.inactive_because or None,
                "has_played": bot.has_played,
            }
            for bot in own.bots
        ],
        "submissions": [shown_json(one) for one in sent],
        "allowance": {
            "active_bots": [allowance.active_bots, allowance.most_active_bots],
            "submissions_in_24_hours": [allowance.submissions, allowance.most_submissions],
            "kept_bytes": [allowance.kept_bytes, allowance.most_kept_bytes],
        },
    }


def logs(
    of: Annotated[
        str,
        typer.Argument(
            metavar="MATCH|SUBMISSION",
            help="A match's id, such as ev1/r1/ada~bob, or the number of a submission.",
        ),
    ],
    server: Address = None,
    ca: Roots = None,
    insecure: Insecure = False,
    token_file: TokenFile = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the logs of a match there, a file a process."),
    ] = None,
    json_: Json = False,
) -> None:
    """Show what your bots printed in a match, or a report.

    A match has to be decided, and of its logs there are those of your own bots. The report is that
    of a submission, and says why it was refused.
    """
    from arena.cli import show

    where = Where(server, ca, insecure, token_file)
    if of.isascii() and of.isdigit():
        if out is not None:
            raise Misuse("--out is for the logs of a match; a submission has a report")
        with asking(where) as client:
            shown = client.submission(int(of))
            bot = bot_of(shown, client)
        if json_:
            show.print_json(shown_json(shown))
        else:
            print_shown(shown, bot, console=show.results())
        return
    with asking(where) as client:
        files = _kept(client.logs(of), out) if out is not None else _printed(client.logs(of), json_)
    if json_:
        show.print_json({"match": of, "logs": files})
    elif not files:
        show.print_line(show.errors(), "no log is kept of it")


def _printed(found: Iterator["Download"], as_json: bool) -> list[dict[str, object]]:
    from arena.cli import show

    files: list[dict[str, object]] = []
    for file in found:
        header = _header(file)
        text = b"".join(file).decode(errors="replace")
        files.append(_log_json(header) | {"text": text})
        if not as_json:
            show.print_line(show.results(), printable(f"--- {_title(header)}"))
            for line in text.splitlines():
                show.print_line(show.results(), printable(line.expandtabs()))
    return files


def _kept(found: Iterator["Download"], folder: Path) -> list[dict[str, object]]:
    from arena.cli import show

    folder.mkdir(parents=True, exist_ok=True)
    files: list[dict[str, object]] = []
    for file in found:
        header = _header(file)
        # Nothing of a name that the ladder chooses: it is a number, or it is checked.
        name = (
            f"attempt{header.attempt}-room{header.room}-seat{header.seat}-start{header.start}.log"
        )
        with (folder / name).open("wb") as written:
            for piece in file:
                written.write(piece)
        files.append(_log_json(header) | {"file": str(folder / name)})
        show.print_line(show.errors(), printable(f"{folder / name}: {_title(header)}"))
    return files


def _header(file: "Download") -> "values.LogHeader":
    from arena.service import values

    assert isinstance(file.header, values.LogHeader)
    return file.header


def _title(header: "values.LogHeader") -> str:
    again = "" if header.start == 1 else f", start {header.start}"
    attempt = "" if header.attempt == 1 else f"attempt {header.attempt}, "
    return f"{header.bot}: {attempt}room {header.room}, seat {header.seat}{again}"


def _log_json(header: "values.LogHeader") -> dict[str, object]:
    return {
        "bot": header.bot,
        "attempt": header.attempt,
        "room": header.room,
        "seat": header.seat,
        "start": header.start,
    }


# -- submissions


def shown_json(shown: "values.Shown") -> dict[str, object]:
    """A submission as JSON has it; its report is what ``arena bot check --json`` prints."""
    import json

    one = shown.submission
    report: object = None
    if shown.report:
        try:
            report = json.loads(shown.report)
        except (ValueError, RecursionError):
            report = shown.report
    return {
        "number": one.number,
        "name": one.name,
        "version": one.version,
        "digest": one.digest,
        "size_bytes": one.size_bytes,
        "received": one.received,
        "state": one.state.value,
        "decided": one.decided,
        "bot": shown.bot or None,
        "report": report,
    }


def bot_of(shown: "values.Shown", client: "LadderClient") -> "values.OwnBot | None":
    """The bot that a submission was accepted as, as it is now; None where there is none, or the
    ladder does not say.
    """
    from arena.ladder.facts import SubmissionState
    from arena.service.errors import ServerError

    if shown.submission.state is SubmissionState.ACCEPTED:
        with suppress(ServerError):  # the verdict is known all the same
            return next((bot for bot in client.bots().bots if bot.name == shown.bot), None)
    return None


def print_shown(shown: "values.Shown", bot: "values.OwnBot | None", *, console: "Console") -> None:
    """A submission and its report, as ``arena bot check`` prints it, and what became of its bot."""
    from arena.cli import show
    from arena.cli.validated import report_lines
    from arena.ladder.facts import SubmissionState

    one = shown.submission
    if shown.report:
        for line in report_lines(shown.report):
            show.print_line(console, line)
    name = f"submission {one.number}, {one.name} {one.version}"
    match one.state:
        case SubmissionState.ACCEPTED:
            text = f"{name}: accepted, and plays as {shown.bot}"
            if bot is not None and bot.inactive_because:
                text = f"{name}: accepted, and does not play now: {bot.inactive_because}"
            elif bot is not None and not bot.has_played:
                text += f"; no match yet, {FROM_WHEN}"
        case SubmissionState.REFUSED:
            text = f"{name}: refused"
        case SubmissionState.FAILED:
            text = f"{name}: the ladder itself failed at it; ask its operator, or send it again"
        case SubmissionState.WITHDRAWN:
            text = f"{name}: withdrawn; sending it again takes it back"
        case SubmissionState.WAITING:
            text = f"{name}: waits to be validated, since {one.received}"
        case SubmissionState.VALIDATING:
            text = f"{name}: is being validated"
    show.print_line(console, printable(text))


def _print_ladder(console: "Console", ladder: "values.ServiceStatus") -> None:
    from arena.cli import show
    from arena.wording import counted

    doing = f"{ladder.event or 'no event'} under way"
    if ladder.is_paused:
        doing = f"paused ({ladder.paused_because})" if ladder.paused_because else "paused"
    waiting = f"{counted(ladder.waiting, 'submission')} waiting, {ladder.validating} validated now"
    show.print_line(console, printable(f"{ladder.ladder}: {doing}; {waiting}"))
    if ladder.alarm:
        show.print_line(console, printable(f"nothing rated is decided: {ladder.alarm}"))


def _print_own(console: "Console", own: "values.OwnBots", sent: list["values.Shown"]) -> None:
    from arena.cli import show
    from arena.wording import kept_apart

    table = show.named_columns("bot", "version", "digest", "")
    for bot in own.bots:
        state = bot.inactive_because or ("active" if bot.is_rated else "active, unrated")
        if not (bot.inactive_because or bot.has_played):
            state += f"; no match yet, {FROM_WHEN}"
        table.add_row(
            kept_apart(printable(bot.name)),
            printable(bot.version),
            printable(bot.digest[:12]),
            printable(state),
        )
    if own.bots:
        console.print()
        console.print(table)
    playing = {bot.name for bot in own.bots if not bot.inactive_because}
    table = show.named_columns("#", "sent", "version", "received", "state", "plays as")
    for one in sent[:MOST_SHOWN]:
        table.add_row(
            str(one.submission.number),
            kept_apart(printable(one.submission.name)),
            printable(one.submission.version),
            printable(one.submission.received),
            one.submission.state.value,
            kept_apart(printable(one.bot)) if one.bot in playing else "",
        )
    if sent:
        console.print()
        console.print(table)
        if len(sent) > MOST_SHOWN:
            show.print_line(console, f"and {len(sent) - MOST_SHOWN} before; --json has all")
    allowance = own.allowance
    console.print()
    show.print_line(
        console,
        f"{allowance.active_bots} of {allowance.most_active_bots} bots active or on their way, "
        f"{allowance.submissions} of {allowance.most_submissions} submissions in 24 hours, "
        f"{allowance.kept_bytes / 2**20:.1f} of {allowance.most_kept_bytes / 2**20:.0f} MiB kept",
    )
