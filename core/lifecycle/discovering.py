"""What a discovery does, in the worker: pools the texts of a draft and attaches the axes found as intrinsic traits.

The traits that are there, those of an earlier discovery too, stay and count as known: what is found lies beside them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine

from traitbench.encoders import Encoder
from traitbench.errors import InsufficientSamples
from traitbench.lifecycle import rules
from traitbench.lifecycle.encoding import encoded
from traitbench.runs.execution import Execution, Fenced
from traitbench.scoring.discover import FEWEST_TEXTS, MOST_TEXTS, DiscoveredTrait, InsufficientTexts, pole_difference
from traitbench.scoring.discover import discover as find_axes
from traitbench.store import models, samples, traits
from traitbench.store.engine import reading, writing
from traitbench.store.models import ModelRow
from traitbench.store.traits import Axis, TraitRow
from traitbench.store.vectors import Vector

_ENCODING = 0.7
# A script without spaces has words as long as sentences: each field keeps to the length that it may have.
_WORDS = {"name": 180, "positive_label": 200, "negative_label": 200, "description": 2_000}

Directions = NDArray[np.float64]


def discover(engine: Engine, encoder: Encoder, execution: Execution) -> None:
    """Find axes among the model's texts and attach them, in the worker."""
    with reading(engine) as connection:
        pool = _pool(connection, execution.run.model_id)
    known = encoded(engine, encoder, execution, pool.labels, share=lambda texts: _ENCODING if texts else 0.0)
    execution.report("discovering", 0, 1, fraction=_ENCODING)
    found = _find(engine, encoder, execution.run.effort, pool, known)
    with writing(engine) as connection:
        _finish(connection, encoder, execution, pool, found)


@dataclass(frozen=True)
class _Pool:
    """What is there before: it does not change meanwhile, for a busy model is not edited."""

    model: ModelRow
    labels: Sequence[samples.Label]
    traits: Sequence[TraitRow]
    axes: Mapping[int, Axis]


def _pool(connection: Connection, model_id: int) -> _Pool:
    model = models.find_by_id(connection, model_id)
    if model is None:
        raise Fenced(model_id)
    labels, rows = samples.labels(connection, model_id), traits.rows(connection, model_id)
    return _Pool(model, labels, rows, traits.axes(connection, model_id))


def _find(
    engine: Engine, encoder: Encoder, effort: str, pool: _Pool, known: Mapping[str, Vector]
) -> tuple[DiscoveredTrait, ...]:
    chosen = _chosen(pool.labels)
    with reading(engine) as connection:
        texts = samples.texts(connection, [label.id for label in chosen])
    if len(texts) < len(chosen):
        raise Fenced(pool.model.id)
    try:
        return find_axes(
            np.array([known[label.content_sha256] for label in chosen], np.float32),
            [texts[label.id] for label in chosen],
            ids=[label.id for label in chosen],
            quality=np.array([label.quality for label in chosen], np.float64),
            known=_known(encoder, pool, known),
            effort=effort,
            taken=[trait.name for trait in pool.traits],
            words=not pool.model.zero_data_retention,
        )
    except InsufficientTexts as error:
        raise InsufficientSamples(str(error), details={"distinct": error.distinct, "needed": error.needed}) from None


def _chosen(labels: Sequence[samples.Label]) -> list[samples.Label]:
    """The samples to look at: those that somebody wrote, if they are enough, and of many texts those with the lowest
    hashes, so that the choice depends on nothing but the texts."""
    written = [label for label in labels if label.provenance != "synthesized"]
    pooled = written if len({label.content_sha256 for label in written}) >= FEWEST_TEXTS else labels
    lowest = set(sorted({label.content_sha256 for label in pooled})[:MOST_TEXTS])
    return [label for label in pooled if label.content_sha256 in lowest]


def _known(encoder: Encoder, pool: _Pool, vectors: Mapping[str, Vector]) -> Directions:
    """(m, d): the directions of the traits that are there."""
    directions = [_direction(encoder, pool, trait, vectors) for trait in pool.traits]
    return np.array([direction for direction in directions if direction is not None]).reshape(-1, encoder.dimension)


def _direction(encoder: Encoder, pool: _Pool, trait: TraitRow, vectors: Mapping[str, Vector]) -> Directions | None:
    """An axis, or what the labels say; None for an axis among the vectors of another encoder."""
    if (axis := pool.axes.get(trait.id)) is not None:
        return axis.vector.astype(np.float64) if axis.encoder_digest == encoder.digest else None
    own = [label for label in pool.labels if label.trait_id == trait.id]
    if not own:
        return None
    X = np.array([vectors[label.content_sha256] for label in own], np.float32)
    return pole_difference(X, np.array([label.quality for label in own], np.float64))


def _finish(
    connection: Connection, encoder: Encoder, execution: Execution, pool: _Pool, found: Sequence[DiscoveredTrait]
) -> None:
    # The model first, then the run: the order in which a deletion takes them too.
    model = models.hold_by_id(connection, pool.model.id)
    attached = found[: max(0, execution.run.options["max_traits"] - len(pool.traits))]
    execution.succeed(connection, phase="discovering", total=1, notes=_notes(found, attached))
    if model is None or model.state != "busy":
        raise Fenced(execution.run.id)
    traits.add(connection, model.id, list(_rows(pool, attached, encoder, execution)))
    models.move(connection, model, "draft", now=rules.now())


def _notes(found: Sequence[DiscoveredTrait], attached: Sequence[DiscoveredTrait]) -> list[str]:
    """What a person should know of the outcome."""
    if not found:
        return ["No axis was found that repeats itself in both halves of the texts and that words explain."]
    left = len(found) - len(attached)
    return [f"{left} of {len(found)} axes were left out: the model may not have more traits."] if left else []


def _rows(
    pool: _Pool, attached: Sequence[DiscoveredTrait], encoder: Encoder, execution: Execution
) -> Iterator[dict[str, Any]]:
    keys, names = _free_keys({trait.key for trait in pool.traits}), {trait.name for trait in pool.traits}
    for found in attached:
        key, words = next(keys), {name: getattr(found, name)[:most] for name, most in _WORDS.items()}
        if words["name"] in names:
            words["name"] += f" ({key})"
        names.add(words["name"])
        yield {"key": key, **words, **_fields(found, words, encoder, execution)}


def _free_keys(taken: set[str]) -> Iterator[str]:
    """Keys without a word of the texts in them: a key is for good, and texts may have to be forgotten."""
    return (key for number in count(1) if (key := f"axis_{number}") not in taken)


def _fields(found: DiscoveredTrait, words: Mapping[str, str], encoder: Encoder, execution: Execution) -> dict[str, Any]:
    return {
        "kind": "intrinsic",
        "aggregation": "mean",
        "discrimination": found.discrimination,
        "explained_variance": found.explained_variance,
        "anchor_sample_ids": {"positive": list(found.anchor_positive), "negative": list(found.anchor_negative)},
        # The words beside the trait's own: who forgets the texts forgets them where nobody has changed them.
        "discovery": {**words, "stability": found.stability, "offset": found.offset, "effort": execution.run.effort},
        "origin_run_id": execution.run.id,
        **traits.axis_fields(Axis(encoder.digest, found.axis)),
    }
