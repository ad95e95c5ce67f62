"""The tables. A database of 0.2.0, or of a later revision before this one, gets the columns and tables that it lacks.

They are written out, not imported from `traitbench.store.tables`: a migration must not change when the tables do.
Columns that 0.2.0 lacks come last in their table, where they are added to a database of 0.2.0 too.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = None
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
LIVE = sa.text("status IN ('queued', 'running')")
PENDING = sa.text("pending")
UNSETTLED = sa.text("unsettled_purge IS NOT NULL")
ZERO = sa.text("0")

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        # It comes before the names of three checks that begin with it already. Databases have them doubled.
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def upgrade() -> None:
    """Create the tables and columns that are not there. Existing rows keep their meaning."""
    connection = op.get_bind()
    inspector = sa.inspect(connection)
    for table in metadata.sorted_tables:
        if inspector.has_table(table.name):
            present = {column["name"] for column in inspector.get_columns(table.name)}
            for column in table.columns:
                if column.name not in present:
                    op.add_column(table.name, column)
    metadata.create_all(connection)
    # 0.2.0 did not record when a model was archived, but that was its last change.
    op.execute("UPDATE tb_models SET archived_at = updated_at WHERE state = 'archived' AND archived_at IS NULL")


def _id() -> sa.Column[Any]:
    return sa.Column("id", ID, sa.Identity(), primary_key=True)


def _required(name: str, kind: Any, **how: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False, **how)


def _flag(name: str) -> sa.Column[Any]:
    return _required(name, sa.Boolean, server_default=sa.false())


def _model_id(**how: Any) -> sa.Column[Any]:
    return sa.Column("model_id", ID, sa.ForeignKey("tb_models.id"), nullable=False, **how)


def _part_of(table: str, name: str, **how: Any) -> sa.Column[Any]:
    """The id of the row with which this one is deleted."""
    return sa.Column(name, ID, sa.ForeignKey(f"{table}.id", ondelete="CASCADE"), **how)


sa.Table(
    "tb_models",
    metadata,
    _id(),
    _required("handle", NAME),
    _required("namespace", NAME),
    _required("description", sa.Text),
    _required("state", sa.String),
    _required("kind", sa.String),
    _required("scoring_method", sa.String),
    _required("max_depth", sa.Integer),
    sa.Column("additional_terms", sa.Text),
    sa.Column("upstream_sources", sa.JSON),
    sa.Column("readme_markdown", sa.Text),
    _required("versions_made", ID, server_default=ZERO),
    sa.Column("active_version_id", ID),
    sa.Column("run_id", sa.String),
    _required("created_at", sa.BigInteger),
    _required("updated_at", sa.BigInteger),
    _flag("zero_data_retention"),
    sa.Column("unsettled_purge", sa.BigInteger),
    sa.Column("version_retention_policy", sa.JSON),
    # Not in 0.2.0.
    _flag("hold_if_worse"),
    sa.Column("held_version_id", ID),
    sa.Column("held_up_to", ID),
    sa.Column("forked_from", NAME),
    sa.Column("forked_from_version_no", ID),
    sa.Column("forked_after_version_no", ID),
    sa.Column("forked_up_to", ID),
    sa.Column("archived_at", sa.BigInteger),
    sa.Column("archived_from", sa.String),
    sa.Column("main_trait", NAME),
    sa.Column("demo_texts", sa.JSON),
    _flag("language_model_allowed"),
    sa.CheckConstraint("state IN ('draft', 'busy', 'ready', 'failed', 'archived')", name="ck_tb_models_state"),
    sa.UniqueConstraint("handle"),
    sa.Index("ix_tb_models_namespace_handle", "namespace", "handle"),
    sa.Index("ix_tb_models_unsettled_purge", "unsettled_purge", sqlite_where=UNSETTLED, postgresql_where=UNSETTLED),
    sqlite_autoincrement=True,
)

sa.Table(
    "tb_traits",
    metadata,
    _id(),
    _model_id(),
    _required("key", NAME),
    _required("name", sa.Text),
    _required("description", sa.Text),
    _required("positive_label", sa.Text),
    _required("negative_label", sa.Text),
    _required("aggregation", sa.String),
    _required("kind", sa.String),
    sa.Column("axis", sa.LargeBinary),
    sa.Column("axis_encoder_digest", sa.String),
    sa.Column("discrimination", sa.Float),
    sa.Column("explained_variance", sa.Float),
    sa.Column("anchor_sample_ids", sa.JSON),
    sa.Column("discovery", sa.JSON),
    sa.Column("origin_run_id", sa.String),
    sa.UniqueConstraint("model_id", "key"),
    sqlite_autoincrement=True,
)

sa.Table(
    "tb_samples",
    metadata,
    _id(),
    _model_id(),
    _part_of("tb_traits", "trait_id", nullable=False),
    _required("text", sa.Text),
    _required("quality", sa.Float),
    _required("provenance", sa.String),
    sa.Column("source_url", sa.Text),
    _required("content_sha256", sa.String),
    _required("created_at", sa.BigInteger),
    _flag("pending"),
    sa.Column("seed_sample_id", ID),
    sa.Column("generator", sa.String),
    sa.Column("origin_run_id", sa.String),
    # Not in 0.2.0.
    _flag("held_out"),
    _flag("must_pass"),
    sa.Column("score_then", sa.Integer),
    sa.Index("ix_tb_samples_model_id_id", "model_id", "id"),
    sa.Index("ix_tb_samples_trait_id_id", "trait_id", "id"),
    sa.Index("ix_tb_samples_pending", "model_id", "created_at", sqlite_where=PENDING, postgresql_where=PENDING),
    sqlite_autoincrement=True,
)

sa.Table(
    "tb_vectors",
    metadata,
    _part_of("tb_samples", "sample_id", primary_key=True, autoincrement=False),
    sa.Column("encoder_digest", sa.String, primary_key=True),
    _required("vector", sa.LargeBinary),
)

sa.Table(
    "tb_kept_vectors",
    metadata,
    _id(),
    _model_id(),
    _required("encoder_digest", sa.String),
    _required("mode", sa.String),
    _required("place", sa.BigInteger),
    _required("text_hash", sa.LargeBinary),
    sa.Column("tokens", sa.Integer),
    _required("alone", sa.Boolean),
    _required("size", sa.Integer),
    _required("used_at", sa.BigInteger),
    _required("vector", sa.LargeBinary),
    sa.UniqueConstraint("place"),
    sa.Index("ix_tb_kept_vectors_model_id_encoder_digest_mode", "model_id", "encoder_digest", "mode"),
    sa.Index("ix_tb_kept_vectors_used_at_size", "used_at", "size"),
    sqlite_autoincrement=True,
)

sa.Table(
    "tb_versions",
    metadata,
    _id(),
    _model_id(),
    _required("version_no", ID),
    _required("triggered_by", sa.String),
    _required("param_hash", sa.String),
    _required("sample_count", sa.Integer),
    sa.Column("run_id", sa.String),
    _required("metrics", sa.JSON),
    _required("created_at", sa.BigInteger),
    sa.UniqueConstraint("model_id", "version_no"),
    sa.UniqueConstraint("run_id"),
    sqlite_autoincrement=True,
)

sa.Table(
    "tb_snapshots",
    metadata,
    _part_of("tb_versions", "version_id", primary_key=True, autoincrement=False),
    _required("snapshot", sa.LargeBinary),
)

sa.Table(
    "tb_tags",
    metadata,
    sa.Column("model_id", ID, sa.ForeignKey("tb_models.id"), primary_key=True, autoincrement=False),
    sa.Column("name", NAME, primary_key=True),
    _part_of("tb_versions", "version_id", nullable=False, index=True),
    # Not in 0.2.0.
    sa.Column("note", sa.Text),
)

sa.Table(
    "tb_runs",
    metadata,
    sa.Column("id", sa.String, primary_key=True),
    _model_id(),
    _required("kind", sa.String),
    _required("effort", sa.String),
    _required("status", sa.String),
    sa.Column("progress", sa.JSON),
    sa.Column("error_code", sa.String),
    sa.Column("error_message", sa.Text),
    sa.Column("owner", sa.String),
    _required("attempts", sa.Integer, server_default=ZERO),
    _required("created_at", sa.BigInteger),
    sa.Column("finished_at", sa.BigInteger),
    _required("run_key", sa.String, server_default=""),
    _required("options", sa.JSON, server_default="{}"),
    _required("strikes", sa.Integer, server_default=ZERO),
    sa.Column("struck_at", sa.JSON),
    # Not in 0.2.0.
    sa.Column("requested_by", sa.Text),
    sa.CheckConstraint("status IN ('queued', 'running', 'succeeded', 'failed')", name="ck_tb_runs_status"),
    sa.Index("uq_tb_runs_live", "model_id", unique=True, sqlite_where=LIVE, postgresql_where=LIVE),
    sa.Index("ix_tb_runs_model_id_run_key", "model_id", "run_key"),
)

sa.Table(
    "tb_workers",
    metadata,
    sa.Column("executor_id", sa.String, primary_key=True),
    _required("seen_at", sa.BigInteger),
)

sa.Table(
    "tb_keys",
    metadata,
    sa.Column("id", sa.String, primary_key=True),
    _required("name", sa.Text),
    _required("hash", sa.String),
    _required("prefix", sa.String),
    _required("scope", sa.String),
    _required("namespaces", sa.JSON),
    _required("created_at", sa.BigInteger),
    sa.Column("last_used_at", sa.BigInteger),
    sa.Column("revoked_at", sa.BigInteger),
    sa.CheckConstraint("scope IN ('scoring', 'authoring')", name="ck_tb_keys_scope"),
    sa.UniqueConstraint("hash"),
)

# The following tables are not in 0.2.0.

sa.Table(
    "tb_version_samples",
    metadata,
    _part_of("tb_versions", "version_id", primary_key=True, autoincrement=False),
    _required("samples", sa.LargeBinary),
)

sa.Table(
    "tb_activations",
    metadata,
    _id(),
    _model_id(index=True),
    _required("version_no", ID),
    sa.Column("previous_version_no", ID),
    _required("activated_at", sa.BigInteger),
    _required("cause", sa.String),
    sa.Column("by", sa.Text),
    sa.CheckConstraint("cause IN ('train', 'retrain', 'activate', 'promote', 'import')", name="cause"),
    sqlite_autoincrement=True,
)

sa.Table(
    "tb_run_texts",
    metadata,
    sa.Column("run_id", sa.String, sa.ForeignKey("tb_runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("content_sha256", sa.String, primary_key=True),
    _required("text", sa.Text),
)

sa.Table(
    "tb_rejected_texts",
    metadata,
    _id(),
    _model_id(index=True),
    _part_of("tb_traits", "trait_id", nullable=False, index=True),
    _part_of("tb_samples", "seed_sample_id", index=True),
    _required("text", sa.Text),
    _required("quality", sa.Float),
    _required("reason", sa.String),
    _required("generator", sa.String),
    sqlite_autoincrement=True,
)
