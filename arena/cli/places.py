"""Where things are: the bot that a word names, and the notes about live processes."""

import os
from contextlib import suppress
from pathlib import Path

from arena.cli.errors import Misuse
from arena.ladder.entrants import BotError, find_bot


def bot_folder(text: str) -> Path:
    """The folder of the bot that a person means; a word that names nothing is a misuse, where a bad
    bot is named well.
    """
    if not text:
        raise Misuse("a BOT is empty; name a folder with a bot.toml, or a bundled bot")
    try:
        return find_bot(text)
    except BotError as error:
        raise Misuse(str(error)) from error


def running_folder(*, otherwise: Path) -> Path:
    """Where live processes are noted: one place for all that is played here, so that the next arena
    finds what a killed one left. Never where others may write: who writes a note has a process
    ended.
    """
    state = os.environ.get("XDG_STATE_HOME")
    with suppress(OSError, RuntimeError):  # there is no home, or none to write to
        folder = (Path(state) if state else Path.home() / ".local/state") / "hokm-arena/running"
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    return otherwise / "running"
