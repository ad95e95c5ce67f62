"""Rules that several operations share: what a state allows, what a training needs, and how errors are worded."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from traitbench.contract.states import Operation, Outcome, outcome
from traitbench.errors import (
    InsufficientSamples,
    InvalidParameter,
    ModelArchived,
    ModelBusy,
    ModelNotDraft,
    ModelNotTrained,
    TraitbenchError,
    ValidationFailed,
)
from traitbench.store import models, traits
from traitbench.store.models import ModelRow

_MESSAGES: Mapping[type[TraitbenchError], str] = {
    ModelBusy: "The model {handle} is busy with the run {run_id}; wait until that has ended.",
    ModelNotDraft: "The model {handle} is trained, so its traits and samples can no longer be changed.",
    ModelNotTrained: "The model {handle} has no version yet; train it first.",
    ModelArchived: "The model {handle} is archived; it can only be read. Restore it first.",
}

MOST_NAMED = 1_000
"""Errors that an answer names: every one that the largest batch of samples can have."""

_MOST_KNOWN = 100
_MOST_IN_SENTENCE = 20
_LONGEST_SHOWN = 200


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


def insufficient(connection: Connection, model: ModelRow) -> InsufficientSamples:
    """The error for a model that lacks samples to train with."""
    missing = traits_missing_poles(connection, model.id)
    return InsufficientSamples(
        f"Every trait of {model.handle} needs a sample above 0.5 and one below. "
        + (f"Add samples to: {', '.join(missing)}." if missing else "The model has no samples. Add some."),
        details={"traits": samples_by_pole(connection, model.id), "lacking": list(missing)},
    )


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


def invalid(
    errors: Sequence[Mapping[str, Any]], *, thing: str, known: Mapping[str, Any] | None = None
) -> ValidationFailed:
    """The error that names every bad field by its path. `known` are details that help to correct them."""
    count = len(errors)
    known = known or {}
    return ValidationFailed(
        f"{thing}: {count:,} {'field is' if count == 1 else 'fields are'} not valid ({place(errors[0]['loc'])}:"
        f" {errors[0]['msg']}); nothing was changed.{known_keys(known)}",
        details={**named(errors), **known},
    )


def named(errors: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Errors as `details`: the first ones, and under `more_errors` how many were left out, if any."""
    more = len(errors) - MOST_NAMED
    return {"errors": [dict(error) for error in errors[:MOST_NAMED]]} | ({"more_errors": more} if more > 0 else {})


def problem(loc: Sequence[str | int], kind: str, message: str) -> dict[str, Any]:
    """An entry of `details.errors`: one invalid field."""
    return {"loc": list(loc), "type": kind, "msg": message}


def elements(body: Any, name: str) -> list[Any]:
    """The elements of a list in a body of any form; none if it is not there."""
    value = body.get(name) if isinstance(body, dict) else None
    return value if isinstance(value, list) else []


def unknown_trait(loc: Sequence[str | int], sent: str, *, owner: str = "model") -> dict[str, Any]:
    """The problem of a key or name that no trait has, with what was sent."""
    message = f"the {owner} has no trait {quoted(sent)}"
    return {**problem(loc, "unknown_trait", message), "sent": sent[:_LONGEST_SHOWN]}


def quoted(name: str) -> str:
    """A name in a message. Characters that could steer a terminal are replaced."""
    shown = "".join(char if char.isprintable() else "\ufffd" for char in name[:_LONGEST_SHOWN])
    return f'"{shown}"'


def known_traits(traits: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Traits by key and name as `details`; the first of very many."""
    return {"known_traits": [{"key": key, "name": name} for key, name in traits[:_MOST_KNOWN]]}


def known_keys(details: Mapping[str, Any]) -> str:
    """A sentence with the keys of the known traits; empty if the details have none."""
    keys = [each["key"] for each in details.get("known_traits", ())]
    more = f" and {len(keys) - _MOST_IN_SENTENCE} more" if len(keys) > _MOST_IN_SENTENCE else ""
    return f" Known traits: {', '.join(keys[:_MOST_IN_SENTENCE])}{more}." if keys else ""


def place(loc: Sequence[str | int]) -> str:
    """A path as people write it: `versions[3].created_at`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).removeprefix(".")
