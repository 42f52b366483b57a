"""A database that is a schema on a PostgreSQL server.

Writers take turns by a lock of the server's, as they do in a file; readers see one moment and wait
for nobody. Whoever plays holds the schema by another lock, which is its connection's: what it
writes it writes through that connection, so that nothing is written by one who has lost its hold.
Server, driver and network may all be slow or gone, so each wait has an end.
"""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from arena.ladder.errors import LadderError
from arena.ladder.files import unwritable, write_whole
from arena.ladder.store.address import Server
from arena.ladder.store.tables import metadata
from arena.ladder.strict_toml import shortened

TURN_SECONDS: Final = 10.0
"""How long a writer waits for another, and anybody for a lock."""
STATEMENT_SECONDS: Final = 60.0
"""How long one statement may take; the longest reads all that was ever played."""
CONNECT_SECONDS: Final = 10
HOLD_SECONDS: Final = 1.0
"""How long whoever wants to play waits for a hold to end."""

RESTORE: Final = "restore the ladder from a backup"

_NO_LOCK: Final = "55P03"
_AGAIN: Final = "run the command again"
_UNFINISHED: Final = "being_made"
"""A table that is there until the folder is, too, and holds how that folder knows it again."""

_CONNECTING: Final = {
    "application_name": "hokm-arena",
    "connect_timeout": str(CONNECT_SECONDS),
    # One whose host is gone is noticed within a minute.
    "keepalives_idle": "20",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}

_BY_STATE: Final = {
    "08": ("lost its server in the middle ({})", f"see that it runs, then {_AGAIN}"),
    "22": ("cannot hold what it was given ({})", "tell who maintains the arena"),
    "23503": ("is damaged ({})", RESTORE),
    "23505": ("another command changed it at this moment", _AGAIN),
    "23": ("is damaged ({})", RESTORE),
    "25006": ("cannot be written ({})", "name the server that can be, no standby of it"),
    "28": (
        "does not let us in ({})",
        "mend the user or the password: in the address, in PGPASSWORD or in ~/.pgpass",
    ),
    "3D": ("is not there ({})", "make the database (createdb), or mend the address"),
    "40": ("another program holds it", _AGAIN),
    "42501": ("is closed to this user ({})", "grant it, or name another user"),
    "42P01": ("is not a ladder's database, or damaged ({})", RESTORE),
    "42703": ("is not a ladder's database, or damaged ({})", RESTORE),
    "42P07": ("holds other tables ({})", "name a schema of its own: ?schema=NAME"),
    "53100": ("has no room ({})", f"make room on the server's disk, then {_AGAIN}"),
    "53": ("has a server that can take no more ({})", f"let it rest or grow, then {_AGAIN}"),
    _NO_LOCK: ("another program holds it", f"end that program, then {_AGAIN}"),
    "57014": (
        f"took longer than {STATEMENT_SECONDS:.0f} s",
        f"see what keeps the server busy, then {_AGAIN}",
    ),
    "57": ("lost its server in the middle ({})", f"see that it runs, then {_AGAIN}"),
    "58": ("cannot be written or read ({})", f"mend the server's disk, then {_AGAIN}"),
}
"""What a state of SQL means to whoever runs the ladder, and what to do: the longest that fits."""

_BY_WORDS: Final = (
    (("password", "authentication", "pg_hba", "role"), "28"),
    (("does not exist",), "3D"),
    (("permission denied",), "42501"),
    (("too many", "remaining connection slots"), "53"),
)
"""How a server says it that refuses a connection: then the driver has no state to tell."""


class PostgresSchema:
    """The schema that `server` names.

    Raises LadderError if the driver is not installed.
    """

    remedy: str = RESTORE

    def __init__(self, server: Server) -> None:
        try:
            import psycopg
        except ImportError as error:
            problem = "needs a driver that is not installed"
            remedy = "pip install 'hokm-arena[postgres]'"
            raise LadderError(str(server), problem, remedy=remedy) from error
        self.driver_error: type[Exception] = psycopg.Error
        self.where: Path | str = str(server)
        self._server = server
        self.engine = _engine(server)
        self._reads = self.engine.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
        self._holder: sa.Connection | None = None
        self._holders_turn = threading.Lock()

    def find(self) -> None:
        """See that there is a ladder. Raises LadderError."""
        with self.reading() as connection:
            if not _has(connection, "alembic_version"):
                problem, remedy = "holds no ladder", f"mend the address, or {RESTORE}"
                raise LadderError(self.where, problem, remedy=remedy)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that sees one moment, and is never held up by a writer."""
        with self._reads.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that takes the writer's place at once, so that nothing it reads changes
        under it.
        """
        if self._holder is None:
            with self.engine.begin() as connection:
                self._take_turn(connection)
                yield connection
            return
        if not self._holders_turn.acquire(timeout=TURN_SECONDS):
            raise LadderError(self.where, "another thread holds it", remedy=_AGAIN)
        try:
            with self._held_transaction() as connection:
                yield connection
        finally:
            self._holders_turn.release()

    @contextmanager
    def leaving(self) -> Iterator[sa.Connection]:
        """A transaction after which the tables are gone, unless it raises. Nobody reads or writes
        meanwhile, and whoever waited for it finds no ladder.
        """
        with self.writing() as connection:
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            connection.exec_driver_sql(f"LOCK TABLE {', '.join(metadata.tables)}")
            yield connection
            self._drop(connection)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the schema for playing: another folder may name it, on another machine."""
        self._hold()
        try:
            yield
        finally:
            holder, self._holder = self._holder, None
            if holder is not None:
                with suppress(sa.exc.SQLAlchemyError):  # it ends with the connection, only later
                    holder.execute(sa.select(sa.func.pg_advisory_unlock(self._key("play"))))
                _end(holder)

    def prepare(self, connection: sa.Connection, *, proof: Path | None) -> None:
        """Make the schema, or see that what is there holds no ladder but one that `proof` says is
        ours and was not made to its end: that one is removed. Raises LadderError.
        """
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
        if encoding != "UTF8":
            problem, remedy = f"keeps text as {encoding}", "make the database with encoding UTF8"
            raise LadderError(self.where, problem, remedy=remedy)
        known = sa.text("SELECT count(*) FROM pg_namespace WHERE nspname = :name")
        if not connection.execute(known, {"name": self._server.schema}).scalar_one():
            connection.execute(sa.schema.CreateSchema(self._server.schema))
        elif _has(connection, _UNFINISHED) and _text_of(proof) == _token_in(connection):
            self._drop_tables(connection)
        elif _has(connection, "alembic_version"):
            remedy = "go on with it from its folder, or name another schema: ?schema=NAME"
            raise LadderError(self.where, "holds a ladder already", remedy=remedy)

    def made(self, connection: sa.Connection, *, proof: Path | None) -> None:
        """Leave in `proof` how this is known again, should its folder not be made to its end."""
        if proof is None:
            return
        connection.exec_driver_sql(
            f"CREATE TABLE {_UNFINISHED} AS SELECT CAST(gen_random_uuid() AS text) AS token"
        )
        try:
            write_whole(proof, _token_in(connection).encode(), mode=0o600)
        except OSError as error:
            raise unwritable(error, proof) from error

    def forget(self, proof: Path) -> None:
        """The folder is made: what is here is removed for no `proof` any more."""
        if not proof.exists():
            return
        with self.writing() as connection:
            if not _has(connection, _UNFINISHED) or _text_of(proof) != _token_in(connection):
                return  # it is of another place, to which the ladder was to move
            connection.exec_driver_sql(f"DROP TABLE {_UNFINISHED}")
        proof.unlink(missing_ok=True)

    def told(self, error: BaseException) -> tuple[str, str]:
        """What an error of the server or the driver means to whoever runs the ladder, and what to
        do.
        """
        text = shortened(self._server.without_secrets(" ".join(str(error).split())))
        state = _state_of(error)
        if state is None:
            problem, remedy = _without_state(text)
            return problem.format(text), remedy
        for length in (5, 2):
            if found := _BY_STATE.get(state[:length]):
                problem, remedy = found
                return problem.format(text), remedy
        return f"is damaged ({text})", RESTORE

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()

    # -- below

    def _take_turn(self, connection: sa.Connection) -> None:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(self._key("write"))))

    @contextmanager
    def _held_transaction(self) -> Iterator[sa.Connection]:
        """A transaction of the connection that holds the schema; a lost one is made anew first."""
        transaction = self._begin_held()
        assert self._holder is not None
        with transaction:
            yield self._holder

    def _begin_held(self) -> sa.RootTransaction:
        for _ in range(2):
            assert self._holder is not None
            # SQLAlchemy would connect again by itself, and the new connection would hold nothing.
            if self._holder.closed or self._holder.invalidated:
                _end(self._holder)
                self._hold()
            transaction = self._holder.begin()
            try:
                self._take_turn(self._holder)
            except sa.exc.DBAPIError as error:
                transaction.close()
                if not error.connection_invalidated:
                    raise
                lost = error
            else:
                return transaction
        raise lost

    def _hold(self) -> None:
        connection = self.engine.connect()
        try:
            # A server takes a moment to notice that whoever held it was killed.
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {HOLD_SECONDS * 1000:.0f}")
            connection.execute(sa.select(sa.func.pg_advisory_lock(self._key("play"))))
            connection.commit()
        except BaseException as error:
            _end(connection)
            if isinstance(error, sa.exc.DBAPIError) and _state_of(error.orig) == _NO_LOCK:
                problem = "is being played by an arena in another folder, or on another machine"
                remedy = "wait until that is done, or stop it; the same command then goes on"
                raise LadderError(self.where, problem, remedy=remedy) from None
            raise
        self._holder = connection

    def _key(self, what: str) -> int:
        """Of a lock. Locks are each database's own, so its schema is all they have to name."""
        digest = hashlib.sha256(f"hokm-arena/{what}/{self._server.schema}".encode()).digest()
        return int.from_bytes(digest[:8], "big", signed=True)

    def _drop(self, connection: sa.Connection) -> None:
        self._drop_tables(connection)
        # Others may have put something there, or it is not ours to remove.
        with suppress(sa.exc.DBAPIError), connection.begin_nested():
            if self._server.schema != "public":
                connection.execute(sa.schema.DropSchema(self._server.schema))

    def _drop_tables(self, connection: sa.Connection) -> None:
        names = ", ".join([*metadata.tables, "alembic_version", _UNFINISHED])
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {names}")


def _end(connection: sa.Connection) -> None:
    """End a session with all that it holds, which the pool would keep for the next."""
    if not connection.closed:
        connection.invalidate()
    connection.close()


def _state_of(error: BaseException | None) -> str | None:
    state: str | None = getattr(error, "sqlstate", None)
    return state


def _has(connection: sa.Connection, table: str) -> bool:
    found = connection.execute(sa.text("SELECT to_regclass(:name)"), {"name": table})
    return found.scalar_one() is not None


def _token_in(connection: sa.Connection) -> str:
    token: str = connection.exec_driver_sql(f"SELECT token FROM {_UNFINISHED}").scalar_one()
    return token


def _text_of(proof: Path | None) -> str | None:
    try:
        return None if proof is None else proof.read_text()
    except OSError:
        return None


def _without_state(text: str) -> tuple[str, str]:
    for words, state in _BY_WORDS:
        if any(word in text for word in words):
            return _BY_STATE[state]
    return (
        "cannot be reached ({})",
        f"see that its server runs and the address is right, then {_AGAIN}",
    )


def _engine(server: Server) -> sa.Engine:
    engine = sa.create_engine(
        server.url.update_query_dict(
            {key: text for key, text in _CONNECTING.items() if key not in server.url.query}
        ),
        # One that the server closed meanwhile is noticed before anything is asked of it.
        pool_pre_ping=True,
    )
    session = {
        "search_path": engine.dialect.identifier_preparer.quote_identifier(server.schema),
        "lock_timeout": f"{TURN_SECONDS * 1000:.0f}",
        "statement_timeout": f"{STATEMENT_SECONDS * 1000:.0f}",
        # So that the server notices, too, when a machine is gone that holds a ladder.
        "tcp_keepalives_idle": "20",
        "tcp_keepalives_interval": "10",
        "tcp_keepalives_count": "3",
    }

    @event.listens_for(engine, "connect", insert=True)
    def _set_up(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        connection.autocommit = True  # or a transaction that is undone would undo it
        settings = ", ".join(f"set_config('{name}', %s, false)" for name in session)
        connection.cursor().execute(f"SELECT {settings}", tuple(session.values()))
        connection.autocommit = False

    return engine
