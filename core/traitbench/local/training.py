"""Train in memory: traits and labelled texts in, a version out.

This is the only place that puts `collect`, `label_axes` and `fit` together without a database.

Estimators and the rehearsal of a draft train here. A training of the service reads its samples from the database, batch
by batch, and then calls the same `collect`, `label_axes` and `fit`.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from time import perf_counter
from typing import Any, get_args

import numpy as np

from traitbench import encoders, fitting, scoring, synthesis
from traitbench.analysis.confounders import shortcuts_of, to_read
from traitbench.contract.models import DEFAULT_EFFORT, TrainEffort
from traitbench.encoders import Encoder, EncoderUnavailable
from traitbench.encoders.file_cache import cached_bytes
from traitbench.encoders.registry import built_in, load_encoder
from traitbench.encoders.vocabulary import load_vocabulary, words_to_encode
from traitbench.fitting.collect import NO_WEIGHTS, collect, spelled, to_spell
from traitbench.fitting.fit import SCORING_METHODS, EncoderIdentity, TraitSamples, fit, ignore
from traitbench.fitting.search import EFFORTS
from traitbench.fitting.work import ProgressListener
from traitbench.local.samples import AnySample, AnyTrait
from traitbench.local.samples import LocalTrait as LocalTrait
from traitbench.local.vectors import Vector, sample_vectors
from traitbench.local.version import LocalVersion
from traitbench.scoring.segments import embed
from traitbench.settings import encoder_name, read_settings
from traitbench.synthesis.label_axis import WORDS, LabelAxes

DEPTHS = (1, 2, 3)

_MOST_AXES = 1_000  # of 5 kB


@dataclass(frozen=True)
class TrainingSettings:
    """How to train, as the service's models and trainings have it."""

    effort: str = DEFAULT_EFFORT
    use_labels: bool = True
    scoring_method: str = "balanced_cosine"
    max_depth: int = 1
    encoder: str | None = None

    def check(self) -> None:
        """Raise `ValueError` that names the parameter with an invalid value."""
        allowed = (
            ("effort", get_args(TrainEffort)),
            ("scoring_method", SCORING_METHODS),
            ("max_depth", DEPTHS),
            ("use_labels", (True, False)),
        )
        for name, values in allowed:
            if getattr(self, name) not in values:
                known = ", ".join(map(repr, values))
                raise ValueError(f"The parameter {name!r} is {getattr(self, name)!r}. Use one of: {known}.")


def train(
    traits: Sequence[AnyTrait],
    samples: Sequence[AnySample],
    settings: TrainingSettings,
    *,
    encoder: Encoder | None = None,
    fixed: Mapping[str, Any] | None = None,
    weights: Mapping[int, float] = NO_WEIGHTS,
    on_progress: ProgressListener = ignore,
) -> LocalVersion:
    """Train as the service does: equal traits and samples give its `param_hash`, its scores and its figures, but for
    the languages of the samples, which are not named here.

    `samples` are by rising id; those of other traits only say which texts belong together. The encoder is by default
    that of the settings. `fixed` is `metrics["traits"]` of an earlier training, whose settings are used again.
    `weights` are the sample weights by sample id, above 0; the service has none, so its samples weigh the same.
    """
    settings.check()
    started, encoder = perf_counter(), encoder or find_encoder(settings.encoder)
    vectors = _vectors(encoder, traits, samples)
    trained = fit(
        collected_samples(traits, samples, vectors, label_axis=_label_axis(encoder, settings), weights=weights),
        encoder=EncoderIdentity.of(encoder),
        scoring_method=settings.scoring_method,
        max_depth=settings.max_depth,
        effort=settings.effort,
        fixed=fixed,
        modes=encoder.modes,
        on_progress=on_progress,
    )
    read = set(to_read(samples))
    some = [sample for sample in samples if sample.id in read]
    X = np.array([vectors[each.content_sha256] for each in some], np.float32).reshape(-1, encoder.dimension)
    embedded = partial(embed, encoder.encode)
    trained = trained.with_shortcuts(shortcuts_of(traits, some, X, embedded, by_language=False))
    metrics = trained.metrics | {"use_labels": settings.use_labels, "elapsed_s": round(perf_counter() - started, 3)}
    if chosen := built_in(settings.encoder):
        metrics["encoder"] |= {"chosen": chosen}
    return LocalVersion(
        trained.snapshot, [*map(LocalTrait.of, traits)], metrics, len(samples), configured=settings.encoder
    )


def collected_samples(
    traits: Sequence[AnyTrait],
    samples: Sequence[AnySample],
    vectors: Mapping[str, Vector],
    *,
    label_axis: Callable[[AnyTrait], Vector | None],
    weights: Mapping[int, float] = NO_WEIGHTS,
) -> list[TraitSamples]:
    """Return the training samples of each trait, as a training of the service collects them.

    `vectors` (d,) are those of the texts by `content_sha256`.
    """
    spellings = spelled(_texts_to_spell(samples))
    return collect(traits, samples, vectors, spellings=spellings, axes={}, label_axis=label_axis, weights=weights)


def _texts_to_spell(samples: Sequence[AnySample]) -> dict[str, str]:
    texts = {sample.id: sample.text for sample in samples}
    return {digest: texts[sample_id] for digest, sample_id in to_spell(samples).items()}


def label_axes(encoder: Encoder, cache: Path) -> LabelAxes:
    """Return the axes that the words of traits give with this encoder.

    `cache` is the folder of its vocabulary and of the axes that were made last.
    """

    def stored(name: str, make: Callable[[], bytes]) -> bytes:
        # One folder for all releases, so that what an old one made is pruned too.
        return cached_bytes(cache / "axes" / f"{_axis_recipe()}-{name}", make, most=_MOST_AXES)

    return LabelAxes(
        encoder.digest,
        encoder.encode,
        encoder.modes,
        partial(load_vocabulary, encoder, cache=cache, size=WORDS),
        unread=partial(words_to_encode, encoder, cache=cache, size=WORDS),
        stored=stored,
    )


@cache
def _axis_recipe() -> str:
    """A hash of the code that may decide an axis, so that no other release uses its file."""
    folders = (Path(str(package.__file__)).parent for package in (encoders, fitting, scoring, synthesis))
    sources = [file.read_bytes() for folder in folders for file in sorted(folder.glob("*.py"))]
    return hashlib.sha256(b"".join(sources)).hexdigest()[:16]


def identity(traits: Sequence[AnyTrait], samples: Sequence[AnySample], encoder: Encoder) -> str:
    """Return a hash of everything that a fit on these traits and samples depends on."""
    seen = hashlib.sha256(encoder.digest.encode())
    for trait in traits:
        words = (trait.name, trait.positive_label, trait.negative_label, trait.description)
        seen.update(repr((trait.key, *words, trait.aggregation)).encode())
    for sample in samples:
        origin = (sample.provenance, sample.seed_sample_id)
        together = (sample.group,) if sample.group else ()
        seen.update(repr((sample.id, sample.trait, sample.quality, *origin, sample.content_sha256, *together)).encode())
    return seen.hexdigest()


def effort_of(stored: str | None) -> TrainEffort:
    """Return the effort in the metrics of a version; the default if it is not one of ours, as in a foreign bundle."""
    return next((effort for effort in get_args(TrainEffort) if effort == stored), DEFAULT_EFFORT)


def most_settings(effort: TrainEffort) -> int:
    """The most settings that an effort tries for a trait; fewer if the label axis is off or there are many samples."""
    # The early layer, the word table and the rest.
    return len(EFFORTS[effort].levels[-1].candidates(blocks=3, labels=True))


def settings_of(version: LocalVersion) -> TrainingSettings:
    """Return the settings of a version that was read from a file."""
    metrics, snapshot = version.metrics, version.snapshot
    encoder = metrics.get("encoder")
    return TrainingSettings(
        effort=str(metrics.get("effort") or DEFAULT_EFFORT),
        use_labels=metrics.get("use_labels") is not False,
        scoring_method=snapshot.scoring_method,
        max_depth=snapshot.max_depth,
        encoder=encoder.get("chosen") if isinstance(encoder, dict) else None,
    )


def find_encoder(name: str | None) -> Encoder:
    """Return the encoder with this name or folder, by default that of TRAITBENCH_ENCODER or the best installed.

    Raise `ValueError` if it cannot be used here.
    """
    settings = read_settings()
    try:
        return load_encoder(encoder_name(name) if name else settings.encoder, cache=settings.cache)
    except EncoderUnavailable as error:
        raise ValueError(str(error)) from error


def _vectors(encoder: Encoder, traits: Sequence[AnyTrait], samples: Sequence[AnySample]) -> dict[str, Vector]:
    """Return the vectors of the samples of these traits, by the hash of their texts."""
    keys = {trait.key for trait in traits}
    return sample_vectors(encoder, [sample for sample in samples if sample.trait in keys])


def _label_axis(encoder: Encoder, settings: TrainingSettings) -> Callable[[AnyTrait], Vector | None]:
    return label_axes(encoder, read_settings().cache).of if settings.use_labels else lambda _trait: None
