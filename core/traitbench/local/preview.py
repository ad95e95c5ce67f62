"""Scores without the service for the workbench: of a version, or of a draft by its samples, fitted in memory.

Vectors are those of the encoder of this workbench. Texts are not stored.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from cachetools import LRUCache, cached

from traitbench.contract.models import DEFAULT_EFFORT, Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.encoders import Encoder, Vectors
from traitbench.local import training
from traitbench.local import vectors as known
from traitbench.local.samples import AnySample
from traitbench.local.training import TrainingSettings, find_encoder, label_axes, train
from traitbench.local.vectors import Progress, Vector, in_background, sample_vectors
from traitbench.local.version import LocalVersion, PreviewUnavailable, VersionChoice, load_once
from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid
from traitbench.settings import read_settings

__all__ = ["LocalVersion", "PreviewUnavailable"]

_MOST_FITS = 16

Kind = TypeVar("Kind", bound=AnySample)


def version_of(version: Version) -> LocalVersion:
    """Return a version of the service, ready to score; raise `PreviewUnavailable` if this workbench cannot."""
    parameters = version.snapshot
    if parameters is None:
        raise PreviewUnavailable("This workbench's API key may score but not read snapshots, so there is no preview.")
    try:
        loaded = load_once(VersionChoice(version.param_hash), lambda: Snapshot.from_json(parameters))
        # Loaded now, so that a missing encoder is an error here and not at the first text.
        _ = loaded.encoder
    except (PreviewUnavailable, SnapshotInvalid) as error:
        raise PreviewUnavailable(f"No preview here. {error}") from error
    return replace(loaded, name=f"v{version.version_no}")


def rehearse(
    model: Model,
    traits: Sequence[Trait],
    samples: Sequence[AnySample],
    *,
    effort: str = DEFAULT_EFFORT,
    fixed: Mapping[str, Any] | None = None,
) -> LocalVersion:
    """Fit the draft in memory as a training does: without test samples and traits that have no samples at a pole.

    Intrinsic traits, whose axes only the service has, are left out too. `fixed` is `metrics["traits"]` of an earlier
    training: with its effort and samples, the scores are the same.
    """
    samples = [sample for sample in samples if not sample.held_out]
    poles = {(sample.trait, sample.quality > 0.5) for sample in samples if sample.quality != 0.5}
    able = [each for each in traits if each.kind == "extrinsic" and {(each.key, True), (each.key, False)} <= poles]
    if not able:
        raise PreviewUnavailable("A preview needs one trait with at least one sample at each pole.")
    settings = TrainingSettings(effort, scoring_method=model.scoring_method, max_depth=model.max_depth)
    return _fitted(f"{identity(able, samples)} {fixed}", settings, able, samples, fixed)


def encoder() -> Encoder:
    """Return the encoder of this workbench; raise `PreviewUnavailable` if there is none."""
    try:
        return find_encoder(None)
    except ValueError as error:
        raise PreviewUnavailable(f"There is no encoder here: {error}") from error


def vectors(samples: Sequence[AnySample]) -> Vectors:
    """Return the vectors of the samples' texts, (n_samples, d)."""
    here = encoder()
    by_hash = sample_vectors(here, samples)
    return np.array([by_hash[each.content_sha256] for each in samples], np.float32).reshape(-1, here.dimension)


def unread(samples: Sequence[Kind]) -> list[Kind]:
    """Return one sample of every text whose vector is not in memory."""
    missing = known.unread(encoder(), {each.content_sha256: each.text for each in samples})
    return list({each.content_sha256: each for each in samples if each.content_sha256 in missing}.values())


def read(samples: Sequence[AnySample], progress: Progress) -> None:
    """Encode the texts whose vector is not in memory on all processors, in turns with interactive requests."""
    sample_vectors(encoder(), samples, on_progress=progress)


def read_texts(texts: Sequence[str]) -> Vectors:
    """Return the vectors of texts that are no samples, (n_texts, d), encoded as `read` does and not kept."""
    return in_background(encoder(), texts)


def label_axis(trait: Trait) -> Vector | None:
    """Return the label axis (d,) of a trait, or None if its words do not distinguish the poles."""
    return label_axes(encoder(), read_settings().cache).of(trait)


def identity(traits: Sequence[Trait], samples: Sequence[AnySample]) -> str:
    """Return a hash of everything that a fit on these traits and samples depends on."""
    return training.identity(traits, samples, encoder())


def forget() -> None:
    """Clear the vectors and rehearsals in memory."""
    known.forget()
    _fitted.cache_clear()


# With a condition, sessions that ask for the same wait for one fit.
@cached(
    LRUCache(_MOST_FITS), key=lambda depends_on, settings, *_: (depends_on, settings), condition=threading.Condition()
)
def _fitted(
    _identity: str,
    settings: TrainingSettings,
    traits: Sequence[Trait],
    samples: Sequence[AnySample],
    fixed: Mapping[str, Any] | None,
) -> LocalVersion:
    return replace(train(traits, samples, settings, encoder=encoder(), fixed=fixed), name="draft")
