"""Models have texts without labels, and people decide about them."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the tables."""
    # The first migration completes later databases too, which may have them already.
    if sa.inspect(op.get_bind()).has_table("tb_texts"):
        return
    op.create_table(
        "tb_texts",
        sa.Column("id", _ID, sa.Identity(), nullable=False),
        sa.Column("model_id", _ID, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("content_sha256", sa.String, nullable=False),
        sa.Column("source", sa.Text),
        sa.Column("group", sa.Text),
        sa.Column("added_at", sa.BigInteger, nullable=False),
        sa.Column("by", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_tb_texts"),
        sa.ForeignKeyConstraint(["model_id"], ["tb_models.id"], name="fk_tb_texts_model_id"),
        sa.UniqueConstraint("model_id", "content_sha256", name="uq_tb_texts_model_id_content_sha256"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_tb_texts_model_id_id", "tb_texts", ["model_id", "id"])
    op.create_table(
        "tb_decisions",
        sa.Column("id", _ID, sa.Identity(), nullable=False),
        sa.Column("text_id", _ID, nullable=False),
        sa.Column("trait", _NAME, nullable=False),
        sa.Column("person", sa.String, nullable=False),
        sa.Column("by", sa.Text),
        sa.Column("quality", sa.Float),
        sa.Column("sample_id", _ID),
        sa.Column("made", sa.Boolean, nullable=False),
        sa.Column("note", sa.Text),
        sa.Column("decided_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tb_decisions"),
        sa.ForeignKeyConstraint(["text_id"], ["tb_texts.id"], name="fk_tb_decisions_text_id", ondelete="CASCADE"),
        sa.UniqueConstraint("text_id", "trait", "person", name="uq_tb_decisions_text_id_trait_person"),
        sqlite_autoincrement=True,
    )
