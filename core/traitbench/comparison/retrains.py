"""Whether feedback made a trait worse: the AUROC without and with it, on the same samples.

On test samples, both versions score the same texts (`versions`). Without enough of them, the settings are fitted to the
samples that were there before, once alone and once together with the feedback, and both fits are measured out of fold.
They share the folds, and the feedback is never evaluated: its labels are what is in doubt.

What counts as worse was decided by the contract (core/docs/contract.md, "Retrains").
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from traitbench.comparison.paired import FoldTally
from traitbench.comparison.versions import FEWEST
from traitbench.contract.comparisons import TraitDifference
from traitbench.fitting.candidates import Candidate
from traitbench.fitting.evaluate import divisions
from traitbench.fitting.fit import TraitSamples, with_near_duplicates
from traitbench.fitting.resampling import Resampler, among, part
from traitbench.fitting.search import EFFORTS, TrainingSamples, evidence, search
from traitbench.fitting.work import one_thread

MeasuredOn = Literal["held_out", "out_of_fold"]

MOST_OF_MEAN, MOST_OF_TRAIT = 0.01, 0.02
"""By how much the mean AUROC of the traits, and that of one trait, may fall."""

# A fall of exactly the allowed size is allowed.
_ROUNDING = 1e-9
_MOST_PER_POLE = 1_000  # the products of all pairs are in memory
_WHERE: Mapping[MeasuredOn, str] = {"held_out": "on the test samples", "out_of_fold": "out of fold"}


@dataclass(frozen=True)
class Change:
    """The AUROC of a trait before and after, and the number of samples that both were measured on."""

    before: float
    after: float
    samples: int


def reason_to_hold(
    keys: Sequence[str],
    tested: Mapping[str, TraitDifference],
    refitted: Callable[[], Mapping[str, Change]],
    *,
    compared_with: int | None,
) -> dict[str, Any] | None:
    """`metrics.held` if a version is worse than the one before, whose number is `compared_with`; None if it is not.

    `keys` are the traits that are fitted to samples. `tested` are both versions on test samples; if a trait has too few
    of these, the changes `refitted` decide.
    """
    changes = {
        key: Change(each.auroc.a, each.auroc.b, each.n)
        for key, each in tested.items()
        if key in keys and each.auroc is not None and each.auroc.interval is not None
    }
    measured_on: MeasuredOn = "held_out" if changes and len(changes) == len(keys) else "out_of_fold"
    if measured_on == "out_of_fold":
        changes = dict(refitted())
    failed = sum(each.must_pass.newly_failed for each in tested.values())
    because = " ".join([*_must_pass(failed), *_mean(changes, measured_on), *_traits(changes, measured_on)])
    if not because:
        return None
    return {
        "because": because,
        "measured_on": measured_on,
        "compared_with": compared_with,
        "traits": {key: vars(change) for key, change in changes.items()},
        "must_pass_failed": failed,
    }


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
    with one_thread():
        return _out_of_fold(trait, known, shares, effort, blocks)


def _must_pass(failed: int) -> Iterable[str]:
    if failed:
        yield f"{failed} must-pass {'sample fails' if failed == 1 else 'samples fail'} that passed before."


def _mean(changes: Mapping[str, Change], measured_on: MeasuredOn) -> Iterable[str]:
    if len(changes) > 1:
        before = float(np.mean([each.before for each in changes.values()]))
        after = float(np.mean([each.after for each in changes.values()]))
        if before - after > MOST_OF_MEAN + _ROUNDING:
            yield f"The mean AUROC {_WHERE[measured_on]} fell from {before:.3f} to {after:.3f}."


def _traits(changes: Mapping[str, Change], measured_on: MeasuredOn) -> Iterable[str]:
    # A single trait is its own mean.
    most = MOST_OF_MEAN if len(changes) == 1 else MOST_OF_TRAIT
    for key, each in changes.items():
        if each.before - each.after > most + _ROUNDING:
            yield f"The AUROC of {key} {_WHERE[measured_on]} fell from {each.before:.3f} to {each.after:.3f}."


def _out_of_fold(
    trait: TraitSamples,
    known: NDArray[np.bool_],
    shares: Mapping[Candidate, float],
    effort: str,
    blocks: Sequence[slice],
) -> Change | None:
    groups = np.array([str(group) for group in with_near_duplicates(trait).groups])
    before = _evidence(trait, groups, known)
    if known.all() or before.smaller_pole < FEWEST:
        return None
    recipe = search(before, EFFORTS[effort], label_axis=trait.label_axis, shares=shares, blocks=blocks).recipe
    if recipe is None or before.synthesized[before.is_evaluated].any():
        return None
    before, after = _aligned(before, _evidence(trait, groups, np.ones(len(known), bool)))
    alone, together = Resampler(before, recipe), Resampler(after, recipe)
    divided, n = divisions(before), len(before.y)
    values_alone = [(alone.out_of_fold(folds), folds) for folds in divided]
    values_together = [(together.out_of_fold(_folds_of_all(before, after, folds))[:n], folds) for folds in divided]
    tallies = (FoldTally.within_folds(before, alone.pair_weights, each) for each in (values_alone, values_together))
    without, added = (each.auroc for each in tallies)
    return Change(without, added, int(before.is_evaluated.sum()))


def _evidence(trait: TraitSamples, groups: NDArray[Any], rows: NDArray[np.bool_]) -> TrainingSamples:
    y = trait.y.astype(np.float64)
    names = None if trait.together is None else np.array(trait.together, object)[rows].tolist()
    return evidence(trait.X[rows], y[rows], groups[rows].tolist(), trait.made[rows], names)


def _aligned(before: TrainingSamples, after: TrainingSamples) -> tuple[TrainingSamples, TrainingSamples]:
    """The samples before and after: both begin with the samples before, in the same order and with the same groups.

    Of very many samples, a part of both is taken.
    """
    row_of = {digest: row for row, digest in enumerate(_digests(after.X))}
    earlier = part(before, _MOST_PER_POLE)
    everything, own = (np.array([row_of[each] for each in _digests(some.X)], np.intp) for some in (before, earlier))
    added = np.setdiff1d(np.arange(len(after.y)), everything)
    rows = np.concatenate([own, added[:: -(-len(everything) // len(own))]])
    texts = None if after.texts is None else after.texts[own]
    return replace(earlier, groups=after.groups[own], texts=texts), among(after, rows)


def _digests(X: NDArray[np.float32]) -> list[bytes]:
    return [hashlib.sha256(row).digest() for row in np.ascontiguousarray(X, "<f4")]


def _folds_of_all(before: TrainingSamples, after: TrainingSamples, folds: NDArray[np.int64]) -> NDArray[np.int64]:
    """The folds (n_after,): an added sample shares the fold of its group, and is never held out without one."""
    of_group = dict(zip(before.groups.tolist(), folds.tolist(), strict=True))
    added = [of_group.get(group, -1) for group in after.groups[len(folds) :].tolist()]
    return np.concatenate([folds, np.array(added, np.int64)])
