"""Files that are whole or not there, and what is said where one cannot be written."""

import os
from pathlib import Path

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
