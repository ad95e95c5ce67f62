import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit

from tests.fitting.hashes import hashes
from tests.scoring.hand import PLANE, directions, encode, fitted, samples
from tests.scoring.positions import positions
from tests.size import sized
from traitbench.fitting.fit import Trained, TraitSamples, fit
from traitbench.fitting.search import EFFORTS
from traitbench.scoring.card import score
from traitbench.scoring.snapshot import param_hash

ROOT = Path(__file__).parents[2]

LABELLED = st.lists(
    st.tuples(st.integers(0, 359), st.sampled_from([0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0])), min_size=2, max_size=24
)
quick = settings(max_examples=sized(15, 40), deadline=None)


def labelled(angles: Sequence[tuple[int, float]]) -> TraitSamples:
    """Samples at these angles, with these qualities."""
    return samples(directions(*(angle for angle, _ in angles)), [quality for _, quality in angles])


def scores_of(trained: Trained) -> NDArray[np.float64]:
    """The scores of its only trait around the compass."""
    [axis] = trained.snapshot.traits
    scores: NDArray[np.float64] = expit(directions(*range(0, 360, 30)) @ axis.vector.astype(np.float64) + axis.offset)
    return scores


@quick
@given(LABELLED)
# Poles this close give so steep an axis that most scores are exactly 1.
@example([(0, 0.0), (1, 1.0)])
def test_scores_breaks_and_figures_stay_in_their_ranges(drawn: list[tuple[int, float]]) -> None:
    trained = fitted(labelled(drawn))
    scores, breaks = scores_of(trained), trained.snapshot.traits[0].breaks
    assert np.isfinite(scores).all()
    assert ((scores >= 0) & (scores <= 1)).all()
    assert 0 <= breaks.developing <= breaks.solid <= breaks.strong <= 100
    result = trained.metrics["traits"]["warmth"]
    if result["auroc"] is not None:
        low, high = result["auroc_interval"]
        assert 0 <= low <= result["auroc"] <= high <= 1
        assert 0 <= result["brier"] <= 1
        assert 0 <= result["calibration_error"] <= 1


@quick
@given(LABELLED)
def test_swapping_the_poles_mirrors_the_score(drawn: list[tuple[int, float]]) -> None:
    swapped = [(angle, 1 - quality) for angle, quality in drawn]
    one, other = (scores_of(fitted(labelled(each))) for each in (drawn, swapped))
    np.testing.assert_allclose(one, 1 - other, atol=1e-4)


@quick
@given(LABELLED, st.integers(1, 4), st.randoms(use_true_random=False))
def test_the_order_of_samples_changes_nothing(drawn: list[tuple[int, float]], real: int, random: Random) -> None:
    one = replace(labelled(drawn), synthesized=np.arange(len(drawn)) % 4 >= real)
    order = list(range(len(drawn)))
    random.shuffle(order)
    other = replace(one, X=one.X[order], y=one.y[order], groups=order, synthesized=one.made[order])
    first, second = fitted(one), fitted(other)
    assert param_hash(first.snapshot) == param_hash(second.snapshot)
    assert first.metrics == second.metrics


@quick
@given(LABELLED)
def test_traits_do_not_affect_one_another(drawn: list[tuple[int, float]]) -> None:
    other = samples(directions(10, 20, 200, 210), [0, 0, 1, 1], key="other")
    together, alone = fitted(other, labelled(drawn), effort="low"), fitted(labelled(drawn), effort="low")
    assert together.snapshot.to_json()["traits"][1] == alone.snapshot.to_json()["traits"][0]


def test_a_fit_learns_which_direction_is_warm() -> None:
    X, y = directions(*range(-40, 45, 10), *range(140, 225, 10)), [1.0] * 9 + [0.0] * 9
    trained = fitted(samples(X, y))
    east, north, west = positions(trained.snapshot, encode, ["east", "north", "west"])[:, 0]
    assert east > 0.9
    assert north == pytest.approx(0.5, abs=0.05)
    assert west < 0.1
    assert score(trained.snapshot, encode, "east").to_wire()["detail"]["warmth"]["label"] == "Strong"


def test_the_larger_pole_does_not_shift_the_middle() -> None:
    few, many = directions(-20, 0, 20), directions(*np.linspace(160, 200, 60).tolist())
    trained = fitted(samples(np.vstack([few, many]), [1.0] * 3 + [0.0] * 60))
    assert positions(trained.snapshot, encode, ["north"])[0, 0] == pytest.approx(0.5, abs=0.05)


def test_metrics_say_what_was_done() -> None:
    X, y = directions(0, 10, 20, 90, 180, 190, 200, 0), [1, 1, 1, 0.5, 0, 0, 0, 1]
    metrics = fitted(samples(X, y, groups=[1, 2, 3, 4, 5, 6, 7, 1])).metrics
    assert metrics["scoring_method"] == "balanced_cosine"
    assert metrics["effort"] == "high"
    assert metrics["search"] == EFFORTS["high"].says
    assert metrics["encoder"] == {"id": "plane-1", "dimension": 2}
    trait = metrics["traits"]["warmth"]
    assert trait["counts"] == {"positive": 4, "negative": 3, "neutral": 1, "distinct": 7, "synthesized": 0}
    assert set(trait["parameters"]) == {"log10_shrinkage", "slope", "offset"}
    assert metrics["auroc"] == trait["auroc"] == 1.0


def test_a_trait_that_cannot_be_measured_is_left_out_of_the_mean() -> None:
    single = samples(directions(0, 180), [1, 0], key="single")
    rich = samples(directions(0, 10, 20, 180, 190, 200), [1, 1, 1, 0, 0, 0])
    assert fitted(single, rich).metrics["auroc"] == fitted(rich).metrics["auroc"]
    assert fitted(single).metrics["auroc"] is None
    assert fitted(single).snapshot.traits[0].positive is None


def test_contradicting_labels_of_one_text_average_out() -> None:
    X, groups = directions(0, 10, 20, 180, 190, 200, 0), [1, 2, 3, 4, 5, 6, 1]
    trained = fitted(samples(X, [1, 1, 1, 0, 0, 0, 0], groups=groups))
    expected = fitted(samples(X[:6], [0.5, 1, 1, 0, 0, 0]))
    assert param_hash(trained.snapshot) == param_hash(expected.snapshot)


@pytest.mark.parametrize("effort", ["low", "medium", "high", "max"])
def test_identical_samples_score_50(effort: str) -> None:
    trained = fitted(samples(directions(30, 30, 30, 30), [1, 1, 0, 0]), effort=effort)
    assert positions(trained.snapshot, encode, ["east", "west"])[:, 0].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("effort", ["low", "max"])
def test_progress_counts_the_traits_and_rises_inside_each(effort: str) -> None:
    calls: list[tuple[int, int, float]] = []
    traits = [samples(directions(0, 10, 180, 190), [1, 1, 0, 0], key=key) for key in ("a", "b")]
    heard = fitted(*traits, effort=effort, on_progress=lambda *call: calls.append(call))
    counts, shares = [call[:2] for call in calls], [call[2] for call in calls]
    assert sorted(set(counts)) == [(0, 2), (1, 2), (2, 2)]
    assert counts == sorted(counts)
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
    assert all(len({share for done, _, share in calls if done == trait}) > 3 for trait in (0, 1))
    unheard = fitted(*traits, effort=effort)
    assert param_hash(heard.snapshot) == param_hash(unheard.snapshot)
    assert heard.metrics == unheard.metrics


def test_a_listener_stops_the_fit_at_any_step() -> None:
    class Stopped(Exception):
        pass

    def steps_until(last: int) -> int:
        calls = count(1)

        def listen(*_: float) -> None:
            if (step := next(calls)) == last:
                raise Stopped
            heard.append(step)

        heard: list[int] = []
        fitted(samples(directions(0, 10, 180, 190), [1, 1, 0, 0]), effort="low", on_progress=listen)
        return len(heard)

    for last in range(1, steps_until(0) + 1):
        with pytest.raises(Stopped):
            steps_until(last)


@pytest.mark.parametrize(
    ("trait", "says"),
    [
        (samples(directions(0, 180), [1, 0, 0]), r"shape \(3, 2\), not \(2, 2\)"),
        (samples(np.full((2, 2), np.nan, np.float32), [1, 0]), "finite"),
        (samples(directions(0, 180), [1, 2]), "from 0 to 1"),
        (replace(samples(directions(0, 180), [1, 0]), synthesized=np.zeros(3, bool)), "3 values for 2 samples"),
        (replace(samples(directions(0, 9), [1, 0]), label_axis=np.ones(3, np.float32)), "its axis needs 2 numbers"),
        (replace(samples(directions(0, 9), [1, 0]), intrinsic_axis=np.ones(3, np.float32)), "its axis needs 2 numbers"),
    ],
)
def test_inconsistent_inputs_are_refused(trait: TraitSamples, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        fitted(trait)


def test_an_unknown_scoring_method_is_refused() -> None:
    trait = samples(directions(0, 180), [1, 0])
    with pytest.raises(ValueError, match="nearest"):
        fit([trait], encoder=PLANE, scoring_method="nearest", max_depth=1, effort="low")


@pytest.mark.parametrize("threads", [pytest.param("1", marks=pytest.mark.soak), "7"])
def test_the_hash_does_not_depend_on_process_or_threads(threads: str) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
    command = [sys.executable, "-m", "tests.fitting.hashes"]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == hashes()
