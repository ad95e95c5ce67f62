"""Samples have revisions, and their changes are recorded. Changes from before are not known."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_UNDOABLE = sa.text("undoable_until IS NOT NULL")


def upgrade() -> None:
    """Add the columns and the two tables, unless they are there."""
    # The first migration completes later databases too, which may have them already.
    inspector = sa.inspect(op.get_bind())
    present = {column["name"] for column in inspector.get_columns("tb_samples")}
    if "revision" not in present:
        op.add_column("tb_samples", sa.Column("revision", _ID, nullable=False, server_default=sa.text("1")))
        op.add_column("tb_samples", sa.Column("changed_by", _ID))
    if inspector.has_table("tb_sample_changes"):
        return
    op.create_table(
        "tb_sample_changes",
        sa.Column("id", _ID, sa.Identity(), nullable=False),
        sa.Column("model_id", _ID, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("by", sa.Text),
        sa.Column("first_sample_id", _ID, nullable=False),
        sa.Column("last_sample_id", _ID, nullable=False),
        sa.Column("undoable_until", sa.BigInteger),
        sa.Column("undone_by", _ID),
        sa.Column("undoes", _ID),
        sa.Column("note", sa.Text),
        sa.Column("entries", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tb_sample_changes"),
        sa.ForeignKeyConstraint(["model_id"], ["tb_models.id"], name="fk_tb_sample_changes_model_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_tb_sample_changes_model_id_id", "tb_sample_changes", ["model_id", "id"])
    op.create_index(
        "ix_tb_sample_changes_undoable_until",
        "tb_sample_changes",
        ["undoable_until"],
        sqlite_where=_UNDOABLE,
        postgresql_where=_UNDOABLE,
    )
    op.create_table(
        "tb_undo_samples",
        sa.Column("change_id", _ID, nullable=False, autoincrement=False),
        sa.Column("sample_id", _ID, nullable=False, autoincrement=False),
        sa.Column("sample", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("change_id", "sample_id", name="pk_tb_undo_samples"),
        sa.ForeignKeyConstraint(
            ["change_id"], ["tb_sample_changes.id"], name="fk_tb_undo_samples_change_id", ondelete="CASCADE"
        ),
    )
