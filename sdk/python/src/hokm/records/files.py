"""Record files: written whole, read within bounds. A name that ends in ``.gz`` is compressed."""

import errno
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hokm.records.decode import from_json
from hokm.records.document import RecordError, refuse_too_many
from hokm.records.encode import to_json
from hokm.records.values import MatchRecord, without_notes

LARGEST_BYTES = 64 * 2**20
"""No record is longer than this once unpacked: 64 MiB are some 60,000 hands, and a small file that
unpacks to more is not let into memory.
"""


def save(path: Path, record: MatchRecord) -> None:
    """Write the record so that at every moment the file is whole: the old one, none, or this one.

    Equal records are equal bytes. One that would be too long to be read again is written without
    notes. Raises OSError, which names ``path``; :class:`RecordError` for a record that is too long
    even so; ValueError for a name not in composed form.
    """
    data = file_bytes(path, record)
    part = _part(path)
    with naming(path):
        try:
            with part.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except BaseException:
            _remove(part)
            raise
        _sync_folder(path.parent)


def file_bytes(path: Path, record: MatchRecord) -> bytes:
    """What :func:`save` writes into a file of that name; raises as it does, but no OSError."""
    data = to_json(record)
    try:
        _refuse_too_long(path, data)
    except RecordError:
        data = to_json(without_notes(record))
        _refuse_too_long(path, data)
    return _compressed(data) if path.suffix == ".gz" else data


def _refuse_too_long(path: Path, data: bytes) -> None:
    if len(data) > LARGEST_BYTES:
        raise RecordError(
            f"{path}: this record has {len(data)} bytes; none may have over {LARGEST_BYTES}"
        )
    refuse_too_many(data)


def refuse_unwritable(path: Path) -> None:
    """Raise the OSError that :func:`save` would, as far as it can be known without a record.

    The file that is written first is really made, and removed: no permission, a name too long, a
    folder that is not there are told, a disk that fills up later is not.
    """
    part = _part(path)
    with naming(path):
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        try:
            part.open("wb").close()
        finally:
            _remove(part)


def load(path: Path) -> MatchRecord:
    """Read a record.

    Raises :class:`RecordError` saying what is wrong and where for a file that is torn, too large or
    no record; OSError where the file cannot be read.
    """
    try:
        return from_json(read_bounded(path))
    except RecordError as error:
        raise RecordError(f"{path}: {error}") from None


def _part(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def _remove(part: Path) -> None:
    # Why it was not written is what is told, not that what was not written cannot be removed.
    with suppress(OSError):
        part.unlink()


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Errors of the system name the file that was asked for; a write names none by itself."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _compressed(data: bytes) -> bytes:
    # No file name and no time in the header: they would make equal records different files.
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as file:
        file.write(data)
    return packed.getvalue()


def refuse_irregular(path: Path) -> None:
    """Raise RecordError for a pipe, which would have us wait, a device, which may never end, or a
    folder; OSError where nothing is found.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise RecordError("not a regular file")


def read_bounded(path: Path) -> bytes:
    """The bytes of a document, unpacked where its name ends in ``.gz``; raises RecordError for a
    file that is torn, or too long to be one, and OSError.
    """
    refuse_irregular(path)
    with path.open("rb") as file:
        # Compressed, a file may be long and hold nothing, which takes as long to find.
        if os.fstat(file.fileno()).st_size > LARGEST_BYTES:
            raise RecordError(f"over {LARGEST_BYTES} bytes: no record is that long")
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
