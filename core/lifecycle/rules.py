"""Rules that several operations share: what a state allows, what a training needs, and how errors are worded."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from traitbench.errors import (
    FeatureUnavailable,
    InvalidParameter,
    ModelArchived,
    ModelBusy,
    ModelNotDraft,
    ModelNotTrained,
    TraitbenchError,
    ValidationFailed,
)
from traitbench.states import Operation, Outcome, outcome
from traitbench.store import models, traits
from traitbench.store.models import ModelRow

_MESSAGES: Mapping[type[TraitbenchError], str] = {
    ModelBusy: "The model {handle} is busy with the run {run_id}; wait until that has ended.",
    ModelNotDraft: "The model {handle} is trained, so its traits and samples can no longer be changed.",
    ModelNotTrained: "The model {handle} has no version yet; train it first.",
    ModelArchived: "The model {handle} was deleted; it can only be read.",
}


def now() -> datetime:
    """The current time, in UTC."""
    return datetime.now(UTC)


def require(operation: Operation, model: ModelRow) -> Outcome:
    """The outcome of an operation in the model's state; raise the error that the table of states has for it."""
    cell = outcome(operation, model.state)
    if cell is Outcome.IF_VERSION:
        cell = Outcome.PROCEED if model.active_version_id is not None else ModelNotTrained
    if isinstance(cell, Outcome):
        return cell
    raise refusal(cell, model)


def refusal(error: type[TraitbenchError], model: ModelRow) -> TraitbenchError:
    """The error with its message: which model and, if it is busy, with which run."""
    busy = error is ModelBusy
    return error(
        _MESSAGES[error].format(handle=model.handle, run_id=model.run_id),
        details={"handle": model.handle, "state": model.state} | ({"run_id": model.run_id} if busy else {}),
        headers={"X-Run-Id": str(model.run_id)} if busy else None,
    )


def edited(connection: Connection, model: ModelRow) -> None:
    """Record that traits or samples of a model were changed: a failed model is a draft again.

    See core/docs/contract.md, section 5.
    """
    models.move(connection, model, "draft", now=now())


def samples_by_pole(connection: Connection, model_id: int) -> dict[str, dict[str, int]]:
    """How many samples each extrinsic trait has at each pole, by trait key."""
    return {
        trait.key: {"positive": trait.positive_samples, "negative": trait.negative_samples}
        for trait in traits.read(connection, model_id)
        if trait.kind == "extrinsic"
    }


def traits_missing_poles(connection: Connection, model_id: int) -> dict[str, dict[str, int]]:
    """As `samples_by_pole`, for the traits without a sample at one of their poles; they cannot be trained."""
    return {key: counts for key, counts in samples_by_pole(connection, model_id).items() if not all(counts.values())}


def check_limit(limit: int, *, most: int) -> None:
    """Raise `InvalidParameter` unless a page may be this large."""
    if not 1 <= limit <= most:
        raise InvalidParameter(
            f"limit is {limit}; use 1 to {most}.", details={"parameter": "limit", "least": 1, "most": most}
        )


def check_sample_count(count: int, most: int) -> None:
    """Raise `ValidationFailed` if a model would have too many samples."""
    if count > most:
        message = f"the model would have {count} samples; at most {most} are allowed"
        raise invalid([problem(["samples"], "too_many", message)], thing="The samples")


def invalid(errors: Sequence[Mapping[str, Any]], *, thing: str) -> ValidationFailed:
    """The error that names every bad field by its path."""
    count = len(errors)
    return ValidationFailed(
        f"{thing}: {count} {'field is' if count == 1 else 'fields are'} not valid; nothing was changed.",
        details={"errors": [dict(error) for error in errors]},
    )


def problem(loc: Sequence[str | int], kind: str, message: str) -> dict[str, Any]:
    """An entry of `details.errors`: one invalid field."""
    return {"loc": list(loc), "type": kind, "msg": message}


def place(loc: Sequence[str | int]) -> str:
    """A path as people write it: `versions[3].created_at`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).removeprefix(".")


def unavailable(feature: str) -> FeatureUnavailable:
    """The error for a feature that this service does not offer."""
    return FeatureUnavailable(f"This service does not offer {feature}.", details={"field": feature})
