"""Scores without the service, from a version's snapshot or from a draft's samples.

A preview runs the same code as the service, so both give the same numbers and refuse the same texts. Snapshots never
change and are parsed once per `param_hash`. Texts are not stored.
"""

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from cachetools import LRUCache, cached
from numpy.typing import NDArray

from traitbench.contract.explanations import Explanation
from traitbench.contract.models import DEFAULT_EFFORT, Model
from traitbench.contract.samples import Sample
from traitbench.contract.scores import Card, Comparison
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.encoders import Encoder, EncoderUnavailable, Vectors
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.scheduler import SCHEDULER, BatchQueue, processors
from traitbench.errors import BodyTooLarge
from traitbench.fitting.fit import EncoderIdentity, OutOfFold
from traitbench.fitting.fit import out_of_fold as out_of_fold_of
from traitbench.local.fitting import collected_samples, label_axes, no_label_axis, train
from traitbench.local.handover import hand_over
from traitbench.scoring import card as scoring
from traitbench.scoring import size
from traitbench.scoring.difference import certain
from traitbench.scoring.explain import explain
from traitbench.scoring.repeats import shorten
from traitbench.scoring.segments import embed
from traitbench.scoring.snapshot import EncoderMismatch, Snapshot, SnapshotInvalid, param_hash
from traitbench.settings import read_settings

Vector = NDArray[np.float32]

_HERE = "preview"
_NOT_COMPARED = "Samples like the text are shown once the model is trained."
_MOST_VECTORS = 20_000
_A_TURN = 16
_vectors: LRUCache[tuple[str, str], Vector] = LRUCache(_MOST_VECTORS)
_vectors_lock = threading.Lock()
_MOST_SNAPSHOTS, _MOST_FITS = 64, 16


class PreviewUnavailable(Exception):
    """A preview is not possible; the message says why."""


@dataclass(frozen=True)
class Rehearsal:
    """The parameters and figures that a training of the draft would give. They are not stored.

    `left_out` names traits without samples at a pole; `discovered` names intrinsic traits, whose axes only the service
    has.
    """

    snapshot: Snapshot
    metrics: dict[str, Any]
    samples: int
    left_out: tuple[str, ...]
    discovered: tuple[str, ...] = ()

    @property
    def param_hash(self) -> str:
        """The hash of the parameters, as a version has it."""
        return param_hash(self.snapshot)


def score(version: Version, texts: Sequence[str], *, traits: Sequence[str] | None = None) -> list[Card]:
    """Score texts by a version."""
    return _cards(snapshot_of(version), texts, f"v{version.version_no}", traits)


def is_preview(card: Card) -> bool:
    """Whether a card was made here, not by the service."""
    return card.metadata.request_id == _HERE


def compare(version: Version, a: Card, b: Card) -> Comparison:
    """Compare two cards of a version."""
    return Comparison.of(a, b, certain(snapshot_of(version), a.detail, b.detail))


def rehearse(
    model: Model,
    traits: Sequence[Trait],
    samples: Sequence[Sample],
    *,
    effort: str = DEFAULT_EFFORT,
    fixed: Mapping[str, Any] | None = None,
) -> Rehearsal:
    """Fit the draft in memory as a training does: without test samples and traits that have no samples at a pole.

    `fixed` is `metrics["traits"]` of an earlier training: with its effort and samples, the scores are the same.
    """
    samples = [sample for sample in samples if not sample.held_out]
    given = [trait for trait in traits if trait.kind == "extrinsic"]
    able = [trait for trait in given if trait.positive_samples and trait.negative_samples]
    if not able:
        raise PreviewUnavailable("A preview needs one trait with at least one sample at each pole.")
    left_out = tuple(trait.name for trait in given if trait not in able)
    discovered = tuple(trait.name for trait in traits if trait not in given)
    depends_on = f"{identity(able, samples)} {fixed}"
    snapshot, metrics = _fitted(depends_on, model.scoring_method, model.max_depth, effort, able, samples, fixed)
    return Rehearsal(snapshot, metrics, len(samples), left_out, discovered)


def score_rehearsal(rehearsal: Rehearsal, texts: Sequence[str]) -> list[Card]:
    """Score texts by a rehearsal, as a version trained on the same samples would."""
    return _cards(rehearsal.snapshot, texts, "draft", None)


def compare_rehearsal(rehearsal: Rehearsal, a: Card, b: Card) -> Comparison:
    """Compare two cards of a rehearsal."""
    return Comparison.of(a, b, certain(rehearsal.snapshot, a.detail, b.detail))


def explain_rehearsal(rehearsal: Rehearsal, text: str) -> dict[str, Explanation]:
    """Explain a rehearsal's scores by trait. Similar samples are shown only by trained versions."""
    _fitted_text(text)
    explanation = explain(rehearsal.snapshot, _encoder().encode, text)
    left = {"nearest": None, "note": _NOT_COMPARED}
    return {key: Explanation.model_validate(reasons.to_wire() | left) for key, reasons in explanation.traits.items()}


def out_of_fold(
    traits: Sequence[Trait], samples: Sequence[Sample], settings: tuple[str, Mapping[str, Any]], *, use_labels: bool
) -> dict[str, OutOfFold]:
    """Fit the traits again and return the out-of-fold positions of their samples, in the order given.

    `settings` are the effort and, by trait key, the settings that an earlier training chose.
    """
    effort, chosen = settings
    encoder, able = _encoder(), {each.trait for each in samples}
    label_axis = label_axes(encoder, read_settings().cache).of if use_labels else no_label_axis
    traits = [each for each in traits if each.key in able]
    given = collected_samples(traits, samples, _embedded_of(encoder, traits, samples), label_axis=label_axis)
    return out_of_fold_of(given, encoder=EncoderIdentity.of(encoder), effort=effort, fixed=chosen, modes=encoder.modes)


def positions(snapshot: Snapshot, samples: Sequence[Sample]) -> list[dict[str, float]]:
    """Return the positions in 0..1 of the samples' texts by trait key, as a version scores them."""
    placed = scoring.place(snapshot, _encoder().encode, [each.text for each in samples]) if samples else []
    return [dict(zip((axis.key for axis in snapshot.traits), each.positions, strict=True)) for each in placed]


def unread(samples: Sequence[Sample]) -> list[Sample]:
    """Return one sample of every text whose vector is not in memory."""
    known = _at_hand(_encoder(), samples)
    return list({each.content_sha256: each for each in samples if each.content_sha256 not in known}.values())


def read(samples: Sequence[Sample], progress: Callable[[int, int], object]) -> None:
    """Encode the texts of samples on all processors, in small batches, so that interactive requests go first."""
    encoder = _encoder()
    batches = [samples[start : start + _A_TURN] for start in range(0, len(samples), _A_TURN)]
    encoded = _in_turns(encoder, [each.text for each in samples])
    for at, (some, vectors) in enumerate(zip(batches, encoded, strict=True)):
        progress(at * _A_TURN, len(samples))
        _remember(encoder, some, vectors)


def read_texts(texts: Sequence[str]) -> Vectors:
    """Return the vectors of texts that are no samples, (n_texts, d), encoded as `read` does and not kept."""
    encoder = _encoder()
    return np.concatenate([np.empty((0, encoder.dimension), np.float32), *_in_turns(encoder, texts)])


def _in_turns(encoder: Encoder, texts: Sequence[str]) -> Iterator[Vectors]:
    turns = BatchQueue()

    def encoded(some: Sequence[str]) -> Vectors:
        with SCHEDULER.slot(turns):
            return embed(encoder.encode, some)

    batches = [texts[start : start + _A_TURN] for start in range(0, len(texts), _A_TURN)]
    pool = ThreadPoolExecutor(processors(), "reading")
    try:
        yield from pool.map(encoded, batches)
    finally:
        # The page may be left at any moment: what has not begun is not read then.
        pool.shutdown(cancel_futures=True)


def forget() -> None:
    """Clear the vectors and rehearsals in memory."""
    with _vectors_lock:
        _vectors.clear()
    _fitted.cache_clear()


def vectors(samples: Sequence[Sample]) -> Vectors:
    """Return the vectors of the samples' texts, (n_samples, d)."""
    encoder = _encoder()
    known = _embedded(encoder, samples)
    return np.array([known[sample.content_sha256] for sample in samples], np.float32).reshape(-1, encoder.dimension)


def encode(texts: Sequence[str]) -> Vectors:
    """Encode texts with the encoder of this workbench, (n_texts, d)."""
    return _encoder().encode(texts)


def label_axis(trait: Trait) -> Vector | None:
    """Return the label axis (d,) of a trait, or None if its words do not distinguish the poles."""
    return label_axes(_encoder(), read_settings().cache).of(trait)


def identity(traits: Sequence[Trait], samples: Sequence[Sample]) -> str:
    """Return a hash of everything that a fit on these traits and samples depends on."""
    seen = hashlib.sha256(_encoder().digest.encode())
    for trait in traits:
        words = (trait.name, trait.positive_label, trait.negative_label, trait.description)
        seen.update(repr((trait.key, *words, trait.aggregation)).encode())
    for sample in samples:
        origin = (sample.provenance, sample.seed_sample_id)
        seen.update(repr((sample.id, sample.trait, sample.quality, *origin, sample.content_sha256)).encode())
    return seen.hexdigest()


# ---- a version -------------------------------------------------------------------------------------------------------


def snapshot_of(version: Version) -> Snapshot:
    """Return the parsed snapshot of a version; raise `PreviewUnavailable` if this workbench cannot score with it."""
    if version.snapshot is None:
        raise PreviewUnavailable("This workbench's API key may score but not read snapshots, so there is no preview.")
    encoder = _encoder()
    try:
        snapshot = _snapshot(version.param_hash, version.snapshot)
        snapshot.require(encoder)
    except (EncoderMismatch, SnapshotInvalid) as error:
        raise PreviewUnavailable(f"No preview here. {error}") from error
    return snapshot


@cached(LRUCache(_MOST_SNAPSHOTS), key=lambda param_hash, _: param_hash, condition=threading.Condition())
def _snapshot(param_hash: str, parameters: dict[str, Any]) -> Snapshot:
    return Snapshot.from_json(parameters)


def _encoder() -> Encoder:
    settings = read_settings()
    try:
        return load_encoder(settings.encoder, cache=settings.cache)
    except EncoderUnavailable as error:
        raise PreviewUnavailable(f"There is no encoder here for a preview: {error}") from error


def _cards(snapshot: Snapshot, texts: Sequence[str], version: str, traits: Sequence[str] | None) -> list[Card]:
    encoder = _encoder()
    texts = [_fitted_text(text) for text in texts]
    cards = scoring.score_many(snapshot, encoder.encode, texts, traits=traits)
    return [
        Card.model_validate(
            {
                **each.to_wire(),
                "input_tokens": encoder.count_tokens(text),
                "metadata": {"request_id": _HERE, "version_id": version, "sample_ids": []},
            }
        )
        for each, text in zip(cards, texts, strict=True)
    ]


def _fitted_text(text: str) -> str:
    """Shorten a text as the service does; raise `BodyTooLarge` if the service would."""
    short = shorten(text).text
    try:
        size.check(short, most_words=read_settings().max_text_words, count_tokens=_encoder().count_tokens)
    except size.TextTooLarge as error:
        raise BodyTooLarge(str(error), details=error.details) from None
    return short


# ---- a draft ---------------------------------------------------------------------------------------------------------


@cached(LRUCache(_MOST_FITS), key=lambda *given: given[:4], condition=threading.Condition())
def _fitted(
    identity: str,
    scoring_method: str,
    max_depth: int,
    effort: str,
    traits: Sequence[Trait],
    samples: Sequence[Sample],
    fixed: Mapping[str, Any] | None,
) -> tuple[Snapshot, dict[str, Any]]:
    encoder = _encoder()
    trained = train(
        traits,
        samples,
        _embedded_of(encoder, traits, samples),
        encoder=encoder,
        cache=read_settings().cache,
        scoring_method=scoring_method,
        max_depth=max_depth,
        effort=effort,
        fixed=fixed,
    )
    return trained.snapshot, trained.metrics


def _embedded_of(encoder: Encoder, traits: Sequence[Trait], samples: Sequence[Sample]) -> dict[str, Vector]:
    """Return the vectors of the samples of these traits."""
    keys = {trait.key for trait in traits}
    return _embedded(encoder, [sample for sample in samples if sample.trait in keys])


def _embedded(encoder: Encoder, samples: Sequence[Sample]) -> dict[str, Vector]:
    """Return the vector (d,) of every text by its hash, from memory if possible."""
    known = _at_hand(encoder, samples)
    if missing := list({each.content_sha256: each for each in samples if each.content_sha256 not in known}.values()):
        encoded = embed(encoder.encode, [each.text for each in missing])
        _remember(encoder, missing, encoded)
        known |= {each.content_sha256: vector for each, vector in zip(missing, encoded, strict=True)}
    return known


def _at_hand(encoder: Encoder, samples: Sequence[Sample]) -> dict[str, Vector]:
    with _vectors_lock:
        return {key: _vectors[encoder.digest, key] for key in _keys(samples) if (encoder.digest, key) in _vectors}


def _remember(encoder: Encoder, samples: Sequence[Sample], encoded: Vectors) -> None:
    with _vectors_lock:
        for sample, vector in zip(samples, encoded, strict=True):
            _vectors[encoder.digest, sample.content_sha256] = vector
    vectors = {each.id: (each.content_sha256, vector) for each, vector in zip(samples, encoded, strict=True)}
    hand_over(encoder.digest, vectors)


def _keys(samples: Sequence[Sample]) -> set[str]:
    return {sample.content_sha256 for sample in samples}
