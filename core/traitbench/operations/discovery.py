"""Discovery: `start` queues a run, `run` finds axes among a draft's texts and attaches them as intrinsic traits.

It needs a draft with enough different texts; their labels do not matter. Texts without labels may come with the
request. They are analysed like the samples and deleted at the end of the run, and nothing is trained on them.

The new traits are suggestions: the next discovery replaces those that nobody has touched. All other traits stay and
count as known, so new axes differ from them.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine

from traitbench.contract import operations
from traitbench.contract.models import RunStarted
from traitbench.contract.samples import text_hash
from traitbench.contract.traits import DiscoverRequest
from traitbench.encoders import Encoder
from traitbench.errors import InsufficientSamples
from traitbench.fitting import work as cost
from traitbench.fitting.discover import (
    FEWEST_TEXTS,
    MOST_TEXTS,
    DiscoveredTrait,
    Discovery,
    InsufficientTexts,
    Rejected,
    pole_difference,
)
from traitbench.fitting.discover import discover as find_axes
from traitbench.fitting.tones import contrasts
from traitbench.operations import access, model_runs, rules, suggestions, zero_retention
from traitbench.operations.access import Caller
from traitbench.operations.axis_names import named
from traitbench.operations.context import Context
from traitbench.operations.rules import language_model, sends_nothing
from traitbench.operations.sample_vectors import ENCODING, encoded, texts_of
from traitbench.runs.execution import Execution, Fenced
from traitbench.runs.progress import Timeline
from traitbench.scoring.segments import embed
from traitbench.settings import Settings
from traitbench.store import models, run_texts, runs, samples, traits
from traitbench.store.database import reading, writing
from traitbench.store.models import ModelRow
from traitbench.store.runs import RunRow
from traitbench.store.traits import Axis, StoredDiscovery, TraitRow
from traitbench.store.vectors import Vector

_DISCOVERING = "discovering"
_ENCODING_MORE = "encoding unlabelled texts"
_PIECE = 16
# In a script without spaces a "word" is as long as a sentence, so each field is cut to its maximum length.
_MAX_LENGTHS = {"name": 180, "positive_label": 200, "negative_label": 200, "description": 2_000}
_LONGEST_PHRASE = 100
_FEWEST_OVERLAP, _MOST_OVERLAPS = 0.2, 3

Directions = NDArray[np.float64]


def start(context: Context, caller: Caller, handle: str, body: DiscoverRequest) -> RunStarted:
    """Queue a discovery, which searches the samples for new traits."""
    texts = {text_hash(text): text for text in body.texts}
    with access.to_change(context, caller, operations.TRAITS_DISCOVER, handle) as (connection, model):
        started = model_runs.begin(
            connection,
            context.runs,
            model,
            "discover",
            effort=body.effort,
            options=_options(texts) | language_model(context.settings, model, wanted=body.language_model),
            bounds={"max_traits": context.settings.max_traits},
            requested_by=caller.label,
            check=lambda: _check_samples(connection, model, texts),
        )
        run_texts.add(connection, str(started.run_id), texts)
        return started


def run(engine: Engine, encoder: Encoder, settings: Settings, execution: Execution) -> None:
    """Find axes among the model's texts and attach them, in the worker."""
    with reading(engine) as connection:
        pool = _pool(connection, execution.run)
    work = {ENCODING: 0.0, _ENCODING_MORE: cost.reading(map(len, pool.unlabelled.values()))}
    timeline = Timeline(
        work | {_DISCOVERING: cost.discovering(min(len(pool.distinct), MOST_TEXTS), execution.run.effort)}
    )
    known = dict(encoded(engine, encoder, execution, pool.labels, timeline=timeline))
    known |= _encoded_unlabelled(encoder, execution, pool.unlabelled, timeline)
    timeline.reach(_DISCOVERING)
    execution.report(_DISCOVERING, 0, 1, fraction=timeline.fraction, left_s=timeline.left_s)
    directions = _known(encoder, pool, known)
    chosen = _chosen(pool)
    texts = _read_texts(engine, execution, pool, chosen)
    discovered = _find(encoder, execution.run.effort, pool, chosen, texts, known, directions)
    private = sends_nothing(pool.model)
    axes, notes = named(settings, execution, timeline, discovered.traits, texts, sends_nothing=private)
    discovered = replace(discovered, traits=tuple(axes))
    with writing(engine) as connection:
        _finish(connection, encoder, execution, pool, discovered, known=list(directions), notes=notes)
    if pool.leaves_nothing:
        zero_retention.settle(engine, pool.model.id)


def _options(texts: Mapping[str, str]) -> dict[str, Any]:
    """What tells runs with other texts apart, besides samples and effort."""
    return {"texts": hashlib.sha256(" ".join(sorted(texts)).encode()).hexdigest()} if texts else {}


def _check_samples(connection: Connection, model: ModelRow, texts: Mapping[str, str]) -> None:
    labels = samples.labels(connection, model.id)
    distinct = len({label.content_sha256 for label in labels} | texts.keys())
    if distinct < FEWEST_TEXTS:
        counts = {trait.key: trait.sample_count for trait in traits.read(connection, model.id)}
        raise InsufficientSamples(
            f"Discovery needs {FEWEST_TEXTS} different texts; {model.handle} has {distinct}. Add samples.",
            details={"distinct": distinct, "needed": FEWEST_TEXTS, "samples": len(labels), "traits": counts},
        )


@dataclass(frozen=True)
class _DraftTexts:
    """The draft when the run started. It cannot change meanwhile, because a busy model cannot be edited.

    `traits` are those that stay, and `replaced` the suggestions that do not. `unlabelled` are the texts of the request
    that are no samples, by hash.
    """

    model: ModelRow
    labels: Sequence[samples.Label]
    traits: Sequence[TraitRow]
    replaced: Sequence[StoredDiscovery]
    axes: Mapping[int, Axis]
    unlabelled: Mapping[str, str]

    @property
    def distinct(self) -> set[str]:
        """The hashes of all texts."""
        return {label.content_sha256 for label in self.labels} | self.unlabelled.keys()

    @property
    def leaves_nothing(self) -> bool:
        """Whether deleted texts have to be removed from the database's files too."""
        return self.model.zero_data_retention and bool(self.unlabelled)


@dataclass(frozen=True)
class _TextToRead:
    """A text to analyse. Its id is that of its sample, or negative if it has none."""

    id: int
    content_sha256: str
    quality: float


def _pool(connection: Connection, run: RunRow) -> _DraftTexts:
    model_id = run.model_id
    model = models.find_by_id(connection, model_id)
    if model is None:
        raise Fenced(model_id)
    labels, sent = samples.labels(connection, model_id), run_texts.read(connection, run.id)
    labelled = {label.content_sha256 for label in labels}
    unlabelled = {digest: text for digest, text in sent.items() if digest not in labelled}
    replaced = suggestions.untouched(connection, model_id)
    leaving = {trait.id for trait in replaced}
    stay = [row for row in traits.rows(connection, model_id) if row.id not in leaving]
    return _DraftTexts(model, labels, stay, replaced, traits.axes(connection, model_id), unlabelled)


def _read_texts(
    engine: Engine, execution: Execution, pool: _DraftTexts, chosen: Sequence[_TextToRead]
) -> dict[int, str]:
    """The texts to analyse, by id."""
    texts = texts_of(engine, execution, [text.id for text in chosen if text.id > 0])
    return texts | {text.id: pool.unlabelled[text.content_sha256] for text in chosen if text.id < 0}


def _find(
    encoder: Encoder,
    effort: str,
    pool: _DraftTexts,
    chosen: Sequence[_TextToRead],
    texts: Mapping[int, str],
    known: Mapping[str, Vector],
    directions: Mapping[str, Directions],
) -> Discovery:
    X = np.array([known[text.content_sha256] for text in chosen], np.float32)
    try:
        return find_axes(
            X,
            [texts[text.id] for text in chosen],
            ids=[text.id for text in chosen],
            quality=np.array([text.quality for text in chosen], np.float64),
            known=np.array([*directions.values()]).reshape(len(directions), X.shape[1]),
            effort=effort,
            taken=[trait.name for trait in pool.traits],
            words=not pool.model.zero_data_retention,
            contrasts=contrasts(partial(embed, encoder.encode)),
        )
    except InsufficientTexts as error:
        raise InsufficientSamples(str(error), details={"distinct": error.distinct, "needed": error.needed}) from None


def _encoded_unlabelled(
    encoder: Encoder, execution: Execution, unlabelled: Mapping[str, str], timeline: Timeline
) -> dict[str, Vector]:
    """The vectors of the unlabelled texts, by hash. They are not stored."""
    known: dict[str, Vector] = {}
    # After a run has brought its worker down, the next attempt shows at which text.
    items, step = list(unlabelled.items()), 1 if execution.suspected else _PIECE
    for first in range(0, len(items), step):
        timeline.reach(_ENCODING_MORE, first / len(items))
        execution.report(ENCODING, first, len(items), fraction=timeline.fraction, left_s=timeline.left_s)
        piece = items[first : first + step]
        known |= zip((digest for digest, _ in piece), embed(encoder.encode, [text for _, text in piece]), strict=True)
    return known


def _texts(pool: _DraftTexts) -> list[_TextToRead]:
    """The texts to analyse.

    Synthesized samples are left out if there are enough others.
    """
    # Synthesized texts share the frames of their sentences, and these frames would become the first axis.
    written = [label for label in pool.labels if label.provenance != "synthesized"]
    enough = len({label.content_sha256 for label in written} | pool.unlabelled.keys()) >= FEWEST_TEXTS
    labelled = [
        _TextToRead(label.id, label.content_sha256, label.quality) for label in (written if enough else pool.labels)
    ]
    return labelled + [
        _TextToRead(-number, digest, math.nan) for number, digest in enumerate(sorted(pool.unlabelled), 1)
    ]


def _chosen(pool: _DraftTexts) -> list[_TextToRead]:
    """The texts to analyse; of too many, those with the lowest hashes, so that the choice depends only on the texts."""
    texts = _texts(pool)
    lowest = set(sorted({text.content_sha256 for text in texts})[:MOST_TEXTS])
    return [text for text in texts if text.content_sha256 in lowest]


def _known(encoder: Encoder, pool: _DraftTexts, vectors: Mapping[str, Vector]) -> dict[str, Directions]:
    """The directions (d,) of the existing traits, by key."""
    directions = {trait.key: _direction(encoder, pool, trait, vectors) for trait in pool.traits}
    return {key: direction for key, direction in directions.items() if direction is not None}


def _direction(
    encoder: Encoder, pool: _DraftTexts, trait: TraitRow, vectors: Mapping[str, Vector]
) -> Directions | None:
    """A trait's axis, or the difference of its poles; None for another encoder's axis or a trait without samples."""
    if (axis := pool.axes.get(trait.id)) is not None:
        return axis.vector.astype(np.float64) if axis.encoder_digest == encoder.digest else None
    own = [label for label in pool.labels if label.trait_id == trait.id]
    if not own:
        return None
    X = np.array([vectors[label.content_sha256] for label in own], np.float32)
    return pole_difference(X, np.array([label.quality for label in own], np.float64))


def _finish(
    connection: Connection,
    encoder: Encoder,
    execution: Execution,
    pool: _DraftTexts,
    discovery: Discovery,
    *,
    known: Sequence[str],
    notes: Sequence[str],
) -> None:
    """Replace the suggestions. `known` are the keys of the traits whose overlap with the new ones was measured."""
    # Lock the model first, then the run: a deletion locks them in the same order.
    model, run = models.hold_by_id(connection, pool.model.id), execution.run
    attached = discovery.traits[: max(0, run.options["max_traits"] - len(pool.traits))]
    execution.succeed(connection, phase="discovering", total=1, notes=[*_notes(discovery, attached), *notes])
    if model is None or model.state != "busy":
        raise Fenced(run.id)
    traits.forget_dismissed(connection, model.id)
    for trait in pool.replaced:
        traits.remove(connection, trait.id)
    if pool.leaves_nothing:
        models.change(connection, model.id, now=rules.now(), unsettled_purge=rules.now())
    traits.add(connection, model.id, list(_rows(pool, attached, known, encoder, execution)))
    options = {name: run.options[name] for name in ("texts", "language_model") if name in run.options}
    key = model_runs.run_key(connection, model.id, "discover", effort=run.effort, options=options)
    runs.change_key(connection, run.id, key)
    models.move(connection, model, "draft", now=rules.now())


def _notes(discovery: Discovery, attached: Sequence[DiscoveredTrait]) -> list[str]:
    """Notes on the outcome for a person."""
    if not discovery.traits:
        return [_why_none(discovery.rejected)]
    left, of = len(discovery.traits) - len(attached), len(discovery.traits)
    return [f"Left out {left} of {of} axes: the model has reached its limit of traits."] if left else []


def _why_none(rejected: Rejected) -> str:
    if not rejected.candidates:
        return "No axis was found: the texts do not differ beyond what the existing traits cover."
    reasons = (
        (rejected.unstable, "did not appear in both halves of the texts"),
        (rejected.unexplained, "could not be predicted from words"),
        (rejected.repeated, "repeated an existing trait"),
    )
    why = ", ".join(f"{number} {reason}" for number, reason in reasons if number)
    return f"No axis was found. Of {rejected.candidates} candidates, {why}. More texts, or more varied ones, may help."


def _rows(
    pool: _DraftTexts, attached: Sequence[DiscoveredTrait], known: Sequence[str], encoder: Encoder, execution: Execution
) -> Iterator[dict[str, Any]]:
    keys, names = _free_keys({trait.key for trait in pool.traits}), {trait.name for trait in pool.traits}
    for trait in attached:
        key, words = next(keys), _words(trait)
        if words["name"] in names:
            words["name"] += f" ({key})"
        names.add(words["name"])
        record = {**words, **_record(trait, pool, known), "effort": execution.run.effort}
        yield {"key": key, **words, **_fields(trait, record, encoder, execution)}


def _words(trait: DiscoveredTrait) -> dict[str, str]:
    """Name, labels and description of a trait. Names from another source than its phrases would be made here."""
    return {name: getattr(trait, name)[:most] for name, most in _MAX_LENGTHS.items()}


def _free_keys(taken: set[str]) -> Iterator[str]:
    """Unused keys without any word of the texts: a key is permanent, but the texts may have to be purged."""
    return (key for number in count(1) if (key := f"axis_{number}") not in taken)


def _record(trait: DiscoveredTrait, pool: _DraftTexts, known: Sequence[str]) -> dict[str, Any]:
    """What the API shows of a discovered trait besides its words."""
    hashes = {text.id: text.content_sha256 for text in _texts(pool)}
    ends = {"positive": trait.anchor_positive, "negative": trait.anchor_negative}
    phrases = {"positive": trait.phrases_positive, "negative": trait.phrases_negative}
    overlaps = sorted(zip(known, trait.overlaps, strict=True), key=lambda each: -abs(each[1]))
    return {
        "stability": trait.stability,
        "offset": trait.offset,
        "texts": trait.texts,
        "phrases": {pole: [phrase[:_LONGEST_PHRASE] for phrase in own] for pole, own in phrases.items()},
        "typical": {pole: [hashes[each] for each in ids] for pole, ids in ends.items()},
        "histogram": list(trait.histogram),
        "overlaps": [
            {"trait": key, "correlation": round(value, 3)} for key, value in overlaps if abs(value) >= _FEWEST_OVERLAP
        ][:_MOST_OVERLAPS],
    }


def _fields(
    trait: DiscoveredTrait, record: Mapping[str, Any], encoder: Encoder, execution: Execution
) -> dict[str, Any]:
    return {
        "kind": "intrinsic",
        "aggregation": "mean",
        "discrimination": trait.discrimination,
        "explained_variance": trait.explained_variance,
        "anchor_sample_ids": {
            "positive": [each for each in trait.anchor_positive if each > 0],
            "negative": [each for each in trait.anchor_negative if each > 0],
        },
        # It has a copy of the generated words: a purge resets them in the trait unless a person has changed them.
        "discovery": record,
        "origin_run_id": execution.run.id,
        **traits.axis_fields(Axis(encoder.digest, trait.axis)),
    }
