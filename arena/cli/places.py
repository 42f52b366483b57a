"""Where things are: the bot that a word names, here or in a record, the notes about live processes,
and folders that are needed for one match only.
"""

import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from arena.cli.closing import UNDO
from arena.cli.errors import Misuse
from arena.ladder.bots.archive import SUFFIX, unpack
from arena.ladder.bots.entrants import BotError, Entrant, find_bot, load_bot
from arena.ladder.bots.environments import Environments
from arena.ladder.bots.revisions import Revision, export, parted
from arena.ladder.processes.sandbox import Sandbox
from arena.ladder.processes.strays import birth_of, sweep
from arena.wording import printable, told_apart
from hokm.records import MatchRecord

_PREFIX: Final = "hokm-arena-"
_KEPT: Final = ".kept"
_RUNNING: Final = "running"


def bot_place(text: str) -> Path:
    """The folder or archive of the bot that a person means; a word that names nothing is a misuse,
    where a bad bot is named well. ``folder@revision`` is a folder as it was, for as long as the
    command runs.
    """
    return _found(text)[0]


def bot_folder(text: str) -> Path:
    """The folder of the bot that a person means, see :func:`bot_place`. An archive is unpacked, for
    as long as the command runs.
    """
    return _unpacked(bot_place(text))


def named_bot(text: str) -> Entrant:
    """The bot that a person means, see :func:`bot_folder`, by the revision that was named."""
    place, revision = _found(text)
    return replace(load_bot(_unpacked(place)), revision=revision)


def entrants_named(record: MatchRecord, name: str, *, option: str) -> tuple[int, ...]:
    """The entrants of a match that a person means, by name or by how they are told apart; raises
    Misuse, with the option it was asked by, for none.
    """
    labels = told_apart([(one.name, one.version) for one in record.entrants])
    entrants = enumerate(zip(record.entrants, labels, strict=True))
    found = tuple(place for place, (one, label) in entrants if name in (one.name, label))
    if not found:
        known = ", ".join(printable(label) for label in labels)
        raise Misuse(f"{option} {printable(name)}: this match was played by {known}")
    return found


def _found(text: str) -> tuple[Path, Revision | None]:
    if not text:
        raise Misuse("a BOT is empty; name a folder with a bot.toml, or a bundled bot")
    try:
        return find_bot(text), None
    except BotError as error:
        parts = parted(text)
        if parts is None:
            raise Misuse(str(error)) from error
    folder, asked = parts
    place = Path(folder)
    with suppress(BotError):  # one that is not there any more may have been
        place = find_bot(folder)
    private = temporary_folder()
    UNDO.callback(shutil.rmtree, private, ignore_errors=True)
    try:
        exported = export(place, asked, into=private)
    except BotError as error:
        raise Misuse(str(error)) from error
    tell(f"{text} {exported}")
    return exported.folder, exported.revision


def _unpacked(place: Path) -> Path:
    if place.suffix.lower() != SUFFIX or place.is_dir():
        return place
    private = temporary_folder()
    UNDO.callback(shutil.rmtree, private, ignore_errors=True)
    return unpack(place, private / place.stem).folder


def tell(line: str) -> None:
    """Say a line beside the results."""
    print(printable(line), file=sys.stderr)


def environments(
    wheels: Path | None,
    *,
    confine: Callable[[], AbstractContextManager[Sandbox | None]] | None = None,
    has_network: bool = False,
) -> Environments:
    """What makes what bots need, from that folder of wheels if there is one; `confine` makes the
    sandbox for what is built.
    """
    if wheels is not None and not wheels.is_dir():
        raise Misuse(f"--wheels {wheels} is no folder; name one that has wheels (*.whl) in it")
    return Environments(
        wheels=wheels,
        tell=tell,
        confine=confine,
        has_network=has_network,
    )


def bundles_folder() -> Path:
    """Where archives of bots are kept, by digest, unless another place is named."""
    return data_folder() / "bundles"


def data_folder() -> Path:
    """Where what is to last is kept for whom no other place is named."""
    data = os.environ.get("XDG_DATA_HOME")
    try:
        home = Path(data) if data else Path.home() / ".local/share"
    except RuntimeError as error:
        raise Misuse("there is no home to keep it in; say where") from error
    return home / "hokm-arena"


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
    return otherwise / _RUNNING


def temporary_folder() -> Path:
    """Make a folder for one match, and remove those of arenas that were killed.

    Its name says whose it is, by the process's id and birth, so a kill at no moment leaves one that
    nobody knows. One that is to be read later is to be marked, see `keep`.
    """
    home = Path(tempfile.gettempdir())
    for folder in home.glob(f"{_PREFIX}*"):
        if _is_abandoned(folder):
            # Where there is no home to note processes in, they are noted here.
            sweep(folder / _RUNNING)
            shutil.rmtree(folder, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{_owner(os.getpid())}-", dir=home))


def keep(folder: Path) -> None:
    """Leave a temporary folder to whoever was told of it."""
    with suppress(OSError):
        (folder / _KEPT).touch()


def _is_abandoned(folder: Path) -> bool:
    """Whether an arena of ours made it, without keeping it, and has ended. The temporary folder is
    everybody's: what another user put there is no business of ours.
    """
    name = re.fullmatch(rf"{_PREFIX}((\d+)-[0-9a-f]+)-[^-]+", folder.name)
    try:
        is_ours = folder.lstat().st_uid == os.geteuid() and not folder.is_symlink()
        return (
            name is not None
            and is_ours
            and not (folder / _KEPT).exists()
            and _owner(int(name[2])) != name[1]
        )
    except OSError:  # another arena has just removed it
        return False


def _owner(pid: int) -> str:
    birth = birth_of(pid) or ""
    return f"{pid}-{hashlib.sha256(birth.encode()).hexdigest()[:12]}"
