"""A namespace says which trait an attribute means."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table, and the index that finds the traits whose key in capitals is an attribute."""
    op.create_index(
        "ix_tb_traits_attribute", "tb_traits", [sa.text("upper(replace(key, '-', '_'))")], if_not_exists=True
    )
    # The first migration completes later databases too, which may have it already.
    if sa.inspect(op.get_bind()).has_table("tb_attributes"):
        return
    op.create_table(
        "tb_attributes",
        sa.Column("id", _ID, sa.Identity(), nullable=False),
        sa.Column("namespace", _NAME, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("handle", _NAME, nullable=False),
        sa.Column("trait", _NAME, nullable=False),
        sa.Column("set_at", sa.BigInteger, nullable=False),
        sa.Column("by", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_tb_attributes"),
        sa.UniqueConstraint("namespace", "name", name="uq_tb_attributes_namespace_name"),
        sqlite_autoincrement=True,
    )
