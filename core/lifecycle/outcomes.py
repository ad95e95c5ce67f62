"""How a run that did not succeed leaves its model: nothing that was there before is lost.

See core/docs/contract.md, section 5.
"""

from typing import Literal

from sqlalchemy import Connection

from traitbench.lifecycle import rules
from traitbench.store import models, runs
from traitbench.store.models import ModelRow


def fail(connection: Connection, run: runs.RunRow, *, code: str, message: str, owner: str | None = None) -> bool:
    """End a run badly and its model's being busy with it; False when the run has ended already."""
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
