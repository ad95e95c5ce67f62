import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import expit

from tests.fitting.test_axis import cloud
from tests.scoring.hand import PLANE, directions, encode, fitted, samples
from tests.scoring.positions import positions
from tests.size import sized
from traitbench.fitting.fit import fit
from traitbench.fitting.progress import ProgressListener
from traitbench.fitting.search import EFFORTS
from traitbench.scoring.card import score
from traitbench.scoring.snapshot import Snapshot, param_hash

ROOT = Path(__file__).parents[2]

labelled_vectors = st.lists(
    st.tuples(st.integers(0, 359), st.sampled_from([0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0])), min_size=2, max_size=24
)
quick = settings(max_examples=sized(15, 40), deadline=None)


def scores_of(trained_on: list[tuple[int, float]], *, effort: str = "high") -> np.ndarray:
    """Scores around the compass, for a trait fitted to directions and qualities."""
    X, y = directions(*(angle for angle, _ in trained_on)), [quality for _, quality in trained_on]
    axis = fitted(samples(X, y), effort=effort).snapshot.traits[0]
    scores: np.ndarray = expit(directions(*range(0, 360, 30)) @ axis.vector.astype(np.float64) + axis.offset)
    return scores


@quick
@given(labelled_vectors)
# Poles this close give so steep an axis that most scores are exactly 1.
@example([(0, 0.0), (1, 1.0)])
def test_scores_stay_in_their_range(labelled: list[tuple[int, float]]) -> None:
    scores = scores_of(labelled)
    assert np.isfinite(scores).all()
    assert ((scores >= 0) & (scores <= 1)).all()


@quick
@given(labelled_vectors)
def test_swapping_the_poles_mirrors_the_score(labelled: list[tuple[int, float]]) -> None:
    mirrored = scores_of([(angle, 1 - quality) for angle, quality in labelled])
    np.testing.assert_allclose(scores_of(labelled), 1 - mirrored, atol=1e-4)


@quick
@given(labelled_vectors, st.randoms(use_true_random=False))
def test_the_order_of_samples_changes_nothing(labelled: list[tuple[int, float]], random: Random) -> None:
    X, y = directions(*(angle for angle, _ in labelled)), [quality for _, quality in labelled]
    order = list(range(len(labelled)))
    random.shuffle(order)
    one = fitted(samples(X, y))
    other = fitted(samples(X[order], [y[i] for i in order], groups=order))
    assert param_hash(one.snapshot) == param_hash(other.snapshot)
    assert one.metrics == other.metrics


@quick
@given(labelled_vectors)
def test_breaks_are_ordered_and_figures_are_in_range(labelled: list[tuple[int, float]]) -> None:
    X, y = directions(*(angle for angle, _ in labelled)), [quality for _, quality in labelled]
    trained = fitted(samples(X, y))
    breaks, result = trained.snapshot.traits[0].breaks, trained.metrics["traits"]["warmth"]
    assert 0 <= breaks.developing <= breaks.solid <= breaks.strong <= 100
    if result["auroc"] is not None:
        low, high = result["auroc_interval"]
        assert 0 <= low <= result["auroc"] <= high <= 1
        assert 0 <= result["brier"] <= 1
        assert 0 <= result["calibration_error"] <= 1


@quick
@given(labelled_vectors)
def test_traits_do_not_affect_one_another(labelled: list[tuple[int, float]]) -> None:
    X, y = directions(*(angle for angle, _ in labelled)), [quality for _, quality in labelled]
    other = samples(directions(10, 20, 200, 210), [0, 0, 1, 1], key="other")
    together, alone = fitted(other, samples(X, y)).snapshot, fitted(samples(X, y)).snapshot
    assert together.to_json()["traits"][1] == alone.to_json()["traits"][0]


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
    heard = fit(
        traits,
        encoder=PLANE,
        scoring_method="balanced_cosine",
        max_depth=1,
        effort=effort,
        on_progress=lambda done, total, share: calls.append((done, total, share)),
    )
    counts, shares = [call[:2] for call in calls], [call[2] for call in calls]
    assert sorted(set(counts)) == [(0, 2), (1, 2), (2, 2)]
    assert counts == sorted(counts)
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
    assert all(len({share for done, _, share in calls if done == trait}) > 3 for trait in (0, 1))
    unheard = fit(traits, encoder=PLANE, scoring_method="balanced_cosine", max_depth=1, effort=effort)
    assert param_hash(heard.snapshot) == param_hash(unheard.snapshot)
    assert heard.metrics == unheard.metrics


def test_a_listener_stops_the_fit_at_any_step() -> None:
    trait = samples(directions(0, 10, 180, 190), [1, 1, 0, 0])
    steps = 0

    class Stopped(Exception):
        pass

    def count(_done: int, _total: int, _share: float) -> None:
        nonlocal steps
        steps += 1

    def learn(on_progress: ProgressListener) -> None:
        fit(
            [trait],
            encoder=PLANE,
            scoring_method="balanced_cosine",
            max_depth=1,
            effort="low",
            on_progress=on_progress,
        )

    learn(count)
    for last in range(steps):
        calls = iter(range(steps))

        def stop(_done: int, _total: int, _share: float, calls: Iterator[int] = calls, last: int = last) -> None:
            if next(calls) == last:
                raise Stopped

        with pytest.raises(Stopped):
            learn(stop)


def test_inconsistent_inputs_are_refused() -> None:
    X = directions(0, 180)
    with pytest.raises(ValueError, match=r"shape \(3, 2\), not \(2, 2\)"):
        fitted(samples(X, [1, 0, 0]))
    with pytest.raises(ValueError, match="finite"):
        fitted(samples(np.full((2, 2), np.nan, np.float32), [1, 0]))
    with pytest.raises(ValueError, match="from 0 to 1"):
        fitted(samples(X, [1, 2]))
    with pytest.raises(ValueError, match="nearest"):
        fit([samples(X, [1, 0])], encoder=PLANE, scoring_method="nearest", max_depth=1, effort="low")


HASHES = """
from tests.fitting.test_fit import hashes
for found in hashes():
    print(found)
"""


def hashes() -> list[str]:
    """Hashes of versions fitted by folds and by leave-one-out, to few and many samples, with labels and modes and
    without.
    """
    result = [param_hash(fitted(samples(*cloud(n, d))).snapshot) for n, d in ((40, 300), (300, 400), (700, 120))]
    for n, d in ((12, 60), (80, 300)):
        X, y = cloud(n, d)
        trait, encoder = replace(samples(X, y), label_axis=X[0]), replace(PLANE, dimension=d)
        modes = {"first": slice(0, 20), "last": slice(30, d)}
        trained = fit(
            [trait], encoder=encoder, scoring_method="balanced_cosine", max_depth=1, effort="high", modes=modes
        )
        result.append(param_hash(trained.snapshot))
    return result


@pytest.mark.parametrize("threads", ["1", "2", "7"])
def test_the_hash_does_not_depend_on_process_or_threads(threads: str) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
    ran = subprocess.run(
        [sys.executable, "-c", HASHES], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == hashes()


def test_a_snapshot_that_went_through_json_gives_the_same_card() -> None:
    X, y = cloud(60, 2)
    trained = fitted(samples(X, y)).snapshot
    again = Snapshot.from_json(trained.to_json())
    assert score(again, encode, "east north") == score(trained, encode, "east north")
