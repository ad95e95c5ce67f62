"""When a model was archived and from which state, its main trait and demo texts, and notes of tags."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add columns. A model that is archived was last changed when it was archived; from which state is unknown."""
    op.add_column("tb_models", sa.Column("archived_at", sa.BigInteger()))
    op.add_column("tb_models", sa.Column("archived_from", sa.String()))
    op.add_column("tb_models", sa.Column("main_trait", NAME))
    op.add_column("tb_models", sa.Column("demo_texts", sa.JSON()))
    op.add_column("tb_tags", sa.Column("note", sa.Text()))
    op.execute("UPDATE tb_models SET archived_at = updated_at WHERE state = 'archived'")
