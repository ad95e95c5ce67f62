import numpy as np
import pytest

from traitbench.fitting.candidates import (
    LABEL_SLOPES,
    Candidate,
    CandidateSet,
    HeldOut,
    ModelAverage,
    average_candidates,
    label_slope,
    nested_out_of_fold,
    pruned,
)

CANDIDATES = CandidateSet([Candidate(0.5, slope) for slope in LABEL_SLOPES])


def held_out(values: np.ndarray, labels: np.ndarray | None, y: np.ndarray) -> HeldOut:
    n = len(y)
    balance = np.full(n, 1 / n)
    return HeldOut(
        y, balance, np.arange(n) // 2 % 4, CANDIDATES.candidates, np.repeat(values[:, None], 5, axis=1), labels
    )


Y = np.tile([1.0, 0.0], 8)
NOISE = np.random.default_rng(1).normal(size=16)
KNOWING = 2 * Y - 1 + 0.3 * NOISE


def slope(values: np.ndarray, labels: np.ndarray) -> float:
    return average_candidates(held_out(values, labels, Y), CANDIDATES).label_slope


def test_informative_labels_are_used_and_random_ones_are_not() -> None:
    before = sum(LABEL_SLOPES) / 8
    assert slope(NOISE, KNOWING) > before
    assert slope(KNOWING, NOISE) < 0.2 * before


def test_wrong_labels_get_no_weight_even_beside_uninformative_samples() -> None:
    assert slope(NOISE, -KNOWING) < 0.01


def test_grades_support_the_labels_as_much_as_poles_do() -> None:
    """The cross-entropy of grades varies less than that of poles, and is corrected for that."""
    y = np.linspace(0.02, 0.98, 16)
    labels = y + 0.02 * NOISE
    assert average_candidates(held_out(NOISE, labels, y), CANDIDATES).label_slope > 1
    assert average_candidates(held_out(y, NOISE, y), CANDIDATES).label_slope < 0.2


def test_a_logit_is_the_sum_of_gains_labels_and_offset() -> None:
    known = held_out(KNOWING, NOISE, Y)
    result = average_candidates(known, CANDIDATES)
    by_hand = known.values @ result.gains + result.label_gain * NOISE + result.offset
    np.testing.assert_allclose(result.logits(known), by_hand)
    assert 0 < result.label_share < 1


def test_dropping_negligible_candidates_changes_nothing() -> None:
    known = held_out(NOISE, -KNOWING, Y)
    whole = average_candidates(known, CANDIDATES)
    kept = pruned(whole)
    assert len(kept.candidates.candidates) < len(CANDIDATES.candidates)
    assert kept.weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(kept.logits(known.for_candidates(kept.candidates)), whole.logits(known), atol=0.01)


def test_a_nested_out_of_fold_score_does_not_depend_on_its_own_label() -> None:
    known, turned = (
        held_out(KNOWING, NOISE, Y),
        held_out(KNOWING, NOISE, np.where(np.arange(16) // 2 % 4 == 0, 1 - Y, Y)),
    )
    out = known.folds == 0
    start = average_candidates(known, CANDIDATES)
    np.testing.assert_allclose(nested_out_of_fold(known, start)[out], nested_out_of_fold(turned, start)[out], atol=1e-9)


def test_one_sample_per_pole_shows_whether_the_labels_are_right() -> None:
    y, balance = np.array([1.0, 0.0]), np.array([0.5, 0.5])
    right, middle = label_slope(y, balance, np.array([0.3, 0.1]))
    wrong, _ = label_slope(y, balance, np.array([0.1, 0.3]))
    assert middle == pytest.approx(0.2)
    assert right > 3 * wrong > 0


@pytest.mark.parametrize(
    "candidate", [Candidate(-1.0), Candidate(0.75, 1.6), Candidate(1.5, 0.0, (1.0, 0.5, 1.0)), Candidate(0, 1, (2, 1))]
)
def test_a_candidate_name_can_be_read_back(candidate: Candidate) -> None:
    assert Candidate.read(str(candidate)) == candidate


@pytest.mark.parametrize(
    "name", ["", "wide", "1 labels", "1 labels -2", "1 words 2", "11", "nan", "1 blocks 1:x", "1 blocks 99", None]
)
def test_names_that_no_search_produces_are_refused(name: object) -> None:
    with pytest.raises(ValueError, match=r"candidate|search|float|zip"):
        Candidate.read(name)


def test_a_direction_is_a_candidate_without_the_labels() -> None:
    assert Candidate(0.5, 2.5, (1.0, 2.0)).direction == Candidate(0.5, 0.0, (1.0, 2.0))
    assert isinstance(average_candidates(held_out(NOISE, None, Y), CANDIDATES), ModelAverage)
