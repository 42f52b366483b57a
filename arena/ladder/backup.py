"""A ladder as one file, and a ladder made of it again.

    tables/NAME.jsonl.gz   every row of the database at one moment, a line each
    files/...              the ladder's folder as it is: settings, bots, records, secrets
    backup.json            what there is, with the digest of each; the last of it to be written

What is outside of that folder is not in it: archives that are kept in a store elsewhere.
The rows come first and say what is needed of the files: these are whole before a row speaks of
them. So a backup may be taken while matches are played; what is decided meanwhile is not in it. It
is the same whatever the database is kept in. The file holds the secrets of the ladder, and is its
owner's alone.
"""

import fcntl
import gzip
import hashlib
import json
import os
import shutil
import stat
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Final

import arena
from arena.ladder.audit import check
from arena.ladder.bots.shelf import FOLDER as SUBMISSIONS
from arena.ladder.errors import LadderError
from arena.ladder.events.announcing import publish
from arena.ladder.facts import Deed
from arena.ladder.files import part_of, unwritable
from arena.ladder.ladder import FOLDERS, Ladder
from arena.ladder.proof.document import EVENT_FILE
from arena.ladder.settings import SETTINGS_FILE
from arena.ladder.store.address import (
    DATABASE_FILE,
    Server,
    address_file,
    keep_address,
    proof_file,
)
from arena.ladder.store.database import Database
from arena.ladder.store.sqlite import parts_of
from arena.ladder.store.tables import REVISION
from arena.ladder.store.transfer import Row, Tables, difference
from hokm.errors import quoted

SCHEMA: Final = 1
"""The form of backups that this arena writes, and the newest that it reads."""

ATTEMPTS: Final = 3
"""An event that ends while it is read shows its secret; then all is read again, so many times."""

_MANIFEST: Final = "backup.json"
_ROWS, _FILES = "tables", "files"
_LONGEST_MANIFEST_BYTES: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Backup:
    """What was put into a file, or taken out of it."""

    name: str
    """Of the ladder."""
    rows: int
    files: int
    skipped: tuple[str, ...] = ()
    """What in the ladder's folder is neither file nor folder, and was left out."""
    elsewhere: int = 0
    """Archives that were sent in and are not in the ladder's folder, and so not in the file."""


def back_up(
    ladder: Ladder, file: Path, *, with_logs: bool = False, deed: Deed | None = None
) -> Backup:
    """Write all of a ladder into a new file, also while it is played; logs if so asked.

    The file is whole or not there. `deed` is noted in the ladder before it is there, and is not
    in it. Raises LadderError if there is one, if it cannot be written, or
    for a ladder whose database is damaged.
    """
    if file.exists():
        raise LadderError(file, "is there already", remedy="give another name")
    part = part_of(file)
    try:
        for _ in range(ATTEMPTS):
            part.unlink(missing_ok=True)
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as stream:
                written = _write(ladder, stream, with_logs=with_logs)
                if written is not None:
                    stream.flush()
                    os.fsync(stream.fileno())
                    if deed is not None:
                        ladder.store.operator.note(deed)
                    part.replace(file)
                    return written
    except OSError as error:
        raise unwritable(error, Path(error.filename or file)) from error
    finally:
        part.unlink(missing_ok=True)
    problem = "ended an event each time while it was read"
    raise LadderError(ladder.folder, problem, remedy="run the command again")


def restore(
    file: Path,
    folder: Path,
    *,
    database: str | None = None,
    is_checked: bool = True,
    deed: Deed | None = None,
) -> Backup:
    """Make a ladder of a backup, in a folder that is empty or not there yet. Its database is a file
    in it, or on the server that `database` is the address of.

    Every file and row is compared with what was written, and then the ladder with itself, as
    `arena ladder check` does; `is_checked` says that it is to be sound. The folder is whole or not
    there; what was left of a restore that was interrupted is made anew. `deed` is noted in the
    ladder that is made.

    Raises LadderError for a file that is no backup, is damaged, or came from a newer arena, and if
    what is made of it is not sound.
    """
    if database is not None:
        Server.parse(database, schema=folder.name)  # before anything is done
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LadderError(folder, "is there already", remedy="give a new folder, or an empty one")
    try:
        stream = file.open("rb")
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise LadderError(file, problem, remedy="give the file of a backup") from error
    try:
        with stream, tarfile.open(fileobj=stream, mode="r:") as archive:
            return _restore(
                archive, file, folder, database=database, is_checked=is_checked, deed=deed
            )
    except (tarfile.TarError, EOFError, gzip.BadGzipFile) as error:
        raise _damaged(file, str(error)) from error
    except OSError as error:
        raise unwritable(error, Path(error.filename or folder)) from error


# -- writing


def _write(ladder: Ladder, stream: IO[bytes], *, with_logs: bool) -> Backup | None:
    """None if an event ended meanwhile whose rows say that it goes on."""
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        writer = _Writer(archive)
        with ladder.store.database.reading() as connection:
            shown = _Shown()
            counts = _write_rows(writer, Tables(connection), shown)
        skipped = writer.add_files(ladder.folder, shown, with_logs=with_logs)
        under_way = ladder.store.event_under_way()
        if shown.event is not None and (
            under_way is None or under_way.number != shown.event or under_way.is_ending
        ):
            return None
        manifest = {
            "schema": SCHEMA,
            "ladder": ladder.settings.name,
            "arena": arena.__version__,
            "revision": REVISION,
            "rows": counts,
            "folders": writer.folders,
            "digests": writer.digests,
        }
        files = sum(name.startswith(f"{_FILES}/") for name in writer.digests)
        writer.add(_MANIFEST, json.dumps(manifest, indent=1).encode(), mode=0o600)
    elsewhere = ladder.store.accounts.kept_digests() - ladder.bundles.own.list()
    return Backup(
        ladder.settings.name,
        sum(counts.values()),
        files,
        tuple(skipped),
        elsewhere=len(elsewhere),
    )


class _Shown:
    """What rows say that decides which files are taken: the event that goes on, and its records."""

    def __init__(self) -> None:
        self.event: int | None = None
        self._records: set[str] = set()

    def see(self, table: str, row: Mapping[str, object]) -> None:
        """Look at a row."""
        if table == "events" and row["secret"] is None and not row["ending"]:
            number = row["number"]
            assert isinstance(number, int)
            self.event = number
        elif table == "attempts" and self.event is not None:
            record = str(row["record"])
            if record.startswith(f"ev{self.event}/"):
                self._records.add(record)

    def takes(self, record: PurePosixPath) -> bool:
        """Whether a file below records/ is known to the rows, or no concern of theirs."""
        is_its = self.event is not None and record.parts[0] == f"ev{self.event}"
        return not is_its or record.suffix != ".gz" or str(record) in self._records


def _write_rows(writer: "_Writer", tables: Tables, shown: _Shown) -> dict[str, int]:
    counts = {}
    for name, columns in tables.columns().items():
        count, buffer = 0, BytesIO()
        with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as lines:
            lines.write(_line(columns))
            for row in tables.rows(name):
                shown.see(name, dict(zip(columns, row, strict=True)))
                lines.write(_line(row))
                count += 1
        writer.add(f"{_ROWS}/{name}.jsonl.gz", buffer.getvalue(), mode=0o600)
        counts[name] = count
    return counts


def _line(values: Sequence[object]) -> bytes:
    # What JSON has no number for is in no sound database, and is refused by a ValueError.
    return (json.dumps(values, allow_nan=False, separators=(",", ":")) + "\n").encode()


class _Writer:
    """An archive that grows, with the digest of each of its members."""

    def __init__(self, archive: tarfile.TarFile) -> None:
        self.digests: dict[str, str] = {}
        self.folders: dict[str, int] = {}
        """The mode of each folder with something in it, by its name in the ladder's."""
        self._archive = archive

    def add(self, name: str, data: bytes, *, mode: int, mtime: float = 0.0) -> None:
        """Add a member."""
        info = tarfile.TarInfo(name)
        info.size, info.mode, info.mtime = len(data), mode, mtime
        self._archive.addfile(info, BytesIO(data))
        self.digests[name] = hashlib.sha256(data).hexdigest()

    def add_files(self, folder: Path, shown: _Shown, *, with_logs: bool) -> list[str]:
        """Add what is in a ladder's folder; what is neither file nor folder is returned."""
        skipped = []
        for path in _files(folder):
            name = PurePosixPath(path.relative_to(folder).as_posix())
            if name.parts[0] == "logs" and not with_logs:
                continue
            if name.parts[0] == "records" and not shown.takes(name.relative_to("records")):
                continue
            try:
                found = path.lstat()
                if not stat.S_ISREG(found.st_mode):
                    skipped.append(str(name))
                    continue
                data = path.read_bytes()
                for home in name.parents:
                    if str(home) not in self.folders:
                        self.folders[str(home)] = stat.S_IMODE((folder / home).stat().st_mode)
            except FileNotFoundError:  # logs may be removed at any time, and drafts are
                continue
            mode = stat.S_IMODE(found.st_mode)
            self.add(f"{_FILES}/{name}", data, mode=mode, mtime=found.st_mtime)
        return skipped


def _files(folder: Path) -> Iterator[Path]:
    """All that belongs to a ladder but its database; what is being written has a hidden name."""
    own = {address_file(folder), proof_file(folder), folder / "lock"}
    own |= set(parts_of(folder / DATABASE_FILE))
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path in own:
            continue
        # Records may be kept on another disk; what else is linked there is no part of a ladder.
        if not path.is_dir() or (path.is_symlink() and path.name not in FOLDERS):
            yield path
            continue
        for home, folders, names in os.walk(path):
            here = Path(home)
            if len(here.relative_to(folder).parts) < 2 or path.name != "bots":
                folders[:] = [name for name in folders if not name.startswith(".")]
                names = [name for name in names if not name.startswith(".")]
            links = [name for name in folders if (here / name).is_symlink()]
            folders[:] = sorted(set(folders) - set(links))
            yield from (one for name in sorted([*names, *links]) if (one := here / name) not in own)


# -- reading


def _restore(
    archive: tarfile.TarFile,
    file: Path,
    folder: Path,
    *,
    database: str | None,
    is_checked: bool,
    deed: Deed | None,
) -> Backup:
    manifest = _manifest(archive, file)
    part = part_of(folder.resolve())
    with _making(part):
        tables = part / f".{_ROWS}"
        _unpack(archive, file, part, tables=tables, digests=manifest.digests)
        for name in FOLDERS:
            (part / name).mkdir(mode=0o700 if name == "secret" else 0o777, exist_ok=True)
        _close_folders(part, manifest)
        (part / "lock").touch()
        address = part / DATABASE_FILE
        if database is not None:
            server = Server.parse(database, schema=manifest.ladder)
            keep_address(part, server)
            made = Database(server)
        else:
            made = Database(address)
        try:
            _fill(made, file, tables, manifest=manifest, proof=proof_file(part))
        finally:
            made.close()
        shutil.rmtree(tables)
        with Ladder.open(part, is_in_place=False) as ladder:
            _publish_anew(ladder)
            problems = check(ladder) if is_checked else []
            if deed is not None:
                ladder.store.operator.note(deed)
        if problems:
            more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
            problem = f"would be a ladder that is not sound ({problems[0]}{more})"
            remedy = "take another backup, or restore it all the same with --unchecked"
            raise LadderError(file, problem, remedy=remedy)
        os.sync()
        part.rename(folder)
    Ladder.open(folder).close()
    files = sum(name.startswith(f"{_FILES}/") for name in manifest.digests)
    return Backup(manifest.ladder, sum(manifest.rows.values()), files)


def _publish_anew(ladder: Ladder) -> None:
    """The document of an event that goes on was read after the rows, and may name what they do not
    know, and of which there are no records.
    """
    event = ladder.store.event_under_way()
    if event is None or event.is_ending:
        return
    if (ladder.records_folder / event.name / EVENT_FILE).exists():
        publish(ladder, event)


@dataclass(frozen=True, slots=True)
class _Manifest:
    ladder: str
    revision: str
    rows: dict[str, int]
    folders: dict[str, int]
    digests: dict[str, str]


def _close_folders(part: Path, manifest: _Manifest) -> None:
    """Let into the folders whom they let in before: archives that were sent in are not for
    everybody. A backup that does not say is of an arena where two were for the operator alone.
    """
    homes = {
        home
        for name in manifest.digests
        if name.startswith(f"{_FILES}/")
        for home in PurePosixPath(name).relative_to(_FILES).parents
    }
    for home in homes:
        mode = manifest.folders.get(str(home), 0o700 if str(home) == SUBMISSIONS else None)
        if mode is not None:
            (part / home).chmod(0o700 | (mode & 0o777))
    (part / "secret").chmod(0o700)


def _manifest(archive: tarfile.TarFile, file: Path) -> _Manifest:
    try:
        member = archive.getmember(_MANIFEST)
    except KeyError:
        raise _damaged(file, f"it has no {_MANIFEST}, which is written last") from None
    data = _read(archive, member) if member.size <= _LONGEST_MANIFEST_BYTES else b""
    try:
        found = json.loads(data)
        schema = found["schema"]
        if isinstance(schema, int) and schema > SCHEMA:
            raise LadderError(file, "was made by a newer arena", remedy="update the arena")
        return _Manifest(
            str(found["ladder"]),
            str(found["revision"]),
            {str(name): int(count) for name, count in found["rows"].items()},
            {str(name): int(mode) for name, mode in found.get("folders", {}).items()},
            {str(name): str(digest) for name, digest in found["digests"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _damaged(file, f"its {_MANIFEST} says nothing") from None


def _unpack(
    archive: tarfile.TarFile, file: Path, part: Path, *, tables: Path, digests: Mapping[str, str]
) -> None:
    homes = {_ROWS: tables, _FILES: part}
    left = dict(digests)
    for member in archive:
        if member.name == _MANIFEST:
            continue
        name = PurePosixPath(member.name)
        home = homes.get(name.parts[0]) if name.parts else None
        is_safe = home is not None and len(name.parts) > 1 and ".." not in name.parts
        if not member.isreg() or not is_safe or member.name not in left:
            raise _damaged(file, f"{quoted(member.name)} does not belong into it")
        assert home is not None
        data = _read(archive, member)
        if hashlib.sha256(data).hexdigest() != left.pop(member.name):
            raise _damaged(file, f"{quoted(member.name)} is not as it was written")
        target = home.joinpath(*name.parts[1:])
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            os.fchmod(descriptor, member.mode & 0o777)
        os.utime(target, (member.mtime, member.mtime))
    if left:
        raise _damaged(file, f"{quoted(next(iter(left)))} is missing")
    if not (part / SETTINGS_FILE).is_file():
        raise _damaged(file, f"{SETTINGS_FILE} is missing")


def _read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(member)
    data = b"" if stream is None else stream.read()
    if len(data) != member.size:
        raise tarfile.ReadError("unexpected end of data")
    return data


def _fill(
    database: Database, file: Path, tables: Path, *, manifest: _Manifest, proof: Path
) -> None:
    """Put the rows into a new database, and compare them with what they are then."""
    with database.creating(proof=proof, revision=manifest.revision) as connection:
        into = Tables(connection, revision=manifest.revision)
        for name in into.columns():
            if name not in manifest.rows:
                continue
            with _rows(tables / f"{name}.jsonl.gz", file) as (columns, rows):
                count = into.fill(name, columns, rows)
            if count != manifest.rows[name]:
                raise _damaged(file, f"{count} rows of {name} in place of {manifest.rows[name]}")
        if unknown := set(manifest.rows) - set(into.columns()):
            raise _damaged(file, f"nothing is known of {quoted(min(unknown))}")
        for name, columns in into.columns().items():
            if name in manifest.rows:
                with _rows(tables / f"{name}.jsonl.gz", file) as (written, rows):
                    order = [written.index(column) for column in columns]
                    due = (tuple(row[place] for place in order) for row in rows)
                    if found := difference(due, into.rows(name)):
                        problem = f"would not be restored as it was: of {name}, {found}"
                        raise LadderError(file, problem, remedy="tell who maintains the arena")


@contextmanager
def _rows(table: Path, file: Path) -> Iterator[tuple[tuple[str, ...], Iterator[Row]]]:
    try:
        with gzip.open(table, "rb") as lines:
            columns = tuple(str(name) for name in json.loads(next(lines)))
            yield columns, (tuple(json.loads(line)) for line in lines)
    except (FileNotFoundError, StopIteration, TypeError, json.JSONDecodeError, zlib.error) as error:
        raise _damaged(file, f"{table.name} holds no rows ({type(error).__name__})") from error


@contextmanager
def _making(part: Path) -> Iterator[None]:
    """Have an empty folder in which a ladder is made, but for how it knows again what an earlier
    attempt has left on a server; nobody else makes one there meanwhile.
    """
    part.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(part, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            problem, remedy = "is being made by another restore", "wait until that is done"
            raise LadderError(part, problem, remedy=remedy) from None
        proof = proof_file(part)
        for path in part.iterdir():
            if path.is_dir() and path != proof.parent:
                shutil.rmtree(path)
            elif path != proof.parent:
                path.unlink()
        if proof.parent.is_dir():
            for path in proof.parent.iterdir():
                if path != proof:
                    path.unlink()
        yield
    finally:
        os.close(descriptor)


def _damaged(file: Path, problem: str) -> LadderError:
    return LadderError(file, f"is no backup, or damaged ({problem})", remedy="take another backup")
