import numpy as np
import pytest

from traitbench.scoring.candidates import (
    LABEL_SLOPES,
    Candidate,
    Slate,
    Told,
    Weighed,
    blind,
    label_slope,
    pruned,
    weigh,
)

SLATE = Slate([Candidate(0.5, slope) for slope in LABEL_SLOPES])


def told(values: np.ndarray, labels: np.ndarray | None, y: np.ndarray) -> Told:
    n = len(y)
    balance = np.full(n, 1 / n)
    return Told(y, balance, np.arange(n) // 2 % 4, SLATE.candidates, np.repeat(values[:, None], 5, axis=1), labels)


Y = np.tile([1.0, 0.0], 8)
NOISE = np.random.default_rng(1).normal(size=16)
KNOWING = 2 * Y - 1 + 0.3 * NOISE


def slope(values: np.ndarray, labels: np.ndarray) -> float:
    return weigh(told(values, labels, Y), SLATE).label_slope


def test_labels_that_know_are_heard_and_labels_that_guess_are_not() -> None:
    before = sum(LABEL_SLOPES) / 8
    assert slope(NOISE, KNOWING) > before
    assert slope(KNOWING, NOISE) < 0.2 * before


def test_labels_that_point_the_wrong_way_are_silenced_even_beside_samples_that_know_nothing() -> None:
    assert slope(NOISE, -KNOWING) < 0.01


def test_grades_speak_for_the_labels_as_clearly_as_poles_do() -> None:
    """The cross-entropy of a grade varies less than a pole's: it is counted for what it tells."""
    y = np.linspace(0.02, 0.98, 16)
    labels = y + 0.02 * NOISE
    assert weigh(told(NOISE, labels, y), SLATE).label_slope > 1
    assert weigh(told(y, NOISE, y), SLATE).label_slope < 0.2


def test_a_logit_is_what_gains_labels_and_offset_add_up_to() -> None:
    known = told(KNOWING, NOISE, Y)
    found = weigh(known, SLATE)
    by_hand = known.values @ found.gains + found.label_gain * NOISE + found.offset
    np.testing.assert_allclose(found.logits(known), by_hand)
    assert 0 < found.label_share < 1


def test_what_has_next_to_no_share_goes_and_changes_nothing() -> None:
    known = told(NOISE, -KNOWING, Y)
    whole = weigh(known, SLATE)
    kept = pruned(whole)
    assert len(kept.slate.candidates) < len(SLATE.candidates)
    assert kept.share.sum() == pytest.approx(1)
    np.testing.assert_allclose(kept.logits(known.of(kept.slate)), whole.logits(known), atol=0.01)


def test_a_blind_score_does_not_depend_on_its_own_label() -> None:
    known, turned = told(KNOWING, NOISE, Y), told(KNOWING, NOISE, np.where(np.arange(16) // 2 % 4 == 0, 1 - Y, Y))
    out = known.folds == 0
    start = weigh(known, SLATE)
    np.testing.assert_allclose(blind(known, start)[out], blind(turned, start)[out], atol=1e-9)


def test_one_sample_a_pole_can_say_whether_the_labels_are_right() -> None:
    y, balance = np.array([1.0, 0.0]), np.array([0.5, 0.5])
    right, middle = label_slope(y, balance, np.array([0.3, 0.1]))
    wrong, _ = label_slope(y, balance, np.array([0.1, 0.3]))
    assert middle == pytest.approx(0.2)
    assert right > 3 * wrong > 0


@pytest.mark.parametrize(
    "candidate", [Candidate(-1.0), Candidate(0.75, 1.6), Candidate(1.5, 0.0, (1.0, 0.5, 1.0)), Candidate(0, 1, (2, 1))]
)
def test_a_candidate_is_read_as_it_was_written(candidate: Candidate) -> None:
    assert Candidate.read(str(candidate)) == candidate


@pytest.mark.parametrize(
    "told", ["", "wide", "1 labels", "1 labels -2", "1 words 2", "11", "nan", "1 blocks 1:x", "1 blocks 99", None]
)
def test_what_no_search_can_have_had_is_no_candidate(told: object) -> None:
    with pytest.raises(ValueError, match=r"candidate|search|float|zip"):
        Candidate.read(told)


def test_a_direction_is_a_candidate_without_the_labels() -> None:
    assert Candidate(0.5, 2.5, (1.0, 2.0)).direction == Candidate(0.5, 0.0, (1.0, 2.0))
    assert isinstance(weigh(told(NOISE, None, Y), SLATE), Weighed)
