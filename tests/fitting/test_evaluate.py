import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tests.scoring.hand import cloud, directions
from traitbench.fitting.auroc import auroc, interval
from traitbench.fitting.evaluate import confusion, figures, judged, measured, score_counts
from traitbench.fitting.search import EFFORTS, SearchResult, TrainingSamples, evidence, search
from traitbench.scoring.snapshot import TierBreaks

EFFORT = EFFORTS["low"]
FIGURES = ("auroc", "auroc_interval", "brier", "calibration_error", "cross_entropy")


def seen(n: int, d: int = 16, *, apart: float = 0.6) -> tuple[TrainingSamples, SearchResult]:
    samples = evidence(*cloud(n, d, apart=apart), range(n))
    return samples, search(samples, EFFORT)


@pytest.mark.parametrize(
    ("n", "d", "says", "folds", "repeats"),
    [
        (40, 16, "out-of-fold, 10 folds, 40 distinct samples; AUROC within folds, 20 repeats", 10, 20),
        (100, 16, "leave-one-out, 100 distinct samples; AUROC within folds, 10 repeats", None, 10),
        (520, 8, "leave-one-out, 520 distinct samples", None, None),
    ],
    ids=["few", "more", "all pairs"],
)
def test_figures_name_what_they_were_measured_on(
    n: int, d: int, says: str, folds: int | None, repeats: int | None
) -> None:
    samples, search = seen(n, d)
    result = figures(samples, search)
    assert (result["measured_on"], result["folds"], result["repeats"]) == (says, folds, repeats)
    low, high = result["auroc_interval"]
    assert 0 <= low <= result["auroc"] <= high <= 1
    assert 0 < result["brier"] < 0.25
    assert 0 <= result["calibration_error"] < 0.3
    assert 0 < result["cross_entropy"] < 0.7
    if repeats is None:
        assert search.held_out is not None
        assert result["auroc"] == auroc(search.held_out, samples.y)


@pytest.mark.parametrize(
    ("y", "reason"),
    [
        ((1, 0, 0), "not measured: one distinct text at the positive pole, but holding one out needs two"),
        ((1, 1, 0), "not measured: one distinct text at the negative pole, but holding one out needs two"),
        ((1, 1, 1), "not measured: no distinct text at the negative pole, but holding one out needs two"),
    ],
)
def test_without_held_out_values_figures_are_null_with_a_reason(y: tuple[float, ...], reason: str) -> None:
    samples = evidence(directions(0, 90, 180), np.array(y, float), range(3))
    result = figures(samples, search(samples, EFFORT))
    assert result["measured_on"] == reason
    assert {result[name] for name in FIGURES} == {None}
    assert result["curve"] == []
    assert result["repeats"] is result["confusion"] is result["forecast"] is result["feed"] is None


def test_figures_of_noise_are_not_optimistic() -> None:
    """On noise the fit separates its own samples perfectly; the figures must not reflect that."""
    X, _ = cloud(60, 200, apart=0.0)
    y = np.tile([1.0, 0.0], 30)
    samples = evidence(X, y, range(60))
    result = search(samples, EFFORT)
    assert auroc(samples.X @ result.vector, samples.y) > 0.95
    assert figures(samples, result)["auroc"] < 0.75


def test_near_duplicates_count_once_and_are_reported() -> None:
    X, y = cloud(40, 30)
    copies = [*range(40), *[0] * 20]
    X = np.vstack([X, X[:20]])
    X[40:] += 1e-4
    samples = evidence(X, np.r_[y, y[:20]], [*range(40), *range(20)])
    assert len(copies) == len(samples.y)
    singles = evidence(X[:40], y, range(40))
    result, without = (figures(each, search(each, EFFORT)) for each in (samples, singles))
    assert "60 distinct samples, 20 of them nearly the same as another" in result["measured_on"]
    assert np.ptp(result["auroc_interval"]) == pytest.approx(np.ptp(without["auroc_interval"]), abs=0.08)
    logits = np.linspace(-1, 1, 60)
    one = measured(logits, np.r_[y, y[:20]], np.r_[np.arange(40), np.arange(20)])
    assert one["auroc_interval"] != measured(logits, np.r_[y, y[:20]])["auroc_interval"]


def test_few_samples_are_evaluated_over_several_turns_and_many_in_one() -> None:
    samples, result = seen(24)
    repeats: list[int] = []

    def refit(repeat: int) -> SearchResult:
        repeats.append(repeat)
        return search(samples, EFFORT, repeat=repeat)

    metrics = figures(samples, result, refit=refit)
    assert repeats == [1, 2]
    assert result.held_out is not None
    held_out = [each.held_out for each in (result, refit(1), refit(2))]
    briers = [measured(logits, samples.y)["brier"] for logits in held_out if logits is not None]
    assert metrics["brier"] == pytest.approx(np.mean(briers))
    assert figures(*seen(64), refit=lambda _: pytest.fail("not needed"))["brier"] > 0


def test_the_confusion_table_counts_held_out_scores_by_tier() -> None:
    logits = np.array([-3.0, -0.1, 0.1, 3.0, -3.0, -2.0, 3.0, 0.0])
    y = np.array([1.0, 1, 1, 1, 0, 0, 0, 0.5])
    assert confusion(logits, y, TierBreaks(40, 50, 80)) == {
        "positive": {"Weak": 1, "Developing": 1, "Solid": 1, "Strong": 1},
        "negative": {"Weak": 2, "Developing": 0, "Solid": 0, "Strong": 1},
    }
    samples, result = seen(40)
    table = figures(samples, result, breaks=TierBreaks(40, 50, 80))["confusion"]
    assert [sum(table[pole].values()) for pole in ("positive", "negative")] == [20, 20]


def test_held_out_scores_are_counted_by_pole_as_a_card_rounds_them() -> None:
    logits = np.array([-40.0, 0.0, 0.001, 40.0, 2.0, 0.0])
    counts = score_counts(logits, np.array([1.0, 1, 1, 1, 0, 0.5]))
    assert {points: number for points, number in enumerate(counts["positive"]) if number} == {0: 1, 50: 2, 100: 1}
    assert {points: number for points, number in enumerate(counts["negative"]) if number} == {88: 1}
    samples, result = seen(40)
    counts = figures(samples, result)["score_counts"]
    assert [(len(counts[pole]), sum(counts[pole])) for pole in ("positive", "negative")] == [(101, 20), (101, 20)]


def draw(rng: np.random.Generator, n: int, apart: float) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    y = np.tile([1.0, 0.0], n)
    X = rng.normal(size=(2 * n, 60)) * np.linspace(2, 0.2, 60)
    X[:, 0] += apart * y
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32), y


@pytest.mark.parametrize(("n", "turns"), [(4, 40), (12, 30), (40, 20)])
@pytest.mark.parametrize("apart", [0.0, 3.0])
def test_the_interval_contains_the_truth_about_nineteen_times_in_twenty(n: int, turns: int, apart: float) -> None:
    """The truth is the AUROC of the final axis on many new samples; a few more misses are allowed for chance."""
    rng = np.random.default_rng(n)
    far, truth_of = draw(rng, 1_000, apart)
    held = 0
    with threadpool_limits(limits=1):
        for _ in range(turns):
            samples = evidence(*draw(rng, n, apart), range(2 * n))
            result = search(samples, EFFORT)
            low, high = judged(samples, result)["auroc_interval"]
            held += low - 1e-9 <= auroc(far @ result.vector, truth_of) <= high + 1e-9
    assert held / turns >= 0.86


def test_four_samples_per_pole_have_a_wide_interval() -> None:
    samples, result = seen(8, apart=5.0)
    metrics = judged(samples, result)
    assert metrics["auroc"] == 1.0
    assert metrics["auroc_interval"][0] < 0.6 < interval(1.0, 8, 8)[0]
