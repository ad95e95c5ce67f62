"""What more effort gives, what the labels add, and what the metrics say about both."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from tests.scoring.hand import cloud, directions, fitted, samples
from traitbench.fitting.auroc import auroc
from traitbench.fitting.candidates import Candidate
from traitbench.fitting.fit import TraitSamples
from traitbench.fitting.search import EFFORTS, evidence, search

LEVELS = ("low", "medium", "high", "max")
BLOCKS = (slice(0, 10), slice(10, 30))


def noisy(n: int, *, block: slice = BLOCKS[0]) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Poles that differ a little, in one block of features only."""
    rng = np.random.default_rng(n)
    y = np.tile([1.0, 0.0], n // 2)
    X = rng.normal(size=(n, 30))
    X[:, block] += 0.5 * (2 * y[:, None] - 1)
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32), y


def knowing() -> NDArray[np.float32]:
    axis = np.zeros(30, np.float32)
    axis[BLOCKS[0]] = 1 / np.sqrt(10)
    return axis


@pytest.mark.parametrize("n", [8, 40, 120])
@pytest.mark.parametrize("labels", [True, False])
def test_more_effort_is_never_worse_on_held_out_samples(n: int, *, labels: bool) -> None:
    known = evidence(*noisy(n), range(n))
    result = [
        search(known, EFFORTS[level], label_axis=knowing() if labels else None, blocks=BLOCKS) for level in LEVELS
    ]
    entropies = [min(tried.cross_entropy for tried in each.tried if tried.level == each.level) for each in result]
    # Two levels that agree may differ in the last digit, which depends on the processor.
    assert all(more <= less + 1e-12 for less, more in itertools.pairwise(entropies))
    assert [tried.level for tried in result[-1].tried] == list(LEVELS)


def test_a_more_informative_block_gets_more_weight() -> None:
    rng = np.random.default_rng(1)
    X, y = noisy(300)
    X[:, BLOCKS[1]] = 3 * rng.normal(size=(300, 20))
    result = search(evidence(X, y, range(300)), EFFORTS["max"], blocks=BLOCKS)
    assert result.recipe is not None
    assert result.recipe.weights is not None
    assert result.recipe.weights[0] > result.recipe.weights[-1]


def test_informative_labels_improve_a_fit_to_few_samples() -> None:
    X, y = noisy(8)
    test, truth = noisy(400)

    def area(axis: NDArray[np.float32] | None) -> float:
        return auroc(test @ search(evidence(X, y, range(8)), EFFORTS["high"], label_axis=axis).vector, truth)

    assert area(knowing()) > area(None) + 0.03
    assert abs(area(-knowing()) - area(None)) < 0.05


def test_one_sample_per_pole_is_enough_to_use_right_labels() -> None:
    X, east = directions(30, 150), np.array([1.0, 0.0], np.float32)
    known = evidence(X, np.array([1.0, 0.0]), range(2))
    plain, right, wrong = (search(known, EFFORTS["high"], label_axis=axis) for axis in (None, east, -east))
    assert expit(directions(0) @ right.vector + right.offset)[0] > expit(directions(0) @ plain.vector + plain.offset)[0]
    np.testing.assert_allclose(wrong.vector, plain.vector, atol=0.3)


def test_many_samples_need_no_labels() -> None:
    X, y = cloud(2_100, 6)
    result = search(evidence(X, y, range(2_100)), EFFORTS["low"], label_axis=X[0])
    assert not any(candidate.labels for candidate in result.shares)


def trait_metrics(trait: TraitSamples, effort: str = "high", **more: Any) -> dict[str, Any]:
    result: dict[str, Any] = fitted(trait, effort=effort, **more).metrics["traits"][trait.key]
    return result


def test_a_chosen_block_weight_is_named_after_its_mode() -> None:
    X, y = noisy(150)
    before = trait_metrics(samples(X, y), "max")
    before["shares"] = {str(Candidate(0.5, 0.0, (2.0, 0.5))): 1.0}
    chosen = trait_metrics(samples(X, y), "max", modes={"one": BLOCKS[0]}, fixed={"warmth": before})["search"]["chosen"]
    assert (chosen["weight of one"], chosen["weight of the rest"]) == pytest.approx((2.0, 0.5))


def test_metrics_say_what_was_tried_chosen_and_gained() -> None:
    X, y = noisy(40)
    result = trait_metrics(replace(samples(X, y), label_axis=knowing()), modes={"one": BLOCKS[0]})
    levels = result["search"]["levels"]
    assert [level["level"] for level in levels] == ["low", "medium", "high"]
    assert [level["tried"] for level in levels] == [2, 45, 105]
    assert sum(level["chosen"] for level in levels) == 1
    assert result["search"]["gained"] >= 0
    assert result["search"]["tried"] == 105
    assert "shrinkage, power of ten" in result["search"]["chosen"]
    assert result["labels"]["used"]
    assert 0 < result["labels"]["share"] < 1
    assert result["labels"]["gain"] > 0
    assert "improve" in result["labels"]["why"]
    assert 0 < result["labels"]["auroc_without"] <= result["auroc"]


def test_an_auroc_does_not_rise_by_labels_that_fit_by_chance() -> None:
    """The samples are noise. Their own choice of how much the labels count must not make them look separable."""
    rng = np.random.default_rng(3)
    gains = []
    for _ in range(40):
        X, axis = rng.normal(size=(12, 30)).astype(np.float32), rng.normal(size=30).astype(np.float32)
        trait = replace(samples(X / np.linalg.norm(X, axis=1, keepdims=True), np.tile([1.0, 0.0], 6)), label_axis=axis)
        result = trait_metrics(trait, effort="low")
        gains.append(result["auroc"] - result["labels"]["auroc_without"])
    assert np.mean(gains) <= 0


def test_labels_that_mislead_have_no_gain() -> None:
    X, y = noisy(40)
    result = trait_metrics(replace(samples(X, y), label_axis=-knowing()))["labels"]
    assert result["gain"] <= 0
    assert "do not improve held-out scores" in result["why"]


@pytest.mark.parametrize(
    ("trait", "why", "used"),
    [
        (samples(directions(0, 10, 180, 190), [1, 1, 0, 0]), "did not use labels", False),
        (replace(samples(directions(0, 180), [1, 0]), label_axis=directions(0)[0]), "the labels are used too", True),
        (replace(samples(directions(0, 10), [1, 1]), label_axis=directions(0)[0]), "they are not used", False),
    ],
)
def test_metrics_say_why_labels_have_no_gain(trait: TraitSamples, why: str, *, used: bool) -> None:
    result = trait_metrics(trait)["labels"]
    assert why in result["why"]
    assert result["gain"] is None
    assert (result["used"], result["share"]) == ((True, None) if used else (False, 0))


def test_a_refit_without_the_label_axis_shares_its_weight_among_the_other_candidates() -> None:
    trait = replace(samples(*noisy(40)), label_axis=knowing())
    before = fitted(trait).metrics["traits"]
    assert any("labels" in name for name in before["warmth"]["shares"])
    without = trait_metrics(replace(trait, label_axis=None), fixed=before)["shares"]
    assert not any("labels" in name for name in without)
    assert sum(without.values()) == pytest.approx(1)
