"""Whether texts of a model under zero retention may be sent to the language model."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column: off, as it was."""
    op.add_column(
        "tb_models", sa.Column("language_model_allowed", sa.Boolean(), nullable=False, server_default=sa.false())
    )
