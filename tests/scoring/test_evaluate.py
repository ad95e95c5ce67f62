from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tests.scoring.hand import directions
from tests.scoring.test_axis import cloud
from traitbench.scoring.area import interval
from traitbench.scoring.evaluate import auroc, confusion, figures, judged, measured
from traitbench.scoring.search import EFFORTS, Evidence, Found, evidence, search
from traitbench.scoring.snapshot import Breaks

EFFORT = EFFORTS["low"]
FIGURES = ("auroc", "auroc_interval", "brier", "calibration_error", "cross_entropy")


def seen(n: int, d: int = 16, *, apart: float = 0.6) -> tuple[Evidence, Found]:
    samples = evidence(*cloud(n, d, apart=apart), range(n))
    return samples, search(samples, EFFORT)


def test_figures_name_what_they_were_measured_on() -> None:
    found = figures(*seen(40))
    assert found["measured_on"] == ("out-of-fold, 10 folds, 40 distinct samples; AUROC within folds, 20 divisions")
    assert found["repeats"] == 20
    low, high = found["auroc_interval"]
    assert 0 <= low <= found["auroc"] <= high <= 1
    assert 0 < found["brier"] < 0.25
    assert 0 <= found["calibration_error"] < 0.3
    assert 0 < found["cross_entropy"] < 0.7


def test_leave_one_out_is_called_so() -> None:
    found = figures(*seen(100))
    assert found["measured_on"] == "leave-one-out, 100 distinct samples; AUROC within folds, 10 divisions"
    assert found["folds"] is None


def test_where_both_poles_have_many_all_are_compared_with_all() -> None:
    samples, found = seen(520, 8)
    told = judged(samples, found)
    assert found.held_out is not None
    assert told["auroc"] == auroc(found.held_out, samples.y)
    assert told["repeats"] is None
    assert told["measured_on"] == "leave-one-out, 520 distinct samples"


@pytest.mark.parametrize(
    ("y", "reason"),
    [
        ((1, 0, 0), "not measured: one distinct text at the positive pole, two are needed to hold one out"),
        ((1, 1, 0), "not measured: one distinct text at the negative pole, two are needed to hold one out"),
        ((1, 1, 1), "not measured: no distinct text at the negative pole, two are needed to hold one out"),
    ],
)
def test_without_anything_held_out_figures_are_null_and_say_why(y: tuple[float, ...], reason: str) -> None:
    samples = evidence(directions(0, 90, 180), np.array(y, float), range(3))
    found = figures(samples, search(samples, EFFORT))
    assert found["measured_on"] == reason
    assert {found[name] for name in FIGURES} == {None}
    assert found["curve"] == []
    assert found["repeats"] is found["confusion"] is found["forecast"] is found["feed"] is None


def test_figures_do_not_praise_what_they_have_seen() -> None:
    """On noise, the fit knows its own samples by heart; the figures do not fall for it."""
    X, _ = cloud(60, 200, apart=0.0)
    y = np.tile([1.0, 0.0], 30)
    samples = evidence(X, y, range(60))
    found = search(samples, EFFORT)
    assert auroc(samples.X @ found.vector, samples.y) > 0.95
    assert figures(samples, found)["auroc"] < 0.75


def test_near_duplicates_are_one_voice_and_the_sentence_says_how_many() -> None:
    X, y = cloud(40, 30)
    copies = [*range(40), *[0] * 20]
    X = np.vstack([X, X[:20]])
    X[40:] += 1e-4
    samples = evidence(X, np.r_[y, y[:20]], [*range(40), *range(20)])
    assert len(copies) == len(samples.y)
    alone = evidence(X[:40], y, range(40))
    found, without = (figures(each, search(each, EFFORT)) for each in (samples, alone))
    assert "60 distinct samples, 20 of them nearly the same as another" in found["measured_on"]
    assert np.ptp(found["auroc_interval"]) == pytest.approx(np.ptp(without["auroc_interval"]), abs=0.08)
    logits = np.linspace(-1, 1, 60)
    one = measured(logits, np.r_[y, y[:20]], np.r_[np.arange(40), np.arange(20)])
    assert one["auroc_interval"] != measured(logits, np.r_[y, y[:20]])["auroc_interval"]


def test_a_few_samples_are_judged_over_several_turns() -> None:
    samples, found = seen(24)
    turns: list[int] = []

    def again(turn: int) -> Found:
        turns.append(turn)
        return search(samples, EFFORT, turn=turn)

    told = figures(samples, found, again=again)
    assert turns == [1, 2]
    assert found.held_out is not None
    held_out = [each.held_out for each in (found, again(1), again(2))]
    briers = [measured(logits, samples.y)["brier"] for logits in held_out if logits is not None]
    assert told["brier"] == pytest.approx(np.mean(briers))


def test_many_samples_are_judged_once() -> None:
    samples, found = seen(64)
    assert figures(samples, found, again=lambda _: pytest.fail("not needed"))["brier"] > 0


def test_the_confusion_counts_the_held_out_scores_by_tier() -> None:
    logits = np.array([-3.0, -0.1, 0.1, 3.0, -3.0, -2.0, 3.0, 0.0])
    y = np.array([1.0, 1, 1, 1, 0, 0, 0, 0.5])
    assert confusion(logits, y, Breaks(40, 50, 80)) == {
        "positive": {"Weak": 1, "Developing": 1, "Solid": 1, "Strong": 1},
        "negative": {"Weak": 2, "Developing": 0, "Solid": 0, "Strong": 1},
    }
    samples, found = seen(40)
    told = figures(samples, found, breaks=Breaks(40, 50, 80))["confusion"]
    assert [sum(told[pole].values()) for pole in ("positive", "negative")] == [20, 20]


def test_what_nobody_wrote_is_not_judged() -> None:
    X, y = cloud(40, 16)
    made = np.arange(40) % 2 == 0
    samples = evidence(X, np.where(made, 1 - y, y), range(40), made)
    found = figures(samples, search(samples, EFFORT), breaks=Breaks(40, 50, 60))
    assert "20 distinct samples" in found["measured_on"]
    assert sum(sum(tiers.values()) for tiers in found["confusion"].values()) == 20
    assert all(point["samples"] <= 20 for point in found["curve"])


def draw(rng: np.random.Generator, n: int, apart: float) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    y = np.tile([1.0, 0.0], n)
    X = rng.normal(size=(2 * n, 60)) * np.linspace(2, 0.2, 60)
    X[:, 0] += apart * y
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32), y


@pytest.mark.parametrize(("n", "turns"), [(4, 40), (12, 30), (40, 20)])
@pytest.mark.parametrize("apart", [0.0, 3.0])
def test_the_interval_holds_the_truth_about_nineteen_times_in_twenty(n: int, turns: int, apart: float) -> None:
    """The truth is the area, on many new samples, of the axis that is kept; chance allows a few misses more."""
    rng = np.random.default_rng(n)
    far, truth_of = draw(rng, 1_000, apart)
    held = 0
    with threadpool_limits(limits=1):
        for _ in range(turns):
            samples = evidence(*draw(rng, n, apart), range(2 * n))
            found = search(samples, EFFORT)
            low, high = judged(samples, found)["auroc_interval"]
            held += low - 1e-9 <= auroc(far @ found.vector, truth_of) <= high + 1e-9
    assert held / turns >= 0.86


def test_four_samples_a_pole_never_promise_much() -> None:
    samples, found = seen(8, apart=5.0)
    told = judged(samples, found)
    assert told["auroc"] == 1.0
    assert told["auroc_interval"][0] < 0.6 < interval(1.0, 8, 8)[0]


def test_the_order_in_which_figures_are_taken_changes_nothing() -> None:
    samples, found = seen(40)
    assert figures(samples, found) == figures(samples, replace(found))
