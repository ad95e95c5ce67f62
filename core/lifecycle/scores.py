"""Scores: one text against one version, the active one or the one that the handle is pinned to."""

import re
from dataclasses import dataclass

from sqlalchemy import Connection

from core.contract.names import ACTIVE, parse_pinned_handle
from core.contract.scores import Card, ScoreRequest
from core.encoders import Encoder, EncoderUnavailable
from core.encoders.registry import NAMES, load_encoder
from core.errors import FeatureUnavailable, ModelNotTrained
from core.lifecycle import access, rules
from core.lifecycle.bench import Bench
from core.lifecycle.callers import Caller
from core.lifecycle.versions import resolve
from core.scoring import card
from core.scoring.snapshot import Snapshot
from core.store import models
from core.store.engine import reading
from core.store.models import ModelRow

_URL = re.compile(r"\s*https?://\S+\s*", re.IGNORECASE)


@dataclass(frozen=True)
class _Served:
    """The version that scores."""

    version_no: int
    snapshot: Snapshot


def score(bench: Bench, caller: Caller, handle: str, body: ScoreRequest, *, request_id: str) -> Card:
    """The card of a text; nothing of the text is kept."""
    operation: access.Operation = "scores.score" if body.feedback is None else "scores.feedback"
    name = str(access.permit(bench, caller, operation, handle))
    with reading(bench.engine) as connection:
        model = access.found(models.find(connection, name), name)
        served = _served(bench, connection, model, parse_pinned_handle(handle).version, body)
    _check_available(body)
    encoder = _encoder(bench, served.snapshot)
    scored = card.score(served.snapshot, encoder.encode, body.content, traits=body.traits)
    metadata = {"request_id": request_id, "version_id": f"v{served.version_no}", "sample_ids": []}
    tokens = encoder.count_tokens(body.content)
    return Card.model_validate(scored.to_wire() | {"input_tokens": tokens, "metadata": metadata})


def _served(bench: Bench, connection: Connection, model: ModelRow, pinned: str | None, body: ScoreRequest) -> _Served:
    # Errors in the contract's order: the version (404), the traits (422), the state (409).
    if pinned is None and model.active_version_id is None:
        rules.require("use", model)
        raise rules.refusal(ModelNotTrained, model)
    version = resolve(connection, model, pinned or ACTIVE)
    snapshot = bench.snapshots.get(connection, version.id)
    _check_traits(snapshot, body.traits)
    rules.require("use", model)
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


def _check_available(body: ScoreRequest) -> None:
    if body.feedback is not None:
        raise rules.unavailable("feedback")
    if _URL.fullmatch(body.content):
        raise FeatureUnavailable(
            "This service does not fetch addresses; send the text itself.", details={"field": "content"}
        )


def _encoder(bench: Bench, snapshot: Snapshot) -> Encoder:
    """The encoder that the version was trained with: no other may score with it."""
    if snapshot.encoder.digest == bench.encoder.digest:
        return bench.encoder
    for name in NAMES:
        try:
            encoder = load_encoder(name, cache=bench.settings.cache)
        except EncoderUnavailable:
            continue
        if encoder.digest == snapshot.encoder.digest:
            return encoder
    raise FeatureUnavailable(
        f"The version was trained with the encoder {snapshot.encoder.id}, which is not installed here.",
        details={"encoder": snapshot.encoder.id, "installed": bench.encoder.id},
    )
