"""Matches of any number of entrants, by place, and what each has of every board.

Home becomes place 1 and away place 2. A room gave all its points to one of the two (and a pair of
races each race to its winner), so that the difference says what each had. A ladder of races counts
`games`, as its options always did, and not `pairs`.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the new tables beside the old ones, fill them from these, and drop these."""
    # SQLite checks references at once and rewrites them when a table is renamed, so the old tables
    # go away together, those that refer before those that are referred to.
    op.rename_table("matches", "matches_0001")
    op.rename_table("attempts", "attempts_0001")
    op.drop_index("ix_matches_state", "matches_0001")
    if op.get_bind().dialect.name == "postgresql":  # where no two keys of a schema share a name
        op.execute("ALTER TABLE matches_0001 DROP CONSTRAINT uq_matches_round_place")
        for table in ("matches", "attempts"):
            op.execute(f"ALTER TABLE {table}_0001 RENAME CONSTRAINT pk_{table} TO pk_{table}_0001")
    _make()
    op.execute("INSERT INTO matches SELECT id, round, place, state, void_because FROM matches_0001")
    op.execute("INSERT INTO attempts SELECT * FROM attempts_0001")
    op.execute(
        "INSERT INTO entrants SELECT id, 1, home FROM matches_0001"
        " UNION ALL SELECT id, 2, away FROM matches_0001"
    )
    op.execute(
        f"INSERT INTO points SELECT match, board, 1, {_won('x1')} + {_won('x2')} FROM boards"
        f" UNION ALL SELECT match, board, 2, {_won('-x1')} + {_won('-x2')} FROM boards"
    )
    op.get_bind().execute(
        sa.text("UPDATE ladder SET settings = replace(settings, :pairs, :games)"),
        {"pairs": "\npairs = ", "games": "\ngames = "},
    )
    for table in ("boards", "attempts_0001", "matches_0001"):
        op.drop_table(table)


def _won(difference: str) -> str:
    return f"CASE WHEN {difference} > 0 THEN {difference} ELSE 0 END"


def _make() -> None:
    op.create_table(
        "matches",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("void_because", sa.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_matches"),
        sa.UniqueConstraint("round", "place", name="uq_matches_round_place"),
        sa.ForeignKeyConstraint(["round"], ["rounds.number"], name="fk_matches_round_rounds"),
    )
    op.create_index("ix_matches_state", "matches", ["state"])
    op.create_table(
        "attempts",
        sa.Column("match", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("voided_by", sa.Text, nullable=True),
        sa.Column("cause", sa.Text, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
        sa.Column("record_digest", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("match", "number", name="pk_attempts"),
        sa.ForeignKeyConstraint(["match"], ["matches.id"], name="fk_attempts_match_matches"),
    )
    op.create_table(
        "entrants",
        sa.Column("match", sa.Text, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("bot", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("match", "place", name="pk_entrants"),
        sa.UniqueConstraint("match", "bot", name="uq_entrants_match_bot"),
        sa.ForeignKeyConstraint(["match"], ["matches.id"], name="fk_entrants_match_matches"),
        sa.ForeignKeyConstraint(["bot"], ["bots.number"], name="fk_entrants_bot_bots"),
    )
    op.create_table(
        "points",
        sa.Column("match", sa.Text, nullable=False),
        sa.Column("board", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("points", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("match", "board", "place", name="pk_points"),
        sa.ForeignKeyConstraint(
            ["match", "place"],
            ["entrants.match", "entrants.place"],
            name="fk_points_match_entrants",
        ),
    )
