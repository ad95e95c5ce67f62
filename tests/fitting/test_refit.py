"""Other duties of a training: keep recorded results, repeat an earlier choice, use synthesized texts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.scoring.hand import cloud, directions, fitted, samples
from traitbench.fitting.fit import TraitSamples
from traitbench.scoring.snapshot import TierBreaks, param_hash


@pytest.mark.parametrize(
    ("trait", "effort", "vector", "offset", "breaks"),
    [
        (
            samples(directions(0, 20, 40, 95, 150, 180, 200, 230), [1, 0.8, 1, 0.5, 0.2, 0, 0, 0.4]),
            "high",
            [1.1714252, 0.2256125],
            0.3222355,
            TierBreaks(38, 77, 82),
        ),
        (
            samples(*cloud(80, 6)),
            "high",
            [4.0198736, -0.4229241, -0.0778294, 0.258336, 0.2054201, 0.2678421],
            -0.8484399,
            TierBreaks(41, 62, 91),
        ),
        (
            samples(*cloud(12, 5)),
            "low",
            [1.8478506, 0.3459759, 0.2587371, 1.200039, 1.7160181],
            0.00019538276,
            TierBreaks(52, 52, 74),
        ),
    ],
)
def test_a_fit_keeps_its_recorded_numbers(
    trait: TraitSamples, effort: str, vector: Sequence[float], offset: float, breaks: TierBreaks
) -> None:
    result = fitted(trait, effort=effort).snapshot.traits[0]
    np.testing.assert_allclose(result.vector, vector, rtol=1e-5, atol=1e-6)
    assert result.offset == pytest.approx(offset, rel=1e-5)
    assert result.breaks == breaks


@pytest.mark.parametrize(("n", "d"), [(12, 5), (40, 300), (100, 16)])
def test_explicit_defaults_change_nothing(n: int, d: int) -> None:
    plain = samples(*cloud(n, d))
    explicit = replace(plain, synthesized=np.zeros(n, bool))
    assert param_hash(fitted(explicit).snapshot) == param_hash(fitted(plain).snapshot)
    assert fitted(explicit).metrics == fitted(plain).metrics


# More than 2,000 samples are searched without the label axis.
@pytest.mark.parametrize(
    ("n", "d", "effort"),
    [*((n, d, effort) for n, d in ((12, 6), (40, 30), (100, 16)) for effort in ("low", "high")), (2_100, 6, "low")],
)
def test_the_same_parameters_and_samples_give_the_same_bytes(n: int, d: int, effort: str) -> None:
    X, y = cloud(n, d)
    trait, modes = replace(samples(X, y), label_axis=X[0]), {"one": slice(0, 3), "two": slice(3, d)}
    before = fitted(trait, effort=effort, modes=modes)
    kept = json.loads(json.dumps(before.metrics))["traits"]
    after = fitted(trait, effort=effort, modes=modes, fixed=kept)
    assert param_hash(after.snapshot) == param_hash(before.snapshot)
    assert after.metrics["traits"]["warmth"]["shares"] == before.metrics["traits"]["warmth"]["shares"]
    assert after.metrics["search"].startswith("no search")


def test_new_samples_are_fitted_with_the_previous_parameters() -> None:
    X, y = cloud(100, 16)
    before = fitted(samples(X[20:80], y[20:80])).metrics["traits"]
    whole = samples(X, y)
    after = fitted(whole, fixed=before)
    assert after.metrics["traits"]["warmth"]["shares"] == before["warmth"]["shares"]
    assert param_hash(after.snapshot) != param_hash(fitted(whole).snapshot)
    assert after.metrics["traits"]["warmth"]["measured_on"].startswith("leave-one-out, 100 distinct samples;")


def test_older_metrics_are_refitted_at_their_mean_shrinkage() -> None:
    trait = samples(*cloud(40, 30))
    before = {"warmth": {"parameters": {"log10_shrinkage": 0.75, "slope": 1.0, "offset": 0.0}}}
    result = fitted(trait, effort="low", fixed=before)
    vector = fitted(trait, effort="low").snapshot.traits[0].vector
    np.testing.assert_allclose(result.snapshot.traits[0].vector, vector, rtol=1e-4)


@pytest.mark.parametrize(
    "fixed",
    [
        {},
        {"other": {"shares": {"1": 1.0}}},
        {"warmth": None},
        {"warmth": []},
        {"warmth": {"shares": {}}},
        {"warmth": {"shares": {"wide": 1.0}}},
        {"warmth": {"shares": {"1": None}}},
        {"warmth": {"shares": {"1": 0.2}}},
        {"warmth": {"shares": {"1": 2.0, "2": -1.0}}},
        {"warmth": {"shares": {"400": 1.0}}},
        {"warmth": {"shares": {"nan": 1.0}}},
        {"warmth": {"shares": [1.0]}},
        {"warmth": {"parameters": {"log10_shrinkage": None}}},
        {"warmth": {"parameters": {"log10_shrinkage": 3.0}}},
        {"warmth": {"parameters": {}}},
    ],
)
def test_without_a_choice_a_refit_searches(fixed: Mapping[str, Any]) -> None:
    trait = samples(*cloud(40, 30))
    assert param_hash(fitted(trait, fixed=fixed).snapshot) == param_hash(fitted(trait).snapshot)


def test_a_trait_is_searched_once_it_has_enough_samples() -> None:
    poor = fitted(samples(directions(0, 180), [1, 0])).metrics["traits"]
    rich = samples(directions(0, 10, 20, 180, 190, 200), [1, 1, 1, 0, 0, 0])
    assert param_hash(fitted(rich, fixed=poor).snapshot) == param_hash(fitted(rich).snapshot)


def with_synthesized(
    real: tuple[Any, Sequence[float]], made: tuple[Any, Sequence[float]], *, groups: Sequence[object] | None = None
) -> TraitSamples:
    X, y = np.vstack([real[0], made[0]]), [*real[1], *made[1]]
    marks = np.arange(len(y)) >= len(real[1])
    return replace(samples(X, y, groups=groups), synthesized=marks)


WARM, COLD = (0, 10, 20, -10), (180, 190, 200, 170)
REAL = (directions(*WARM, *COLD), [1.0] * 4 + [0.0] * 4)


def test_synthesized_samples_are_never_evaluated() -> None:
    """Synthesized texts at the wrong poles change no figure."""
    rng = np.random.default_rng(1)
    made = (directions(*rng.uniform(0, 360, 40).tolist()), [1.0, 0.0] * 20)
    result = fitted(with_synthesized(REAL, made)).metrics["traits"]["warmth"]
    assert result["measured_on"].startswith("out-of-fold, 4 folds, 8 distinct samples;")
    assert result["auroc"] == 1.0
    assert sum(sum(tiers.values()) for tiers in result["confusion"].values()) == 8
    assert max(point["samples"] for point in result["curve"]) == 8
    assert result["counts"] == {"positive": 24, "negative": 24, "neutral": 0, "distinct": 48, "synthesized": 40}


def test_all_synthesized_samples_of_a_pole_weigh_as_four_real_ones() -> None:
    def turned(made: int) -> float:
        mild = (
            directions(*np.linspace(40, 60, made), *np.linspace(220, 240, made)),
            [1.0] * made + [0.0] * made,
        )
        vector = fitted(with_synthesized(REAL, mild), effort="low").snapshot.traits[0].vector
        return float(np.degrees(np.arctan2(vector[1], vector[0])))

    alone = fitted(samples(*REAL), effort="low").snapshot.traits[0].vector
    assert turned(4) > np.degrees(np.arctan2(alone[1], alone[0])) + 2
    assert turned(200) == pytest.approx(turned(20), abs=3)


def test_a_pole_of_only_synthesized_texts_is_fitted_and_reported() -> None:
    made = (directions(-5, 5, 15, 175, 185, 195), [1.0, 1, 1, 0, 0, 0])
    nothing: tuple[Any, list[float]] = (np.zeros((0, 2), np.float32), [])
    trained = fitted(with_synthesized(nothing, made))
    result, axis = trained.metrics["traits"]["warmth"], trained.snapshot.traits[0]
    assert axis.vector[0] > 0.5
    assert axis.breaks != TierBreaks(50, 50, 50)
    assert result["auroc"] is result["brier"] is None
    assert result["measured_on"] == "not measured: only synthesized samples"
    assert result["not_measured"] == "only_synthesized"


def test_one_real_text_at_a_pole_can_be_fitted_but_not_measured() -> None:
    made = (directions(-5, 5, 15, 175, 185, 195), [1.0, 1, 1, 0, 0, 0])
    trained = fitted(with_synthesized((directions(0, 10, 20, 180), [1.0, 1, 1, 0]), made))
    result = trained.metrics["traits"]["warmth"]
    assert result["auroc"] is None
    assert result["measured_on"] == (
        "not measured: one distinct text at the negative pole (synthesized samples do not count),"
        " but holding one out needs two"
    )
    assert trained.snapshot.traits[0].negative is not None


@pytest.mark.parametrize(("change", "known"), [(0.6, True), (0.1, False)])
def test_a_variation_does_not_leak_its_seed(change: float, *, known: bool) -> None:
    """Noise, and every text has a variation with the same label: in its seed's group it reveals nothing about the seed.

    A variation that is a near duplicate joins that group without being told.
    """
    rng = np.random.default_rng(2)
    X = rng.normal(size=(28, 200))
    both = np.vstack([X, X + change * rng.normal(size=X.shape)])
    both = (both / np.linalg.norm(both, axis=1, keepdims=True)).astype(np.float32)
    y = np.tile([1.0, 0.0], 14)
    grouped = with_synthesized((both[:28], y.tolist()), (both[28:], y.tolist()), groups=[*range(28), *range(28)])
    apart = replace(grouped, groups=range(56))
    assert fitted(grouped).metrics["auroc"] < 0.75
    assert (fitted(apart).metrics["auroc"] > 0.9) == known
