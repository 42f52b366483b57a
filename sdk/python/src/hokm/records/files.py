"""Record files: written whole, read within bounds. A name that ends in ``.gz`` is compressed."""

import gzip
import io
import os
import zlib
from pathlib import Path

from hokm.records.decode import from_json
from hokm.records.document import RecordError
from hokm.records.encode import to_json
from hokm.records.values import MatchRecord

LARGEST_BYTES = 64 * 2**20
"""No record is longer than this once unpacked: 64 MiB are some 60,000 hands, and a small file that
unpacks to more is not let into memory.
"""


def save(path: Path, record: MatchRecord) -> None:
    """Write the record so that at every moment the file is whole: the old one, none, or this one.

    Equal records are equal bytes. Raises OSError; a name not in composed form raises ValueError.
    """
    data = to_json(record)
    if len(data) > LARGEST_BYTES:
        raise ValueError(f"this record has {len(data)} bytes; none may have over {LARGEST_BYTES}")
    if path.suffix == ".gz":
        data = _compressed(data)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def load(path: Path) -> MatchRecord:
    """Read a record.

    Raises :class:`RecordError` saying what is wrong and where for a file that is torn, too large or
    no record; OSError where the file cannot be read.
    """
    try:
        return from_json(_read(path))
    except RecordError as error:
        raise RecordError(f"{path}: {error}") from None


def _compressed(data: bytes) -> bytes:
    # No file name and no time in the header: they would make equal records different files.
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as file:
        file.write(data)
    return packed.getvalue()


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        if path.suffix != ".gz":
            data = file.read(LARGEST_BYTES + 1)
        else:
            try:
                with gzip.GzipFile(fileobj=file) as unpacked:
                    data = unpacked.read(LARGEST_BYTES + 1)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise RecordError(f"the compressed file is torn or damaged: {error}") from None
    if len(data) > LARGEST_BYTES:
        raise RecordError(f"over {LARGEST_BYTES} bytes unpacked: no record is that long")
    return data


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
