"""Train traits in memory, from texts and without a service.

The scikit-learn estimators and the preview of a draft train here. A training of the service reads its samples from the
database, batch by batch, and then calls the same `collect`, `label_axes` and `fit`. So equal traits and samples give an
equal `param_hash` everywhere.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from traitbench.analysis.checks import LabelledText, shortcuts_of, to_read
from traitbench.encoders import Encoder
from traitbench.encoders.vocabulary import load_vocabulary, words_to_encode
from traitbench.fitting.collect import Sample, Trait, collect, spelled, to_spell
from traitbench.fitting.fit import EncoderIdentity, Trained, TraitSamples, fit, ignore
from traitbench.fitting.progress import ProgressListener
from traitbench.scoring.segments import embed
from traitbench.synthesis.label_axes import Described, LabelAxes
from traitbench.synthesis.label_axis import WORDS

Vector = NDArray[np.float32]


class TextSample(Sample, Protocol):
    """A sample with its text."""

    @property
    def text(self) -> str:
        """The text."""
        ...


class DescribedTrait(Trait, Described, Protocol):
    """A trait with its description."""


AnyTrait = TypeVar("AnyTrait", bound=DescribedTrait)


def train(
    traits: Sequence[AnyTrait],
    samples: Sequence[TextSample],
    vectors: Mapping[str, Vector],
    *,
    encoder: Encoder,
    cache: Path,
    scoring_method: str,
    max_depth: int,
    effort: str,
    use_labels: bool = True,
    fixed: Mapping[str, Any] | None = None,
    on_progress: ProgressListener = ignore,
) -> Trained:
    """Return the snapshot and the metrics of a training on these samples.

    `vectors` (d,) are those of the texts by `content_sha256`. `cache` is the folder for what is made from the encoder.
    `fixed` is `metrics["traits"]` of an earlier training, whose settings are used again.
    """
    collected = collected_samples(
        traits, samples, vectors, label_axis=label_axes(encoder, cache).of if use_labels else no_label_axis
    )
    trained = fit(
        collected,
        encoder=EncoderIdentity.of(encoder),
        scoring_method=scoring_method,
        max_depth=max_depth,
        effort=effort,
        fixed=fixed,
        modes=encoder.modes,
        on_progress=on_progress,
    )
    read = set(to_read(samples))
    some = [sample for sample in samples if sample.id in read]
    texts = [LabelledText(each.id, each.trait, each.text, each.quality, each.provenance) for each in some]
    X = np.array([vectors[each.content_sha256] for each in some], np.float32).reshape(-1, encoder.dimension)
    return trained.with_shortcuts(shortcuts_of(traits, texts, X, partial(embed, encoder.encode)))


def collected_samples(
    traits: Sequence[AnyTrait],
    samples: Sequence[TextSample],
    vectors: Mapping[str, Vector],
    *,
    label_axis: Callable[[AnyTrait], Vector | None],
) -> list[TraitSamples]:
    """Return the training samples of each trait, as a training of the service collects them."""
    texts = {sample.id: sample.text for sample in samples}
    spellings = spelled({digest: texts[sample_id] for digest, sample_id in to_spell(samples).items()})
    return collect(traits, samples, vectors, spellings=spellings, axes={}, label_axis=label_axis)


def label_axes(encoder: Encoder, cache: Path) -> LabelAxes:
    """Return the axes that the words of traits give with this encoder."""
    return LabelAxes(
        encoder.digest,
        encoder.encode,
        encoder.modes,
        partial(load_vocabulary, encoder, cache=cache, size=WORDS),
        unread=partial(words_to_encode, encoder, cache=cache, size=WORDS),
    )


def no_label_axis(_trait: Described) -> None:
    """Returns None for every trait: for a training that does not use labels."""
