"""Fit a model: labelled vectors in, snapshot and metrics out.

Equal inputs give equal bytes, whatever the order of the samples or the number of threads.

A trait is fitted by a search over its samples and, if it has one, its label axis; or with the parameters that an
earlier version's search chose. An intrinsic trait already has its axis; only its calibration is fitted, see
`intrinsic`. For each faster mode of an encoder, every trait is fitted again on the columns of that mode, with the
parameters chosen for the full vectors.
"""

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from traitbench.as_read import READING
from traitbench.fitting.auroc import auroc, out_of_fold_interval
from traitbench.fitting.axis import pole_weights
from traitbench.fitting.candidate_fits import ignore as ignore_fits
from traitbench.fitting.candidates import Candidate
from traitbench.fitting.duplicates import joined, near_duplicates
from traitbench.fitting.evaluate import figures, independent_of, judged, labels_entry, search_entry
from traitbench.fitting.intrinsic import calibrate_axis, figures_of_labels, pool
from traitbench.fitting.search import (
    EFFORTS,
    SearchEffort,
    SearchResult,
    TrainingSamples,
    chosen_before,
    evidence,
    search,
    uses_labels,
)
from traitbench.fitting.work import FitProgress, ProgressListener, one_thread
from traitbench.scoring.card import breaks, confidence, half_up, quartiles
from traitbench.scoring.certainty import WEAKEST_FIRST, Certainty, Confidence, certainty
from traitbench.scoring.inputs import unit
from traitbench.scoring.resemblance import Background, Resemblance, background, resemblance
from traitbench.scoring.snapshot import EncoderIdentity, LabelValues, ModeAxis, Quartiles, Snapshot, TraitAxis, float32

__all__ = [
    "SCORING_METHODS",
    "EncoderIdentity",
    "OutOfFold",
    "Trained",
    "TraitSamples",
    "feature_blocks",
    "fit",
    "ignore",
    "out_of_fold",
]

SCORING_METHODS = ("balanced_cosine",)

NO_MODES: Mapping[str, slice] = MappingProxyType({})

_NEAR_DUPLICATES_UP_TO = 8_192
_FLATTEST = 1e-12
_REFITTED = "no search: refitted with the settings of the previous version"
_MODE_FIGURES = (
    "auroc",
    "auroc_interval",
    "brier",
    "calibration_error",
    "cross_entropy",
    "measured_on",
    "not_measured",
)


@dataclass(frozen=True, eq=False)
class TraitSamples:
    """A trait and the samples to fit it to: vectors (n, d), qualities (n,) and groups (n,), equal for equal texts.

    A variation of a text is in that text's group. `together` (n,) names what a sample belongs to, as a conversation,
    which no fold divides. `synthesized` (n,) marks generated samples, none when None: they
    count little in a fit and nothing in an evaluation. With an `intrinsic_axis` (d,) of length one that axis is kept;
    the samples are then all texts of the model, with quality NaN unless they were labelled for this trait. `label_axis`
    (d,) is made from the trait's labels without any sample; the samples decide how much it counts. `spellings` (n, 4)
    are those of the texts, NaN where unknown; without them, texts are compared with the samples by vector only.
    `sample_weight` (n,), above 0, says how much each sample counts beside the others of its pole, by default equally.
    """

    key: str
    name: str
    positive_label: str
    negative_label: str
    aggregation: str
    X: NDArray[np.float32]
    y: NDArray[np.float64]
    groups: Sequence[Hashable] | NDArray[Any]
    synthesized: NDArray[np.bool_] | None = None
    intrinsic_axis: NDArray[np.float32] | None = None
    label_axis: NDArray[np.float32] | None = None
    spellings: NDArray[np.float64] | None = None
    together: Sequence[str | None] | None = None
    sample_weight: NDArray[np.float64] | None = None

    @property
    def made(self) -> NDArray[np.bool_]:
        """(n,): whether the sample is synthesized."""
        return np.zeros(len(self.y), bool) if self.synthesized is None else self.synthesized


@dataclass(frozen=True, eq=False)
class Trained:
    """The result of a training.

    `out_of_fold` are, by trait key, the positions (n,) that the figures are measured on, see `OutOfFold`.
    """

    snapshot: Snapshot
    metrics: dict[str, Any]
    out_of_fold: Mapping[str, NDArray[np.float64]]

    def with_shortcuts(self, shortcuts: Mapping[str, Mapping[str, Any]]) -> "Trained":
        """The training with what alone tells the poles of each trait apart, by trait key, in its metrics."""
        traits = {key: figures | {"shortcut": shortcuts.get(key)} for key, figures in self.metrics["traits"].items()}
        return replace(self, metrics={**self.metrics, "traits": traits})

    def with_languages(self, languages: Mapping[str, Any]) -> "Trained":
        """The training with the languages of its texts in its metrics."""
        return replace(self, metrics={**self.metrics, "languages": dict(languages)})


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Positions (n,) in 0..1 of a trait's samples, each from a fit that did not see it, and the vector (d,) of the fit
    to all of them.

    The position is NaN for a sample that was not held out.
    """

    positions: NDArray[np.float64]
    vector: NDArray[np.float32]


def ignore(_done: int, _total: int, _share: float, /) -> None:
    """Ignores progress."""


def fit(
    traits: Sequence[TraitSamples],
    *,
    encoder: EncoderIdentity,
    scoring_method: str,
    max_depth: int,
    effort: str,
    fixed: Mapping[str, Any] | None = None,
    modes: Mapping[str, slice] = NO_MODES,
    on_progress: ProgressListener = ignore,
) -> Trained:
    """Fit every trait; `on_progress(done, total, share)` counts the traits and says how much of the work is done.

    `fixed` is `metrics["traits"]` of an earlier version: a trait listed there is refitted with the parameters chosen
    then. With the same samples, the snapshot is then the same, byte for byte. `modes` are the columns of the encoder's
    modes: every trait gets an axis for each mode.
    """
    if scoring_method not in SCORING_METHODS:
        raise ValueError(f"Unknown scoring method {scoring_method!r}. Use one of: {', '.join(SCORING_METHODS)}.")
    plan = _FitPlan(EFFORTS[effort], modes, feature_blocks(modes, encoder.dimension))
    fitted = []
    with one_thread():
        shares = [chosen_before((fixed or {}).get(trait.key)) for trait in traits]
        progress = FitProgress([len(trait.y) for trait in traits], on_progress)
        for trait, chosen in zip(traits, shares, strict=True):
            fitted.append(_fit_trait(trait, encoder.dimension, plan, chosen, progress))
            progress.trait_finished()
        resembled = _resemblance(traits, modes, background(encoder.id, encoder.dimension))
    snapshot = Snapshot(encoder, scoring_method, max_depth, tuple(axis for axis, *_ in fitted), resembled, READING)
    measured = {axis.key: figures_of_trait for axis, figures_of_trait, _ in fitted}
    says = EFFORTS[effort].says if fixed is None else _REFITTED
    positions = {axis.key: own for axis, _, own in fitted if own is not None}
    return Trained(snapshot, _metrics(measured, encoder, scoring_method, effort, says), positions)


def out_of_fold(
    traits: Sequence[TraitSamples],
    *,
    encoder: EncoderIdentity,
    effort: str,
    fixed: Mapping[str, Any],
    modes: Mapping[str, slice] = NO_MODES,
) -> dict[str, OutOfFold]:
    """Return the out-of-fold positions by trait key that the figures of a training are measured on.

    `fixed` is `metrics["traits"]` of the version. With the samples that it was trained with, positions and vector are
    those of its training. Intrinsic traits are left out: no label decided their axis.
    """
    plan = _FitPlan(EFFORTS[effort], modes, feature_blocks(modes, encoder.dimension))
    results = {}
    with one_thread():
        for trait in traits:
            if trait.intrinsic_axis is None:
                _check(trait, encoder.dimension)
                results[trait.key] = _out_of_fold(
                    with_near_duplicates(trait), plan, chosen_before(fixed.get(trait.key))
                )
    return results


@dataclass(frozen=True)
class _FitPlan:
    """How to fit every trait: the effort, the columns of the modes, and the blocks that a search may scale."""

    effort: SearchEffort
    modes: Mapping[str, slice]
    blocks: Mapping[str, slice]

    @property
    def columns(self) -> list[slice]:
        """The columns of every block."""
        return list(self.blocks.values())


def _out_of_fold(trait: TraitSamples, plan: _FitPlan, shares: Mapping[Candidate, float]) -> OutOfFold:
    samples, result = _searched(trait, plan, shares, ignore_fits)
    return OutOfFold(_positions(trait, samples, result), result.vector.astype(np.float32))


def _positions(trait: TraitSamples, samples: TrainingSamples, result: SearchResult) -> NDArray[np.float64]:
    """The out-of-fold positions (n,) of a trait's samples, NaN for a sample that was not held out."""
    evaluated = [_digest(row) for row in samples.X[samples.is_evaluated]]
    held_out = [] if result.held_out is None else expit(result.held_out).tolist()
    # The search merged equal vectors and sorted them, so a sample finds its value by its vector.
    by_vector = dict(zip(evaluated, held_out, strict=result.held_out is not None))
    return np.array([by_vector.get(_digest(row), np.nan) for row in trait.X], np.float64)


def _digest(vector: NDArray[np.float32]) -> bytes:
    return hashlib.sha256(vector.astype("<f4").tobytes()).digest()


def feature_blocks(modes: Mapping[str, slice], dimension: int) -> dict[str, slice]:
    """The columns between the borders of the modes, named after the mode they equal; empty without modes."""
    borders = sorted({0, dimension, *(end for mode in modes.values() for end in (mode.start, mode.stop))})
    names = {(mode.start, mode.stop): name for name, mode in modes.items()}
    stretches = [*pairwise(borders)] if modes else []
    unnamed = [stretch for stretch in stretches if stretch not in names]
    names |= {stretch: "the rest" if len(unnamed) == 1 else f"rest {at}" for at, stretch in enumerate(unnamed, start=1)}
    return {names[stretch]: slice(*stretch) for stretch in stretches}


def _fit_trait(
    trait: TraitSamples, dimension: int, plan: _FitPlan, shares: Mapping[Candidate, float], progress: FitProgress
) -> tuple[TraitAxis, dict[str, Any], NDArray[np.float64] | None]:
    """The axis, the figures, and the out-of-fold positions (n,) unless no label decided the axis."""
    _check(trait, dimension)
    trait = with_near_duplicates(trait)
    samples, result = _search_or_calibrate(trait, plan, shares, progress)
    metrics = _figures(trait, plan, samples, result)
    without = metrics.pop("auroc_without_labels", None)
    metrics |= {
        "counts": _counts(trait, samples),
        "parameters": dict(result.parameters),
        "shares": {str(candidate): share for candidate, share in result.shares.items()},
        "search": search_entry(result, blocks=list(plan.blocks), fixed=bool(shares)),
        "labels": labels_entry(
            result, asked=trait.label_axis is not None, intrinsic=trait.intrinsic_axis is not None, without=without
        ),
    }
    numbers = _numbers(samples, result, metrics, trait.label_axis)
    metrics["confidence"] = _confidences(numbers, samples, result)
    metrics["confidence_reason"] = numbers.certainty.nowhere
    modes = {}
    for name, columns in plan.modes.items():
        trait_in_mode = _in_mode(trait, columns)
        samples_in_mode, result_in_mode = _fit_in_mode(trait_in_mode, samples, columns, plan.effort, result)
        mode_figures = (
            _labelled(trait_in_mode, result_in_mode)
            if trait_in_mode.intrinsic_axis is not None
            else judged(samples_in_mode, result_in_mode)
        )
        modes[name] = _numbers(samples_in_mode, result_in_mode, mode_figures, trait_in_mode.label_axis)
        metrics.setdefault("modes", {})[name] = {
            figure: mode_figures[figure] for figure in _MODE_FIGURES if figure in mode_figures
        }
    axis = TraitAxis(
        key=trait.key,
        name=trait.name,
        positive_label=trait.positive_label,
        negative_label=trait.negative_label,
        aggregation=trait.aggregation,
        **vars(numbers),
        modes=modes,
    )
    return axis, metrics, None if trait.intrinsic_axis is not None else _positions(trait, samples, result)


def with_near_duplicates(trait: TraitSamples) -> TraitSamples:
    """Put near duplicates into one group.

    This is skipped for very many samples, where a pair on both sides of a fold changes nothing.
    """
    if len(trait.y) > _NEAR_DUPLICATES_UP_TO:
        return trait
    groups = np.array([str(group) for group in trait.groups])
    return replace(trait, groups=joined(groups, near_duplicates(trait.X)).tolist())


def _search_or_calibrate(
    trait: TraitSamples, plan: _FitPlan, shares: Mapping[Candidate, float], progress: FitProgress
) -> tuple[TrainingSamples, SearchResult]:
    """The samples that were used, merged and weighted, and the fitted trait."""
    if trait.intrinsic_axis is not None:
        return _placed(trait, trait.intrinsic_axis)
    return _searched(trait, plan, shares, progress.part)


def _searched(
    trait: TraitSamples, plan: _FitPlan, shares: Mapping[Candidate, float], on_fit: Callable[[int, int], None]
) -> tuple[TrainingSamples, SearchResult]:
    samples = evidence(
        trait.X, trait.y.astype(np.float64), list(trait.groups), trait.made, trait.together, trait.sample_weight
    )
    # A search on very many samples had no label axis, so a fit with what it chose has none either.
    with_labels = not shares or uses_labels(len(samples.y)) or any(candidate.labels for candidate in shares)
    result = search(
        samples,
        plan.effort,
        label_axis=trait.label_axis if with_labels else None,
        shares=shares,
        blocks=plan.columns,
        on_fit=on_fit,
    )
    return samples, result


def _placed(trait: TraitSamples, axis: NDArray[np.float32]) -> tuple[TrainingSamples, SearchResult]:
    """The samples of an intrinsic trait, merged and weighted, and the trait on its axis (d,)."""
    samples = pool(trait.X, list(trait.groups), trait.made, axis, trait.together)
    return samples, calibrate_axis(samples, axis)


def _fit_in_mode(
    trait: TraitSamples, samples: TrainingSamples, columns: slice, effort: SearchEffort, result: SearchResult
) -> tuple[TrainingSamples, SearchResult]:
    """Fit the trait on the columns of a mode: to the same samples and, if there was a search, with the parameters that
    it chose.
    """
    if trait.intrinsic_axis is not None:
        return _placed(trait, trait.intrinsic_axis)
    samples_in_mode = replace(samples, X=unit(samples.X[:, columns]).astype(np.float32))
    return samples_in_mode, search(
        samples_in_mode, effort, label_axis=trait.label_axis, shares=_without_blocks(result.shares)
    )


def _figures(trait: TraitSamples, plan: _FitPlan, samples: TrainingSamples, result: SearchResult) -> dict[str, Any]:
    if trait.intrinsic_axis is not None:
        return _labelled(trait, result)

    def refit(repeat: int) -> SearchResult:
        return search(
            samples, plan.effort, label_axis=trait.label_axis, shares=result.shares, blocks=plan.columns, repeat=repeat
        )

    return figures(samples, result, breaks=breaks(*_clusters(samples, result)), refit=refit)


def _labelled(trait: TraitSamples, result: SearchResult) -> dict[str, Any]:
    return figures_of_labels(
        trait.X, trait.y.astype(np.float64), list(trait.groups), trait.made, result, trait.together
    )


def _numbers(
    samples: TrainingSamples, result: SearchResult, figures: Mapping[str, Any], axis: NDArray[np.float32] | None
) -> ModeAxis:
    """The numeric fields of an axis; `axis` (d,) is the label axis of the trait."""
    positive, negative = _clusters(samples, result)
    labels = None if axis is None or result.held_out is None else _label_values(samples, axis)
    return ModeAxis(
        vector=result.vector.astype(np.float32),
        offset=float32(result.offset),
        positive=positive,
        negative=negative,
        breaks=breaks(positive, negative),
        certainty=_certainty(samples, result, figures, labels),
        labels=labels,
    )


def _label_values(samples: TrainingSamples, axis: NDArray[np.float32]) -> LabelValues | None:
    """The label axis (d,) with values that have a mean of 0 and a deviation of 1 if both poles count equally; None if
    all samples have the same value.
    """
    evaluated = samples.is_evaluated
    values = samples.X[evaluated].astype(np.float64) @ axis.astype(np.float64)
    weights = pole_weights(samples.y[evaluated], samples.sample_weight[evaluated])
    middle = float(weights @ values)
    spread = float(np.sqrt(weights @ np.square(values - middle)))
    if spread < _FLATTEST:
        return None
    return LabelValues((axis / spread).astype(np.float32), float32(-middle / spread))


def _certainty(
    samples: TrainingSamples, result: SearchResult, figures: Mapping[str, Any], labels: LabelValues | None
) -> Certainty:
    """Where the scores are sure. Of an axis that nobody labelled, the outer thirds of the texts are the poles."""
    evaluated = samples.is_evaluated
    y, groups = samples.y[evaluated], samples.groups[evaluated]
    if result.held_out is None or samples.synthesized[evaluated].any():
        return certainty(None, y, groups, None)
    if figures["auroc"] is not None:
        lowest, highest = figures["auroc_interval"]
    else:
        counts = [len(np.unique(groups[pole])) for pole in (y > 0.5, y < 0.5)]
        lowest, highest = out_of_fold_interval(auroc(result.held_out, y), counts[0], counts[1])
    counted = independent_of(samples, result.held_out) if samples.is_grouped else None
    return certainty(result.held_out, y, groups, (lowest, highest), _on_label_axis(samples, labels), counted)


def _on_label_axis(samples: TrainingSamples, labels: LabelValues | None) -> NDArray[np.float64] | None:
    """(n,): the values of the evaluated samples."""
    if labels is None:
        return None
    rows = samples.X[samples.is_evaluated].astype(np.float64)
    values: NDArray[np.float64] = (rows * labels.vector).sum(axis=1) + labels.offset
    return values


def _confidences(
    axis: ModeAxis, samples: TrainingSamples, result: SearchResult
) -> dict[Confidence, dict[str, int]] | None:
    """By confidence: how many held-out samples of a pole have it, and how many of them are on their pole's side."""
    if result.held_out is None:
        return None
    y, names = samples.y[samples.is_evaluated], _on_label_axis(samples, axis.labels)
    by_names = [0.5] * len(y) if names is None else expit(names).tolist()
    tally: dict[Confidence, dict[str, int]] = {level: {"samples": 0, "right": 0} for level in reversed(WEAKEST_FIRST)}
    for position, by_name, quality in zip(expit(result.held_out).tolist(), by_names, y.tolist(), strict=True):
        if quality != 0.5:
            points = half_up(100 * position)
            own = tally[confidence(axis, points, half_up(100 * by_name))[0]]
            own["samples"] += 1
            own["right"] += points > 50 if quality > 0.5 else points < 50
    return tally


def _resemblance(
    traits: Sequence[TraitSamples], modes: Mapping[str, slice], beside: Background | None
) -> Resemblance | None:
    """What the texts of all traits have in common: the real ones, or the synthesized ones if there are no others."""
    real = any(not trait.made.all() for trait in traits)
    distinct: dict[bytes, tuple[int, int]] = {}
    for at, trait in enumerate(traits):
        eligible = trait.X.any(axis=1) & ~(trait.made & real)
        if trait.spellings is not None:
            eligible &= ~np.isnan(trait.spellings[:, 0])
        for row in np.flatnonzero(eligible).tolist():
            distinct.setdefault(_digest(trait.X[row]), (at, row))
    # By hash, because the bounds are sums, and sums round by their order.
    chosen = [distinct[digest] for digest in sorted(distinct)]
    spellings = [trait.spellings for trait in traits if trait.spellings is not None]
    return resemblance(
        np.array([traits[at].X[row] for at, row in chosen], np.float32),
        [_group_of(traits[at], row) for at, row in chosen],
        np.array([spellings[at][row] for at, row in chosen]) if len(spellings) == len(traits) else None,
        modes,
        beside,
    )


def _group_of(trait: TraitSamples, row: int) -> str:
    name = None if trait.together is None else trait.together[row]
    return f"group {name}" if name else str(trait.groups[row])


def _in_mode(trait: TraitSamples, columns: slice) -> TraitSamples:
    """The trait on the columns of a mode."""
    # Only an intrinsic trait needs unit vectors here; `_fit_in_mode` scales the vectors of the others.
    axis = trait.intrinsic_axis
    return replace(
        trait,
        X=trait.X[:, columns] if axis is None else unit(trait.X[:, columns]).astype(np.float32),
        intrinsic_axis=None if axis is None else unit(axis[columns]).astype(np.float32),
        label_axis=None if trait.label_axis is None else trait.label_axis[columns],
    )


def _without_blocks(shares: Mapping[Candidate, float]) -> dict[Candidate, float]:
    """The candidate weights of a search on full vectors, without block factors, because a mode has no blocks."""
    result: dict[Candidate, float] = {}
    for candidate, share in shares.items():
        plain = replace(candidate, blocks=())
        result[plain] = result.get(plain, 0.0) + share
    return result


def _check(trait: TraitSamples, dimension: int) -> None:
    if trait.X.shape != (len(trait.y), dimension) or len(trait.groups) != len(trait.y):
        raise ValueError(
            f"Trait {trait.key}: {len(trait.y)} qualities and {len(trait.groups)} groups need vectors of shape"
            f" ({len(trait.y)}, {dimension}), not {trait.X.shape}."
        )
    qualities = trait.y if trait.intrinsic_axis is None else trait.y[~np.isnan(trait.y)]
    if not np.isfinite(trait.X).all() or not ((qualities >= 0) & (qualities <= 1)).all():
        raise ValueError(f"Trait {trait.key}: vectors must be finite and qualities must be from 0 to 1.")
    if trait.made.shape != trait.y.shape:
        raise ValueError(f"Trait {trait.key}: `synthesized` has {len(trait.made)} values for {len(trait.y)} samples.")
    for axis in (trait.intrinsic_axis, trait.label_axis):
        if axis is not None and axis.shape != (dimension,):
            raise ValueError(f"Trait {trait.key}: its axis needs {dimension} numbers, not {axis.shape}.")


def _clusters(samples: TrainingSamples, result: SearchResult) -> tuple[Quartiles | None, Quartiles | None]:
    """Quartiles of the held-out scores at the positive and at the negative pole."""
    if result.held_out is None:
        return None, None
    scores, y = expit(result.held_out), samples.y[samples.is_evaluated]
    return quartiles(scores[y > 0.5]), quartiles(scores[y < 0.5])


def _counts(trait: TraitSamples, samples: TrainingSamples) -> dict[str, int]:
    return {
        "positive": int((trait.y > 0.5).sum()),
        "negative": int((trait.y < 0.5).sum()),
        "neutral": int((trait.y == 0.5).sum()),
        "distinct": len(samples.y),
        "synthesized": int(trait.made.sum()),
        **({"groups": len(np.unique(samples.groups))} if samples.is_grouped else {}),
    }


def _metrics(
    traits: dict[str, dict[str, Any]], encoder: EncoderIdentity, scoring_method: str, effort: str, says: str
) -> dict[str, Any]:
    aurocs = [trait["auroc"] for trait in traits.values() if trait["auroc"] is not None]
    return {
        "scoring_method": scoring_method,
        "effort": effort,
        "search": says,
        "encoder": {"id": encoder.id, "dimension": encoder.dimension},
        "auroc": float(np.mean(aurocs)) if aurocs else None,
        "traits": traits,
    }
