"""The vectors of texts that batches have scored."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "tb_kept_vectors",
        sa.Column("id", ID, sa.Identity(), nullable=False),
        sa.Column("model_id", ID, nullable=False),
        sa.Column("encoder_digest", sa.String(), nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("text_hash", sa.LargeBinary(), nullable=False),
        sa.Column("tokens", sa.Integer()),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tb_kept_vectors"),
        sa.ForeignKeyConstraint(["model_id"], ["tb_models.id"], name="fk_tb_kept_vectors_model_id"),
        sa.UniqueConstraint(
            *("model_id", "encoder_digest", "mode", "text_hash"),
            name="uq_tb_kept_vectors_model_id_encoder_digest_mode_text_hash",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_tb_kept_vectors_used_at_size", "tb_kept_vectors", ["used_at", "size"])
