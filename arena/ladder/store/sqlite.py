"""A database that is a file of SQLite in the ladder's folder.

SQLite's own settings are made for a library, not for a ladder: each connection sets a journal that
lets readers read while the one writer writes (WAL), commits that survive a power cut
(`synchronous=FULL`), and foreign keys.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from arena.ladder.errors import LadderError

BUSY_SECONDS: Final = 10.0
"""How long a writer waits for another. Transactions are short, so this is for a stuck disk."""

RESTORE: Final = "restore the ladder's folder from a backup"

_BESIDE: Final = ("-journal", "-wal", "-shm")
"""What SQLite may keep beside a file; it belongs to that file and would spoil another."""


class SqliteFile:
    """The database in `file`."""

    driver_error: type[Exception] = sqlite3.Error
    remedy: str = RESTORE

    def __init__(self, file: Path) -> None:
        self.where: Path | str = file
        self._file = file
        self.engine = _engine(file)
        self._writes = self.engine.execution_options(begin="BEGIN IMMEDIATE")
        self._identity: int | None = None  # of the file that was opened, its inode

    def find(self) -> None:
        """See that there is one. Raises LadderError."""
        if not self._file.is_file():
            raise LadderError(self.where, "is missing", remedy=RESTORE)
        self._refuse_lost_file()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that sees one moment, and is never held up."""
        with self.engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that takes the writer's place at once: in the middle, waiting for it would
        be refused.
        """
        with self._writes.begin() as connection:
            yield connection
            self._refuse_lost_file()

    @contextmanager
    def leaving(self) -> Iterator[sa.Connection]:
        """A transaction after which the file is gone, unless it raises. Nobody writes meanwhile,
        and whoever waited for it finds no file and commits nothing.
        """
        with self._writes.connect() as connection, closing(connection.begin()):
            yield connection
            remove(self._file)

    @contextmanager
    def held(self) -> Iterator[None]:
        """The folder has a lock of its own, and the file is in no other."""
        yield

    def prepare(self, connection: sa.Connection, *, proof: Path | None) -> None:
        """A file that is there is refused by what it holds."""

    def made(self, connection: sa.Connection, *, proof: Path | None) -> None:
        """Nothing has to be known again: whoever makes a file removes what is left of one."""

    def forget(self, proof: Path) -> None:
        """Likewise."""

    def told(self, error: BaseException) -> tuple[str, str]:
        """What an error of SQLite's means to whoever runs the ladder, and what to do."""
        text = str(error)
        if "locked" in text or "busy" in text:
            return "another program holds it", "end that program, then run the command again"
        if "full" in text or "disk I/O" in text or "readonly" in text or "unable to open" in text:
            problem = f"cannot be written or read ({text})"
            return problem, "mend the disk, then run the command again"
        if "UNIQUE constraint" in text:
            return "another command changed it at this moment", "run the command again"
        if "no such table" in text or "no such column" in text:
            return f"is not a ladder's database, or damaged ({text})", RESTORE
        return f"is damaged ({text})", RESTORE

    def close(self) -> None:
        """Let go of the file."""
        self.engine.dispose()

    def _refuse_lost_file(self) -> None:
        """SQLite goes on in a file that was removed under it, and what it commits is nowhere."""
        try:
            found = self._file.stat()
        except OSError:
            found = None
        if found is None or (self._identity or found.st_ino) != found.st_ino:
            problem = "was removed or replaced while it was in use"
            raise LadderError(self.where, problem, remedy=RESTORE)
        self._identity = found.st_ino


def parts_of(file: Path) -> tuple[Path, ...]:
    """The files that a database is; the one that makes it one last."""
    return (*(file.with_name(f"{file.name}{ending}") for ending in _BESIDE), file)


def remove(file: Path) -> None:
    """Remove a database with all that is beside it."""
    for part in parts_of(file):
        part.unlink(missing_ok=True)


def put(made: Path, file: Path) -> None:
    """Have a database that nobody has open in the place of another, which nobody reads any more."""
    for part in parts_of(file)[:-1]:
        part.unlink(missing_ok=True)
    made.replace(file)


def _engine(file: Path) -> sa.Engine:
    engine = sa.create_engine(
        sa.URL.create("sqlite", database=str(file)), connect_args={"timeout": BUSY_SECONDS}
    )

    @event.listens_for(engine, "connect")
    def _set_up(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        # Python's driver begins transactions late and by its own rules; _begin does it here.
        connection.isolation_level = None
        try:
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
                connection.cursor().execute(f"PRAGMA {pragma}")
        except sqlite3.Error:
            connection.close()  # the pool forgets one that was never set up
            raise

    @event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))

    return engine
