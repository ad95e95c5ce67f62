"""Versions have the positions of their samples, and samples that a promotion replaced stay with their versions."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _of_version() -> sa.Column[int]:
    key = sa.ForeignKey("tb_versions.id", ondelete="CASCADE")
    return sa.Column("version_id", _ID, key, primary_key=True, autoincrement=False)


def upgrade() -> None:
    """Create the tables. Positions of versions from before are worked out when they are asked for."""
    # The first migration completes later databases too, which may have them already.
    if sa.inspect(op.get_bind()).has_table("tb_version_positions"):
        return
    op.create_table(
        "tb_version_positions",
        _of_version(),
        sa.Column("traits", sa.JSON, nullable=False),
        sa.Column("samples", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "tb_asked_positions",
        _of_version(),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("refusal", sa.String),
    )
    op.create_table(
        "tb_replaced_samples",
        sa.Column("sample_id", _ID, primary_key=True, autoincrement=False),
        sa.Column("model_id", _ID, sa.ForeignKey("tb_models.id"), nullable=False),
        sa.Column("first_version_no", _ID, nullable=False),
        sa.Column("last_version_no", _ID, nullable=False),
        sa.Column("trait", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("quality", sa.Float, nullable=False),
        sa.Column("provenance", sa.String, nullable=False),
        sa.Column("source_url", sa.Text),
        sa.Column("content_sha256", sa.String, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("held_out", sa.Boolean, nullable=False),
        sa.Column("must_pass", sa.Boolean, nullable=False),
        sa.Column("group", sa.Text),
        sa.Column("score_then", sa.Integer),
        sa.Column("seed_sample_id", _ID),
        sa.Column("generator", sa.String),
    )
    op.create_index("ix_tb_replaced_samples_model_id_sample_id", "tb_replaced_samples", ["model_id", "sample_id"])
