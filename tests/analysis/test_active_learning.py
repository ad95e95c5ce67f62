"""The order in which texts are labelled: complete, repeatable, and spread over what is not known."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.size import sized
from traitbench.analysis.active_learning import ORDERS, TYPICAL_FIRST, LabelQueue, Order

DIMENSION = 24

Vectors = NDArray[np.float32]


def texts(n: int, seed: int) -> Vectors:
    """Random unit vectors."""
    X = np.random.default_rng(seed).normal(size=(n, DIMENSION)).astype(np.float32)
    unit: Vectors = X / np.linalg.norm(X, axis=1, keepdims=True)
    return unit


def kinds(of: int, each: int) -> Vectors:
    """Tight clusters, one after another."""
    rng = np.random.default_rng(0)
    centres = np.repeat(np.eye(DIMENSION, dtype=np.float32)[:of], each, axis=0)
    return (centres + 0.02 * rng.normal(size=centres.shape)).astype(np.float32)


@settings(max_examples=sized(15, 40), deadline=None)
@given(
    n=st.integers(0, 60),
    labelled=st.integers(0, 30),
    count=st.integers(0, 70),
    order=st.sampled_from(ORDERS),
    seed=st.integers(0, 5),
)
def test_every_order_gives_different_free_texts_and_the_same_again(
    n: int, labelled: int, count: int, order: Order, seed: int
) -> None:
    X = texts(n, seed)
    rng = np.random.default_rng(seed)
    done = rng.permutation(n)[:labelled]
    free = np.ones(n, bool)
    free[done] = False
    y = rng.choice([0.0, 0.33, 1.0], len(done))
    answers = []
    for _ in range(2):
        queue = LabelQueue(X, X[:, 0].astype(float))
        queue.learn([int(i) for i in done], X[done], y, X[done, 0].astype(float))
        answers.append(queue.first(order, count, free=free, seed=seed).tolist())
    first, again = answers
    assert first == again
    assert len(first) == len(set(first)) == min(count, int(free.sum()))
    assert all(free[place] for place in first)


def test_learning_one_by_one_is_learning_at_once() -> None:
    X, y = texts(80, 1), np.random.default_rng(1).choice([0.0, 1.0], 20)
    steps, once = LabelQueue(X), LabelQueue(X)
    for many in range(1, 21):
        steps.learn(range(many), X[:many], y[:many])
    once.learn(range(20), X[:20], y)
    np.testing.assert_allclose(steps.belief.mean, once.belief.mean, atol=1e-5)
    np.testing.assert_allclose(steps.belief.variance, once.belief.variance, atol=1e-5)
    # an undone label is forgotten
    steps.learn(range(19), X[:19], y[:19])
    assert steps.belief.variance[19] > once.belief.variance[19]


def test_the_first_labels_go_to_one_text_of_each_kind() -> None:
    X = kinds(TYPICAL_FIRST, 20)
    order = LabelQueue(X).first("informative", TYPICAL_FIRST, free=np.ones(len(X), bool))
    assert sorted(order // 20) == list(range(TYPICAL_FIRST))


def test_kinds_that_have_samples_already_wait() -> None:
    X = kinds(TYPICAL_FIRST, 20)
    queue = LabelQueue(X)
    queue.learn(["sample"], X[:1] + 0.001, np.ones(1))
    first = queue.first("informative", TYPICAL_FIRST - 1, free=np.ones(len(X), bool))
    assert 0 not in first // 20


def test_then_they_go_where_the_side_is_least_certain_and_not_to_one_place() -> None:
    X = kinds(10, 10)
    queue = LabelQueue(X)
    known = np.concatenate([np.arange(10 * kind, 10 * kind + 9) for kind in range(8)])
    queue.learn([int(i) for i in known], X[known], (known // 10 < 4).astype(float))
    free = np.ones(len(X), bool)
    free[known] = False
    first = queue.first("informative", 2, free=free)
    assert sorted(first // 10) == [8, 9], "the kinds that nobody labelled, one text of each"


def test_top_and_bottom_are_the_ends_of_the_same_order() -> None:
    X, free = texts(30, 3), np.ones(30, bool)
    queue = LabelQueue(X, X[:, 0].astype(float))
    queue.learn([0, 1], X[:2], np.array([1.0, 0.0]), X[:2, 0].astype(float))
    top, bottom = (queue.first(order, 30, free=free).tolist() for order in ("top", "bottom"))
    assert top == bottom[::-1]
    assert top.index(0) < top.index(1)


def test_without_a_label_the_prior_gives_the_order() -> None:
    X = texts(30, 4)
    assert LabelQueue(X, X[:, 0].astype(float)).first("top", 1, free=np.ones(30, bool)) == [np.argmax(X[:, 0])]
