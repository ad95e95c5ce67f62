"""What happens to a model whose run did not succeed (core/docs/contract.md, section 5): it keeps everything it had."""

from typing import Literal

from sqlalchemy import Connection

from traitbench.lifecycle import rules
from traitbench.store import models, runs
from traitbench.store.models import ModelRow


def fail(connection: Connection, run: runs.RunRow, *, code: str, message: str, owner: str | None = None) -> bool:
    """Mark a run as failed and release its model; False if the run has already ended."""
    model = models.hold_by_id(connection, run.model_id)
    if not runs.fail(connection, run.id, code=code, message=message, now=rules.now(), owner=owner):
        return False
    if model is not None and model.state == "busy":
        models.move(connection, model, _state_after(run, model), now=rules.now())
    return True


def _state_after(run: runs.RunRow, model: ModelRow) -> Literal["draft", "ready", "failed"]:
    if model.active_version_id is not None:
        return "ready"
    return "failed" if run.kind == "train" else "draft"
