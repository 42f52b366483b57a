"""The bundle: which files make a bot, and the digest that says exactly which bot it is.

A changed byte is another bot: entrants, records and frozen copies are known by this digest. This
module knows nothing of what the files mean; the manifest among them is the business of `entrants`.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_CHUNK_BYTES: Final = 1 << 20


class BotError(ValueError):
    """A bot that cannot be entered as it stands: where, what is wrong, what to do, in one line."""

    def __init__(self, where: Path | str, problem: str, *, remedy: str) -> None:
        super().__init__(f"{where}: {problem}; {remedy}")


@dataclass(frozen=True, slots=True)
class BundleFile:
    """A file that belongs to a bot.

    Args:
        source: where it lies.
        path: its path inside the bot's folder, with "/" between the parts.
        runs: whether its owner may run it.
    """

    source: Path
    path: str
    runs: bool


def bundle(folder: Path) -> list[BundleFile]:
    """Return the files that make a bot, sorted by the bytes of their paths.

    Left out are `__pycache__`, hidden files and folders, and `*.log`: what running a bot, an editor
    or version control leaves behind, so that none of it makes another bot of it.

    Raises:
        BotError: for a symbolic link or anything else that is neither a file nor a folder: the
            digest could not vouch for what it leads to.
    """
    return sorted(_walk(folder, prefix=""), key=lambda file: os.fsencode(file.path))


def bundle_digest(folder: Path, *, without: str | None = None) -> str:
    """Return the identity of the bot in `folder`, 64 hex digits.

    SHA-256 over its files in the order of `bundle`, each as BE32(length of path), path, one byte 0
    or 1 for the run bit, BE64(length of file), file. The file at the path `without` is left out.

    Raises:
        BotError: as `bundle`, and for a file that cannot be read or changes while it is read.
    """
    digest = hashlib.sha256()
    for file in bundle(folder):
        if file.path == without:
            continue
        path = os.fsencode(file.path)
        try:
            with file.source.open("rb") as stream:
                left_bytes = os.fstat(stream.fileno()).st_size
                digest.update(len(path).to_bytes(4, "big") + path + bytes([file.runs]))
                digest.update(left_bytes.to_bytes(8, "big"))
                while chunk := stream.read(_CHUNK_BYTES):
                    digest.update(chunk)
                    left_bytes -= len(chunk)
        except OSError as error:
            raise unreadable(file.source, error) from error
        if left_bytes:
            remedy = "stop what writes it, or name it *.log"
            raise BotError(file.source, "changed while it was read", remedy=remedy)
    return digest.hexdigest()


def _walk(folder: Path, *, prefix: str) -> Iterator[BundleFile]:
    try:
        with os.scandir(folder) as found:
            entries = list(found)
    except OSError as error:
        raise unreadable(folder, error) from error
    for entry in entries:
        if _is_left_behind(entry.name):
            continue
        source, path = Path(entry.path), prefix + entry.name
        if entry.is_symlink():
            remedy = "put the file itself there, or hide the link by a leading dot"
            raise BotError(source, "is a symbolic link", remedy=remedy)
        if entry.is_dir():
            yield from _walk(source, prefix=path + "/")
        elif not entry.is_file():
            remedy = "remove it from the bot's folder"
            raise BotError(source, "is neither a file nor a folder", remedy=remedy)
        elif not is_left_out(entry.name):
            yield BundleFile(source, path=path, runs=bool(entry.stat().st_mode & stat.S_IXUSR))


def is_left_out(path: str) -> bool:
    """Whether a file of that path, inside a bot's folder, is no part of the bot; see `bundle`."""
    return any(map(_is_left_behind, path.split("/"))) or path.endswith(".log")


def _is_left_behind(name: str) -> bool:
    return name.startswith(".") or name == "__pycache__"


def unreadable(path: Path, error: OSError) -> BotError:
    """Return the error for a file or folder that the system would not let us read."""
    return BotError(path, f"cannot be read ({error.strerror})", remedy="make it readable")
