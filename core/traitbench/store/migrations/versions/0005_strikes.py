"""How often a run has brought its worker down, and where it was then."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add both columns; no earlier run has a strike."""
    op.add_column("tb_runs", sa.Column("strikes", sa.Integer(), nullable=False, server_default=sa.text("0")))
    op.add_column("tb_runs", sa.Column("struck_at", sa.JSON()))
