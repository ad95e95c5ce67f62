"""The whole contract: zero retention, retention policies, pending feedback, intrinsic traits, run keys."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
PENDING = sa.text("pending")
UNSETTLED = sa.text("unsettled_purge IS NOT NULL")


def upgrade() -> None:
    """Add columns and a table; existing rows keep their meaning."""
    op.add_column("tb_models", _flag("zero_data_retention"))
    op.add_column("tb_models", sa.Column("unsettled_purge", sa.BigInteger()))
    op.add_column("tb_models", sa.Column("version_retention_policy", sa.JSON()))
    op.create_index(
        "ix_tb_models_unsettled_purge",
        "tb_models",
        ["unsettled_purge"],
        sqlite_where=UNSETTLED,
        postgresql_where=UNSETTLED,
    )
    for column in _of_intrinsic_traits():
        op.add_column("tb_traits", column)
    op.add_column("tb_samples", _flag("pending"))
    op.add_column("tb_samples", sa.Column("seed_sample_id", ID))
    op.add_column("tb_samples", sa.Column("generator", sa.String()))
    op.add_column("tb_samples", sa.Column("origin_run_id", sa.String()))
    op.create_index(
        "ix_tb_samples_pending",
        "tb_samples",
        ["model_id", "created_at"],
        sqlite_where=PENDING,
        postgresql_where=PENDING,
    )
    _runs()


def _of_intrinsic_traits() -> list[sa.Column[object]]:
    return [
        sa.Column("axis", sa.LargeBinary()),
        sa.Column("axis_encoder_digest", sa.String()),
        sa.Column("discrimination", sa.Float()),
        sa.Column("explained_variance", sa.Float()),
        sa.Column("anchor_sample_ids", sa.JSON()),
        sa.Column("discovery", sa.JSON()),
        sa.Column("origin_run_id", sa.String()),
    ]


def _runs() -> None:
    op.add_column("tb_runs", sa.Column("run_key", sa.String(), nullable=False, server_default=""))
    op.add_column("tb_runs", sa.Column("options", sa.JSON(), nullable=False, server_default="{}"))
    # Until now every run was a training without a search, and runs differed only in their effort.
    op.execute("UPDATE tb_runs SET run_key = 'train effort=' || effort || ' reoptimize=false'")
    op.drop_index("ix_tb_runs_model_id", "tb_runs")
    op.create_index("ix_tb_runs_model_id_run_key", "tb_runs", ["model_id", "run_key"])


def _flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.false())
