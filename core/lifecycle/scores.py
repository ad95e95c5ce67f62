"""Scores: one text, or two compared, against one version: the active one or the one that the handle is pinned to."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from core.contract.names import ACTIVE, parse_pinned_handle
from core.contract.scores import Card, CompareRequest, Comparison, Delta, ScoreRequest
from core.errors import ModelNotTrained
from core.lifecycle import access, encoders, extraction, feedback, rules
from core.lifecycle.bench import Bench
from core.lifecycle.callers import Caller
from core.lifecycle.versions import resolve
from core.scoring import card
from core.scoring.snapshot import Snapshot
from core.store import models
from core.store.engine import reading
from core.store.models import ModelRow


@dataclass(frozen=True)
class _Served:
    """The version that scores."""

    version_no: int
    snapshot: Snapshot


def score(bench: Bench, caller: Caller, handle: str, body: ScoreRequest, *, request_id: str) -> Card:
    """The card of a text. Nothing of the text is kept, unless feedback makes it a sample: the model's own, whichever
    version the handle is pinned to."""
    operation: access.Operation = "scores.score" if body.feedback is None else "scores.feedback"
    name = str(access.permit(bench, caller, operation, handle))
    with reading(bench.engine) as connection:
        model = access.found(models.find(connection, name), name)
        served = _served(bench, connection, model, parse_pinned_handle(handle).version, body.traits)
        verdicts = _verdicts(connection, model, body)
        rules.require("use", model)
    if verdicts is not None:
        feedback.check_possible(model)
    text = extraction.text_of(bench, body.content)
    scored = _card(bench, served, text, body.traits, request_id=request_id)
    if not verdicts:
        return scored
    ids = feedback.keep(bench, name, text, verdicts, source_url=extraction.source_of(body.content))
    return scored.model_copy(update={"metadata": scored.metadata.model_copy(update={"sample_ids": ids})})


def compare(bench: Bench, caller: Caller, handle: str, body: CompareRequest, *, request_id: str) -> Comparison:
    """The cards of two texts by one version, and what changes from the first to the second; nothing is kept."""
    name = str(access.permit(bench, caller, "scores.compare", handle))
    with reading(bench.engine) as connection:
        model = access.found(models.find(connection, name), name)
        served = _served(bench, connection, model, parse_pinned_handle(handle).version, body.traits)
        rules.require("use", model)
    texts = [extraction.text_of(bench, content) for content in (body.a, body.b)]
    a, b = (_card(bench, served, text, body.traits, request_id=request_id) for text in texts)
    deltas = {key: Delta(a=a.scores[key], b=b.scores[key], delta=b.scores[key] - a.scores[key]) for key in a.scores}
    return Comparison(a=a, b=b, improvement=b.composite - a.composite, per_trait=deltas)


def _card(bench: Bench, served: _Served, text: str, traits: Sequence[str] | None, *, request_id: str) -> Card:
    encoder = encoders.of_version(bench, served.snapshot)
    scored = card.score(served.snapshot, encoder.encode, text, traits=traits)
    metadata = {"request_id": request_id, "version_id": f"v{served.version_no}", "sample_ids": []}
    return Card.model_validate(scored.to_wire() | {"input_tokens": encoder.count_tokens(text), "metadata": metadata})


def _served(
    bench: Bench, connection: Connection, model: ModelRow, pinned: str | None, traits: list[str] | None
) -> _Served:
    # Errors in the contract's order: the version (404), the traits (422); the state (409) is the caller's to ask.
    if pinned is None and model.active_version_id is None:
        rules.require("use", model)
        raise rules.refusal(ModelNotTrained, model)
    version = resolve(connection, model, pinned or ACTIVE)
    snapshot = bench.snapshots.get(connection, version.id)
    _check_traits(snapshot, traits)
    return _Served(version.version_no, snapshot)


def _check_traits(snapshot: Snapshot, names: list[str] | None) -> None:
    known = {name for trait in snapshot.traits for name in (trait.key, trait.name)}
    errors = [
        rules.problem(["traits", index], "unknown_trait", "the version has no trait of this key or name")
        for index, name in enumerate(names or [])
        if name not in known
    ]
    if errors:
        raise rules.invalid(errors, thing="The traits asked for")


def _verdicts(connection: Connection, model: ModelRow, body: ScoreRequest) -> list[feedback.Verdict] | None:
    if body.feedback is None:
        return None
    feedback.check_length(body.content)
    return feedback.understood(connection, model, body.feedback)
