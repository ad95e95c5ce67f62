"""Start a long operation: in one transaction the model becomes busy, and the run is recorded and queued."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection
from ulid import ULID

from traitbench.contract.models import OperationKind, RunStarted
from traitbench.lifecycle import rules
from traitbench.runs import Queue
from traitbench.store import models, runs
from traitbench.store.models import ModelRow


def launch(
    connection: Connection,
    queue: Queue,
    model: ModelRow,
    kind: OperationKind,
    *,
    effort: str,
    run_key: str,
    options: Mapping[str, Any] | None = None,
) -> RunStarted:
    """Start a run of a model that the connection has locked and that is not busy."""
    run_id, now = f"run_{ULID()}", rules.now()
    models.move(connection, model, "busy", now=now, run_id=run_id)
    runs.add(
        connection,
        run_id,
        model_id=model.id,
        kind=kind,
        effort=effort,
        run_key=run_key,
        options=options,
        now=now,
    )
    queue.enqueue(connection, run_id, kind, model.id)
    return RunStarted(state="busy", run_id=run_id)
