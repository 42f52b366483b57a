"""Files that are whole or not there, folders that one process holds at a time, and what is said
where one cannot be written or read.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from arena.ladder.errors import LadderError


def write_whole(file: Path, data: bytes, *, mode: int) -> None:
    """Write a file so that at every moment it is whole, or not there. Raises OSError."""
    write_part(file, data, mode=mode).replace(file)


def write_part(file: Path, data: bytes, *, mode: int) -> Path:
    """Write what is to become a file, under another name, which is returned."""
    part = part_of(file)
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    return part


def part_of(file: Path) -> Path:
    """The name of a file that is being written."""
    return file.with_name(f".{file.name}.part")


def unwritable(error: OSError, where: Path) -> LadderError:
    """The error for a file or folder that the system would not let us write."""
    problem = f"cannot be written ({error.strerror})"
    return LadderError(where, problem, remedy="mend that, then run the command again")


def read_document(
    file: Path, *, largest_bytes: int, holds: str, remedy: str
) -> Mapping[str, object]:
    """The JSON object in a file of ours, of so many bytes at most, which ``holds`` that. Raises
    LadderError, with that remedy for what is damaged.
    """
    try:
        with file.open("rb") as stream:
            data = stream.read(largest_bytes + 1)
        document = json.loads(data) if len(data) <= largest_bytes else None
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise LadderError(file, problem, remedy="make it readable") from error
    except (ValueError, RecursionError) as error:
        raise LadderError(file, "is not JSON", remedy=remedy) from error
    if not isinstance(document, dict):
        raise LadderError(file, f"holds no {holds}", remedy=remedy)
    return document


LOCK_FILE: Final = "lock"


@contextmanager
def held(folder: Path, *, kind: str, begun: str, ours: Set[str]) -> Iterator[None]:
    """Hold the folder, made if need be; nobody else may meanwhile. It ends with the process.

    ``begun`` is the file by which it is known to be a ``kind``; where that is missing there may be
    nothing but ``ours``. Raises LadderError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_begun = (folder / begun).exists()
        others = sorted(
            entry.name
            for entry in folder.iterdir()
            if entry.name.lstrip(".").removesuffix(".part") not in {*ours, begun, LOCK_FILE}
        )
        if others and not is_begun:
            problem = f"is no {kind}, and has {others[0]} in it"
            raise LadderError(folder, problem, remedy="give a new folder, or an empty one")
        # Not inherited by bots, so that a stray one cannot keep the folder held.
        descriptor = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise unwritable(error, folder) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            remedy = "wait until that is done, or stop it; the same command then goes on"
            raise LadderError(folder, "is being played already", remedy=remedy) from None
        yield
    finally:
        os.close(descriptor)
