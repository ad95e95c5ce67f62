from collections.abc import Sequence

import numpy as np
import pytest
from scipy.special import expit

from tests.scoring.hand import cloud, directions
from traitbench.fitting.search import EFFORTS, SearchResult, TrainingSamples, evidence, search


@pytest.mark.parametrize(
    ("degrees", "qualities", "ids", "made", "expected", "groups"),
    [
        ((0, 0, 180), (1, 0, 0), "aab", (), (0, 0.5), 2),
        ((0, 180, None, None), (1, 0, 1, 0), "abcd", (), (0, 1), 2),
        ((0, 10, 10, 180), (1, 1, 1, 0), "aabc", (), (0, 1, 1), 2),
        ((0, 0, 180, 180), (1, 0, 0, 0), "abcd", (1, 3), (0, 1), 2),
    ],
    ids=[
        "a repeated text is one sample with the mean quality",
        "texts without a token are dropped",
        "one and two share a group, two and three a vector",
        "a real text replaces an equal synthesized one",
    ],
)
def test_samples_are_joined_before_a_search(
    degrees: Sequence[float | None],
    qualities: Sequence[float],
    ids: str,
    made: Sequence[int],
    expected: Sequence[float],
    groups: int,
) -> None:
    X = np.vstack([np.zeros((1, 2), np.float32) if each is None else directions(each) for each in degrees])
    result = evidence(X, np.array(qualities, float), [*ids], np.isin(np.arange(len(X)), made))
    assert sorted(result.y) == [*expected]
    assert len(np.unique(result.groups)) == groups
    assert not result.synthesized.any()


def test_a_group_is_never_on_both_sides_of_a_fold() -> None:
    """Noise, and every text has a near copy with the same label: only a fit that saw the copy could know the label."""
    rng = np.random.default_rng(2)
    noise = np.repeat(rng.normal(size=(28, 200)), 2, axis=0) + 0.1 * rng.normal(size=(56, 200))
    X = np.asarray(noise / np.linalg.norm(noise, axis=1, keepdims=True), np.float32)
    y = np.repeat(np.tile([1.0, 0.0], 14), 2)
    copies_apart = search(evidence(X, y, range(56)), EFFORTS["high"])
    copies_together = search(evidence(X, y, [number // 2 for number in range(56)]), EFFORTS["high"])
    assert accuracy(copies_apart, evidence(X, y, range(56))) > 0.9
    assert accuracy(copies_together, evidence(X, y, range(56))) < 0.7


def accuracy(result: SearchResult, samples: TrainingSamples) -> float:
    assert result.held_out is not None
    return float(((result.held_out > 0) == (samples.y > 0.5)).mean())


@pytest.mark.parametrize(
    ("positive", "negative", "effort", "folds"),
    [
        (2, 9, "high", 2),
        (5, 5, "high", 5),
        (31, 31, "high", 10),
        (31, 31, "low", 10),
        (32, 32, "high", None),
        (3, 97, "high", 3),
    ],
)
def test_leave_one_out_is_used_where_it_is_fair(positive: int, negative: int, effort: str, folds: int | None) -> None:
    X, _ = cloud(positive + negative, 16)
    y = np.array([1.0] * positive + [0.0] * negative)
    assert search(evidence(X, y, range(len(y))), EFFORTS[effort]).folds == folds


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("blocks", [1, 3])
def test_a_search_changes_the_weight_of_one_block_at_a_time(effort: str, blocks: int) -> None:
    for level in EFFORTS[effort].levels:
        for candidate in level.candidates(blocks=blocks, labels=True):
            assert len(candidate.blocks) in (0, blocks)
            assert sum(weight != 1 for weight in candidate.blocks) in (0, 1)


def test_an_effort_tries_what_it_says() -> None:
    low, medium, high, most = (
        EFFORTS[name].levels[-1].candidates(blocks=2, labels=True) for name in ("low", "medium", "high", "max")
    )
    assert (len(low), len({each.power for each in low})) == (2, 1)
    assert (len(medium), len({each.power for each in medium}), len({each.labels for each in medium})) == (45, 9, 5)
    assert {weight for each in high for weight in each.blocks} == {0.5, 1, 2}
    assert len({each.power for each in most}) == 13
    assert len({weight for each in most for weight in each.blocks} - {1}) == 6


def test_one_sample_at_each_pole_points_from_one_to_the_other() -> None:
    result = search(evidence(directions(0, 180), np.array([1.0, 0.0]), range(2)), EFFORTS["high"])
    assert result.held_out is None
    np.testing.assert_allclose(
        expit(directions(0, 90, 180) @ result.vector + result.offset), [0.731, 0.5, 0.269], atol=1e-3
    )


@pytest.mark.parametrize("y", [(1.0, 1.0, 1.0), (0.0, 0.2, 0.4), (0.5, 0.5, 0.5), (1.0, 0.5, 0.5)])
def test_without_a_second_pole_every_text_scores_50(y: tuple[float, ...]) -> None:
    result = search(evidence(directions(0, 90, 180), np.array(y), range(3)), EFFORTS["high"])
    assert result.held_out is None
    assert not result.vector.any()
    assert result.offset == 0


def test_grades_alone_are_enough() -> None:
    X = directions(0, 30, 60, 120, 150, 180)
    result = search(evidence(X, np.array([0.9, 0.8, 0.6, 0.4, 0.3, 0.1]), range(6)), EFFORTS["high"])
    scores = expit(X @ result.vector + result.offset)
    assert (np.diff(scores) < 0).all()
    assert scores[0] > 0.5 > scores[-1]
