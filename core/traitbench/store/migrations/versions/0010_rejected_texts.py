"""Texts that a synthesis rejected, until the next run of the model."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
NAME = "tb_rejected_texts"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        NAME,
        sa.Column("id", ID, sa.Identity(), nullable=False),
        sa.Column("model_id", ID, nullable=False),
        sa.Column("trait_id", ID, nullable=False),
        sa.Column("seed_sample_id", ID),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("quality", sa.Float(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("generator", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{NAME}"),
        sa.ForeignKeyConstraint(["model_id"], ["tb_models.id"], name=f"fk_{NAME}_model_id"),
        sa.ForeignKeyConstraint(["trait_id"], ["tb_traits.id"], name=f"fk_{NAME}_trait_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["seed_sample_id"], ["tb_samples.id"], name=f"fk_{NAME}_seed_sample_id", ondelete="CASCADE"
        ),
        sqlite_autoincrement=True,
    )
    for column in ("model_id", "trait_id", "seed_sample_id"):
        op.create_index(f"ix_{NAME}_{column}", NAME, [column])
