"""Samples that belong together: no fold divides them, figures count them once, and a greeting joins nothing."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from traitbench.fitting.auroc import independent
from traitbench.fitting.duplicates import together
from traitbench.fitting.evaluate import figures, independent_of
from traitbench.fitting.held_out import TooFew, choose, measure
from traitbench.fitting.resampling import folds_of
from traitbench.fitting.search import EFFORTS, TrainingSamples, evidence, search

TURNS = 6


@dataclass(frozen=True)
class Sample:
    id: int
    quality: float
    group: str | None
    held_out: bool = False
    trait: str = "tone"
    provenance: str = "authored"
    seed_sample_id: int | None = None
    must_pass: bool = False

    @property
    def content_sha256(self) -> str:
        return f"{self.id:064}"


def conversations(
    n: int, *, mixed: bool = False, seed: int = 1
) -> tuple[NDArray[np.float32], NDArray[np.float64], list[str]]:
    """Turns whose vectors say which conversation they are from; the label is of the conversation, or of the turn."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(n, 80)), TURNS, axis=0) + 0.8 * rng.normal(size=(n * TURNS, 80))
    y = rng.permuted(np.tile([0.0, 1.0], n * TURNS // 2)) if mixed else np.repeat(np.tile([0.0, 1.0], n // 2), TURNS)
    names = [f"conversation {row // TURNS}" for row in range(n * TURNS)]
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True), np.float32), y, names


def samples_of(n: int, *, mixed: bool = False, named: bool = True, seed: int = 1) -> TrainingSamples:
    X, y, names = conversations(n, mixed=mixed, seed=seed)
    return evidence(X, y, range(len(y)), names=names if named else None)


@pytest.mark.parametrize(
    ("units", "names", "expected"),
    [
        ([0, 1, 2, 3], ["a", "a", None, "b"], [0, 0, 1, 2]),
        ([0, 1, 1, 2], ["a", "a", "b", "b"], [0, 0, 0, 0]),
        ([0, 1, 0, 2, 0, 3], ["a", "a", "b", "b", "c", "c"], [0, 1, 0, 2, 0, 3]),
        ([0, 1, 1], ["", None, None], [0, 1, 1]),
    ],
    ids=["a name joins", "a text of two names joins both", "a greeting joins nothing", "without names nothing changes"],
)
def test_names_join_texts(units: list[int], names: list[str | None], expected: list[int]) -> None:
    joined = together(np.array(units, np.int64), names)
    assert [joined.tolist().index(each) for each in joined.tolist()] == [expected.index(each) for each in expected]


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("count", [2, 5, 10])
def test_no_fold_divides_a_group_and_every_fit_has_both_poles(mixed: bool, count: int) -> None:
    samples = samples_of(24, mixed=mixed)
    for repeat in range(3):
        folds = folds_of(samples, count, repeat)
        assert len(np.unique(np.stack([samples.groups, folds]), axis=1).T) == 24
        assert all({*samples.y[folds != fold].tolist()} == {0.0, 1.0} for fold in range(count))


def test_a_few_groups_of_both_poles_leave_every_fit_both_poles() -> None:
    """The positive samples are in two conversations only, both of which are mostly negative."""
    X, y, names = conversations(12)
    y = np.zeros(len(y))
    y[[0, TURNS]] = 1.0
    samples = evidence(X, y, range(len(y)), names=names)
    assert samples.smaller_pole == 2
    for repeat in range(10):
        folds = folds_of(samples, 2, repeat)
        assert all({*samples.y[folds != fold].tolist()} == {0.0, 1.0} for fold in range(2))


def measured(samples: TrainingSamples) -> dict[str, Any]:
    return figures(samples, search(samples, EFFORTS["low"]))


def test_labels_that_mean_nothing_are_a_guess_if_turns_stay_together() -> None:
    apart, kept = ([measured(samples_of(24, named=named, seed=seed)) for seed in range(4)] for named in (False, True))
    assert min(each["auroc"] for each in apart) > 0.9
    assert np.mean([each["auroc"] for each in kept]) == pytest.approx(0.5, abs=0.15)
    for each in kept:
        assert each["auroc_interval"][0] < 0.5
        assert each["measured_on"].startswith("out-of-fold, 10 folds, 144 distinct samples, in 24 groups")


def test_groups_with_both_labels_are_measured() -> None:
    samples = samples_of(12, mixed=True)
    result = measured(samples)
    assert result["auroc"] is not None
    curve = result["curve"]
    assert (curve[-1]["samples"], curve[-1]["groups"]) == (12 * TURNS, 12)
    assert [each["groups"] for each in curve[:-1]] == [2, 5], "halves of those with both labels, rounded down"
    assert len(curve) > 1


def test_a_pole_of_one_group_is_not_measured() -> None:
    X, y, _ = conversations(12)
    names = ["the one" if quality else f"{row}" for row, quality in enumerate(y.tolist())]
    result = measured(evidence(X, y, range(len(y)), names=names))
    assert result["auroc"] is None
    assert "all samples of the positive pole belong to one group" in str(result["measured_on"])


def test_names_of_single_texts_change_nothing() -> None:
    X, y, _ = conversations(12, mixed=True)
    plain = search(evidence(X, y, range(len(y))), EFFORTS["medium"])
    named = search(evidence(X, y, range(len(y)), names=[f"{row}" for row in range(len(y))]), EFFORTS["medium"])
    assert (plain.vector.tobytes(), plain.offset, plain.folds) == (named.vector.tobytes(), named.offset, named.folds)


def test_groups_go_aside_as_a_whole_and_a_fifth_of_the_texts_at_least() -> None:
    samples = [Sample(row, float(row // TURNS % 2), f"{row // TURNS}") for row in range(24 * TURNS)]
    chosen = choose(samples, [each.group for each in samples], [each.id for each in samples])
    aside = {each.group for each in samples if each.id in chosen.ids}
    assert sorted(each.id for each in samples if each.group in aside) == sorted(chosen.ids)
    assert len(aside) == 6
    assert sum(samples[each].quality > 0.5 for each in chosen.ids) == 3 * TURNS


def test_too_few_groups_are_said_as_groups() -> None:
    samples = [Sample(row, float(row // 20 % 2), f"{row // 20}") for row in range(120)]
    chosen = choose(samples, [each.group for each in samples], [each.id for each in samples])
    assert chosen.too_few == (TooFew("tone", 3, 3, 4, groups=True),)


def test_a_test_sample_whose_group_was_trained_with_is_left_out() -> None:
    rng = np.random.default_rng(3)
    trained = [Sample(row, float(row % 2), f"group {row % 4}") for row in range(8)]
    tests = [Sample(100 + row, float(row % 2), f"group {row}", held_out=True) for row in range(2, 8)]
    rows = rng.normal(size=(200, 90)).astype(np.float32)
    vectors = {each.content_sha256: rows[each.id % 200] for each in (*trained, *tests)}
    figures = measure(tests, {"tone": np.full(len(tests), 60)}, trained, vectors)["tone"]
    assert (figures["positive"], figures["negative"], figures["left_out"]) == (2, 2, 2)
    assert "2 left out because training has others of the same group" in figures["measured_on"]


# ---- how many texts an interval counts -------------------------------------------------------------------------------


def counted(seed: int, *, shared: float, groups: int = 40, each: int = 10) -> tuple[float, float]:
    """By values that differ by group as much as `shared` says; labels are of the texts."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(groups), each)
    y = rng.permuted(np.tile([0.0, 1.0], groups * each // 2))
    own = rng.normal(size=groups) * y.mean()
    values = y + shared * np.where(y > 0.5, own[of], 0) + np.sqrt(1 - shared**2) * rng.normal(size=len(y))
    return independent(values, y, of, np.arange(len(y)))


def test_texts_that_say_nothing_about_one_another_count_nearly_all() -> None:
    found = np.mean([counted(seed, shared=0.0) for seed in range(10)])
    assert 40 * 2 < found <= 200


def test_texts_that_share_their_errors_count_less() -> None:
    apart, near = (np.mean([counted(seed, shared=shared) for seed in range(10)]) for shared in (0.0, 0.95))
    assert near < 0.75 * apart


def test_a_group_counts_once_if_nothing_can_be_measured() -> None:
    y, groups = np.repeat(np.tile([0.0, 1.0], 6), 5), np.repeat(np.arange(12), 5)
    assert independent(y, y, groups, np.arange(60)) == (6, 6)
    assert independent(y, y, groups) == (6, 6)
    assert independent(y, y, np.arange(60), np.arange(60)) == (30, 30)


@pytest.mark.parametrize("mixed", [False, True])
def test_an_interval_counts_between_the_groups_and_the_texts(mixed: bool) -> None:
    samples = samples_of(24, mixed=mixed)
    result = search(samples, EFFORTS["low"])
    assert result.held_out is not None
    for found, pole in zip(independent_of(samples, result.held_out), (samples.y > 0.5, samples.y < 0.5), strict=True):
        assert len(np.unique(samples.groups[pole])) <= found <= pole.sum()
