"""The one seam to the database: transactions, its form, and its errors as ours.

What a file of SQLite and a schema of PostgreSQL do each in their own way stands in modules of their
own; whoever reads or writes rows need not know which it is. This module knows no bot and no match.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa

from arena.ladder.errors import LadderError
from arena.ladder.store.address import Address, Server
from arena.ladder.store.sqlite import SqliteFile
from arena.ladder.store.tables import REVISION, metadata
from arena.ladder.strict_toml import shortened


class Backend(Protocol):
    """What differs from one kind of database to another."""

    where: Path | str
    engine: sa.Engine
    driver_error: type[Exception]
    remedy: str

    def find(self) -> None:
        """See that a ladder is there. Raises LadderError."""

    def reading(self) -> AbstractContextManager[sa.Connection]:
        """A transaction that sees one moment, and is never held up by a writer."""

    def writing(self) -> AbstractContextManager[sa.Connection]:
        """A transaction that takes the writer's place at once."""

    def leaving(self) -> AbstractContextManager[sa.Connection]:
        """A transaction after which the ladder is gone from here, unless it raises."""

    def held(self) -> AbstractContextManager[None]:
        """Hold what is here for playing, so that no other folder plays it as well."""

    def prepare(self, connection: sa.Connection, *, proof: Path | None) -> None:
        """Make room for a ladder, or see that there is room. Raises LadderError."""

    def made(self, connection: sa.Connection, *, proof: Path | None) -> None:
        """Leave in `proof` how this is known again, should its folder not be made to its end."""

    def forget(self, proof: Path) -> None:
        """The folder is made: what is here is removed for no `proof` any more."""

    def told(self, error: BaseException) -> tuple[str, str]:
        """What an error of the driver's means to whoever runs the ladder, and what to do."""

    def close(self) -> None:
        """Let go of the file or the server."""


class Database:
    """The database at `address`.

    Raises LadderError for one that is damaged, locked by a stuck process, on a full disk, or out of
    reach.
    """

    def __init__(self, address: Address) -> None:
        self._backend = _backend(address)
        self._engine = self._backend.engine

    @property
    def where(self) -> Path | str:
        """Where it is, as errors say it."""
        return self._backend.where

    def close(self) -> None:
        """Let go of it."""
        self._backend.close()

    @contextmanager
    def creating(
        self, *, proof: Path | None = None, revision: str = REVISION
    ) -> Iterator[sa.Connection]:
        """A transaction in which the tables of a new ladder are made, in the form of `revision`,
        and then filled. At its end they are in the newest form.

        What is filled in and kept on a server is known again by the file `proof` until it is
        `made`; whoever makes it once more with that file begins anew.

        Raises LadderError if there is a ladder already, or for a form this arena does not know.
        """
        with self.writing() as connection:
            self._backend.prepare(connection, proof=proof)
            self._upgrade(connection, to=revision, found=revision)
            yield connection
            if revision != REVISION:
                self._upgrade(connection, to=REVISION, found=revision)
            self._backend.made(connection, proof=proof)

    def made(self, *, proof: Path) -> None:
        """What was created with this `proof`, if it was, is in use."""
        with self._errors():
            self._backend.forget(proof)

    def open(self) -> None:
        """See that the tables are there, in the newest form; one from an older arena is upgraded.

        Raises LadderError if there is no database, or one that a newer arena made.
        """
        with self._errors():
            self._backend.find()
        with self.reading() as connection:
            query = sa.text("SELECT version_num FROM alembic_version")
            found: str | None = connection.execute(query).scalar_one_or_none()
        if found != REVISION:
            with self.writing() as connection:
                self._upgrade(connection, to=REVISION, found=found)
        with self.reading() as connection:
            for table in metadata.sorted_tables:
                connection.execute(sa.select(table).limit(1))  # says so if it is missing

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that sees one moment of the database, and is never held up."""
        with self._errors(), self._backend.reading() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that is committed whole, or not at all if it raises; it takes the writer's
        place at once.
        """
        with self._errors(), self._backend.writing() as connection:
            yield connection

    @contextmanager
    def leaving(self) -> Iterator[sa.Connection]:
        """A transaction in which nobody else writes, and after which the database is removed,
        unless it raises.
        """
        with self._errors(), self._backend.leaving() as connection:
            yield connection

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold it for playing; nobody who holds another folder may meanwhile.

        Raises LadderError if somebody does.
        """
        with ExitStack() as held:
            with self._errors():  # and not those of who plays
                held.enter_context(self._backend.held())
            yield

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sa.exc.DBAPIError, self._backend.driver_error) as error:
            original = error.orig if isinstance(error, sa.exc.DBAPIError) else error
            problem, remedy = self._backend.told(original or error)
            raise LadderError(self.where, problem, remedy=remedy) from error
        except (sa.exc.NoResultFound, sa.exc.MultipleResultsFound, ValueError) as error:
            problem = f"holds what no arena writes ({shortened(str(error))})"
            raise LadderError(self.where, problem, remedy=self._backend.remedy) from error

    def _upgrade(self, connection: sa.Connection, *, to: str, found: str | None) -> None:
        """Apply the steps it has not seen. Alembic takes 0.3 s to import, so only now."""
        from alembic.command import upgrade
        from alembic.config import Config
        from alembic.util import CommandError

        config = Config()
        config.set_main_option("script_location", "arena.ladder:migrations")
        config.attributes["connection"] = connection
        try:
            upgrade(config, to)
        except CommandError as error:
            problem = f"is of a form this arena does not know (revision {found})"
            remedy = "a newer arena made it: update the arena"
            raise LadderError(self.where, problem, remedy=remedy) from error


def _backend(address: Address) -> Backend:
    if not isinstance(address, Server):
        return SqliteFile(address)
    from arena.ladder.store.postgresql import PostgresSchema  # its dialect with it, 0.05 s

    return PostgresSchema(address)
