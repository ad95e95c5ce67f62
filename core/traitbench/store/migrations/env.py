"""Run by Alembic, on the connection and in the transaction that `traitbench.store.migrate` holds."""

from alembic import context
from sqlalchemy.schema import SchemaItem

from traitbench.store.tables import metadata


def ours(_item: SchemaItem, name: str | None, kind: str, _reflected: bool, _other: SchemaItem | None) -> bool:
    """Whether Alembic handles an object: the run engine's tables in the same database are left alone."""
    return kind != "table" or (name or "").startswith("tb_")


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="tb_schema",
    include_object=ours,
    render_as_batch=True,
)
context.run_migrations()
