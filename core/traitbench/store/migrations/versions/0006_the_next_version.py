"""Test samples, forks, versions on hold, which version served when, and which samples a version was trained with."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add columns and tables. No earlier sample is held out; earlier activations are unknown."""
    op.add_column("tb_models", sa.Column("hold_if_worse", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("tb_models", sa.Column("held_version_id", ID))
    op.add_column("tb_models", sa.Column("held_up_to", ID))
    op.add_column("tb_models", sa.Column("forked_from", NAME))
    op.add_column("tb_models", sa.Column("forked_from_version_no", ID))
    op.add_column("tb_models", sa.Column("forked_after_version_no", ID))
    op.add_column("tb_models", sa.Column("forked_up_to", ID))
    op.add_column("tb_samples", sa.Column("held_out", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("tb_samples", sa.Column("must_pass", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("tb_samples", sa.Column("score_then", sa.Integer()))
    op.add_column("tb_runs", sa.Column("requested_by", sa.Text()))
    op.create_table(
        "tb_version_samples",
        sa.Column(
            "version_id",
            ID,
            sa.ForeignKey("tb_versions.id", ondelete="CASCADE", name=op.f("fk_tb_version_samples_version_id")),
            autoincrement=False,
        ),
        sa.Column("samples", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("version_id", name=op.f("pk_tb_version_samples")),
    )
    op.create_table(
        "tb_activations",
        sa.Column("id", ID, sa.Identity(), nullable=False),
        sa.Column(
            "model_id",
            ID,
            sa.ForeignKey("tb_models.id", name=op.f("fk_tb_activations_model_id")),
            nullable=False,
        ),
        sa.Column("version_no", ID, nullable=False),
        sa.Column("previous_version_no", ID),
        sa.Column("activated_at", sa.BigInteger(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("by", sa.Text()),
        sa.CheckConstraint(
            "cause IN ('train', 'retrain', 'activate', 'promote', 'import')", name=op.f("ck_tb_activations_cause")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tb_activations")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_tb_activations_model_id"), "tb_activations", ["model_id"])
