"""Samples that belong together name their group."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. Samples from before belong to nothing."""
    # The first migration completes later databases too, which may have it already.
    present = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("tb_samples")}
    if "group" not in present:
        op.add_column("tb_samples", sa.Column("group", sa.Text))
