"""Whether feedback made a trait worse: the AUROC without and with it, on the same samples.

On test samples, both versions score the same texts. Without test samples, the settings are fitted to the samples that
were there before, once alone and once together with the feedback, and both fits are measured out of fold. They share
the folds, and the feedback is never evaluated: its labels are what is in doubt.

What counts as worse was decided by the contract (core/docs/contract.md, "Retrains").
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from traitbench.fitting.auroc import auroc
from traitbench.fitting.candidates import Candidate
from traitbench.fitting.duplicates import alike, joined
from traitbench.fitting.evaluate import divisions
from traitbench.fitting.fit import TraitSamples
from traitbench.fitting.resampling import PairCounts, Resampler, among
from traitbench.fitting.search import EFFORTS, TrainingSamples, evidence, search
from traitbench.scoring.card import half_up

MeasuredOn = Literal["held_out", "out_of_fold"]

FEWEST_PER_POLE = 5
MOST_OF_MEAN, MOST_OF_TRAIT = 0.01, 0.02
"""By how much the mean AUROC of the traits, and that of one trait, may fall."""

_ROUNDING = 1e-9
_MOST_PER_POLE = 1_000  # the products of all pairs are in memory
_NEAR_DUPLICATES_UP_TO = 8_192
_WHERE: Mapping[MeasuredOn, str] = {"held_out": "on the test samples", "out_of_fold": "out of fold"}


@dataclass(frozen=True)
class Change:
    """The AUROC of a trait before and after, and the number of samples that both were measured on."""

    before: float
    after: float
    samples: int

    @property
    def drop(self) -> float:
        """By how much it fell."""
        return self.before - self.after


@dataclass(frozen=True)
class Tested:
    """A test sample of a trait, and its positions in 0..1 by the version before and by the one after."""

    quality: float
    must_pass: bool
    before: float
    after: float

    @property
    def fails_now(self) -> bool:
        """Whether its score has to be on its pole's side, was there before, and is not there any more."""
        return self.must_pass and _on_side(self.before, self.quality) and not _on_side(self.after, self.quality)


def on_test_samples(tested: Sequence[Tested]) -> Change | None:
    """The change of a trait on its test samples; None if a pole has too few of them."""
    y = np.array([each.quality for each in tested], np.float64)
    if min((y > 0.5).sum(), (y < 0.5).sum()) < FEWEST_PER_POLE:
        return None
    before, after = (np.array(positions) for positions in zip(*((e.before, e.after) for e in tested), strict=True))
    return Change(auroc(before, y), auroc(after, y), int((y != 0.5).sum()))


def out_of_fold(
    trait: TraitSamples,
    known: NDArray[np.bool_],
    *,
    shares: Mapping[Candidate, float],
    effort: str,
    blocks: Sequence[slice] = (),
) -> Change | None:
    """The change of a trait by adding the rows that are not `known` (n,), measured on the known ones.

    `shares` are the settings of the version before. None if a pole has too few samples, or nothing was added.
    """
    # One thread: with several, rounding depends on how the work is split.
    with threadpool_limits(limits=1):
        return _out_of_fold(trait, known, shares, effort, blocks)


def worse(changes: Mapping[str, Change], *, must_pass_failed: int, measured_on: MeasuredOn) -> str | None:
    """Why a version is worse than the one before, as sentences; None if it is not."""
    reasons = [*_must_pass(must_pass_failed), *_mean(changes, measured_on), *_traits(changes, measured_on)]
    return " ".join(reasons) or None


def _must_pass(failed: int) -> Iterable[str]:
    if failed:
        yield f"{failed} must-pass {'sample fails' if failed == 1 else 'samples fail'} that passed before."


def _mean(changes: Mapping[str, Change], measured_on: MeasuredOn) -> Iterable[str]:
    if len(changes) > 1:
        before, after = (
            float(np.mean([getattr(each, when) for each in changes.values()])) for when in ("before", "after")
        )
        if before - after > MOST_OF_MEAN + _ROUNDING:
            yield f"The mean AUROC {_WHERE[measured_on]} fell from {before:.3f} to {after:.3f}."


def _traits(changes: Mapping[str, Change], measured_on: MeasuredOn) -> Iterable[str]:
    # A single trait is its own mean.
    most = MOST_OF_MEAN if len(changes) == 1 else MOST_OF_TRAIT
    for key, each in changes.items():
        if each.drop > most + _ROUNDING:
            yield f"The AUROC of {key} {_WHERE[measured_on]} fell from {each.before:.3f} to {each.after:.3f}."


def _on_side(position: float, quality: float) -> bool:
    points = half_up(100 * position)
    return quality == 0.5 or (points > 50 if quality > 0.5 else points < 50)


def _out_of_fold(
    trait: TraitSamples,
    known: NDArray[np.bool_],
    shares: Mapping[Candidate, float],
    effort: str,
    blocks: Sequence[slice],
) -> Change | None:
    groups = _groups(trait)
    before = _evidence(trait, groups, known)
    if known.all() or before.smaller_pole < FEWEST_PER_POLE:
        return None
    recipe = search(before, EFFORTS[effort], label_axis=trait.label_axis, shares=shares, blocks=blocks).recipe
    if recipe is None or before.synthesized[before.is_evaluated].any():
        return None
    before, after = _aligned(before, _evidence(trait, groups, np.ones(len(known), bool)))
    resamplers = [Resampler(before, recipe), Resampler(after, recipe)]
    tallies = [PairCounts(), PairCounts()]
    for folds in divisions(before):
        values = [resamplers[0].out_of_fold(folds), resamplers[1].out_of_fold(_folds_of_all(before, after, folds))]
        for fold in range(int(folds.max()) + 1):
            rows = np.flatnonzero(folds == fold)
            tallies = [tally + resamplers[0].tally(own[rows], rows) for tally, own in zip(tallies, values, strict=True)]
    return Change(tallies[0].auroc, tallies[1].auroc, int(before.is_evaluated.sum()))


def _groups(trait: TraitSamples) -> NDArray[Any]:
    groups = np.array([str(group) for group in trait.groups])
    return groups if len(groups) > _NEAR_DUPLICATES_UP_TO else joined(groups, alike(trait.X))


def _evidence(trait: TraitSamples, groups: NDArray[Any], rows: NDArray[np.bool_]) -> TrainingSamples:
    y = trait.y.astype(np.float64)
    return evidence(trait.X[rows], y[rows], groups[rows].tolist(), trait.made[rows])


def _aligned(before: TrainingSamples, after: TrainingSamples) -> tuple[TrainingSamples, TrainingSamples]:
    """The samples before and after: both begin with the samples before, in the same order and with the same groups.

    Of very many samples, a part of both is taken.
    """
    place = {digest: row for row, digest in enumerate(_digests(after.X))}
    own = np.array([place[digest] for digest in _digests(before.X)], np.intp)
    added = np.setdiff1d(np.arange(len(after.y)), own)
    kept = _part(before)
    step = -(-len(own) // len(kept))
    rows = np.concatenate([own[kept], added[::step]])
    return replace(among(before, kept), groups=after.groups[own[kept]]), among(after, rows)


def _part(samples: TrainingSamples) -> NDArray[np.intp]:
    """At most so many rows of each pole, spread evenly."""
    sides = [np.flatnonzero(np.sign(samples.y - 0.5) == side) for side in (-1, 0, 1)]
    step = max(1, *(-(-len(side) // _MOST_PER_POLE) for side in sides))
    return np.sort(np.concatenate([side[::step] for side in sides]))


def _digests(X: NDArray[np.float32]) -> list[bytes]:
    return [hashlib.sha256(row).digest() for row in np.ascontiguousarray(X, "<f4")]


def _folds_of_all(before: TrainingSamples, after: TrainingSamples, folds: NDArray[np.int64]) -> NDArray[np.int64]:
    """The folds (n_after,): an added sample shares the fold of its group, and is never held out without one."""
    of_group = dict(zip(before.groups.tolist(), folds.tolist(), strict=True))
    added = [of_group.get(group, -1) for group in after.groups[len(folds) :].tolist()]
    return np.concatenate([folds, np.array(added, np.int64)])
