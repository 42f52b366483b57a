"""Events with a schedule and entropy, programs of bots, and results that are read in one go.

An event of so many cycles was a round robin without entropy. The boards of a match become one row,
and what came of them between each two entrants another. Faults and CPU time were in the records
only and are not known of older matches. A bot of the arena's own is known by its owner, since until
now nobody else was told to keep off that name; what a bot runs is taken to be its whole bundle.
"""

import json
from collections.abc import Iterator
from itertools import combinations, groupby

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the new columns, make the new tables, fill both, and drop `points`."""
    # Columns are added with a default and none is changed: SQLite would have to make the table
    # anew, and others refer to it.
    op.add_column("bots", sa.Column("program", sa.Text, nullable=False, server_default=""))
    op.add_column("bots", sa.Column("reference", sa.Boolean, nullable=False, server_default="0"))
    op.execute("UPDATE bots SET program = digest, reference = (owner = 'hokm-arena')")
    op.add_column("events", sa.Column("schedule", sa.Text, nullable=False, server_default=""))
    op.add_column("events", sa.Column("beacon", sa.Text, nullable=True))
    op.add_column("events", sa.Column("ending", sa.Boolean, nullable=False, server_default="0"))
    op.add_column("events", sa.Column("entropy", sa.Text, nullable=True))
    op.execute(
        """UPDATE events SET entropy = '',"""
        """ schedule = '{"kind": "round-robin", "cycles": ' || cycles || '}'"""
    )
    op.drop_column("events", "cycles")
    for name in ("settled", "beacon_value"):
        op.add_column("events", sa.Column(name, sa.Text, nullable=True))
    op.add_column("events", sa.Column("entered", sa.Integer, nullable=True))
    # Of an event that is over nothing was published, and nothing will be.
    op.execute("UPDATE events SET entered = (SELECT count(*) FROM bots) WHERE secret IS NULL")
    op.add_column("cycles", sa.Column("field", sa.Text, nullable=True))
    op.add_column("entrants", sa.Column("forfeits", sa.Integer, nullable=True))
    op.add_column("entrants", sa.Column("cpu_milliseconds", sa.Integer, nullable=True))
    _make()
    _fill()
    op.drop_table("points")


def _fill() -> None:
    connection = op.get_bind()
    query = sa.text(
        "SELECT points.match, board, points.place, points, bot, round, matches.place AS at"
        " FROM points JOIN matches ON matches.id = points.match JOIN entrants"
        " ON entrants.match = points.match AND entrants.place = points.place"
        " ORDER BY points.match, board, points.place"
    )
    for match, played in groupby(connection.execute(query).all(), key=lambda row: row.match):
        rows = list(played)
        boards = [
            [row.points for row in board] for _, board in groupby(rows, key=lambda row: row.board)
        ]
        bots = [row.bot for row in rows[: len(boards[0])]]
        connection.execute(
            sa.text("INSERT INTO results VALUES (:match, :boards)"),
            {"match": match, "boards": json.dumps(boards, separators=(",", ":"))},
        )
        connection.execute(
            sa.text("INSERT INTO pairs VALUES (:round, :at, :a, :b, :won, :drawn, :lost, :sum)"),
            [
                {"round": rows[0].round, "at": rows[0].at} | pair
                for pair in _pairs(bots, boards=boards)
            ],
        )


def _pairs(bots: list[int], *, boards: list[list[int]]) -> Iterator[dict[str, int]]:
    for first, second in combinations(sorted(range(len(bots)), key=bots.__getitem__), 2):
        differences = [board[first] - board[second] for board in boards]
        yield {
            "a": bots[first],
            "b": bots[second],
            "won": sum(d > 0 for d in differences),
            "drawn": differences.count(0),
            "lost": sum(d < 0 for d in differences),
            "sum": sum(differences),
        }


def _make() -> None:
    op.create_index("ix_entrants_bot", "entrants", ["bot", "cpu_milliseconds"])
    op.create_index(
        "ix_entrants_forfeits",
        "entrants",
        ["bot", "forfeits"],
        sqlite_where=sa.text("forfeits > 0"),
        postgresql_where=sa.text("forfeits > 0"),
    )
    op.create_index("ix_ratings_bot", "ratings", ["bot", "round"])
    op.create_table(
        "nonces",
        sa.Column("event", sa.Integer, nullable=False),
        sa.Column("bot", sa.Integer, nullable=False),
        sa.Column("nonce", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("event", "bot", name="pk_nonces"),
        sa.ForeignKeyConstraint(["event"], ["events.number"], name="fk_nonces_event_events"),
        sa.ForeignKeyConstraint(["bot"], ["bots.number"], name="fk_nonces_bot_bots"),
    )
    op.create_table(
        "results",
        sa.Column("match", sa.Text, nullable=False),
        sa.Column("boards", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("match", name="pk_results"),
        sa.ForeignKeyConstraint(["match"], ["matches.id"], name="fk_results_match_matches"),
    )
    op.create_table(
        "pairs",
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("first", sa.Integer, nullable=False),
        sa.Column("second", sa.Integer, nullable=False),
        *(
            sa.Column(name, sa.Integer, nullable=False)
            for name in ("won", "drawn", "lost", "difference")
        ),
        sa.PrimaryKeyConstraint("round", "place", "first", "second", name="pk_pairs"),
        sa.ForeignKeyConstraint(
            ["round", "place"], ["matches.round", "matches.place"], name="fk_pairs_round_matches"
        ),
        sa.ForeignKeyConstraint(["first"], ["bots.number"], name="fk_pairs_first_bots"),
        sa.ForeignKeyConstraint(["second"], ["bots.number"], name="fk_pairs_second_bots"),
        sqlite_with_rowid=False,
    )
