from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from tests.scoring.hand import cloud
from traitbench.fitting.axis import path, pole_weights
from traitbench.fitting.resampling import PairCounts, Resampler, folds_of, part
from traitbench.fitting.search import Recipe, TrainingSamples, evidence

PLAIN = Recipe(0.5, 0.0, None, None)


def some(n: int = 30, d: int = 20, *, apart: float = 0.4) -> TrainingSamples:
    return evidence(*cloud(n, d, apart=apart), range(n))


@pytest.mark.parametrize("d", [8, 60])
def test_a_refit_equals_the_path_at_that_shrinkage(d: int) -> None:
    samples = some(d=d)
    rows, rest = np.arange(0, 30, 2), np.arange(1, 30, 2)
    values = Resampler(samples, PLAIN).fit_and_score(rows, rest)
    along = path(samples.X[rows], samples.y[rows], [10**0.5]).values(samples.X[rest])[:, 0]
    assert np.ptp(values - along) == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("count", [5, 7])
def test_leaving_a_fold_out_equals_a_fit_without_it(count: int) -> None:
    """The reference is ridge regression with an intercept; the weights of the other samples stay as they are."""
    samples = some()
    folds = folds_of(samples, count, 0)
    values = Resampler(samples, PLAIN).out_of_fold(folds)
    weights, X = pole_weights(samples.y), samples.X.astype(np.float64)
    centred = X - weights @ X
    penalty = 10**0.5 * (weights @ np.square(centred).sum(axis=1)) / min(len(X) - 1, X.shape[1])
    full, ridge = np.column_stack([X, np.ones(len(X))]), np.diag([penalty] * X.shape[1] + [0.0])
    for fold in range(count):
        out = folds == fold
        kept = weights * ~out
        result = np.linalg.solve(full.T @ (kept[:, None] * full) + ridge, full.T @ (kept * (2 * samples.y - 1)))
        np.testing.assert_allclose(values[out], full[out] @ result, atol=1e-5)


def test_a_refit_uses_the_scaled_columns_of_the_search() -> None:
    samples = some(d=20)
    factors = np.repeat([2.0, 0.5], 10)
    scaled = replace(samples, X=(samples.X * factors).astype(np.float32))
    rows, rest = np.arange(0, 30, 2), np.arange(1, 30, 2)
    one = Resampler(samples, Recipe(0.5, 0.0, None, factors)).fit_and_score(rows, rest)
    np.testing.assert_allclose(one, Resampler(scaled, PLAIN).fit_and_score(rows, rest), atol=1e-5)


@pytest.mark.parametrize(("share", "area"), [(0.0, 0.5), (1.0, 1.0)])
def test_a_refit_mixes_in_the_label_axis_by_its_share(share: float, area: float) -> None:
    """The samples are noise and the label axis is perfect: with share 1 it orders everything, with share 0 nothing."""
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(60, 40)).astype(np.float32), np.tile([1.0, 0.0], 30)
    X[:, 0] = 0
    X[:, 1] += 6 * y
    axis = np.eye(40)[1]
    samples = evidence(X, y, range(60))
    hidden = np.ones(40)
    hidden[1] = 0
    resampler = Resampler(samples, Recipe(0.5, share, axis, hidden))
    result = sum((resampler.within_fold_pairs(folds_of(samples, 10, turn)) for turn in range(5)), PairCounts())
    assert result.auroc == pytest.approx(area, abs=0.17 if share == 0 else 0.02)


def test_pair_counts_give_the_auroc() -> None:
    samples = some(40, apart=0.1)
    values = np.round(np.random.default_rng(2).normal(size=40), 1)
    tally = Resampler(samples, PLAIN).tally(values, np.arange(40))
    assert tally.auroc == pytest.approx(roc_auc_score(samples.y, values))
    assert tally.compared == 400


def test_a_group_counts_once_at_a_pole() -> None:
    X, y = cloud(12, 10)
    samples = evidence(X, y, [0, 0, 0, 0, 4, 5, 6, 6, 8, 9, 10, 11])
    tally = Resampler(samples, PLAIN).tally(np.zeros(12), np.arange(12))
    assert tally.compared == pytest.approx(3 * 5)
    assert tally.auroc == 0.5


def test_samples_are_compared_with_those_of_their_fold_and_with_no_others() -> None:
    X, y = cloud(40, 10, apart=0.1)
    made = np.arange(40) % 8 == 0
    samples = evidence(X, y, [number // 3 for number in range(40)], made)
    folds = folds_of(samples, 3, 0)
    folds[:9] = -1  # of both poles, and never held out
    assert len(set(np.bincount(folds[folds >= 0]).tolist())) > 1
    resampler, values = Resampler(samples, PLAIN), np.round(np.random.default_rng(2).normal(size=len(folds)), 1)
    rows = [np.flatnonzero(folds == fold) for fold in range(3)]
    expected = sum((resampler.tally(values[fold], fold) for fold in rows), PairCounts())
    tally = resampler.within_fold_pairs(folds, values)
    assert (tally.won, tally.compared) == pytest.approx((expected.won, expected.compared))


def test_without_comparisons_the_auroc_is_one_half() -> None:
    assert PairCounts().auroc == 0.5


def by_group(n: int) -> list[int]:
    return [i // 3 for i in range(n)]


@pytest.mark.parametrize("groups", [range, by_group])
def test_a_group_shares_a_fold_and_poles_are_spread(groups: Callable[[int], list[int]]) -> None:
    X, y = cloud(60, 20)
    samples = evidence(X, y, groups(60))
    for turn in range(4):
        folds = folds_of(samples, 5, turn)
        for group in np.unique(samples.groups):
            assert len(set(folds[samples.groups == group].tolist())) == 1
        for pole in (samples.y > 0.5, samples.y < 0.5):
            sizes = np.bincount(folds[pole], minlength=5)
            assert sizes.max() - sizes.min() <= (3 if groups is by_group else 1)


def test_every_turn_has_its_own_reproducible_folds() -> None:
    samples = some()
    divisions = [tuple(folds_of(samples, 5, turn).tolist()) for turn in range(5)]
    assert len(set(divisions)) == 5
    assert divisions == [tuple(folds_of(samples, 5, turn).tolist()) for turn in range(5)]


def test_samples_that_are_not_evaluated_are_never_left_out() -> None:
    X, y = cloud(40, 20)
    made = np.arange(40) % 4 == 0
    samples = evidence(X, y, range(40), made)
    assert (folds_of(samples, 5, 0)[samples.synthesized] == -1).all()
    assert Resampler(samples, PLAIN).pair_weights[samples.synthesized].sum() == 0


def crowd(poles: tuple[int, int], made: int) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_]]:
    n = sum(poles) + made
    X = np.random.default_rng(1).normal(size=(n, 8)).astype(np.float32)
    y = np.r_[np.ones(poles[0] + made), np.zeros(poles[1])]
    return X, y, np.arange(n) < made


def test_a_subset_limits_each_pole_and_prefers_real_samples() -> None:
    X, y, made = crowd((10, 300), 400)
    samples = evidence(X, y, range(len(y)), made)
    taken = part(samples, 50)
    assert (taken.y > 0.5).sum() == (taken.y < 0.5).sum() == 50
    assert ((taken.y > 0.5) & ~taken.synthesized).sum() == 10
    assert part(samples, 1_000) is samples
