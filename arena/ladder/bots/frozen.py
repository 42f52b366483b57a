"""Frozen bots: the copy of each entrant that a ladder plays, `bots/<digest>/`.

What was entered is what plays: its author may go on working in his folder, and whoever doubts a
result can run the very files again. A copy is made whole or not at all, and read back; before it
plays it is compared with its digest again. This module knows no database and no match.
"""

import os
import shutil
from pathlib import Path

from arena.ladder.bots.bundle import bundle, bundle_digest
from arena.ladder.bots.entrants import BotError, Entrant, load_bot
from arena.ladder.errors import LadderError


def freeze(entrant: Entrant, *, bots: Path) -> None:
    """Copy the files of a bot to `bots/<digest>`; harmless if they are there already.

    Raises LadderError if the copy cannot be made, is not the bot that was read, or was changed
    since it was made.
    """
    home = bots / entrant.digest
    if home.exists():
        thaw(entrant.digest, bots=bots)
        return
    # Hidden, and the same name every time: what a kill leaves behind, the next attempt removes.
    incoming = bots / f".incoming-{entrant.digest}"
    try:
        shutil.rmtree(incoming, ignore_errors=True)
        _copy(entrant.folder, incoming)
        if bundle_digest(incoming) != entrant.digest:
            remedy = "stop what writes there, then run the command again"
            raise LadderError(entrant.folder, "changed while it was copied", remedy=remedy)
        incoming.rename(home)
        _sync(bots)
    except OSError as error:
        problem = f"cannot be copied to {home} ({error.strerror})"
        remedy = "mend that, then run the command again"
        raise LadderError(entrant.folder, problem, remedy=remedy) from error
    finally:
        shutil.rmtree(incoming, ignore_errors=True)


def thaw(digest: str, *, bots: Path) -> Entrant:
    """Return the frozen bot of that digest, every byte compared.

    Raises LadderError if it is not there or not the same any more.
    """
    home = bots / digest
    remedy = "remove that folder, then add the same bot again"
    try:
        entrant = load_bot(home)
    except BotError as error:
        raise LadderError(home, f"is not as it was entered ({error})", remedy=remedy) from error
    if entrant.digest != digest:
        problem = f"is not as it was entered (its files are now {entrant.digest[:12]}…)"
        raise LadderError(home, problem, remedy=remedy)
    return entrant


def _copy(folder: Path, into: Path) -> None:
    into.mkdir(parents=True)
    for file in bundle(folder):
        copy = into / file.path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file.source, copy)
        copy.chmod(0o555 if file.runs else 0o444)
        _sync(copy)


def _sync(path: Path) -> None:
    """Make it last through a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
