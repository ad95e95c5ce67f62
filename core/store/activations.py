"""Which version of a model served when."""

from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, select
from sqlalchemy import insert as insert_into

from traitbench.store import tables

_ACTIVATIONS = tables.activations.c

Cause = Literal["train", "retrain", "activate", "promote", "import"]


def add(
    connection: Connection,
    model_id: int,
    *,
    version_no: int,
    previous_version_no: int | None,
    cause: Cause,
    by: str | None,
    now: datetime,
) -> None:
    """Record that a version became active; `by` is the name of the key, None if the service did it by itself."""
    fields = {"version_no": version_no, "previous_version_no": previous_version_no, "cause": cause, "by": by}
    connection.execute(insert_into(tables.activations).values(model_id=model_id, activated_at=now, **fields))


def promoted_after(connection: Connection, model_id: int, version_no: int) -> bool:
    """Whether a version after this one came from another model, with other samples."""
    later = (_ACTIVATIONS.model_id == model_id, _ACTIVATIONS.cause == "promote", _ACTIVATIONS.version_no > version_no)
    return connection.execute(select(_ACTIVATIONS.id).where(*later).limit(1)).first() is not None
