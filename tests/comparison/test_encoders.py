"""Encoders on the same samples: paired differences, verdicts, and what is not compared."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import erf

from tests.scoring.hand import fitted, samples
from traitbench.comparison.encoders import Contender, Figure, TraitComparison, compare_vectors
from traitbench.comparison.paired import Difference
from traitbench.fitting.fit import TraitSamples
from traitbench.scoring.inputs import unit

D = 70
Vectors = NDArray[np.float32]


def labels(n: int) -> NDArray[np.float64]:
    return np.tile([1.0, 0.0], n // 2)


def drawn(n: int, gap: float, *, seed: int = 0, shared: NDArray[np.float64] | None = None) -> Vectors:
    """Vectors of which the first column separates the poles by `gap`; half of the rest may come from `shared`."""
    own = np.random.default_rng(seed).normal(size=(n, D))
    rows = own if shared is None else (own + shared) / np.sqrt(2)
    rows[:, 0] += gap * (labels(n) - 0.5)
    return unit(rows).astype(np.float32)


def compared(*of_encoder: TraitSamples) -> TraitComparison:
    contenders = [Contender(str(at), [trait], {}) for at, trait in enumerate(of_encoder)]
    [result] = compare_vectors(contenders, effort="low")
    return result


def figures(
    *vectors: Vectors, y: Sequence[float] | None = None, groups: Sequence[object] | None = None
) -> list[Figure]:
    given = labels(len(vectors[0])) if y is None else y
    return list(compared(*(samples(X, given, groups=groups) for X in vectors)).figures.values())


def difference(*vectors: Vectors, **more: Any) -> Difference:
    """Of the second encoder from the first."""
    first, second = figures(*vectors, **more)
    assert first.difference is None
    assert second.difference is not None
    return second.difference


@pytest.mark.parametrize("n", [8, 40, 540])
def test_an_encoder_does_not_differ_from_itself(n: int) -> None:
    found = difference(drawn(n, 2.0), drawn(n, 2.0))
    assert found.interval[0] <= found.delta == 0 <= found.interval[1]
    assert found.verdict == "no_difference"


@pytest.mark.parametrize("n", [60, 540])
def test_noise_is_worse_and_a_good_encoder_is_better_than_noise(n: int) -> None:
    good, noise = drawn(n, 5.0), drawn(n, 0.0, seed=1)
    worse, better = difference(good, noise), difference(noise, good)
    assert (worse.verdict, better.verdict) == ("worse", "better")
    assert worse.delta < -0.2


@pytest.mark.parametrize("n", [6, 60, 540])
def test_the_first_encoder_gets_the_auroc_and_the_interval_of_a_training(n: int) -> None:
    """With few samples within folds, with many between them."""
    trait = samples(drawn(n, 2.0), labels(n))
    figure, _ = compared(trait, samples(drawn(n, 1.0, seed=1), labels(n))).figures.values()
    measured = fitted(trait, effort="low").metrics["traits"][trait.key]
    assert figure.auroc == pytest.approx(measured["auroc"], abs=1e-12)
    assert figure.interval == pytest.approx(measured["auroc_interval"], abs=1e-9)


@settings(max_examples=10, deadline=None)
@given(st.permutations(range(24)))
def test_the_order_of_samples_changes_nothing(order: list[int]) -> None:
    one, other, y, groups = drawn(24, 2.0), drawn(24, 1.0, seed=1), labels(24), [i // 2 for i in range(24)]
    mixed = figures(one[order], other[order], y=y[order].tolist(), groups=[groups[i] for i in order])
    assert mixed == figures(one, other, groups=groups)


def test_shared_errors_narrow_the_interval() -> None:
    """Encoders that fail on the same texts are compared more precisely than unrelated ones."""
    one, shared = drawn(120, 2.0, seed=1), np.random.default_rng(9).normal(size=(120, D))
    nudged = unit(one + 0.02 * shared / np.sqrt(D)).astype(np.float32)
    near, far = (np.ptp(difference(one, other).interval) for other in (nudged, drawn(120, 2.0, seed=2)))
    assert near < 0.6 * far


def test_copies_of_a_text_add_no_evidence() -> None:
    one, other, y = drawn(30, 2.0), drawn(30, 1.0, seed=1), labels(30)
    nudge = np.random.default_rng(5).normal(size=(120, D)) * 1e-3
    copies = [unit(np.repeat(X, 4, axis=0) + nudge).astype(np.float32) for X in (one, other)]
    once, often = difference(one, other), difference(*copies, y=np.repeat(y, 4).tolist())
    assert np.ptp(often.interval) > 0.8 * np.ptp(once.interval)


def test_equal_encoders_are_rarely_told_apart() -> None:
    """At most 5 % of verdicts between encoders of equal true quality may be wrong; the bound leaves room for chance."""
    n, proven = 32, 0
    for seed in range(24):
        shared = np.random.default_rng(1_000 + seed).normal(size=(n, D))
        pair = [drawn(n, 1.5, seed=100 * seed + number, shared=shared) for number in (1, 2)]
        proven += difference(*pair).verdict != "no_difference"
    assert proven <= 4


def test_the_interval_of_the_difference_holds_the_true_difference() -> None:
    """Vectors of one column are their own axis, so their true AUROC is known: that of two normal distributions."""
    n, inside = 60, 0
    truth = [(1 + erf(gap / 2)) / 2 for gap in (1.0, 2.0)]
    for seed in range(24):
        one, other = np.random.default_rng(seed).normal(size=(2, n))
        columns = [(labels(n) - 0.5) + one, 2.0 * (labels(n) - 0.5) + 0.8 * one + 0.6 * other]
        flat = [np.column_stack([column, np.ones(n)]).astype(np.float32) for column in columns]
        low, high = difference(*flat).interval
        inside += int(low <= truth[1] - truth[0] <= high)
    assert inside >= 21


@pytest.mark.parametrize(
    ("trait", "why"),
    [
        (samples(drawn(2, 3.0), labels(2)), "holding one out needs two"),
        (replace(samples(drawn(8, 3.0), labels(8)), synthesized=np.ones(8, bool)), "only synthesized samples"),
        (replace(samples(drawn(8, 3.0), labels(8)), intrinsic_axis=np.eye(D, dtype=np.float32)[0]), "discovered"),
    ],
    ids=["one sample for each pole", "synthesized", "discovered"],
)
def test_a_trait_that_cannot_be_held_out_says_why(trait: TraitSamples, why: str) -> None:
    result = compared(trait, trait)
    assert not result.figures
    assert result.why_not is not None
    assert why in result.why_not


def test_a_text_that_one_encoder_cannot_read_counts_against_it() -> None:
    X, blind = drawn(60, 6.0), drawn(60, 6.0)
    blind[::3] = 0
    first, second = figures(X, blind)
    assert second.auroc < first.auroc


def test_different_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="different samples"):
        compared(samples(drawn(8, 1.0), labels(8)), samples(drawn(10, 1.0), labels(10)))


def test_progress_counts_every_fit() -> None:
    trait = samples(drawn(8, 1.0), labels(8))
    seen: list[int] = []
    contenders = [Contender(name, [trait, trait], {}) for name in ("a", "b")]
    compare_vectors(contenders, effort="low", on_fit=seen.append)
    assert seen == [0, 1, 2, 3, 4]
