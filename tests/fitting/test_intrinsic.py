"""A discovered axis: it does not change, and is calibrated by the texts of the model."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from tests.scoring.hand import cloud, fitted, samples
from traitbench.fitting.fit import Trained, TraitSamples
from traitbench.scoring.snapshot import TierBreaks, TraitAxis, param_hash

AXIS = np.array([0.6, 0.8, 0.0, 0.0], np.float32)


def pool(n: int = 90, **more: object) -> TraitSamples:
    X, _ = cloud(n, 4)
    return replace(samples(X, [np.nan] * n), intrinsic_axis=AXIS, **more)  # type: ignore[arg-type]


def fit_alone(trait: TraitSamples) -> tuple[TraitAxis, dict[str, Any]]:
    trained: Trained = fitted(trait)
    return trained.snapshot.traits[0], trained.metrics["traits"]["warmth"]


def scores(trait: TraitAxis, X: NDArray[np.float32]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = 100 * expit(X.astype(np.float64) @ trait.vector + trait.offset)
    return result


def test_an_intrinsic_axis_does_not_change() -> None:
    trait, _ = fit_alone(pool())
    np.testing.assert_allclose(trait.vector / np.linalg.norm(trait.vector), AXIS, atol=1e-6)


def test_a_score_is_about_the_percentage_of_texts_below() -> None:
    X, _ = cloud(90, 4)
    trait, _ = fit_alone(pool())
    places = X @ AXIS
    shares = 100 * (np.argsort(np.argsort(places)) + 0.5) / 90
    assert np.abs(scores(trait, X) - shares).max() < 8


def test_the_outer_thirds_are_the_clusters() -> None:
    X, _ = cloud(90, 4)
    trait, figures = fit_alone(pool())
    assert trait.positive is not None
    assert trait.negative is not None
    upper = np.sort(scores(trait, X))[-30:]
    assert trait.positive.p50 == pytest.approx(np.median(upper), abs=3)
    assert trait.negative.p75 < 40 < 60 < trait.positive.p25
    assert trait.breaks == TierBreaks(trait.negative.p75, trait.positive.p25, trait.positive.p75)
    assert set(figures["parameters"]) == {"slope", "offset"}


def test_without_labels_there_is_no_figure_but_a_reason() -> None:
    _, figures = fit_alone(pool())
    assert figures["auroc"] is None
    assert str(figures["measured_on"]).startswith("not measured: no text has a label")
    assert figures["not_measured"] == "unlabelled"
    assert figures["counts"] == {"positive": 0, "negative": 0, "neutral": 0, "distinct": 90, "synthesized": 0}


def test_later_labels_measure_the_axis_without_moving_it() -> None:
    plain = pool()
    y = np.full(90, np.nan)
    places = plain.X @ AXIS
    y[np.argsort(places)[-8:]], y[np.argsort(places)[:8]] = 1, 0
    labelled, figures = fit_alone(replace(plain, y=y))
    assert labelled.vector.tobytes() == fit_alone(plain)[0].vector.tobytes()
    assert labelled.breaks == fit_alone(plain)[0].breaks
    assert figures["auroc"] == 1.0
    assert figures["measured_on"] == "16 distinct labelled samples, for an axis found without labels"


def test_reversing_the_axis_reverses_the_scores() -> None:
    X, _ = cloud(90, 4)
    one, other = fit_alone(pool())[0], fit_alone(replace(pool(), intrinsic_axis=-AXIS))[0]
    np.testing.assert_allclose(scores(one, X), 100 - scores(other, X), atol=1e-3)


def test_the_order_of_the_pool_changes_nothing() -> None:
    order = np.random.default_rng(2).permutation(90)
    plain = pool()
    turned = replace(plain, X=plain.X[order], groups=order.tolist())
    assert param_hash(fitted(plain).snapshot) == param_hash(fitted(turned).snapshot)


def test_synthesized_texts_are_not_in_the_pool() -> None:
    plain, (strange, _) = pool(), cloud(30, 4, apart=2.0)
    more = replace(
        plain,
        X=np.vstack([plain.X, strange]),
        y=np.full(120, np.nan),
        groups=range(120),
        synthesized=np.arange(120) >= 90,
    )
    assert param_hash(fitted(more).snapshot) == param_hash(fitted(plain).snapshot)
    alone = replace(plain, synthesized=np.ones(90, bool))
    assert param_hash(fitted(alone).snapshot) == param_hash(fitted(plain).snapshot)


@pytest.mark.parametrize(
    "trait",
    [
        *map(pool, (0, 1, 2, 5)),
        replace(pool(40), X=np.full((40, 4), 0.5, np.float32)),
        replace(pool(2), X=np.zeros((2, 4), np.float32)),
    ],
    ids=["none", "one", "two", "five", "equal", "without a token"],
)
def test_with_few_or_equal_texts_in_the_pool_every_text_scores_50(trait: TraitSamples) -> None:
    axis, figures = fit_alone(trait)
    assert not axis.vector.any()
    assert axis.breaks == TierBreaks(50, 50, 50)
    assert figures["auroc"] is None
