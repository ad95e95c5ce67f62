"""Traits have an order."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    # The first migration completes later databases too, which may have it already.
    if "rank" not in {column["name"] for column in sa.inspect(op.get_bind()).get_columns("tb_traits")}:
        op.add_column("tb_traits", sa.Column("rank", sa.BigInteger().with_variant(sa.Integer(), "sqlite")))
