"""Rules that several operations share: what a state allows, what a training needs, and how errors are worded."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import Connection

from traitbench.contract.states import Outcome, Transition, outcome
from traitbench.errors import (
    FeatureUnavailable,
    HandleTaken,
    InsufficientSamples,
    ModelArchived,
    ModelBusy,
    ModelNotDraft,
    ModelNotTrained,
    TraitbenchError,
    ValidationFailed,
)
from traitbench.settings import Settings
from traitbench.store import models, traits
from traitbench.store.models import ModelRow
from traitbench.synthesis.language_model import Endpoint, endpoint

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


def require(operation: Transition, model: ModelRow) -> Outcome:
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


def handle_taken(handle: str) -> HandleTaken:
    """The error for a new model whose handle another one has."""
    return HandleTaken(
        f"There is already a model {handle}, perhaps an archived one. Choose another handle.",
        details={"handle": handle},
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
        f"{thing}: {count:,} {'field is' if count == 1 else 'fields are'} not valid ({location(errors[0]['loc'])}:"
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


def location(loc: Sequence[str | int]) -> str:
    """A path as people write it: `versions[3].created_at`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).removeprefix(".")


Refusal = Literal["zero_retention", "not_wanted"]


def permitted(
    settings: Settings, *, sends_nothing: bool, wanted: bool | None
) -> tuple[Endpoint | None, Refusal | None]:
    """The language model to ask, or None and why the one of the settings is not asked; both None if there is none."""
    model = endpoint(settings)
    if model is None:
        return None, None
    if sends_nothing:
        return None, "zero_retention"
    return (None, "not_wanted") if wanted is False else (model, None)


def language_model(settings: Settings, model: ModelRow, *, wanted: bool | None) -> dict[str, str]:
    """The name of the language model to ask, as an option of the run; empty if none is asked.

    Raise `FeatureUnavailable` if one is demanded that cannot be asked.
    """
    asked, refusal = permitted(settings, sends_nothing=sends_nothing(model), wanted=wanted)
    if asked is None and wanted:
        raise FeatureUnavailable(
            f"{model.handle} is under zero data retention, so no language model is asked. Leave language_model out, or"
            " set language_model_allowed for the model."
            if refusal
            else "This service has no language model (TRAITBENCH_LLM_URL is not set). Leave language_model out.",
            details={"field": "language_model", "reason": refusal or "no_language_model"},
        )
    return {"language_model": asked.model} if asked else {}


def sends_nothing(model: ModelRow) -> bool:
    """Whether nothing of a model may be sent to a language model."""
    return model.zero_data_retention and not model.language_model_allowed


Path = tuple[str | int, ...]
Fault = tuple[Path, str, str]
"""Path, type of the error, and message."""

_FIELD_NAME = re.compile(r"[\w.-]{1,64}")
_NOT_STORABLE = "U+0000, a lone surrogate or a number out of range"
_INTEGER_LIMIT = 2**63


@dataclass(frozen=True)
class Bounds:
    """Limits of a value: bytes as compact JSON, levels of nesting, size of a number, characters of a text and of a key.

    None means that only the limit in bytes applies.
    """

    size: int
    depth: int
    magnitude: float | None = None
    text: int | None = None
    key: int | None = None


SOURCES = Bounds(size=64 * 1024, depth=16)
METRICS = Bounds(size=512 * 1024, depth=16, magnitude=1e15, text=2_000, key=200)
DISCOVERY = Bounds(size=16 * 1024, depth=8, magnitude=1e15, text=2_000, key=200)
SNAPSHOT = Bounds(size=64 * 1024 * 1024, depth=16)


def faults(value: Any, bounds: Bounds) -> Iterator[Fault]:
    """What is wrong with a value, each problem with its path; no content is repeated."""
    any_fault = False
    for fault in _faults_inside(value, bounds, ()):
        any_fault = True
        yield fault
    if not any_fault and (size := _size(value)) > bounds.size:
        yield (), "too_large", f"it takes {size} bytes as JSON; at most {bounds.size} are allowed"


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _faults_inside(value: Any, bounds: Bounds, path: Path) -> Iterator[Fault]:
    if len(path) > bounds.depth:
        yield path, "too_deep", f"it is nested deeper than {bounds.depth} levels"
    elif isinstance(value, dict):
        for key, each in value.items():
            location = (*path, shown(key))
            yield from _text_faults(key, bounds.key, location, "a key")
            yield from _faults_inside(each, bounds, location)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _faults_inside(each, bounds, (*path, index))
    elif isinstance(value, str):
        yield from _text_faults(value, bounds.text, path, "a text")
    elif isinstance(value, int | float):
        yield from _number_faults(value, bounds, path)


def _text_faults(text: str, most: int | None, path: Path, what: str) -> Iterator[Fault]:
    if "\x00" in text or (not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)):
        yield path, "not_storable", _NOT_STORABLE
    if most is not None and len(text) > most:
        yield path, "too_long", f"{what} has {len(text)} characters; at most {most} are allowed"


def _number_faults(number: float, bounds: Bounds, path: Path) -> Iterator[Fault]:
    if not (-_INTEGER_LIMIT <= number < _INTEGER_LIMIT if isinstance(number, int) else math.isfinite(number)):
        yield path, "not_storable", _NOT_STORABLE
    elif bounds.magnitude is not None and abs(number) > bounds.magnitude:
        yield path, "out_of_range", f"a number from -{bounds.magnitude:g} to {bounds.magnitude:g} is allowed"


def shown(key: str) -> str:
    """A key as an error may show it: one that does not look like a field name could be content."""
    return key if _FIELD_NAME.fullmatch(key) else "(key)"
