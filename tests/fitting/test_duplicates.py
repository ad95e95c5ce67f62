from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from traitbench.fitting.duplicates import MOST_SAMPLES, NEAR, counterparts, joined, near_duplicates, plain


def rows(n: int, d: int = 80, seed: int = 3) -> NDArray[np.float32]:
    X = np.random.default_rng(seed).normal(size=(n, d))
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True), np.float32)


def nearby(X: NDArray[np.float32], cosine: float, seed: int = 4) -> NDArray[np.float32]:
    """Unit rows at this cosine to those of X."""
    other = np.random.default_rng(seed).normal(size=X.shape)
    other -= (other * X).sum(axis=1, keepdims=True) * X
    other /= np.linalg.norm(other, axis=1, keepdims=True)
    return np.asarray(cosine * X + (1 - cosine**2) ** 0.5 * other, np.float32)


def by_all_pairs(X: NDArray[np.float32]) -> NDArray[np.int64]:
    """The expected result of `alike`, by plain code."""
    close = X.astype(np.float64) @ X.T.astype(np.float64) >= NEAR
    return connected_components(close)[1].astype(np.int64)


def same_partition(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


@pytest.mark.parametrize(("cosine", "together"), [(0.951, True), (0.949, False)])
def test_texts_with_a_cosine_of_095_are_near_duplicates(cosine: float, *, together: bool) -> None:
    X = rows(10)
    labels = near_duplicates(np.vstack([X, nearby(X, cosine)]))
    assert ((labels[:10] == labels[10:]) == together).all()
    assert len(set(labels[:10].tolist())) == 10


def test_a_chain_of_pairs_is_one_group() -> None:
    first = rows(1)
    second = nearby(first, 0.96)
    third = (second + (second - first)) / np.linalg.norm(2 * second - first)
    assert float(first[0] @ third[0]) < 0.95 < float(second[0] @ third[0])
    assert len(set(near_duplicates(np.vstack([first, third, second])).tolist())) == 1


@pytest.mark.parametrize("n", [200, 900])
def test_all_pairs_are_found_with_or_without_a_sketch(n: int) -> None:
    """From 1,024 rows on with a sketch, and in full where the sketch separates too little."""
    X = rows(n, seed=n)
    X[:, :4] += 0.6 * np.sign(X[:, :4])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X = np.vstack([X, nearby(X[::3], 0.955), nearby(X[::5], 0.945)])
    assert same_partition(near_duplicates(X), by_all_pairs(X))


def test_many_equal_rows_are_one_group() -> None:
    X = np.vstack([nearby(np.repeat(rows(1), 1_500, axis=0), 0.99), rows(300, seed=9)])
    labels = near_duplicates(X)
    assert len(set(labels[:1_500].tolist())) == 1
    assert len(set(labels.tolist())) == 301


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_joined_labels_connect_chains(pairs: list[tuple[int, int]]) -> None:
    one, other = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    result = joined(one, other)
    assert len(result) == len(pairs)
    for i in range(len(pairs)):
        for j in range(len(pairs)):
            if one[i] == one[j] or other[i] == other[j]:
                assert result[i] == result[j]
    reached = np.arange(len(pairs))
    for _ in pairs:
        for i in range(len(pairs)):
            reached[(one == one[i]) | (other == other[i])] = reached[(one == one[i]) | (other == other[i])].min(
                initial=i
            )
    assert same_partition(result, reached)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Well, well!", "well well"),
        ("  Two\twords\n", "two words"),
        ("“Quoted” – text…", "quoted text"),
        ("STRASSE", "straße"),
    ],
)
def test_case_space_and_punctuation_do_not_distinguish_texts(one: str, other: str) -> None:
    assert plain(one) == plain(other)


@pytest.mark.parametrize(
    ("one", "other"), [("fine 👍", "fine 👎"), ("3 + 4", "3 4"), ("!", "?"), ("now here", "nowhere")]
)
def test_signs_and_words_distinguish_texts(one: str, other: str) -> None:
    assert plain(one) != plain(other)


@given(st.text())
def test_plain_text_is_idempotent(text: str) -> None:
    assert plain(plain(text)) == plain(text)


def test_counterparts_are_the_closest_near_duplicates_among_other_rows() -> None:
    X = rows(1_500)
    others = np.concatenate([nearby(X[1_400:1_450], 0.96), nearby(X[1_400:1_420], 0.99), nearby(X[:30], 0.94)])
    mine, theirs = counterparts(X, others[::-1].copy() * 3)
    cosines = X.astype(np.float64) @ others[::-1].T.astype(np.float64)
    for found, table in ((mine, cosines), (theirs, cosines.T)):
        expected = np.where(table.max(axis=1) >= NEAR, table.argmax(axis=1), -1)
        assert (found == expected).all()
    assert [(mine >= 0).sum(), (theirs >= 0).sum()] == [50, 70]


@pytest.mark.parametrize(("n", "m", "d", "value"), [(0, 3, 80, 1), (3, 0, 80, 1), (2, 2, 63, 1), (2, 1, 80, 0)])
def test_nothing_has_a_counterpart_among_no_rows_few_features_or_zeros(n: int, m: int, d: int, value: int) -> None:
    mine, theirs = counterparts(np.full((n, d), value, np.float32), np.full((m, d), value, np.float32))
    assert (mine.tolist(), theirs.tolist()) == ([-1] * n, [-1] * m)


@pytest.mark.parametrize(
    ("X", "labels"),
    [
        (np.zeros((0, 80), np.float32), []),
        (np.vstack([np.zeros((2, 80), np.float32), rows(1), rows(1)]), [0, 1, 2, 2]),
        (np.repeat(rows(1, d=2), 5, axis=0), range(5)),
    ],
    ids=["no rows", "texts without a token", "few features"],
)
def test_what_is_not_searched_has_no_duplicates(X: NDArray[np.float32], labels: Sequence[int]) -> None:
    assert near_duplicates(X).tolist() == [*labels]


def test_of_very_many_rows_only_equal_ones_are_duplicates() -> None:
    X = np.zeros((MOST_SAMPLES + 1, 64), np.float32)
    X[:4] = np.vstack([rows(1, d=64), rows(1, d=64), rows(1, d=64), rows(1, d=64)])
    X[1, 0] += 1e-4
    assert near_duplicates(X)[:6].tolist() == [0, 1, 0, 0, 4, 5]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café, bitte!", "cafe\u0301 bitte"),
        ("ＡＢＣカード", "abc\uff76\uff70\uff84\uff9e"),
        ("यह अच्छा है।", "यह अच्छा है"),
        ("今日は、いい天気。", "今日はいい天気"),
        ("هل سأعود؟", "هل سأعود"),
    ],
)
def test_spellings_of_the_same_text_are_equal_in_every_script(one: str, other: str) -> None:
    assert plain(one) == plain(other)
