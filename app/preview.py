"""Scores without the service: a version's snapshot and a text, or a draft's samples and a text, to a card, here.

The last three hops of a score are the service's own code, so a preview and the service give the same numbers. Snapshots
are immutable and are read once, by `param_hash`. Nothing of a text is kept.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from core.contract.models import Model
from core.contract.samples import Sample
from core.contract.scores import Card
from core.contract.traits import Trait
from core.contract.versions import Version
from core.encoders import Encoder, EncoderUnavailable, Vectors
from core.encoders.registry import load_encoder
from core.scoring import card as scoring
from core.scoring.fit import EncoderIdentity, TraitSamples, fit
from core.scoring.segments import embed
from core.scoring.snapshot import EncoderMismatch, Snapshot, SnapshotInvalid
from core.settings import read_settings

_HERE = "preview"
_EFFORT = "high"
_MOST_VECTORS = 20_000
_vectors: OrderedDict[tuple[str, str], Any] = OrderedDict()
_vectors_lock = threading.Lock()


class PreviewUnavailable(Exception):
    """No preview is possible here; the message says why, and that the service still scores."""


@dataclass(frozen=True)
class Rehearsal:
    """What a training would make of a draft's samples: parameters and figures, kept nowhere.

    `left_out` names traits without samples at a pole, `found` those of discovery: their axes stay in the service.
    """

    snapshot: Snapshot
    metrics: dict[str, Any]
    samples: int
    left_out: tuple[str, ...]
    found: tuple[str, ...] = ()


def score(version: Version, texts: Sequence[str], *, traits: Sequence[str] | None = None) -> list[Card]:
    """The cards that this version gives."""
    return _cards(_snapshot_of(version), texts, f"v{version.version_no}", traits)


def rehearse(model: Model, traits: Sequence[Trait], samples: Sequence[Sample]) -> Rehearsal:
    """Fit the draft in memory, as a training does; a trait that lacks samples at a pole is left out."""
    given = [trait for trait in traits if trait.kind == "extrinsic"]
    able = [trait for trait in given if trait.positive_samples and trait.negative_samples]
    if not able:
        raise PreviewUnavailable("A preview needs one trait with at least one sample at each pole.")
    left_out = tuple(trait.name for trait in given if trait not in able)
    found = tuple(trait.name for trait in traits if trait not in given)
    snapshot, metrics = _fitted(_identity(able, samples), model.scoring_method, model.max_depth, able, samples)
    return Rehearsal(snapshot, metrics, len(samples), left_out, found)


def score_rehearsal(rehearsal: Rehearsal, texts: Sequence[str]) -> list[Card]:
    """The cards that a version would give, were it trained on what the rehearsal saw."""
    return _cards(rehearsal.snapshot, texts, "draft", None)


# ---- a version -------------------------------------------------------------------------------------------------------


def _snapshot_of(version: Version) -> Snapshot:
    if version.snapshot is None:
        raise PreviewUnavailable("This workbench's API key may score but not read snapshots, so there is no preview.")
    encoder = _encoder()
    try:
        snapshot = _snapshot(version.param_hash, version.snapshot)
        snapshot.require(encoder)
    except (EncoderMismatch, SnapshotInvalid) as error:
        raise PreviewUnavailable(f"No preview here. {error}") from error
    return snapshot


@st.cache_resource(max_entries=64, show_spinner=False)
def _snapshot(param_hash: str, _parameters: dict[str, Any]) -> Snapshot:
    return Snapshot.from_json(_parameters)


def _encoder() -> Encoder:
    settings = read_settings()
    try:
        return load_encoder(settings.encoder, cache=settings.cache)
    except EncoderUnavailable as error:
        raise PreviewUnavailable(f"There is no encoder here for a preview: {error}") from error


def _cards(snapshot: Snapshot, texts: Sequence[str], version: str, traits: Sequence[str] | None) -> list[Card]:
    encoder = _encoder()
    found = scoring.score_many(snapshot, encoder.encode, texts, traits=traits)
    return [
        Card.model_validate(
            {
                **each.to_wire(),
                "input_tokens": encoder.count_tokens(text),
                "metadata": {"request_id": _HERE, "version_id": version, "sample_ids": []},
            }
        )
        for each, text in zip(found, texts, strict=True)
    ]


# ---- a draft ---------------------------------------------------------------------------------------------------------


def _identity(traits: Sequence[Trait], samples: Sequence[Sample]) -> str:
    """What the rehearsal depends on; a sample never changes under its id."""
    seen = hashlib.sha256(_encoder().digest.encode())
    for trait in traits:
        seen.update(
            repr((trait.key, trait.name, trait.positive_label, trait.negative_label, trait.aggregation)).encode()
        )
    for sample in samples:
        seen.update(repr((sample.id, sample.trait, sample.quality, sample.provenance, sample.content_sha256)).encode())
    return seen.hexdigest()


@st.cache_resource(max_entries=16, show_spinner=False)
def _fitted(
    identity: str, scoring_method: str, max_depth: int, _traits: Sequence[Trait], _samples: Sequence[Sample]
) -> tuple[Snapshot, dict[str, Any]]:
    encoder = _encoder()
    trained = fit(
        [_trait_samples(encoder, trait, _samples) for trait in _traits],
        encoder=EncoderIdentity(encoder.id, encoder.dimension, encoder.digest),
        scoring_method=scoring_method,
        max_depth=max_depth,
        effort=_EFFORT,
    )
    return trained.snapshot, trained.metrics


def _trait_samples(encoder: Encoder, trait: Trait, samples: Sequence[Sample]) -> TraitSamples:
    own = [sample for sample in samples if sample.trait in (trait.key, trait.name)]
    return TraitSamples(
        key=trait.key,
        name=trait.name,
        positive_label=trait.positive_label,
        negative_label=trait.negative_label,
        aggregation=trait.aggregation,
        X=_embedded(encoder, own),
        y=np.array([sample.quality for sample in own], dtype=np.float64),
        groups=[sample.content_sha256 for sample in own],
        synthesized=np.array([sample.provenance == "synthesized" for sample in own], dtype=np.bool_),
    )


def _embedded(encoder: Encoder, samples: Sequence[Sample]) -> Vectors:
    """Vectors of the samples' texts; those met before come from memory."""
    with _vectors_lock:
        known = {key: _vectors[encoder.digest, key] for key in _keys(samples) if (encoder.digest, key) in _vectors}
    texts = {sample.content_sha256: sample.text for sample in samples if sample.content_sha256 not in known}
    known |= dict(zip(texts, embed(encoder.encode, list(texts.values())), strict=True)) if texts else {}
    with _vectors_lock:
        for key in known:
            _vectors[encoder.digest, key] = known[key]
            _vectors.move_to_end((encoder.digest, key))
        while len(_vectors) > _MOST_VECTORS:
            _vectors.popitem(last=False)
    return np.stack([known[sample.content_sha256] for sample in samples]).astype(np.float32)


def _keys(samples: Sequence[Sample]) -> set[str]:
    return {sample.content_sha256 for sample in samples}
