import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import logit

from tests.scoring.hand import cloud, fitted, samples
from traitbench.fitting.auroc import out_of_fold_interval
from traitbench.fitting.curve import MORE, Point, prospects
from traitbench.fitting.evaluate import groups_by_pole
from traitbench.fitting.search import Recipe, TrainingSamples, evidence

PLAIN = Recipe(0.75, 0.0, None, None)


def ahead(samples: TrainingSamples, area: float = 0.9) -> dict[str, Any]:
    n = int(samples.is_evaluated.sum())
    now = Point(n, area, out_of_fold_interval(area, n // 2, n // 2))
    return prospects(samples, PLAIN, now, groups_by_pole(samples))


def poles(positive: int, negative: int, *, spread: float = 1.0, apart: float = 1.0, seed: int = 1) -> TrainingSamples:
    """Two clouds; the positive one is wider by `spread`."""
    rng = np.random.default_rng(seed)
    X: NDArray[np.float64] = rng.normal(size=(positive + negative, 30))
    y = np.r_[np.ones(positive), np.zeros(negative)]
    X[:positive] *= spread
    X[:, 0] += 3 * apart * y
    return evidence(X.astype(np.float32), y, range(len(y)))


def test_the_curve_goes_up_by_doublings_to_all_samples() -> None:
    curve = ahead(evidence(*cloud(128, 60, apart=0.3), range(128)))["curve"]
    assert [point["samples"] for point in curve] == [4, 8, 16, 32, 64, 128]
    assert curve[-1]["auroc"] == 0.9
    assert curve[0]["auroc"] < curve[2]["auroc"] < curve[4]["auroc"]
    assert all(point["interval"][0] <= point["auroc"] <= point["interval"][1] for point in curve)


def test_both_poles_keep_their_share_in_every_part() -> None:
    curve = ahead(poles(8, 40))["curve"]
    assert [point["samples"] for point in curve] == [12, 24, 48]


def test_the_curve_of_noise_stays_at_chance() -> None:
    X, _ = cloud(120, 60, apart=0.0)
    curve = ahead(evidence(X, np.tile([1.0, 0.0], 60), range(120)), 0.5)["curve"]
    assert len(curve) > 2
    assert all(abs(point["auroc"] - 0.5) < 0.15 for point in curve[2:])


def test_a_curve_needs_four_samples_per_pole_and_a_forecast_eight() -> None:
    few, some, more = (ahead(poles(n, n)) for n in (3, 7, 8))
    assert few == {"curve": [], "forecast": None, "feed": None}
    assert len(some["curve"]) == 2
    assert some["forecast"] is None
    assert more["forecast"] is not None


@pytest.mark.parametrize("n", [8, 32, 128])
@pytest.mark.parametrize("area", [0.3, 0.5, 0.8, 0.97, 1.0])
def test_the_forecast_is_a_little_higher_and_no_more_certain_than_the_figure(n: int, area: float) -> None:
    forecast = ahead(poles(n, n, apart=0.5), area)["forecast"]
    low, high = out_of_fold_interval(area, n, n)
    assert forecast["more"] == MORE
    assert forecast["samples"] == 2 * n + MORE
    assert area <= forecast["auroc"] <= 1
    assert logit(forecast["auroc"] - 1e-9) - logit(area - 1e-9) < 0.45 * np.log2((2 * n + MORE) / (2 * n)) + 1e-6
    assert forecast["interval"][0] <= forecast["auroc"] <= forecast["interval"][1]
    shift = forecast["auroc"] - area
    assert forecast["interval"][0] <= low + shift + 0.1
    assert forecast["interval"][1] >= min(high, 0.998)


def test_a_trait_at_chance_has_a_forecast_at_chance() -> None:
    assert ahead(poles(40, 40, apart=0.0), 0.5)["forecast"]["auroc"] == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(("positive", "negative", "pole"), [(8, 40, "positive"), (40, 8, "negative")])
def test_the_smaller_pole_needs_samples_first(positive: int, negative: int, pole: str) -> None:
    feed = ahead(poles(positive, negative))["feed"]
    assert feed["pole"] == pole
    assert feed["why"] == (
        f"Each new text helps more at the {pole} pole: it has 8 distinct samples and the other pole 40."
    )


def test_equal_poles_give_no_advice() -> None:
    assert all(ahead(poles(n, n, seed=seed))["feed"] is None for n in (4, 16, 60) for seed in range(5))


def test_a_pole_of_much_larger_variance_needs_samples_first() -> None:
    feed = ahead(poles(20, 20, spread=2.0))["feed"]
    assert feed["pole"] == "positive"
    assert "differ more from one another" in feed["why"]


def test_synthesized_samples_do_not_count_for_the_advice() -> None:
    samples = poles(8, 40)
    made = np.zeros(88, bool)
    made[48:] = True
    X = np.vstack([samples.X, np.random.default_rng(2).normal(size=(40, 30)).astype(np.float32)])
    with_made = evidence(X, np.r_[samples.y, np.ones(40)], range(88), made)
    assert ahead(with_made)["feed"] == ahead(samples)["feed"]
    assert [point["samples"] for point in ahead(with_made)["curve"]] == [12, 24, 48]


def test_a_subset_is_enough_for_very_many_samples() -> None:
    curve = ahead(poles(700, 700, apart=0.3))["curve"]
    assert [point["samples"] for point in curve] == [4, 8, 16, 32, 64, 128, 256, 1_400]


def test_training_metrics_hold_curve_and_forecast_as_plain_numbers() -> None:
    X, y = cloud(48, 70, apart=0.8)
    metrics = fitted(samples(X, y.tolist()), effort="low").metrics
    assert json.loads(json.dumps(metrics)) == metrics
    figures = metrics["traits"]["warmth"]
    assert figures["curve"][-1] == {"samples": 48, "auroc": figures["auroc"], "interval": figures["auroc_interval"]}
    assert figures["forecast"]["samples"] == 68
    assert figures["repeats"] == 20
    assert figures["feed"] is None
    assert sum(figures["confusion"]["positive"].values()) == sum(figures["confusion"]["negative"].values()) == 24
