"""A sample has a note: why it has its label."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    # The first migration completes later databases too, which may have it already.
    for table in ("tb_samples", "tb_replaced_samples"):
        if "note" not in {column["name"] for column in sa.inspect(op.get_bind()).get_columns(table)}:
            op.add_column(table, sa.Column("note", sa.Text))
