import numpy as np
import pytest
from numpy.typing import NDArray

from tests.analysis.drawn import clouds
from traitbench.analysis.suspects import LabelCheck, isolated, out_of_fold_check


def checked(
    X: NDArray[np.float32], y: NDArray[np.float64], groups: NDArray[np.int64] | None = None, *, real: int | None = None
) -> LabelCheck | None:
    """The check of samples of which the first are real, by default all."""
    made = np.arange(len(y)) >= (len(y) if real is None else real)
    return out_of_fold_check(X, y, np.arange(len(y)) if groups is None else groups, made)


@pytest.mark.parametrize("n", [20, 100, 520])
def test_switched_labels_are_found_worst_first(n: int) -> None:
    X, y = clouds(n)
    turned = np.array([3, n + 2])
    given = y.copy()
    given[turned] = 1 - given[turned]
    result = checked(X, given)
    assert result is not None
    assert set(result.suspects[: len(turned)].tolist()) == set(turned.tolist())
    assert len(result.suspects) <= len(turned) + 1
    own = np.where(given > 0.5, result.scores, 1 - result.scores)[result.suspects]
    assert (np.diff(own) >= 0).all()


@pytest.mark.parametrize(("apart", "auroc"), [(3.0, 1.0), (0.0, 0.5)])
def test_right_labels_raise_no_suspicion_and_those_at_chance_neither(apart: float, auroc: float) -> None:
    X, y = clouds(100, apart=apart)
    result = checked(X, y)
    assert result is not None
    assert len(result.suspects) == 0
    assert result.auroc == pytest.approx(auroc, abs=0.01 if apart else 0.15)


def test_copies_do_not_support_a_wrong_label() -> None:
    X, y = clouds(40)
    X[4] = X[6] = X[2]
    y[[2, 4, 6]] = 0
    groups = np.arange(80)
    groups[[4, 6]] = 2
    result = checked(X, y, groups)
    assert result is not None
    assert {2, 4, 6} <= set(result.suspects.tolist())


def test_too_few_samples_give_no_check() -> None:
    X, y = clouds(7)
    assert checked(X, y) is None
    assert checked(X[:0], y[:0]) is None


def test_synthesized_samples_neither_check_nor_are_checked() -> None:
    X, y = clouds(20)
    assert checked(X, y, real=10) is None


def test_a_text_far_from_all_others_is_isolated() -> None:
    X, _ = clouds(60)
    strange = np.zeros((2, 70), np.float32)
    strange[0, 40] = strange[1, 41] = 1
    result = isolated(np.vstack([X, strange]))
    assert result[-2:].all()
    assert result[:-2].sum() <= 2


def test_among_few_or_equal_texts_none_is_isolated() -> None:
    X, _ = clouds(9)
    assert not isolated(X).any()
    assert not isolated(np.repeat(X[:1], 50, axis=0)).any()
    assert not isolated(np.zeros((40, 70), np.float32)).any()
