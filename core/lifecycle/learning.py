"""What a training does, in the worker.

A run may be executed more than once and be killed at any moment. What it encodes is kept as it goes; all the rest, the
version, the active pointer, the state and the end of the run, is written in one transaction, which only the run's
present owner can commit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from sqlalchemy import Connection, Engine

from core.encoders import Encoder
from core.lifecycle import rules
from core.runs.execution import Execution, Fenced
from core.scoring.fit import EncoderIdentity, Trained, TraitSamples, fit
from core.scoring.segments import embed
from core.scoring.snapshot import param_hash
from core.store import models, samples, traits, vectors, versions
from core.store.engine import reading, writing
from core.store.models import ModelRow
from core.store.vectors import Vector

_TEXTS_AT_ONCE = 32
# What encoding a text costs against learning one trait: only the bar's evenness hangs on it.
_TEXTS_PER_TRAIT = 50

Item = TypeVar("Item")


def train(engine: Engine, encoder: Encoder, execution: Execution) -> None:
    """Learn from the model's samples and make the version, in the worker."""
    with reading(engine) as connection:
        lesson = _lesson(connection, execution.run.model_id)
    known = _encode(engine, encoder, execution, lesson)
    trained = _fit(encoder, execution, lesson, known)
    with writing(engine) as connection:
        _finish(connection, execution, lesson, trained)


@dataclass(frozen=True)
class _Lesson:
    """What a training learns from, texts aside. It does not change meanwhile: a busy model is not edited."""

    model: ModelRow
    traits: Sequence[traits.TraitRow]
    labels: Sequence[samples.Label]

    def share(self, texts: int) -> float:
        """How much of the whole is encoding, when this many texts are left to encode."""
        return texts / (texts + _TEXTS_PER_TRAIT * len(self.traits))


def _lesson(connection: Connection, model_id: int) -> _Lesson:
    model = models.find_by_id(connection, model_id)
    if model is None:
        raise Fenced(model_id)
    return _Lesson(model, traits.rows(connection, model_id), samples.labels(connection, model_id))


def _encode(engine: Engine, encoder: Encoder, execution: Execution, lesson: _Lesson) -> Mapping[str, Vector]:
    """The vector of every text, by the text's hash; what is new is kept batch by batch."""
    with reading(engine) as connection:
        kept = vectors.read(connection, lesson.model.id, encoder.digest)
    known = {label.content_sha256: kept[label.id] for label in lesson.labels if label.id in kept}
    new = {label.content_sha256: label.id for label in lesson.labels if label.content_sha256 not in known}
    share = lesson.share(len(new))
    for done, batch in _batches(list(new.items())):
        execution.report("encoding", done, len(new), fraction=share * done / len(new))
        known |= _encode_batch(engine, encoder, batch)
    return known


def _encode_batch(engine: Engine, encoder: Encoder, batch: Sequence[tuple[str, int]]) -> dict[str, Vector]:
    """Vectors by the text's hash, for pairs of hash and a sample that has the text."""
    with reading(engine) as connection:
        texts = samples.texts(connection, [sample_id for _, sample_id in batch])
    rows = embed(encoder.encode, [texts[sample_id] for _, sample_id in batch])
    with writing(engine) as connection:
        vectors.keep(
            connection, encoder.digest, {sample_id: row for (_, sample_id), row in zip(batch, rows, strict=True)}
        )
    return {digest: row for (digest, _), row in zip(batch, rows, strict=True)}


def _fit(encoder: Encoder, execution: Execution, lesson: _Lesson, known: Mapping[str, Vector]) -> Trained:
    encoded = execution.fraction

    def report(done: int, total: int) -> None:
        execution.report("learning", done, total, fraction=encoded + (0.99 - encoded) * done / total)

    return fit(
        [_trait_samples(trait, lesson.labels, known) for trait in lesson.traits],
        encoder=EncoderIdentity(encoder.id, encoder.dimension, encoder.digest),
        scoring_method=lesson.model.scoring_method,
        max_depth=lesson.model.max_depth,
        effort=execution.run.effort,
        on_progress=report,
    )


def _trait_samples(
    trait: traits.TraitRow, labels: Sequence[samples.Label], known: Mapping[str, Vector]
) -> TraitSamples:
    own = [label for label in labels if label.trait_id == trait.id]
    return TraitSamples(
        key=trait.key,
        name=trait.name,
        positive_label=trait.positive_label,
        negative_label=trait.negative_label,
        aggregation=trait.aggregation,
        X=np.array([known[label.content_sha256] for label in own], np.float32),
        y=np.array([label.quality for label in own], np.float64),
        groups=[label.content_sha256 for label in own],
    )


def _finish(connection: Connection, execution: Execution, lesson: _Lesson, trained: Trained) -> None:
    # The model first, then the run: the order in which a deletion takes them too.
    model = models.hold_by_id(connection, lesson.model.id)
    execution.succeed(connection, phase="learning", total=len(lesson.traits))
    if model is None or model.state != "busy":
        raise Fenced(execution.run.id)
    version_id = versions.add(
        connection,
        snapshot=trained.snapshot.to_json(),
        model_id=model.id,
        version_no=models.next_version_no(connection, model.id),
        triggered_by="train",
        param_hash=param_hash(trained.snapshot),
        sample_count=len(lesson.labels),
        run_id=execution.run.id,
        metrics=trained.metrics | {"elapsed_s": round(execution.elapsed_s, 3)},
        created_at=rules.now(),
    )
    models.move(connection, model, "ready", now=rules.now(), active_version_id=version_id)


def _batches(items: Sequence[Item]) -> Iterator[tuple[int, Sequence[Item]]]:
    for first in range(0, len(items), _TEXTS_AT_ONCE):
        yield first, items[first : first + _TEXTS_AT_ONCE]
