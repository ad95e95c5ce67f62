"""The first tables.

They are written out, not imported from `traitbench.store.tables`: a migration must not change when the tables do.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
LIVE = sa.text("status IN ('queued', 'running')")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "tb_models",
        sa.Column("id", ID, sa.Identity(), nullable=False),
        sa.Column("handle", NAME, nullable=False),
        sa.Column("namespace", NAME, nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("scoring_method", sa.String(), nullable=False),
        sa.Column("max_depth", sa.Integer(), nullable=False),
        sa.Column("additional_terms", sa.Text()),
        sa.Column("upstream_sources", sa.JSON()),
        sa.Column("readme_markdown", sa.Text()),
        sa.Column("versions_made", ID, server_default=sa.text("0"), nullable=False),
        sa.Column("active_version_id", ID),
        sa.Column("run_id", sa.String()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("state IN ('draft', 'busy', 'ready', 'failed', 'archived')", name="ck_tb_models_state"),
        sa.PrimaryKeyConstraint("id", name="pk_tb_models"),
        sa.UniqueConstraint("handle", name="uq_tb_models_handle"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_tb_models_namespace_handle", "tb_models", ["namespace", "handle"])
    op.create_table(
        "tb_traits",
        sa.Column("id", ID, sa.Identity(), nullable=False),
        sa.Column("model_id", ID, nullable=False),
        sa.Column("key", NAME, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("positive_label", sa.Text(), nullable=False),
        sa.Column("negative_label", sa.Text(), nullable=False),
        sa.Column("aggregation", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["tb_models.id"], name="fk_tb_traits_model_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tb_traits"),
        sa.UniqueConstraint("model_id", "key", name="uq_tb_traits_model_id_key"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "tb_samples",
        sa.Column("id", ID, sa.Identity(), nullable=False),
        sa.Column("model_id", ID, nullable=False),
        sa.Column("trait_id", ID, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("quality", sa.Float(), nullable=False),
        sa.Column("provenance", sa.String(), nullable=False),
        sa.Column("source_url", sa.Text()),
        sa.Column("content_sha256", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["tb_models.id"], name="fk_tb_samples_model_id"),
        sa.ForeignKeyConstraint(["trait_id"], ["tb_traits.id"], name="fk_tb_samples_trait_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_tb_samples"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_tb_samples_model_id_id", "tb_samples", ["model_id", "id"])
    op.create_index("ix_tb_samples_trait_id_id", "tb_samples", ["trait_id", "id"])
    op.create_table(
        "tb_vectors",
        sa.Column("sample_id", ID, autoincrement=False, nullable=False),
        sa.Column("encoder_digest", sa.String(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["sample_id"], ["tb_samples.id"], name="fk_tb_vectors_sample_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("sample_id", "encoder_digest", name="pk_tb_vectors"),
    )
    op.create_table(
        "tb_versions",
        sa.Column("id", ID, sa.Identity(), nullable=False),
        sa.Column("model_id", ID, nullable=False),
        sa.Column("version_no", ID, nullable=False),
        sa.Column("triggered_by", sa.String(), nullable=False),
        sa.Column("param_hash", sa.String(), nullable=False),
        sa.Column("sample_count", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.String()),
        sa.Column("metrics", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["tb_models.id"], name="fk_tb_versions_model_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tb_versions"),
        sa.UniqueConstraint("model_id", "version_no", name="uq_tb_versions_model_id_version_no"),
        sa.UniqueConstraint("run_id", name="uq_tb_versions_run_id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "tb_snapshots",
        sa.Column("version_id", ID, autoincrement=False, nullable=False),
        sa.Column("snapshot", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["tb_versions.id"], name="fk_tb_snapshots_version_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("version_id", name="pk_tb_snapshots"),
    )
    op.create_table(
        "tb_tags",
        sa.Column("model_id", ID, autoincrement=False, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("version_id", ID, nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["tb_models.id"], name="fk_tb_tags_model_id"),
        sa.ForeignKeyConstraint(["version_id"], ["tb_versions.id"], name="fk_tb_tags_version_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("model_id", "name", name="pk_tb_tags"),
    )
    op.create_index("ix_tb_tags_version_id", "tb_tags", ["version_id"])
    op.create_table(
        "tb_runs",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("model_id", ID, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("effort", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("progress", sa.JSON()),
        sa.Column("error_code", sa.String()),
        sa.Column("error_message", sa.Text()),
        sa.Column("owner", sa.String()),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger()),
        sa.CheckConstraint("status IN ('queued', 'running', 'succeeded', 'failed')", name="ck_tb_runs_status"),
        sa.ForeignKeyConstraint(["model_id"], ["tb_models.id"], name="fk_tb_runs_model_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tb_runs"),
    )
    op.create_index("ix_tb_runs_model_id", "tb_runs", ["model_id"])
    op.create_index("uq_tb_runs_live", "tb_runs", ["model_id"], unique=True, sqlite_where=LIVE, postgresql_where=LIVE)
    op.create_table(
        "tb_workers",
        sa.Column("executor_id", sa.String(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("executor_id", name="pk_tb_workers"),
    )
    op.create_table(
        "tb_keys",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("prefix", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("namespaces", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger()),
        sa.Column("revoked_at", sa.BigInteger()),
        sa.CheckConstraint("scope IN ('scoring', 'authoring')", name="ck_tb_keys_scope"),
        sa.PrimaryKeyConstraint("id", name="pk_tb_keys"),
        sa.UniqueConstraint("hash", name="uq_tb_keys_hash"),
    )
