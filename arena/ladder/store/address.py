"""Where the database of a ladder is: a file in its folder, or a schema on a PostgreSQL server.

The address of a server may hold a password. It is kept in the ladder's folder where its owner alone
can read it, and what prints itself of it has none.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import sqlalchemy as sa

from arena.ladder.errors import LadderError
from arena.ladder.files import unwritable, write_whole

DATABASE_FILE: Final = "ladder.db"

SCHEMA: Final = "schema"
"""The part of an address that says which schema; all others are libpq's."""

LONGEST_SCHEMA_BYTES: Final = 63
"""PostgreSQL cuts longer names off, and then two of them may be one."""

_SCHEMES: Final = ("postgresql", "postgres")
_SHOWN: Final = ("host", "port", "service")
"""What of the rest of an address says which server it is."""

_FORM: Final = "postgresql://USER@HOST/DATABASE"


@dataclass(frozen=True, slots=True)
class Server:
    """A schema of a database on a PostgreSQL server. One schema holds one ladder."""

    url: sa.URL = field(repr=False)
    """With the password, if it has one, and without the schema."""
    schema: str

    @classmethod
    def parse(cls, text: str, *, schema: str | None = None) -> "Server":
        """Read `postgresql://USER@HOST/DATABASE?schema=NAME`; `schema` is for one that names none.

        Raises LadderError for what is no such address; it says nothing of what was given.
        """
        try:
            url = sa.make_url(text.strip())
        except (sa.exc.ArgumentError, ValueError):
            raise _refused("is no address of a database", f"give {_FORM}") from None
        if url.drivername not in _SCHEMES:
            problem = "is the address of no PostgreSQL server"
            raise _refused(problem, f"give {_FORM}; without one a ladder is kept in its folder")
        named = url.query.get(SCHEMA, schema or "")
        if not isinstance(named, str) or not named:
            raise _refused("names no schema, or two", f"add ?{SCHEMA}=NAME")
        if len(named.encode()) > LONGEST_SCHEMA_BYTES or re.search(r"[\x00-\x1f\x7f]", named):
            problem = f"would need a schema of a name longer than {LONGEST_SCHEMA_BYTES} bytes"
            raise _refused(problem, f"name a shorter one: ?{SCHEMA}=NAME")
        if named.startswith("pg_") or named == "information_schema":
            raise _refused(f"names the schema {named}, which is PostgreSQL's own", "name another")
        url = url.difference_update_query([SCHEMA]).set(drivername="postgresql+psycopg")
        return cls(url, named)

    @property
    def text(self) -> str:
        """All of it, the password too: `parse` reads it."""
        url = self.url.set(drivername="postgresql").update_query_dict({SCHEMA: self.schema})
        return url.render_as_string(hide_password=False)

    def __str__(self) -> str:
        """Who on which server, which database and schema; a password is nowhere in it."""
        query = {key: self.url.query[key] for key in _SHOWN if key in self.url.query}
        shown = sa.URL.create(
            "postgresql",
            username=self.url.username,
            host=self.url.host,
            port=self.url.port,
            database=self.url.database,
            query=query | {SCHEMA: self.schema},
        )
        return shown.render_as_string()

    def without_secrets(self, text: str) -> str:
        """What a server or a driver said, without the password if they should have repeated it."""
        for secret in (self.url.password, *map(str, self._secret_options())):
            if secret:
                text = text.replace(str(secret), "***")
        return text

    def _secret_options(self) -> list[str]:
        found: list[str] = []
        for key, value in self.url.query.items():
            if "password" in key.lower():
                found += [value] if isinstance(value, str) else value
        return found


Address: TypeAlias = Path | Server


def address_file(folder: Path) -> Path:
    """Where a ladder says which server it is on; a ladder that is in its folder has none."""
    return folder / "secret" / "database"


def proof_file(folder: Path) -> Path:
    """How the ladder in `folder` knows again what it makes on a server, until that is in use."""
    return folder / "secret" / "making"


def address_of(folder: Path) -> Address:
    """Where the database of the ladder in `folder` is.

    Raises LadderError if it says so in words that are none.
    """
    file = address_file(folder)
    try:
        text = file.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return folder / DATABASE_FILE
    except PermissionError as error:
        # What is secret is its owner's; whoever may read a database in the folder needs none of it.
        if (folder / DATABASE_FILE).is_file():
            return folder / DATABASE_FILE
        raise _unreadable(file, error) from error
    except (OSError, ValueError) as error:
        raise _unreadable(file, error) from error
    try:
        return Server.parse(text)
    except LadderError as error:
        problem = str(error).removeprefix(f"{_WHERE}: ")
        raise LadderError(file, "what is in it " + problem, remedy="put it back") from None


def keep_address(folder: Path, address: Address) -> None:
    """From now on the ladder in `folder` is there. Raises LadderError."""
    file = address_file(folder)
    try:
        if isinstance(address, Server):
            write_whole(file, f"{address.text}\n".encode(), mode=0o600)
        else:
            file.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(error, file) from error


_WHERE: Final = "--database"


def _refused(problem: str, remedy: str) -> LadderError:
    return LadderError(_WHERE, problem, remedy=remedy)


def _unreadable(file: Path, error: Exception) -> LadderError:
    reason = error.strerror if isinstance(error, OSError) else "no text"
    remedy = "run the command as whoever keeps this ladder"
    return LadderError(file, f"cannot be read ({reason})", remedy=remedy)
