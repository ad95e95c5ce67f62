"""Alembic runs this file: it uses the connection, and the transaction, that `traitbench.store.migrate` holds."""

from alembic import context
from sqlalchemy.schema import SchemaItem

from traitbench.store.tables import metadata


def ours(_item: SchemaItem, name: str | None, kind: str, _reflected: bool, _other: SchemaItem | None) -> bool:
    """The run engine's tables lie beside ours and are none of our business."""
    return kind != "table" or (name or "").startswith("tb_")


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="tb_schema",
    include_object=ours,
    render_as_batch=True,
)
context.run_migrations()
