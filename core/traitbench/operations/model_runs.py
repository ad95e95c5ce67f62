"""The runs of a model: when two do the same work, how one starts, and what a failed one leaves.

Two runs of a model with the same key do the same work. A training is matched only while it is live, when traits and
samples cannot change, so its key contains neither. Discovery is also matched after it has succeeded. Samples never
change and ids are never reused, so the ids stand for the samples. The same holds for suggestions. A discovery replaces
them, so it sets its key to that of a repeat when it succeeds. A synthesis that has succeeded changed the samples. If
its key is that of a new one, all that it made was deleted, and it may be repeated.

A model whose run fails keeps everything it had.

See core/docs/contract.md, section 5.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from sqlalchemy import Connection
from ulid import ULID

from traitbench.contract.models import DEFAULT_EFFORT, OperationKind, RunStarted
from traitbench.contract.states import Outcome
from traitbench.errors import DuplicateRun, ModelBusy
from traitbench.operations import rules, suggestions
from traitbench.runs import Queue
from traitbench.store import models, rejected_texts, run_texts, runs, samples, traits
from traitbench.store.models import ModelRow

Digest = Callable[[Connection, int], str]


def run_key(
    connection: Connection, model_id: int, kind: OperationKind, *, effort: str, options: Mapping[str, Any] | None = None
) -> str:
    """The key of a run of this kind that starts now."""
    parts = {"effort": effort, **(options or {})}
    parts |= {name: digest(connection, model_id) for name, digest in _DIGESTS.get(kind, {}).items()}
    return " ".join([kind, *(f"{name}={_to_text(parts[name])}" for name in sorted(parts))])


def launch(
    connection: Connection,
    queue: Queue,
    model: ModelRow,
    kind: OperationKind,
    *,
    effort: str,
    run_key: str,
    options: Mapping[str, Any] | None = None,
    requested_by: str | None = None,
) -> RunStarted:
    """Start a run of a model that the connection has locked and that is not busy.

    The connection's transaction marks the model as busy, and records and queues the run. `requested_by` is the name of
    the key that asked for it, None if the service starts it by itself.
    """
    run_id, now = f"run_{ULID()}", rules.now()
    rejected_texts.forget(connection, model.id)
    models.move(connection, model, "busy", now=now, run_id=run_id)
    runs.add(
        connection,
        run_id,
        model_id=model.id,
        kind=kind,
        effort=effort,
        run_key=run_key,
        options=options,
        requested_by=requested_by,
        now=now,
    )
    queue.enqueue(connection, run_id, kind, model.id, automatic=requested_by is None)
    return RunStarted(state="busy", run_id=run_id)


def fail(connection: Connection, run: runs.RunRow, *, code: str, message: str, owner: str | None = None) -> bool:
    """Mark a run as failed and release its model; False if the run has already ended."""
    model = models.hold_by_id(connection, run.model_id)
    texts = run_texts.exist(connection, run.id)
    if not runs.fail(connection, run.id, code=code, message=message, now=rules.now(), owner=owner):
        return False
    if texts and model is not None and model.zero_data_retention:
        # The worker removes them from the database's files.
        models.change(connection, model.id, now=rules.now(), unsettled_purge=rules.now())
    if model is not None and model.state == "busy":
        models.move(connection, model, state_after(run, model), now=rules.now())
    return True


def _samples(connection: Connection, model_id: int) -> str:
    # Ids, so that no text has to be read. The price: two samples with the same text count as different.
    return _digest(samples.training_ids(connection, model_id))


def _suggestions(connection: Connection, model_id: int) -> str:
    return _digest([trait.id for trait in suggestions.untouched(connection, model_id)])


def _traits(connection: Connection, model_id: int) -> str:
    return _digest([vars(trait) for trait in traits.rows(connection, model_id)])


def _digest(values: Any) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def state_after(run: runs.RunRow, model: ModelRow) -> Literal["draft", "ready", "failed"]:
    """The state of a model after one of its runs has failed."""
    if model.active_version_id is not None:
        return "ready"
    return "failed" if run.kind == "train" else "draft"


_DIGESTS: Mapping[OperationKind, Mapping[str, Digest]] = {
    "discover": {"samples": _samples, "suggestions": _suggestions},
    "synthesize": {"samples": _samples, "traits": _traits},
}


def begin(
    connection: Connection,
    queue: Queue,
    model: ModelRow,
    kind: Literal["discover", "synthesize"],
    *,
    effort: str | None,
    options: Mapping[str, Any],
    bounds: Mapping[str, Any],
    requested_by: str,
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
    return launch(
        connection,
        queue,
        model,
        kind,
        effort=effort,
        run_key=key,
        options={**options, **bounds},
        requested_by=requested_by,
    )


def _duplicate(model: ModelRow, same: runs.RunRow) -> DuplicateRun:
    over = same.status == "succeeded"
    return DuplicateRun(
        f"The run {same.id} of {model.handle} does the same and " + ("has succeeded." if over else "is in flight."),
        details={"handle": model.handle, "run_id": same.id, "status": same.status},
        headers={"X-Run-Id": same.id},
    )
