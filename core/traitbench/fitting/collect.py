"""Collect the training samples of each trait.

Training in the worker and the preview on a page both call `collect`: equal samples give an equal `param_hash`.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from traitbench.as_read import as_read
from traitbench.fitting.duplicates import together
from traitbench.fitting.fit import TraitSamples
from traitbench.scoring.inputs import SampleLike, TraitLike
from traitbench.scoring.resemblance import MOST_COMPARED
from traitbench.scoring.spelling import Spelling, spelling

Vector = NDArray[np.float32]

_UNKNOWN = np.full(4, np.nan)

NO_WEIGHTS: Mapping[int, float] = MappingProxyType({})


class HashedSample(SampleLike, Protocol):
    """A sample whose text is known by its hash."""

    @property
    def content_sha256(self) -> str:
        """The SHA-256 of the text."""
        ...

    @property
    def seed_sample_id(self) -> int | None:
        """The sample that a variation was made from."""
        ...

    @property
    def group(self) -> str | None:
        """What it belongs to, as a conversation."""
        ...


class AggregatedTrait(TraitLike, Protocol):
    """A trait with the rule that combines the parts of a text."""

    @property
    def aggregation(self) -> str:
        """`mean`, `max`, `min` or `none`."""
        ...


AnyTrait = TypeVar("AnyTrait", bound=AggregatedTrait)


def collect(
    traits: Sequence[AnyTrait],
    samples: Sequence[HashedSample],
    vectors: Mapping[str, Vector],
    *,
    spellings: Mapping[str, Spelling],
    axes: Mapping[str, Vector],
    label_axis: Callable[[AnyTrait], Vector | None],
    weights: Mapping[int, float] = NO_WEIGHTS,
) -> list[TraitSamples]:
    """Return the training samples of each trait.

    `samples` are those of the whole model, by rising id. `vectors` (d,) and `spellings` (4,) are keyed by
    `content_sha256`, and `axes` (d,) of intrinsic traits by trait key. Spellings are those of `to_spell`.
    `label_axis` is called for every other trait. `weights` are the sample weights by sample id, by default all equal.
    """
    groups = text_groups(samples)
    known = _Known(groups, group_names(samples, groups), vectors, spellings, weights)
    return [_of_trait(trait, samples, known, axes.get(trait.key), label_axis) for trait in traits]


def to_spell(samples: Sequence[HashedSample]) -> dict[str, int]:
    """The texts that new texts are compared with by their spelling: their hashes, each with the id of a sample."""
    real = [sample for sample in samples if sample.provenance != "synthesized"]
    ids = {sample.content_sha256: sample.id for sample in real or samples}
    # Hashes are random, so the first in their order are a sample that is the same every time.
    return {digest: ids[digest] for digest in sorted(ids)[:MOST_COMPARED]}


def spelled(texts: Mapping[str, str]) -> dict[str, Spelling]:
    """The spelling (4,) of each text, by its hash."""
    return dict(zip(texts, spelling([as_read(text).text for text in texts.values()]), strict=True))


@dataclass(frozen=True)
class _Known:
    """The texts, the names of the groups and the weights of samples by id; vectors and spellings of texts by hash."""

    groups: Mapping[int, str]
    names: Mapping[int, str]
    vectors: Mapping[str, Vector]
    spellings: Mapping[str, Spelling]
    weights: Mapping[int, float]


def _of_trait(
    trait: AnyTrait,
    samples: Sequence[HashedSample],
    known: _Known,
    axis: Vector | None,
    label_axis: Callable[[AnyTrait], Vector | None],
) -> TraitSamples:
    labelled = [sample for sample in samples if sample.trait == trait.key]
    unlabelled = [] if axis is None else _other_texts(samples, labelled)
    pool = [*labelled, *unlabelled]
    return TraitSamples(
        key=trait.key,
        name=trait.name,
        positive_label=trait.positive_label,
        negative_label=trait.negative_label,
        aggregation=trait.aggregation,
        X=np.array([known.vectors[sample.content_sha256] for sample in pool], np.float32),
        y=np.array([sample.quality for sample in labelled] + [np.nan] * len(unlabelled), np.float64),
        groups=[known.groups[sample.id] for sample in pool],
        together=[known.names.get(sample.id) for sample in pool] if known.names else None,
        synthesized=np.array([sample.provenance == "synthesized" for sample in pool], bool),
        intrinsic_axis=axis,
        label_axis=label_axis(trait) if axis is None else None,
        # Without samples the array would have no second axis.
        spellings=np.array([known.spellings.get(sample.content_sha256, _UNKNOWN) for sample in pool]).reshape(-1, 4),
        sample_weight=np.array([known.weights[sample.id] for sample in pool], np.float64) if known.weights else None,
    )


def text_groups(samples: Sequence[HashedSample]) -> Mapping[int, str]:
    """Group by sample id: the hash of the sample's text, or that of the text it varies."""
    groups: dict[int, str] = {}
    # A seed is older than its variations, so its group is already known, unless the seed was deleted.
    for sample in samples:
        seed = sample.seed_sample_id
        groups[sample.id] = sample.content_sha256 if seed is None else groups.get(seed, f"seed {seed}")
    return groups


def group_names(samples: Sequence[HashedSample], texts: Mapping[int, str]) -> Mapping[int, str]:
    """The name of the group by sample id, without samples that have none; `texts` are those of `text_groups`.

    A sample without a name has that of the samples with its text, if they have one name.
    """
    named = {sample.id: sample.group for sample in samples if sample.group}
    of_text: dict[str, set[str]] = {}
    for sample_id, name in named.items():
        of_text.setdefault(texts[sample_id], set()).add(name)
    only = {text: next(iter(names)) for text, names in of_text.items() if len(names) == 1}
    shared = {sample.id: only[texts[sample.id]] for sample in samples if only and texts[sample.id] in only}
    return shared | named


def together_groups(samples: Sequence[HashedSample]) -> list[Hashable]:
    """(n,): equal for samples that share a text or a group, directly or by a chain."""
    texts = text_groups(samples)
    own = [texts[sample.id] for sample in samples]
    if not any(sample.group for sample in samples):
        return list(own)
    names = group_names(samples, texts)
    units = np.unique(own, return_inverse=True)[1].astype(np.int64)
    return [*together(units, [names.get(sample.id) for sample in samples]).tolist()]


def _other_texts(samples: Sequence[HashedSample], labelled: Sequence[HashedSample]) -> list[HashedSample]:
    """One sample of every text that is not among the labelled ones."""
    known = {sample.content_sha256 for sample in labelled}
    return list({sample.content_sha256: sample for sample in samples if sample.content_sha256 not in known}.values())
