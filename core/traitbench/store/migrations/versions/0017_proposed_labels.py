"""Models have labels that other programs proposed."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table."""
    # The first migration completes later databases too, which may have it already.
    if sa.inspect(op.get_bind()).has_table("tb_proposed_labels"):
        return
    op.create_table(
        "tb_proposed_labels",
        sa.Column("id", _ID, sa.Identity(), nullable=False),
        sa.Column("model_id", _ID, nullable=False),
        sa.Column("trait", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("content_sha256", sa.String, nullable=False),
        sa.Column("value", sa.Float, nullable=False),
        sa.Column("community", sa.Text),
        sa.Column("client_token", sa.Text),
        sa.Column("proposed_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tb_proposed_labels"),
        sa.ForeignKeyConstraint(["model_id"], ["tb_models.id"], name="fk_tb_proposed_labels_model_id"),
        sqlite_autoincrement=True,
    )
    for columns in (["model_id", "id"], ["model_id", "content_sha256"]):
        op.create_index(f"ix_tb_proposed_labels_{'_'.join(columns)}", "tb_proposed_labels", columns)
