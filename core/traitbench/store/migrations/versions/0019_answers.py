"""Requests with an idempotency key leave their answers."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table."""
    # The first migration completes later databases too, which may have it already.
    if sa.inspect(op.get_bind()).has_table("tb_answers"):
        return
    op.create_table(
        "tb_answers",
        sa.Column("id", sa.String, nullable=False),
        sa.Column("request", sa.String, nullable=False),
        sa.Column("model_id", _ID),
        sa.Column("request_id", sa.String, nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("media_type", sa.String, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("answered_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tb_answers"),
        sa.ForeignKeyConstraint(["model_id"], ["tb_models.id"], name="fk_tb_answers_model_id"),
    )
    for column in ("model_id", "answered_at"):
        op.create_index(f"ix_tb_answers_{column}", "tb_answers", [column])
