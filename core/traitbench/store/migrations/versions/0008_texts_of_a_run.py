"""Texts that a discovery was sent; they are deleted when it ends."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "tb_run_texts",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("content_sha256", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["tb_runs.id"], name="fk_tb_run_texts_run_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "content_sha256", name="pk_tb_run_texts"),
    )
