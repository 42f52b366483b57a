"""``arena bot new``: a folder with a bot that plays at once, its tests and its manifest.

What the files say is in ``arena/templates/bot``; here they get the bot's name and its owner's.
Nothing that is there already is touched.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final

import typer

from arena.cli.errors import Misuse
from arena.wording import printable

# Two are hidden in the bot's folder, so that they are no part of the bot, and not among ours.
_FILES: Final = {
    "bot.toml": "bot.toml",
    "bot.py": "bot.py",
    "test_bot.py": "test_bot.py",
    "README.md": "README.md",
    "gitignore": ".gitignore",
    "pytest.ini": ".pytest.ini",
}
_GIT_SECONDS: Final = 5.0
"""Longer than any git takes to read its settings: for one that hangs on a dead disk."""


def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What the bot is called, and its folder.")
    ],
    in_: Annotated[
        Path, typer.Option("--in", metavar="DIR", help="Where to make its folder.")
    ] = Path(),
    owner: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Whose bot it is.  [default: git's user.name, or who you are here]"
        ),
    ] = None,
) -> None:
    """Make a folder with a bot that plays at once.

    It has a manifest, a short program, tests, and the commands that come next; docs/write-a-bot.md
    goes on from there. A folder that is there already is left as it is.
    """
    from arena.cli import show
    from arena.ladder.bots.bundle import BotError
    from arena.ladder.bots.entrants import sample_names

    name = _checked("NAME", name)
    if name in sample_names():
        raise Misuse(f"{name} is the name of a bundled bot; take another")
    whose = _owner() if owner is None else _Owner(_checked("--owner", owner), source="")
    folder = in_ / name
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        remedy = "take another name, or remove it"
        raise BotError(folder, "is there already", remedy=remedy) from None
    try:
        _write(folder, name=name, owner=whose.name)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shown = folder if folder.is_absolute() else f"./{folder}"
    for line in (
        f"made {shown}: {', '.join(name for name in _FILES.values() if name[0] != '.')}",
        f"owner {whose.name}{whose.source}",
        "",
        "next:",
        f"  arena match {shown} greedy",
        f"  cd {shown} && python -m pytest",
        "  docs/write-a-bot.md of the project goes on from here",
    ):
        show.print_line(show.results(), printable(line))


def _write(folder: Path, *, name: str, owner: str) -> None:
    from hokm.records.files import naming

    templates = files("arena") / "templates/bot"
    for template, file in _FILES.items():
        text = (templates / template).read_text(encoding="utf-8")
        # Names are letters, digits and ".", "_", "-": they stand in TOML as they are.
        text = re.sub(
            r"\b(NAME|OWNER)\b", lambda found: {"NAME": name, "OWNER": owner}[found[0]], text
        )
        with naming(folder / file):
            (folder / file).write_text(text, encoding="utf-8")


def _checked(what: str, text: str) -> str:
    from arena.ladder.bots.entrants import checked_name

    try:
        return checked_name(text)
    except ValueError as error:
        raise Misuse(f"{what} {text!r} {error}") from None


@dataclass(frozen=True, slots=True)
class _Owner:
    """Whose bot it is, and how one came to that, as the end of a sentence."""

    name: str
    source: str


def _owner() -> _Owner:
    """The first who may be an owner; a name of several words is written as one."""
    from arena.ladder.bots.entrants import checked_name

    for text, source in _guesses():
        try:
            name = checked_name("-".join(text.split()))
        except ValueError:
            continue
        return _Owner(name, source=f", from {source}; --owner names another")
    raise Misuse("nothing says whose bot it is; say it with --owner NAME")


def _guesses() -> Iterator[tuple[str, str]]:
    try:
        asked = subprocess.run(
            ["git", "config", "user.name"],
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
        yield asked.stdout, "git config user.name"
    except (OSError, ValueError, subprocess.TimeoutExpired):  # no git, or it says no text
        pass
    yield os.environ.get("USER", ""), "$USER"
