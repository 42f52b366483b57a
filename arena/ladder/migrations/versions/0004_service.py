"""What a ladder that stands keeps besides: owners and their tokens, what they sent in, what its
operator did, and which bots come from elsewhere.

Nobody's name is in it yet: a bot that was entered by hand has an owner by name only.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add columns and make the tables; nothing that was there changes."""
    op.add_column("bots", sa.Column("remote", sa.Boolean, nullable=False, server_default="0"))
    op.add_column("attempts", sa.Column("struck", sa.Text, nullable=True))
    op.create_table(
        "owners",
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("family", sa.Text, nullable=False),
        sa.Column("registered", sa.Text, nullable=False),
        sa.Column("barred_because", sa.Text, nullable=True),
        sa.PrimaryKeyConstraint("number", name="pk_owners"),
        sa.UniqueConstraint("name", name="uq_owners_name"),
        sa.UniqueConstraint("family", name="uq_owners_family"),
    )
    op.create_table(
        "tokens",
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("owner", sa.Integer, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("issued", sa.Text, nullable=False),
        sa.Column("revoked", sa.Text, nullable=True),
        sa.PrimaryKeyConstraint("digest", name="pk_tokens"),
        sa.ForeignKeyConstraint(["owner"], ["owners.number"], name="fk_tokens_owner_owners"),
        sa.UniqueConstraint("owner", "label", name="uq_tokens_owner_label"),
    )
    op.create_table(
        "submissions",
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("owner", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("size_bytes", sa.Integer, nullable=False),
        sa.Column("received", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("decided", sa.Text, nullable=True),
        sa.Column("report", sa.Text, nullable=True),
        sa.Column("bot", sa.Integer, nullable=True),
        sa.PrimaryKeyConstraint("number", name="pk_submissions"),
        sa.ForeignKeyConstraint(["owner"], ["owners.number"], name="fk_submissions_owner_owners"),
        sa.ForeignKeyConstraint(["bot"], ["bots.number"], name="fk_submissions_bot_bots"),
    )
    op.create_index("ix_submissions_owner", "submissions", ["owner", "received"])
    op.create_index("ix_submissions_state", "submissions", ["state"])
    op.create_table(
        "deeds",
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("verb", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_deeds"),
    )
    op.create_table(
        "controls",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_controls"),
    )
