"""A bot as one file: packed for the way, and unpacked strictly, since it may come from anybody.

The format is zip, its files stored and not compressed: what a compressor makes differs from one
build of zlib to the next, and an archive is to have the same bytes on any machine and day. The
identity of a bot is the digest of its files all the same, see `arena.ladder.bots.bundle`, not that
of its archive: a zip by another tool, deflated say, is the same bot if it holds the same files.
This module does not know what a ladder does with a bot.
"""

import os
import shutil
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from arena.ladder.bots.bundle import BotError, bundle, bundle_digest, is_left_out, unreadable
from arena.ladder.bots.entrants import MANIFEST, Entrant, load_bot
from arena.ladder.files import part_of
from arena.ladder.strict_toml import shortened
from hokm.errors import quoted

SUFFIX: Final = ".zip"

LARGEST_BYTES: Final = 50 * 2**20
"""Of all files together. The bundled bots have 10 KiB at most; a network of ten million weights of
four bytes fits. Whoever takes bots from strangers keeps every version of each.
"""

MOST_FILES: Final = 2000
"""A bot with a small library in its folder has some hundreds."""

LONGEST_PATH_BYTES: Final = 200
"""In UTF-8. With the folder of a ladder before it, it is to stay below what systems take."""

HIGHEST_RATIO: Final = 200
"""Unpacked to packed, beyond the first MiB. Tables of text reach 20; what was made to burst, 1000
and more."""

_LARGEST_ARCHIVE_BYTES: Final = LARGEST_BYTES + 2 * 2**20  # that, stored, with all names twice
_LARGEST_LISTING_BYTES: Final = 2**20  # 2000 times the longest path and 300 bytes
_END: Final = struct.Struct("<4s4H2LH")  # the end record of a zip, see APPNOTE.TXT 4.3.16
_END_64_BYTES: Final = 20  # of what stands before it where it is not to be believed
_CHUNK_BYTES: Final = 1 << 20
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)  # the first day of a zip
_UNIX: Final = 3
_IS_ENCRYPTED: Final = 0x1
_IS_UTF8: Final = 0x800
_FIELD: Final = struct.Struct("<2H")  # the head of an extra field: its kind and length
_SECOND_NAME: Final = 0x7075  # a name in Unicode, which zipfile heeds from 3.12 on
_UNSEEN: Final = ("Cc", "Cf", "Cs", "Zl", "Zp")  # categories of what cannot be seen in a name
_PACK: Final = "pack it with arena bot pack"
_AGAIN: Final = "get it again, or pack it again with arena bot pack"

# What `zipfile` raises for what is no archive.
_BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


@dataclass(frozen=True, slots=True)
class Packed:
    """An archive that was made: where it is, which bot it holds, in how many files and how many
    bytes of them.
    """

    file: Path
    entrant: Entrant
    files: int
    size_bytes: int


def pack(folder: Path, *, into: Path, file: Path | None = None) -> Packed:
    """Make the archive of the bot in `folder`: `file`, or `<digest>.zip` in the folder `into`.

    It is whole or not there, and read back before it is. One that is there is written over.

    Raises:
        BotError: if the bot cannot be entered as it stands, or no archive can hold it: too large,
            too many files, a name that not every machine takes.
        OSError: if the archive cannot be written.
    """
    entrant = load_bot(folder)
    sizes = packable_sizes(entrant.folder)
    found = bundle(entrant.folder)
    file = into / f"{entrant.digest}{SUFFIX}" if file is None else file
    if file.resolve().is_relative_to(entrant.folder):
        remedy = "put it elsewhere, or it would be a file of the bot"
        raise BotError(file, "lies in the bot's own folder", remedy=remedy)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = part_of(file)
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            for one in found:
                info = zipfile.ZipInfo(one.path, _EPOCH)
                info.create_system = _UNIX
                info.external_attr = (stat.S_IFREG | (0o755 if one.runs else 0o644)) << 16
                archive.writestr(info, _content(one.source, most_bytes=sizes.get(one.path, 0)))
        with tempfile.TemporaryDirectory(prefix="hokm-pack-") as there:
            if bundle_digest(_extracted(part, Path(there) / "bot")) != entrant.digest:
                remedy = "stop what writes there, then pack it again"
                raise BotError(entrant.folder, "changed while it was packed", remedy=remedy)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    return Packed(file, entrant, files=len(found), size_bytes=sum(sizes.values()))


def packable_sizes(folder: Path) -> dict[str, int]:
    """Return the files of a bot that `pack` would take, by path with their bytes.

    Raises:
        BotError: if no archive can hold it, see `pack`.
    """
    found = bundle(folder)
    _refuse_names(folder, [file.path for file in found], remedy="give it another name")
    try:
        sizes = {one.path: one.source.stat().st_size for one in found}
    except OSError as error:
        raise unreadable(folder, error) from error
    _refuse_sizes(folder, sizes)
    return sizes


def unpack(
    file: Path, folder: Path | None, *, into: Path | None = None, digest: str | None = None
) -> Entrant:
    """Make `folder` of an archive, or one named by the digest in the folder `into`, and return the
    bot in it; harmless if that is there already.

    It is there whole or not at all. `digest` is which bot it has to be, if that is known; an
    archive whose name is a digest must hold that one.

    Raises:
        BotError: for what is no archive of a bot, a larger one than `pack` makes, one with anything
            in it that `bundle` would not have, or another bot.
        OSError: if the folder cannot be made.
    """
    home = folder.parent if folder is not None else into
    assert home is not None, "one of them says where"
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".incoming-", dir=home) as there:
        aside = _extracted(file, Path(there).resolve() / "bot")
        found = bundle_digest(aside)
        for due in (digest, named_digest(file)):
            if due not in (None, found):
                problem = f"holds another bot, {found[:12]}…, in place of {due[:12]}…"
                raise BotError(file, problem, remedy=_AGAIN)
        try:
            load_bot(aside)
        except BotError as error:  # told of the archive, not of where it was looked at
            problem, _, remedy = str(error).replace(f"{aside}{os.sep}", "").partition("; ")
            raise BotError(file, problem, remedy=remedy) from error
        folder = home / found if folder is None else folder
        try:
            aside.rename(folder)
        except OSError:
            if not folder.exists():
                raise
            if bundle_digest(folder) != found:
                remedy = "name a folder that is not there yet"
                raise BotError(
                    folder, "is there already, with other files", remedy=remedy
                ) from None
    return load_bot(folder)


def named_digest(file: Path) -> str | None:
    """The digest that an archive is named by; None for one that has another name."""
    stem = file.name.removesuffix(SUFFIX)
    return stem if len(stem) == 64 and set(stem) <= set("0123456789abcdef") else None


# -- below: reading


def _extracted(file: Path, folder: Path) -> Path:
    """Put the files of an archive into a new folder, which is returned."""
    with _opened(file) as archive:
        files = _files_of(file, archive)
        folder.mkdir(mode=0o755)
        for info in files:
            target = folder / info.filename
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with archive.open(info) as packed, target.open("xb") as stream:
                    shutil.copyfileobj(packed, stream, _CHUNK_BYTES)
            except _BROKEN as error:
                _refuse(file, info.filename, f"is damaged ({_why(error)})", remedy=_AGAIN)
            if target.stat().st_size != info.file_size:
                _refuse(file, info.filename, "is not as long as it says", remedy=_AGAIN)
            target.chmod(0o755 if _runs(info) else 0o644)
    return folder


@contextmanager
def _opened(file: Path) -> Iterator[zipfile.ZipFile]:
    try:
        # A pipe would have us wait for whoever writes to it.
        if not stat.S_ISREG(file.stat().st_mode):
            raise BotError(file, "is not a regular file", remedy=_AGAIN)
        stream = file.open("rb")
    except OSError as error:
        raise unreadable(file, error) from error
    with stream:
        _refuse_listing(file, *_end_of(stream.fileno()))
        try:
            archive = zipfile.ZipFile(stream)
        except (*_BROKEN, OSError) as error:  # the latter for places that cannot be
            raise BotError(file, f"is no zip ({_why(error)})", remedy=_AGAIN) from error
        with archive:
            yield archive


def _end_of(descriptor: int) -> tuple[int, bytes]:
    """How long a file is, and its last bytes."""
    size_bytes = os.fstat(descriptor).st_size
    wanted_bytes = min(size_bytes, _END.size + _END_64_BYTES)
    return size_bytes, os.pread(descriptor, wanted_bytes, size_bytes - wanted_bytes)


def _refuse_listing(file: Path, size_bytes: int, tail: bytes) -> None:
    """Refuse by its last bytes what would take much memory only to be listed."""
    if size_bytes > _LARGEST_ARCHIVE_BYTES:
        problem = f"is {_mebibytes(size_bytes)} long; an archive of a bot has no more than "
        problem += _mebibytes(_LARGEST_ARCHIVE_BYTES)
        raise BotError(file, problem, remedy=_PACK)
    if len(tail) < _END.size:
        raise BotError(file, "is no zip", remedy=_AGAIN)
    mark, _, _, _, count, listing_bytes, _, comment_bytes = _END.unpack(tail[-_END.size :])
    if mark != b"PK\5\6" or comment_bytes:
        raise BotError(file, "is no zip, or not whole, or has a comment", remedy=_AGAIN)
    if tail[: -_END.size].startswith(b"PK\6\7") or count > MOST_FILES * 2:
        raise BotError(file, f"has more than {MOST_FILES} files in it", remedy=_PACK)
    if listing_bytes > _LARGEST_LISTING_BYTES:
        problem = f"has a listing of {_mebibytes(listing_bytes)}"
        raise BotError(file, problem, remedy=_PACK)


def _files_of(file: Path, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The files that an archive says are in it, if they can be those of a bot."""
    files = []
    for info in archive.infolist():
        name = info.orig_filename
        kind = stat.S_IFMT(info.external_attr >> 16) if info.create_system == _UNIX else 0
        is_folder = name.endswith("/")
        if kind not in (0, stat.S_IFDIR if is_folder else stat.S_IFREG):
            what = (
                "is a symbolic link" if kind == stat.S_IFLNK else "is neither a file nor a folder"
            )
            _refuse(file, name, what, remedy="put the file itself there")
        if not name.isascii() and not info.flag_bits & _IS_UTF8:
            _refuse(file, name, "has a name that is not said to be UTF-8", remedy=_PACK)
        if info.header_offset < 0:
            _refuse(file, name, "is damaged (before the archive begins)", remedy=_AGAIN)
        if info.flag_bits & _IS_ENCRYPTED:
            _refuse(file, name, "is encrypted", remedy=_PACK)
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            _refuse(file, name, "is compressed in an uncommon way", remedy=_PACK)
        if is_folder:  # as other tools have them; it follows from the files
            _refuse_name(file, name.removesuffix("/"), remedy=_PACK)
        else:
            files.append(info)
    _refuse_names(file, [info.orig_filename for info in files], remedy=_PACK)
    for info in archive.infolist():
        # It is unpacked by the name that was looked at, whatever this version of zipfile makes of
        # a field that gives it another.
        if info.filename != info.orig_filename or _SECOND_NAME in _fields_of(info):
            _refuse(file, info.orig_filename, "has a second name", remedy=_PACK)
    sizes = {info.filename: info.file_size for info in files}
    _refuse_sizes(file, sizes)
    if MANIFEST not in sizes:
        near = next((name for name in sizes if name.endswith(f"/{MANIFEST}")), None)
        problem = f"has no {MANIFEST} at its top" + (f", but {shortened(near)}" if near else "")
        raise BotError(file, problem, remedy=_PACK)
    packed_bytes = file.stat().st_size
    if sum(sizes.values()) > 2**20 + HIGHEST_RATIO * packed_bytes:
        problem = f"unpacks to more than {HIGHEST_RATIO} times its length"
        raise BotError(file, problem, remedy=_PACK)
    return files


def _fields_of(info: zipfile.ZipInfo) -> Iterator[int]:
    """The kinds of the extra fields of an entry."""
    extra = info.extra
    while len(extra) >= _FIELD.size:
        kind, length = _FIELD.unpack_from(extra)
        yield kind
        extra = extra[_FIELD.size + length :]


def _runs(info: zipfile.ZipInfo) -> bool:
    return info.create_system == _UNIX and bool(info.external_attr >> 16 & stat.S_IXUSR)


def _content(source: Path, *, most_bytes: int) -> bytes:
    try:
        with source.open("rb") as stream:
            return stream.read(most_bytes + 1)  # one more shows that it has grown
    except OSError as error:
        raise unreadable(source, error) from error


# -- below: what may be in a bot


def _refuse_names(where: Path, paths: Iterable[str], *, remedy: str) -> None:
    """Refuse paths that could not all be files of one folder, on every machine."""
    known: dict[str, str] = {}  # all of them and their folders, by what some systems take them for
    files: set[str] = set()
    folders: set[str] = set()
    for path in paths:
        _refuse_name(where, path, remedy=remedy)
        if path in files:
            _refuse(where, path, "is there twice", remedy=remedy)
        files.add(path)
        above = ["/".join(path.split("/")[:length]) for length in range(1, path.count("/") + 1)]
        folders.update(above)
        for one in (*above, path):
            other = known.setdefault(unicodedata.normalize("NFC", one).casefold(), one)
            if other != one:
                problem = f"differs from {quoted(other)} in capitals or accents only"
                _refuse(where, path, problem, remedy=remedy)
    for path in files & folders:
        _refuse(where, path, "is a file and a folder", remedy=remedy)


def _refuse_name(where: Path, path: str, *, remedy: str) -> None:
    try:
        size_bytes = len(path.encode())
    except UnicodeEncodeError:
        _refuse(where, path, "has a name that is not UTF-8", remedy=remedy)
    if size_bytes > LONGEST_PATH_BYTES:
        problem = f"has a path of {size_bytes} bytes; the longest is {LONGEST_PATH_BYTES}"
        _refuse(where, path, problem, remedy=remedy)
    if any(unicodedata.category(letter) in _UNSEEN or letter == "\\" for letter in path):
        problem = "has a backslash or an invisible character in its name"
        _refuse(where, path, problem, remedy=remedy)
    if not all(part not in ("", ".", "..") for part in path.split("/")):
        _refuse(where, path, "is not a path inside the bot's folder", remedy=remedy)
    if is_left_out(path):
        problem = "is no part of a bot (hidden, __pycache__ or *.log)"
        _refuse(where, path, problem, remedy=remedy)


def _refuse_sizes(where: Path, sizes: Mapping[str, int]) -> None:
    if len(sizes) > MOST_FILES:
        problem = f"has {len(sizes)} files; a bot has {MOST_FILES} at most"
        remedy = "put what it reads into fewer, or leave out what it does not need"
        raise BotError(where, problem, remedy=remedy)
    total_bytes = sum(sizes.values())
    if total_bytes > LARGEST_BYTES:
        largest = sorted(sizes, key=lambda path: -sizes[path])[:3]
        told = ", ".join(f"{shortened(path)} {_mebibytes(sizes[path])}" for path in largest)
        problem = f"has {_mebibytes(total_bytes)} of files; a bot has {_mebibytes(LARGEST_BYTES)} "
        problem += f"at most. The largest: {told}"
        raise BotError(
            where, problem, remedy="make them smaller, or leave out what it can do without"
        )


def _refuse(where: Path, path: str, problem: str, *, remedy: str) -> NoReturn:
    raise BotError(f"{where}: {quoted(path)}", problem, remedy=remedy)


def _mebibytes(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:,.1f} MiB"


def _why(error: Exception) -> str:
    return shortened(str(error)) or type(error).__name__
