"""Start a discovery or a synthesis. The same work is not done twice while its results are there."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from sqlalchemy import Connection

from traitbench.contract.models import DEFAULT_EFFORT, RunStarted
from traitbench.contract.states import Outcome
from traitbench.errors import DuplicateRun, ModelBusy
from traitbench.operations import rules
from traitbench.operations.model_runs import launch, run_key
from traitbench.runs import Queue
from traitbench.store import runs
from traitbench.store.models import ModelRow


def begin(
    connection: Connection,
    queue: Queue,
    model: ModelRow,
    kind: Literal["discover", "synthesize"],
    *,
    effort: str | None,
    options: Mapping[str, Any],
    bounds: Mapping[str, Any],
    check: Callable[[], None],
) -> RunStarted:
    """Queue a run of a model that the connection has locked.

    Raise `DuplicateRun` if the same run is live, or has succeeded and its results are there. `options` are part of what
    makes runs the same; `bounds`, the operator's limits, are not. `check` is called last and raises if the samples do
    not suffice.
    """
    outcome = rules.require(kind, model)
    effort = effort or DEFAULT_EFFORT
    key = run_key(connection, model.id, kind, effort=effort, options=options)
    same = runs.same(connection, model.id, key)
    if same is not None and kind == "synthesize" and same.status == "succeeded":
        # It added samples. If any of these were left, the keys would differ.
        same = None
    busy = outcome is Outcome.MATCH
    if same is not None and (not busy or same.id == model.run_id):
        raise _duplicate(model, same)
    if busy:
        raise rules.refusal(ModelBusy, model)
    check()
    return launch(connection, queue, model, kind, effort=effort, run_key=key, options={**options, **bounds})


def _duplicate(model: ModelRow, same: runs.RunRow) -> DuplicateRun:
    over = same.status == "succeeded"
    return DuplicateRun(
        f"The run {same.id} of {model.handle} does the same and " + ("has succeeded." if over else "is in flight."),
        details={"handle": model.handle, "run_id": same.id, "status": same.status},
        headers={"X-Run-Id": same.id},
    )
