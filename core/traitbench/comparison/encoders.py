"""Compare encoders on a model's samples, in this process: quality out of fold, time of a text, size of the files.

Each encoder is fitted as in a training: the same search, on its own vectors and label axis. All encoders share the
texts, the groups and the folds, so that a difference comes from the vectors alone. Near duplicates are those of the
first encoder, with which the others are compared. AUROC and its interval are those of a training (`evaluate`), and the
difference is that of two fits on the same folds (`paired.fold_difference`).

The command line and the workbench share this. Texts and vectors stay in memory.
"""

import hashlib
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from traitbench.as_read import as_read
from traitbench.comparison.paired import Difference, FoldTally, Verdict, fold_difference
from traitbench.contract.models import Model
from traitbench.contract.rounding import in_decimals
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.verdicts import VERDICTS, counted, overall
from traitbench.encoders import Encoder, EncoderUnavailable, FromFiles
from traitbench.encoders.registry import NAMES, built_in, load_encoder, name_of
from traitbench.errors import LocalError
from traitbench.fitting.evaluate import divisions, judged
from traitbench.fitting.fit import TraitSamples, feature_blocks, with_near_duplicates
from traitbench.fitting.resampling import MOST_PER_POLE, Resampler, among, part
from traitbench.fitting.search import EFFORTS, SearchEffort, TrainingSamples, evidence, search
from traitbench.fitting.work import one_thread
from traitbench.local.training import collected_samples, label_axes
from traitbench.local.vectors import Progress, vectors_of
from traitbench.scoring.segments import embed

MOST = 20_000
"""The number of samples that fit into memory at once; the newest are compared."""

BEST = NAMES[0]
"""The encoder that is worth comparing before all others."""

COLUMNS = ("Trait", "Encoder", "AUROC", "95 %", "Difference", "95 % of it", "Verdict")
"""The columns of `rows`. The difference is to the first encoder."""

_TIMED = 15
_INTRINSIC = "not compared: its axis was discovered with one encoder and is not fitted to samples"

Encoders = Mapping[str, Encoder]


class EncodersNotComparable(LocalError):
    """Encoders cannot be compared on this model; the message says why."""


@dataclass(frozen=True, eq=False)
class EncoderCandidate:
    """An encoder, the name or folder by which TRAITBENCH_ENCODER would choose it, and the median time of a text."""

    name: str
    encoder: Encoder
    ms_per_text: float

    @property
    def megabytes(self) -> float:
        """The size of its model and tokenizer files."""
        return self.encoder.file_bytes / 1e6 if isinstance(self.encoder, FromFiles) else 0.0


@dataclass(frozen=True, eq=False)
class Inputs:
    """The extrinsic traits of a model and their samples by rising id, with every distinct text by its hash."""

    traits: Sequence[Trait]
    samples: Sequence[Sample]
    texts: Mapping[str, str]
    left_out: int = 0


@dataclass(frozen=True, eq=False)
class Contender:
    """An encoder's vectors of the samples, trait by trait. Traits and rows are in the same order for all contenders."""

    name: str
    traits: Sequence[TraitSamples]
    modes: Mapping[str, slice]


@dataclass(frozen=True)
class Figure:
    """The out-of-fold AUROC of one encoder with its 95 % interval, and the difference to the first encoder, if it is
    another one.
    """

    auroc: float
    interval: tuple[float, float]
    difference: Difference | None


@dataclass(frozen=True)
class TraitComparison:
    """The figures of a trait by encoder, empty if it was not compared, with the reason in `why_not`.

    `samples` counts distinct texts, `groups` those that are not near duplicates of one another.
    """

    key: str
    name: str
    samples: int
    groups: int
    figures: Mapping[str, Figure]
    why_not: str | None = None


@dataclass(frozen=True)
class EncoderComparison:
    """The result: the encoders, the current one first, and how they compare by trait."""

    texts: int
    effort: str
    candidates: tuple[EncoderCandidate, ...]
    traits: tuple[TraitComparison, ...]

    def verdicts(self, name: str) -> list[Verdict]:
        """The verdict on this encoder for each trait that was compared."""
        own = [trait.figures[name].difference for trait in self.traits if trait.figures]
        return [difference.verdict for difference in own if difference is not None]

    @property
    def preferable(self) -> list[str]:
        """The encoders that are better on some traits and worse on none; those better on more traits first."""
        verdicts = {each.name: self.verdicts(each.name) for each in self.candidates[1:]}
        able = [name for name, own in verdicts.items() if overall(own) == "better"]
        return sorted(able, key=lambda name: -verdicts[name].count("better"))

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "texts": self.texts,
            "effort": self.effort,
            "encoders": [
                {
                    "name": each.name,
                    "id": each.encoder.id,
                    "digest": each.encoder.digest,
                    "ms_per_text": round(each.ms_per_text, 3),
                    "megabytes": round(each.megabytes, 1),
                    "current": each is self.candidates[0],
                }
                for each in self.candidates
            ],
            "traits": [_trait_json(trait) for trait in self.traits],
            "verdict": sentence(self),
            "preferable": self.preferable,
        }


def current(setting: str | None, *, cache: Path, version: Version | None = None) -> tuple[str, Encoder]:
    """The name and the encoder that the next training of a model takes.

    That is the encoder that was chosen for its active version, otherwise that of a TRAITBENCH_ENCODER setting. If the
    setting is None, it is the encoder of the active version, or the best one if that is not installed.
    """
    if version is not None and (trained := version.metrics.encoder) is not None:
        setting = built_in(trained.chosen) or setting or name_of(trained.id, cache=cache)
    encoder = load_encoder(setting, cache=cache)
    name = built_in(setting) or setting or next(name for name in NAMES if _is(name, encoder, cache))
    return name, encoder


def installed(setting: str | None, *, cache: Path, version: Version) -> Encoders:
    """The installed encoders by name, the current one of a version's model first.

    Raise `EncodersNotComparable` if the current one is not here.
    """
    try:
        name, own = current(setting, cache=cache, version=version)
    except EncoderUnavailable as error:
        raise EncodersNotComparable(f"There is no encoder here. {error}") from error
    encoders = {name: own}
    for other in NAMES:
        try:
            encoder = load_encoder(other, cache=cache)
        except EncoderUnavailable:
            continue
        if encoder.digest != own.digest:
            encoders[other] = encoder
    return encoders


def inputs(model: Model, traits: Sequence[Trait], samples: Sequence[Sample], *, most: int = MOST) -> Inputs:
    """The newest samples to compare encoders on; raise `EncodersNotComparable` if there are none to use."""
    if model.zero_data_retention:
        raise EncodersNotComparable(
            f"{model.handle} is under zero data retention: samples exist only for the training that uses them and are"
            " then deleted, so there are none to compare encoders on. Compare on a model with data retention."
        )
    given = [trait for trait in traits if trait.kind == "extrinsic"]
    if not given:
        raise EncodersNotComparable(
            f"{model.handle} has no trait with labelled samples. Discovered traits belong to one encoder, so they are"
            " not compared. Add a trait and samples."
        )
    keys = {trait.key for trait in given}
    labelled = [sample for sample in samples if sample.trait in keys and not sample.held_out]
    if not labelled:
        raise EncodersNotComparable(f"{model.handle} has no samples to compare encoders on. Add samples first.")
    chosen = sorted(labelled, key=lambda sample: sample.id)[-most:]
    with_samples = {sample.trait for sample in chosen}
    texts = {sample.content_sha256: sample.text for sample in chosen}
    return Inputs([trait for trait in given if trait.key in with_samples], chosen, texts, len(labelled) - len(chosen))


def timed(name: str, encoder: Encoder, texts: Sequence[str]) -> EncoderCandidate:
    """The encoder with the median time of some of the texts, one at a time in one thread."""
    some = [as_read(text).text for text in list(texts)[:: max(1, len(texts) // _TIMED)][:_TIMED]]
    # Not timed: the first text of a process takes many times as long as the next.
    encoder.encode(some[:1])
    taken = []
    for text in some:
        start = perf_counter()
        embed(encoder.encode, [text])
        taken.append(perf_counter() - start)
    return EncoderCandidate(name, encoder, 1_000 * statistics.median(taken))


def compare_encoders(
    candidates: Sequence[EncoderCandidate], given: Inputs, *, effort: str, cache: Path, on_progress: Progress
) -> EncoderComparison:
    """Compare the candidates with the first one. `on_progress(done, total)` counts texts and fits.

    Texts are encoded in turns, so that other work of this process goes first.
    """
    texts, total = len(given.texts) * len(candidates), (len(given.texts) + len(given.traits)) * len(candidates)
    contenders = []
    for at, each in enumerate(candidates):
        before, axes = at * len(given.texts), label_axes(each.encoder, cache)
        on_progress(before, total)
        reading = partial(_in_all, on_progress, before, total)
        vectors = vectors_of(each.encoder, given.texts, on_progress=reading)
        collected = collected_samples(given.traits, given.samples, vectors, label_axis=axes.of)
        contenders.append(Contender(each.name, collected, each.encoder.modes))
    traits = compare_vectors(contenders, effort=effort, on_fit=lambda done: on_progress(texts + done, total))
    return EncoderComparison(len(given.texts), effort, tuple(candidates), tuple(traits))


def compare_vectors(
    contenders: Sequence[Contender], *, effort: str, on_fit: Callable[[int], object] = lambda done: None
) -> list[TraitComparison]:
    """Compare encoders by their vectors with the first one; `on_fit(done)` counts the fits of a trait with an encoder.

    The result depends neither on the order of the samples nor on the number of threads. Raise ValueError if the
    contenders do not have the same samples.
    """
    traits = list(zip(*(contender.traits for contender in contenders), strict=True))
    result: list[TraitComparison] = []
    with one_thread():
        for at, of_trait in enumerate(traits):
            result.append(_compared(contenders, of_trait, EFFORTS[effort], at * len(contenders), on_fit))
    on_fit(len(traits) * len(contenders))
    return result


def rows(report: EncoderComparison) -> list[tuple[str, ...]]:
    """The figures as text, one row for each trait and encoder, with the columns of `COLUMNS`."""
    return [
        (trait.key, name, in_decimals(figure.auroc, 3), _span(figure.interval), *_of_difference(figure))
        for trait in report.traits
        for name, figure in trait.figures.items()
    ]


def sentence(report: EncoderComparison) -> str:
    """The result in words, for each encoder and as a recommendation."""
    first = report.candidates[0].name
    if not any(trait.figures for trait in report.traits):
        return "No trait could be compared."
    parts = [verdict_on(report, each.name) for each in report.candidates[1:]]
    if best := next(iter(report.preferable), None):
        advice = f"{best} is worth switching to."
    else:
        advice = f"No encoder is shown to be better than {first} without a loss: keep {first}."
    return " ".join((*parts, advice))


def verdict_on(report: EncoderComparison, name: str) -> str:
    """The result for one of the encoders in a sentence."""
    return f"{name}: {counted(report.verdicts(name))}."


def how_to_switch(handle: str, name: str) -> str:
    """How to make a new version with another encoder: by its name, or by the setting of the service for a folder."""
    if built_in(name):
        return (
            f"To switch, run `traitbench train {handle} --reoptimize --encoder {name}`: that makes a new version."
            " Older versions keep scoring."
        )
    return (
        f"To switch, set TRAITBENCH_ENCODER={name} for the service and all its workers, restart them, and train the"
        " model again: that makes a new version. Older versions keep scoring if they were trained with a built-in"
        " encoder. A version that was trained with a folder scores only while the setting names that folder."
    )


def other_encoder(version: Version, here: Encoder) -> str:
    """A sentence if a version was trained with another encoder than the current one of this machine; else empty."""
    trained = version.metrics.encoder
    if trained is None or trained.id == here.id or built_in(trained.chosen):
        return ""
    return (
        f"v{version.version_no} was trained with {trained.id}. Here, TRAITBENCH_ENCODER gives {here.id}, and the others"
        " are compared with that."
    )


def _compared(
    contenders: Sequence[Contender],
    of_trait: Sequence[TraitSamples],
    effort: SearchEffort,
    before: int,
    on_fit: Callable[[int], object],
) -> TraitComparison:
    trait = of_trait[0]
    if any(each.intrinsic_axis is not None for each in of_trait):
        return TraitComparison(trait.key, trait.name, len(trait.y), 0, {}, _INTRINSIC)
    tallies: list[FoldTally] = []
    for done, (contender, own, samples) in enumerate(zip(contenders, of_trait, _aligned(of_trait), strict=True)):
        on_fit(before + done)
        blocks = list(feature_blocks(contender.modes, own.X.shape[1]).values())
        result = search(samples, effort, label_axis=own.label_axis, blocks=blocks)
        evaluated = samples.is_evaluated
        counts = (int(evaluated.sum()), len(np.unique(samples.groups[evaluated])))
        if result.held_out is None or result.recipe is None or samples.synthesized[evaluated].any():
            why_not: str = judged(samples, result)["measured_on"]
            return TraitComparison(trait.key, trait.name, *counts, {}, why_not)
        if samples.smaller_pole >= MOST_PER_POLE:
            tallies.append(FoldTally.pooled(samples, result.held_out))
        else:
            few = part(samples)
            resampler = Resampler(few, result.recipe)
            divided = [(resampler.out_of_fold(folds), folds) for folds in divisions(few)]
            tallies.append(FoldTally.within_folds(few, resampler.pair_weights, divided))
    figures = {
        contender.name: Figure(tally.auroc, tally.interval, fold_difference(tallies[0], tally) if at else None)
        for at, (contender, tally) in enumerate(zip(contenders, tallies, strict=True))
    }
    return TraitComparison(trait.key, trait.name, *counts, figures)


def _aligned(of_trait: Sequence[TraitSamples]) -> list[TrainingSamples]:
    """The training samples of each contender: the same texts in the same order, with the same groups and folds."""
    trait = of_trait[0]
    if any(len(each.X) != len(trait.y) or not np.array_equal(each.y, trait.y) for each in of_trait):
        raise ValueError(f"Trait {trait.key}: the encoders were given different samples.")
    groups = list(with_near_duplicates(trait).groups)
    rows = np.hstack([each.X for each in of_trait])
    samples = evidence(rows, trait.y.astype(np.float64), groups, trait.made, trait.together)
    together = _in_order(samples, trait.X.shape[1])
    ends = np.cumsum([each.X.shape[1] for each in of_trait]).tolist()
    return [replace(together, X=together.X[:, first:end]) for first, end in pairwise([0, *ends])]


def _in_order(samples: TrainingSamples, width: int) -> TrainingSamples:
    """The samples in the order of the first encoder's vectors, as in a training with it, and so with the same folds."""
    rows = np.ascontiguousarray(samples.X[:, :width], "<f4")
    order = np.argsort(np.array([hashlib.sha256(row).digest() for row in rows], "S32"), kind="stable")
    ordered = among(samples, order)
    _, first, group_of = np.unique(ordered.groups, return_index=True, return_inverse=True)
    return replace(ordered, groups=np.argsort(np.argsort(first))[group_of].astype(np.int64))


def _of_difference(figure: Figure) -> tuple[str, str, str]:
    own = figure.difference
    if own is None:
        return "", "", "current"
    return f"{own.delta:+.3f}", _span(own.interval, sign="+"), VERDICTS[own.verdict]


def _span(interval: tuple[float, float], *, sign: str = "") -> str:
    return " to ".join(f"{end:{sign}.3f}" for end in interval)


def _trait_json(trait: TraitComparison) -> dict[str, Any]:
    figures = {
        name: {
            "auroc": figure.auroc,
            "auroc_interval": list(figure.interval),
            "difference": figure.difference and figure.difference.delta,
            "difference_interval": figure.difference and list(figure.difference.interval),
            "verdict": figure.difference and figure.difference.verdict,
        }
        for name, figure in trait.figures.items()
    }
    return {**asdict(trait), "figures": figures}


def _is(name: str, encoder: Encoder, cache: Path) -> bool:
    try:
        return load_encoder(name, cache=cache) is encoder
    except EncoderUnavailable:
        return False


def _in_all(tell: Progress, before: int, total: int, done: int, _texts: int) -> None:
    tell(before + done, total)
