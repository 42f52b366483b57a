"""The tables of a ladder, as the newest migration makes them.

They have no dates: when a match was played stands in its record, and nothing here depends on it.
"""

from typing import Final

import sqlalchemy as sa

REVISION: Final = "0002"
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


def _reference(name: str, target: str, *, key: bool = False) -> "sa.Column[int]":
    return sa.Column(name, sa.Integer, sa.ForeignKey(target), nullable=False, primary_key=key)


ladder = sa.Table(
    "ladder",
    metadata,
    sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1", name="one_row"), primary_key=True),
    sa.Column("settings", sa.Text, nullable=False),  # ladder.toml as it was made
)
bots = sa.Table(
    "bots",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),  # in the order they were entered
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("version", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False, unique=True),
    sa.Column("rated", sa.Boolean, nullable=False),
    sa.Column("failed_starts", sa.Integer, nullable=False),  # since it last played
    sa.Column("inactive_because", sa.Text),  # NULL: it is active
)
events = sa.Table(
    "events",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("cycles", sa.Integer, nullable=False),
    sa.Column("commitment", sa.Text, nullable=False),
    sa.Column("secret", sa.Text),  # revealed, which is what ends an event
)
cycles = sa.Table(
    "cycles",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    _reference("event", "events.number"),
)
rounds = sa.Table(
    "rounds",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    _reference("cycle", "cycles.number"),
    sa.Column("is_closed", sa.Boolean, nullable=False),
)
matches = sa.Table(
    "matches",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    _reference("round", "rounds.number"),
    sa.Column("place", sa.Integer, nullable=False),  # in the round, from 1
    sa.Column("state", sa.Text, nullable=False, index=True),
    sa.Column("void_because", sa.Text),
    sa.UniqueConstraint("round", "place"),
)
entrants = sa.Table(
    "entrants",
    metadata,
    sa.Column("match", sa.Text, sa.ForeignKey("matches.id"), primary_key=True),
    sa.Column("place", sa.Integer, primary_key=True),  # as named in the match, from 1
    _reference("bot", "bots.number"),
    sa.UniqueConstraint("match", "bot"),
)
attempts = sa.Table(
    "attempts",
    metadata,
    sa.Column("match", sa.Text, sa.ForeignKey("matches.id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),  # from 1
    sa.Column("voided_by", sa.Text),  # an Ending; NULL: this attempt counts
    sa.Column("cause", sa.Text, nullable=False),
    sa.Column("record", sa.Text, nullable=False),  # its file, below records/
    sa.Column("record_digest", sa.Text, nullable=False),  # of its substance
)
points = sa.Table(
    "points",
    metadata,
    sa.Column("match", sa.Text, primary_key=True),
    sa.Column("board", sa.Integer, primary_key=True),  # or pair of races, from 1
    sa.Column("place", sa.Integer, primary_key=True),  # of the entrant
    sa.Column("points", sa.Integer, nullable=False),  # over all rooms; or races won
    sa.ForeignKeyConstraint(["match", "place"], ["entrants.match", "entrants.place"]),
)
ratings = sa.Table(
    "ratings",
    metadata,
    _reference("round", "rounds.number", key=True),
    _reference("bot", "bots.number", key=True),  # one that played a rated match in the round
    sa.Column("elo", sa.Double, nullable=False),  # unrounded
    sa.Column("matches", sa.Integer, nullable=False),
)
