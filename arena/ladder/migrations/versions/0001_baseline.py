"""The first form: bots, events with their cycles and rounds, matches with their boards, Elo."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables; what they hold is said in `arena.ladder.store`."""
    op.create_table(
        "ladder",
        sa.Column("id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_ladder"),
        sa.CheckConstraint("id = 1", name="ck_ladder_one_row"),
    )
    op.create_table(
        "bots",
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("rated", sa.Boolean, nullable=False),
        sa.Column("failed_starts", sa.Integer, nullable=False),
        sa.Column("inactive_because", sa.Text, nullable=True),
        sa.PrimaryKeyConstraint("number", name="pk_bots"),
        sa.UniqueConstraint("name", name="uq_bots_name"),
        sa.UniqueConstraint("digest", name="uq_bots_digest"),
    )
    op.create_table(
        "events",
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("cycles", sa.Integer, nullable=False),
        sa.Column("commitment", sa.Text, nullable=False),
        sa.Column("secret", sa.Text, nullable=True),
        sa.PrimaryKeyConstraint("number", name="pk_events"),
    )
    op.create_table(
        "cycles",
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("event", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_cycles"),
        sa.ForeignKeyConstraint(["event"], ["events.number"], name="fk_cycles_event_events"),
    )
    op.create_table(
        "rounds",
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("cycle", sa.Integer, nullable=False),
        sa.Column("is_closed", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_rounds"),
        sa.ForeignKeyConstraint(["cycle"], ["cycles.number"], name="fk_rounds_cycle_cycles"),
    )
    op.create_table(
        "matches",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("home", sa.Integer, nullable=False),
        sa.Column("away", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("void_because", sa.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_matches"),
        sa.UniqueConstraint("round", "place", name="uq_matches_round_place"),
        sa.ForeignKeyConstraint(["round"], ["rounds.number"], name="fk_matches_round_rounds"),
        sa.ForeignKeyConstraint(["home"], ["bots.number"], name="fk_matches_home_bots"),
        sa.ForeignKeyConstraint(["away"], ["bots.number"], name="fk_matches_away_bots"),
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
        "boards",
        sa.Column("match", sa.Text, nullable=False),
        sa.Column("board", sa.Integer, nullable=False),
        sa.Column("x1", sa.Integer, nullable=False),
        sa.Column("x2", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("match", "board", name="pk_boards"),
        sa.ForeignKeyConstraint(["match"], ["matches.id"], name="fk_boards_match_matches"),
    )
    op.create_table(
        "ratings",
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("bot", sa.Integer, nullable=False),
        sa.Column("elo", sa.Double, nullable=False),
        sa.Column("matches", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("round", "bot", name="pk_ratings"),
        sa.ForeignKeyConstraint(["round"], ["rounds.number"], name="fk_ratings_round_rounds"),
        sa.ForeignKeyConstraint(["bot"], ["bots.number"], name="fk_ratings_bot_bots"),
    )
