"""A key of a session says who signed in."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. Sessions end with the process, so none of their keys is still in use."""
    # The first migration completes later databases too, which may have it already.
    present = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("tb_keys")}
    if "person" not in present:
        op.add_column("tb_keys", sa.Column("person", sa.String))
