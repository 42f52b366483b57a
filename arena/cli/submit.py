"""``arena register``, ``submit`` and ``withdraw``: a bot on its way to a ladder elsewhere, and out
of it again.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from arena.cli.errors import FAILED, Misuse
from arena.cli.options import Json
from arena.cli.servers import (
    Address,
    Insecure,
    Roots,
    TokenFile,
    Where,
    asking,
    asking_as_nobody,
    keep_token,
    kept_tokens,
    owner_kept,
    tokens_file,
)
from arena.wording import printable

if TYPE_CHECKING:
    from arena.service import values
    from arena.service.client import LadderClient

ASK_SECONDS: Final = 2.0
"""Between two questions for what has become of a submission."""
PATIENCE_SECONDS: Final = 300.0
"""How long a ladder may be away, to be started again say, while somebody waits for its answer."""


def register(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="As it stands in bot.toml as the owner.")
    ],
    server: Address = None,
    ca: Roots = None,
    insecure: Insecure = False,
) -> None:
    """Become an owner on a ladder that lets anybody.

    The token is kept in hokm-arena/tokens.toml in $XDG_CONFIG_HOME or ~/.config, for you alone;
    there is no other copy.
    """
    where = Where(server, ca, insecure)
    address = where.address
    kept_tokens()  # or it would be found out that it cannot be kept when there is one
    with asking_as_nobody(where) as client:
        made = client.register(name)
    file = keep_token(address, owner=made.name, token=made.token)
    print(printable(f"{made.name}: an owner on {address} now; the token is in {file}"))


def submit(
    bot: Annotated[
        str,
        typer.Argument(metavar="BOT", help="A folder with a bot.toml, or its archive."),
    ],
    server: Address = None,
    ca: Roots = None,
    insecure: Insecure = False,
    token_file: TokenFile = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the verdict, and print the report.")
    ] = False,
    json_: Json = False,
) -> None:
    """Send a bot to a ladder.

    It is packed as arena bot pack does, and validated there as arena bot check does here: run that
    first. Sending the same bot again changes nothing. With --wait the exit status is 0 if it was
    accepted. See docs/submit.md.
    """
    import tempfile

    from arena.cli import show
    from arena.cli.status import bot_of, print_shown, shown_json
    from arena.ladder.facts import SubmissionState

    where = Where(server, ca, insecure, token_file)
    with tempfile.TemporaryDirectory(prefix="hokm-submit-") as there, asking(where) as client:
        archive, digest = _packed(bot, Path(there), owner=owner_kept(where))
        with _progress(archive) as told:
            sent = client.submit(archive, digest=digest, told=told)
        shown = sent.shown
        if not json_:
            one = shown.submission
            here = "is here already, as" if sent.was_here else "is"
            show.print_line(
                show.results(),
                printable(f"{one.name} {one.version} {here} submission {one.number}"),
            )
            show.print_line(show.results(), printable(f"digest  {one.digest}"))
        if wait:
            shown = _decided(client, shown, say=lambda text: show.print_line(show.errors(), text))
        entered = bot_of(shown, client) if wait else None
    if json_:
        show.print_json(shown_json(shown) | {"was_here": sent.was_here})
    elif wait:
        print_shown(shown, entered, console=show.results())
    else:
        then = f"arena logs {shown.submission.number} --server {where.address}"
        show.print_line(show.results(), f"{shown.submission.state.value}; {then} says more")
    if wait and shown.submission.state is not SubmissionState.ACCEPTED:
        raise typer.Exit(FAILED)


def withdraw(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The bot's name on the ladder.")],
    server: Address = None,
    ca: Roots = None,
    insecure: Insecure = False,
    token_file: TokenFile = None,
) -> None:
    """Take a bot of yours out of a ladder. What it has played still counts.

    One that waits to be validated is taken back. Sending it again undoes either.
    """
    with asking(Where(server, ca, insecure, token_file)) as client:
        bot = client.withdraw(name)
    print(printable(f"{bot.name}: {bot.inactive_because or 'still active'}"))


def _packed(bot: str, there: Path, *, owner: str | None) -> tuple[Path, str]:
    """The archive of a bot, and its digest; what cannot be sent is said before anything is: also
    that it is another owner's than the token, if that is known.
    """
    from arena.cli.places import bot_folder
    from arena.ladder.bots import archive
    from hokm.errors import quoted

    packed = archive.pack(bot_folder(bot), into=there)
    if owner is not None and packed.entrant.owner != owner:
        raise Misuse(
            f"bot.toml says owner = {quoted(packed.entrant.owner)}, and the token in "
            f'{tokens_file()} is of {owner}; write owner = "{owner}", or take the token of that '
            "owner"
        )
    return packed.file, packed.entrant.digest


class _progress:  # noqa: N801  # reads as a phrase
    """A bar on a terminal, for an archive that takes a while; nothing elsewhere."""

    _LEAST_BYTES = 1 << 20

    def __init__(self, archive: Path) -> None:
        self._is_shown = sys.stderr.isatty() and archive.stat().st_size >= self._LEAST_BYTES

    def __enter__(self) -> Callable[[int, int], None]:
        if not self._is_shown:
            return lambda *_: None
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

        self._bar = Progress(
            BarColumn(), DownloadColumn(), TransferSpeedColumn(), console=Console(stderr=True)
        )
        self._bar.start()
        task = self._bar.add_task("")
        return lambda sent, size: self._bar.update(task, completed=sent, total=size)

    def __exit__(self, *_: object) -> None:
        if self._is_shown:
            self._bar.stop()


def _decided(
    client: "LadderClient", shown: "values.Shown", *, say: Callable[[str], None]
) -> "values.Shown":
    """A submission once it is decided. A ladder that is away for a while is waited for."""
    from arena.service.errors import ServerError

    told, away_since = shown.submission.state, None
    say(f"{told.value}…")
    while True:
        try:
            shown = client.submission(shown.submission.number)
        except ServerError as error:
            away_since = away_since or time.monotonic()
            if not error.is_passing or time.monotonic() > away_since + PATIENCE_SECONDS:
                raise
        else:
            away_since = None
            if shown.submission.state is not told:
                told = shown.submission.state
                if not told.is_decided:
                    say(f"{told.value}…")
            if told.is_decided:
                return shown
        time.sleep(ASK_SECONDS)
