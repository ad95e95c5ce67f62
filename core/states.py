"""What an operation means in each state of a model (core/docs/contract.md, section 5), as a table.

A cell is an `Outcome` (go on, do nothing, wait) or the error that the operation raises there. `outcome` looks it up;
nothing here acts.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Literal

from traitbench.contract.models import State
from traitbench.errors import ModelArchived, ModelBusy, ModelNotDraft, ModelNotTrained, TraitbenchError

Operation = Literal[
    "edit",  # traits and samples
    "train",
    "retune",  # train with reoptimize_params
    "retrain",  # automatic, from feedback
    "discover",
    "synthesize",
    "use",  # score, compare, tag, untag, activate: they need a version
    "update",
    "read",
    "delete",
]


class Outcome(Enum):
    """What is not an error."""

    PROCEED = "proceed"
    NOTHING = "nothing to do, and that is the answer"
    MATCH = "name the run in flight if it is the same, else the model is busy"
    IF_VERSION = "proceed when there is a version, else the model is not trained"
    WAIT = "not now; once the model is busy no more"


Cell = Outcome | type[TraitbenchError]

_STATES: tuple[State, ...] = ("draft", "busy", "ready", "failed", "archived")
_ROWS: Mapping[Operation, tuple[Cell, ...]] = {
    "edit": (Outcome.PROCEED, ModelBusy, ModelNotDraft, Outcome.PROCEED, ModelArchived),
    "train": (Outcome.PROCEED, Outcome.MATCH, Outcome.NOTHING, Outcome.PROCEED, ModelArchived),
    "retune": (Outcome.PROCEED, Outcome.MATCH, Outcome.PROCEED, Outcome.PROCEED, ModelArchived),
    "retrain": (Outcome.NOTHING, Outcome.WAIT, Outcome.PROCEED, Outcome.NOTHING, Outcome.NOTHING),
    "discover": (Outcome.PROCEED, Outcome.MATCH, ModelNotDraft, Outcome.PROCEED, ModelArchived),
    "synthesize": (Outcome.PROCEED, Outcome.MATCH, ModelNotDraft, Outcome.PROCEED, ModelArchived),
    "use": (ModelNotTrained, Outcome.IF_VERSION, Outcome.PROCEED, ModelNotTrained, ModelArchived),
    "update": (Outcome.PROCEED, Outcome.PROCEED, Outcome.PROCEED, Outcome.PROCEED, ModelArchived),
    "read": (Outcome.PROCEED,) * 5,
    "delete": (Outcome.PROCEED,) * 4 + (Outcome.NOTHING,),
}

TABLE: Mapping[Operation, Mapping[State, Cell]] = {
    operation: dict(zip(_STATES, row, strict=True)) for operation, row in _ROWS.items()
}


def outcome(operation: Operation, state: State) -> Cell:
    """The cell of the table."""
    return TABLE[operation][state]
