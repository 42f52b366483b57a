"""The one seam to the database: connections, transactions, its form, and its errors as ours.

SQLite's own settings are made for a library, not for a ladder: each connection sets a journal that
lets readers read while the one writer writes (WAL), commits that survive a power cut
(`synchronous=FULL`), and foreign keys. This module knows no bot and no match.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from arena.ladder.errors import LadderError
from arena.ladder.store.tables import REVISION, metadata
from arena.ladder.strict_toml import shortened

BUSY_SECONDS: Final = 10.0
"""How long a writer waits for another. Transactions are short, so this is for a stuck disk."""

_RESTORE: Final = "restore the ladder's folder from a backup"


class Database:
    """The database in `file`.

    Raises LadderError for one that is damaged, locked by a stuck process, or on a full disk.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._engine = _engine(file)
        self._identity: int | None = None  # of the file that was opened, its inode

    def close(self) -> None:
        """Let go of the file."""
        self._engine.dispose()

    def create(self) -> None:
        """Make the tables of a new ladder."""
        with self.writing() as connection:
            _upgrade(connection)

    def open(self) -> None:
        """See that the tables are there, in the newest form; one from an older arena is upgraded.

        Raises LadderError if there is no database, or one that a newer arena made.
        """
        if not self._file.is_file():
            raise LadderError(self._file, "is missing", remedy=_RESTORE)
        self._refuse_lost_file()
        with self.reading() as connection:
            query = sa.text("SELECT version_num FROM alembic_version")
            found: str | None = connection.execute(query).scalar_one_or_none()
        if found != REVISION:
            self._upgrade_from(found)
        with self.reading() as connection:
            for table in metadata.sorted_tables:
                connection.execute(sa.select(table).limit(1))  # says so if it is missing

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that sees one moment of the database, and is never held up."""
        with self._errors(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that is committed whole, or not at all if it raises.

        It takes the writer's place at once: in the middle, waiting for it would be refused.
        """
        engine = self._engine.execution_options(begin="BEGIN IMMEDIATE")
        with self._errors(), engine.begin() as connection:
            yield connection
            self._refuse_lost_file()

    def _refuse_lost_file(self) -> None:
        """SQLite goes on in a file that was removed under it, and what it commits is nowhere."""
        try:
            found = self._file.stat()
        except OSError:
            found = None
        if found is None or (self._identity or found.st_ino) != found.st_ino:
            problem = "was removed or replaced while it was in use"
            raise LadderError(self._file, problem, remedy=_RESTORE)
        self._identity = found.st_ino

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sa.exc.DBAPIError, sqlite3.Error) as error:
            text = str(error.orig if isinstance(error, sa.exc.DBAPIError) else error)
            problem, remedy = _told(text)
            raise LadderError(self._file, problem, remedy=remedy) from error
        except (sa.exc.NoResultFound, sa.exc.MultipleResultsFound, ValueError) as error:
            problem = f"holds what no arena writes ({shortened(str(error))})"
            raise LadderError(self._file, problem, remedy=_RESTORE) from error

    def _upgrade_from(self, found: str | None) -> None:
        from alembic.util import CommandError

        try:
            with self.writing() as connection:
                _upgrade(connection)
        except CommandError as error:
            problem = f"is of a form this arena does not know (revision {found})"
            remedy = "a newer arena made it: update the arena"
            raise LadderError(self._file, problem, remedy=remedy) from error


def _told(text: str) -> tuple[str, str]:
    """What an error of SQLite's means to whoever runs the ladder, and what to do."""
    if "locked" in text or "busy" in text:
        return "another program holds it", "end that program, then run the command again"
    if "full" in text or "disk I/O" in text or "readonly" in text or "unable to open" in text:
        return f"cannot be written or read ({text})", "mend the disk, then run the command again"
    if "UNIQUE constraint" in text:
        return "another command changed it at this moment", "run the command again"
    if "no such table" in text or "no such column" in text:
        return f"is not a ladder's database, or damaged ({text})", _RESTORE
    return f"is damaged ({text})", _RESTORE


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


def _upgrade(connection: sa.Connection) -> None:
    """Apply the steps this database has not seen. Alembic takes 0.3 s to import, so only now."""
    from alembic.command import upgrade
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "arena.ladder:migrations")
    config.attributes["connection"] = connection
    upgrade(config, "head")
