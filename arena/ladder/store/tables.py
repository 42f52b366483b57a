"""The tables of a ladder, as the newest migration makes them.

What ratings come from has no dates: when a match was played stands in its record, and no rating
depends on it. What the service keeps has them, as ISO 8601 in UTC to the second.
"""

from math import isfinite
from typing import Final, TypeVar

import sqlalchemy as sa

from hokm.errors import quoted

T = TypeVar("T")

REVISION: Final = "0004"
"""The newest step under `arena.ladder.migrations`."""

metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)


class _Whole(sa.TypeDecorator[int]):
    """Whole numbers. SQLite keeps anything in any column, and what is of another kind than its
    column was written by no arena: reading it raises ValueError.
    """

    impl = sa.Integer
    cache_ok = True

    def process_result_value(self, value: object, dialect: sa.Dialect) -> int | None:
        """What was kept, if it is one."""
        return _checked(value, int)


class _Text(sa.TypeDecorator[str]):
    """Texts, likewise. PostgreSQL keeps no NUL, so none is kept anywhere."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        """What is to be kept."""
        return without_nul(value)

    def process_result_value(self, value: object, dialect: sa.Dialect) -> str | None:
        """What was kept, if it is one."""
        return _checked(value, str)


class _Real(sa.TypeDecorator[float]):
    """Finite numbers, likewise."""

    impl = sa.Double
    cache_ok = True

    def process_result_value(self, value: object, dialect: sa.Dialect) -> float | None:
        """What was kept, if it is one."""
        number = _checked(value, float)
        if number is not None and not isfinite(number):
            raise ValueError(f"{number} is no finite number")
        return number


def _checked(value: object, kind: type[T]) -> T | None:
    if value is None or isinstance(value, kind):
        return value
    raise ValueError(f"{quoted(value)} in place of {kind.__name__}")


def without_nul(value: T) -> T:
    """A text without what is no character of any text; all else as it is."""
    return value.replace("\0", "\N{SYMBOL FOR NULL}") if isinstance(value, str) else value  # type: ignore[return-value]


def _reference(name: str, target: str, *, key: bool = False) -> "sa.Column[int]":
    return sa.Column(name, _Whole, sa.ForeignKey(target), nullable=False, primary_key=key)


def _number(name: str) -> "sa.Column[int]":
    """Of a table that counts its rows. A sequence would leave gaps where a transaction failed."""
    following = sa.text(f"(SELECT coalesce(max(number), 0) + 1 FROM {name})")
    return sa.Column("number", _Whole, primary_key=True, autoincrement=False, default=following)


ladder = sa.Table(
    "ladder",
    metadata,
    sa.Column(
        "id",
        _Whole,
        sa.CheckConstraint("id = 1", name="one_row"),
        primary_key=True,
        autoincrement=False,
    ),
    sa.Column("settings", _Text, nullable=False),  # ladder.toml as it was made
)
bots = sa.Table(
    "bots",
    metadata,
    _number("bots"),  # in the order they were entered
    sa.Column("name", _Text, nullable=False, unique=True),
    sa.Column("owner", _Text, nullable=False),
    sa.Column("version", _Text, nullable=False),
    sa.Column("digest", _Text, nullable=False, unique=True),
    sa.Column("program", _Text, nullable=False, server_default=""),  # the digest of what it runs
    sa.Column("reference", sa.Boolean, nullable=False, server_default="0"),  # the arena's own
    sa.Column("rated", sa.Boolean, nullable=False),
    sa.Column("failed_starts", _Whole, nullable=False),  # since it last played
    sa.Column("inactive_because", _Text),  # NULL: it is active
    sa.Column("remote", sa.Boolean, nullable=False, server_default="0"),  # it runs elsewhere
)
events = sa.Table(
    "events",
    metadata,
    sa.Column("number", _Whole, primary_key=True, autoincrement=False),
    sa.Column("schedule", _Text, nullable=False, server_default=""),  # who meets whom, as JSON
    sa.Column("commitment", _Text, nullable=False),
    sa.Column("beacon", _Text),  # where the entropy comes from; NULL: from nonces
    sa.Column("entropy", _Text),  # fixed, which is what begins an event
    sa.Column("secret", _Text),  # revealed, which is what ends an event
    sa.Column("settled", _Text),  # the schedule with all fixed that is fixed as the event begins
    sa.Column("beacon_value", _Text),  # what the beacon published; NULL: there was none
    # How many bots there were when it began; NULL: it has not, or an arena that published nothing
    # played it.
    sa.Column("entered", _Whole),
    # Its secret is being revealed: nothing more of it is played.
    sa.Column("ending", sa.Boolean, nullable=False, server_default="0"),
)
nonces = sa.Table(
    "nonces",
    metadata,
    _reference("event", "events.number", key=True),
    _reference("bot", "bots.number", key=True),
    sa.Column("nonce", _Text, nullable=False),  # 32 bytes as hex
)
cycles = sa.Table(
    "cycles",
    metadata,
    sa.Column("number", _Whole, primary_key=True, autoincrement=False),
    _reference("event", "events.number"),
    sa.Column("field", _Text),  # JSON: the bots that could be paired; NULL: those that were
)
rounds = sa.Table(
    "rounds",
    metadata,
    sa.Column("number", _Whole, primary_key=True, autoincrement=False),
    _reference("cycle", "cycles.number"),
    sa.Column("is_closed", sa.Boolean, nullable=False),
)
matches = sa.Table(
    "matches",
    metadata,
    sa.Column("id", _Text, primary_key=True),
    _reference("round", "rounds.number"),
    sa.Column("place", _Whole, nullable=False),  # in the round, from 1
    sa.Column("state", _Text, nullable=False, index=True),
    sa.Column("void_because", _Text),
    sa.UniqueConstraint("round", "place"),
)
entrants = sa.Table(
    "entrants",
    metadata,
    sa.Column("match", _Text, sa.ForeignKey("matches.id"), primary_key=True),
    sa.Column("place", _Whole, primary_key=True),  # as named in the match, from 1
    _reference("bot", "bots.number"),
    sa.Column("forfeits", _Whole),  # games that ended by its fault; NULL: not counted
    sa.Column("cpu_milliseconds", _Whole),  # of its processes; NULL: not known
    sa.UniqueConstraint("match", "bot"),
    sa.Index("ix_entrants_bot", "bot", "cpu_milliseconds"),
    sa.Index(
        "ix_entrants_forfeits",
        "bot",
        "forfeits",
        sqlite_where=sa.text("forfeits > 0"),
        postgresql_where=sa.text("forfeits > 0"),
    ),
)
attempts = sa.Table(
    "attempts",
    metadata,
    sa.Column("match", _Text, sa.ForeignKey("matches.id"), primary_key=True),
    sa.Column("number", _Whole, primary_key=True),  # from 1
    sa.Column("voided_by", _Text),  # an Ending; NULL: this attempt counts
    sa.Column("cause", _Text, nullable=False),
    sa.Column("record", _Text, nullable=False),  # its file, below records/
    sa.Column("record_digest", _Text, nullable=False),  # of its substance
    sa.Column("struck", _Text),  # why the operator struck it out; NULL: he did not
)
results = sa.Table(
    "results",
    metadata,
    sa.Column("match", _Text, sa.ForeignKey("matches.id"), primary_key=True),
    sa.Column("boards", _Text, nullable=False),  # JSON: of each board what each entrant has
)
# What standings are made of: it follows from the results, and is read in one go.
pairs = sa.Table(
    "pairs",
    metadata,
    sa.Column("round", _Whole, primary_key=True),
    sa.Column("place", _Whole, primary_key=True),
    _reference("first", "bots.number", key=True),
    _reference("second", "bots.number", key=True),
    sa.Column("won", _Whole, nullable=False),  # boards, as the first sees them
    sa.Column("drawn", _Whole, nullable=False),
    sa.Column("lost", _Whole, nullable=False),
    sa.Column("difference", _Whole, nullable=False),  # of all boards together
    sa.ForeignKeyConstraint(["round", "place"], ["matches.round", "matches.place"]),
    sqlite_with_rowid=False,
)
ratings = sa.Table(
    "ratings",
    metadata,
    _reference("round", "rounds.number", key=True),
    _reference("bot", "bots.number", key=True),  # one that played a rated match in the round
    sa.Column("elo", _Real, nullable=False),  # unrounded
    sa.Column("matches", _Whole, nullable=False),
    sa.Index("ix_ratings_bot", "bot", "round"),
)
owners = sa.Table(
    "owners",
    metadata,
    _number("owners"),
    sa.Column("name", _Text, nullable=False, unique=True),
    sa.Column("family", _Text, nullable=False, unique=True),  # the name as owners are compared
    sa.Column("registered", _Text, nullable=False),
    sa.Column("barred_because", _Text),  # NULL: welcome
)
tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("digest", _Text, primary_key=True),  # SHA-256 of the token; itself is kept nowhere
    _reference("owner", "owners.number"),
    sa.Column("label", _Text, nullable=False),
    sa.Column("scopes", _Text, nullable=False),  # words with spaces between
    sa.Column("issued", _Text, nullable=False),
    sa.Column("revoked", _Text),  # when; NULL: it is good
    sa.UniqueConstraint("owner", "label"),
)
submissions = sa.Table(
    "submissions",
    metadata,
    _number("submissions"),
    _reference("owner", "owners.number"),
    sa.Column("name", _Text, nullable=False),  # of the bot, as its manifest says, like its version
    sa.Column("version", _Text, nullable=False),
    sa.Column("digest", _Text, nullable=False),
    sa.Column("size_bytes", _Whole, nullable=False),
    sa.Column("received", _Text, nullable=False),
    sa.Column("state", _Text, nullable=False, index=True),
    sa.Column("decided", _Text),  # when; NULL: it is waiting or being validated
    sa.Column("report", _Text),  # what validation came to, as JSON
    sa.Column("bot", _Whole, sa.ForeignKey("bots.number")),  # NULL: it became none
    sa.Index("ix_submissions_owner", "owner", "received"),
)
# What an operator did, in order; nothing is ever changed or removed in it.
deeds = sa.Table(
    "deeds",
    metadata,
    _number("deeds"),
    sa.Column("at", _Text, nullable=False),
    sa.Column("actor", _Text, nullable=False),
    sa.Column("verb", _Text, nullable=False),
    sa.Column("subject", _Text, nullable=False),
    sa.Column("reason", _Text, nullable=False),
)
controls = sa.Table(
    "controls",
    metadata,
    sa.Column("name", _Text, primary_key=True),  # such as "paused"
    sa.Column("value", _Text, nullable=False),
)
