"""The table of states: what each operation does in each state of a model (core/docs/contract.md, section 5).

A cell is an `Outcome` (proceed, do nothing, wait) or the error that the operation raises. `outcome` only looks up the
cell.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Literal

from traitbench.contract.models import State
from traitbench.errors import ModelArchived, ModelBusy, ModelNotDraft, ModelNotTrained, TraitbenchError

Transition = Literal[
    "edit",  # traits and samples
    "withdraw",  # feedback that waits
    "train",
    "retune",  # train with reoptimize_params
    "retrain",  # automatic, from feedback
    "retrain_now",  # from feedback, on request
    "discover",
    "synthesize",
    "use",  # score, compare, tag, untag, activate: they need a version
    "fork",
    "promote",  # of both models
    "update",
    "read",
    "delete",
    "restore",
]


class Outcome(Enum):
    """What to do when the state allows the operation."""

    PROCEED = "proceed"
    NOTHING = "there is nothing to do"
    MATCH = "return the run in flight if it is identical, else the model is busy"
    IF_VERSION = "proceed if there is a version, else the model is not trained"
    WAIT = "try again when the model is no longer busy"


Cell = Outcome | type[TraitbenchError]

_STATES: tuple[State, ...] = ("draft", "busy", "ready", "failed", "archived")
_ROWS: Mapping[Transition, tuple[Cell, ...]] = {
    "edit": (Outcome.PROCEED, ModelBusy, ModelNotDraft, Outcome.PROCEED, ModelArchived),
    "withdraw": (Outcome.PROCEED, ModelBusy, Outcome.PROCEED, Outcome.PROCEED, ModelArchived),
    "train": (Outcome.PROCEED, Outcome.MATCH, Outcome.NOTHING, Outcome.PROCEED, ModelArchived),
    "retune": (Outcome.PROCEED, Outcome.MATCH, Outcome.PROCEED, Outcome.PROCEED, ModelArchived),
    "retrain": (Outcome.NOTHING, Outcome.WAIT, Outcome.PROCEED, Outcome.NOTHING, Outcome.NOTHING),
    "retrain_now": (ModelNotTrained, Outcome.MATCH, Outcome.PROCEED, ModelNotTrained, ModelArchived),
    "discover": (Outcome.PROCEED, Outcome.MATCH, ModelNotDraft, Outcome.PROCEED, ModelArchived),
    "synthesize": (Outcome.PROCEED, Outcome.MATCH, ModelNotDraft, Outcome.PROCEED, ModelArchived),
    "use": (ModelNotTrained, Outcome.IF_VERSION, Outcome.PROCEED, ModelNotTrained, ModelArchived),
    "fork": (Outcome.PROCEED, ModelBusy, Outcome.PROCEED, Outcome.PROCEED, ModelArchived),
    "promote": (ModelNotTrained, ModelBusy, Outcome.PROCEED, ModelNotTrained, ModelArchived),
    "update": (Outcome.PROCEED, Outcome.PROCEED, Outcome.PROCEED, Outcome.PROCEED, ModelArchived),
    "read": (Outcome.PROCEED,) * 5,
    "delete": (Outcome.PROCEED,) * 4 + (Outcome.NOTHING,),
    "restore": (Outcome.NOTHING,) * 4 + (Outcome.PROCEED,),
}

TABLE: Mapping[Transition, Mapping[State, Cell]] = {
    operation: dict(zip(_STATES, row, strict=True)) for operation, row in _ROWS.items()
}


def outcome(operation: Transition, state: State) -> Cell:
    """Return the outcome of an operation in a state, or the class of the error to raise."""
    return TABLE[operation][state]
