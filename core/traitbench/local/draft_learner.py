"""The draft of a model as what learns while its texts are labelled, from its saved samples."""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from cachetools import LRUCache, cached
from numpy.typing import NDArray

from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.local import preview
from traitbench.local.label_session import MOST_FITTED, Judge, Labels, Learner, Vectors
from traitbench.local.version import LocalVersion

_MOST_AXES = 64


def judge_of(version: LocalVersion, identity: Hashable = None) -> Judge:
    """Return a version or a draft fitted in memory as what scores texts."""
    return Judge(version.score, version.explain, version.metrics, version, identity)


def draft_learner(model: Model, traits: Sequence[Trait], samples: Sequence[Sample], judge: Judge | None) -> Learner:
    """Return what fits the draft to its samples; `judge` is the version in use, if there is one."""
    poles = {(each.trait, each.quality > 0.5) for each in samples if each.quality != 0.5}

    def prior(key: str, _texts: Sequence[str], X: Vectors) -> NDArray[np.float64] | None:
        axis = _label_axis(next(each for each in traits if each.key == key))
        return None if axis is None else (X @ axis).astype(np.float64)

    def basis(_labels: Mapping[str, Labels]) -> Hashable | None:
        able = any({(each.key, True), (each.key, False)} <= poles for each in traits if each.kind == "extrinsic")
        if len(samples) > MOST_FITTED or not able:
            return None
        words = [(each.key, each.name, each.positive_label, each.negative_label, each.description) for each in traits]
        return tuple(words), tuple((each.id, each.trait, each.quality) for each in samples)

    def fit(_labels: Mapping[str, Labels], _texts: Mapping[str, str]) -> Judge:
        return judge_of(preview.rehearse(model, traits, samples))

    return Learner(preview.encoder, prior, basis, fit, judge)


@cached(LRUCache(_MOST_AXES), key=lambda trait: preview.identity([trait], ()))
def _label_axis(trait: Trait) -> Vectors | None:
    return None if trait.kind == "intrinsic" else preview.label_axis(trait)
