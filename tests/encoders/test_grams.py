"""Hashed words, pairs and pieces."""

import hashlib

import numpy as np
import pytest

from traitbench.encoders import grams


def alike(one: str, other: str) -> float:
    a, b = grams.rows([one, other])
    return float(a @ b)


def test_shared_words_pairs_and_pieces_make_texts_similar() -> None:
    text = "the delivery was late again"
    same, swapped, inflected, other = (
        *(alike(text, "The delivery was late AGAIN"), alike(text, "again late was delivery the")),
        *(alike(text, "deliveries were latest again"), alike(text, "my card got stuck")),
    )
    assert same == pytest.approx(1)
    assert same > swapped > inflected > other


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_text_without_a_sign_is_a_row_of_zeros(text: str) -> None:
    assert not grams.rows([text]).any()


@pytest.mark.parametrize("text", ["!", "x" * 50_000, "\ud800", "İ", "今日は", "a " * 5_000])
def test_any_text_has_the_same_unit_row_in_any_batch(text: str) -> None:
    [row] = grams.rows([text])
    assert np.linalg.norm(row) == pytest.approx(1)
    np.testing.assert_array_equal(grams.rows(["before", text, "", "after"])[1], row)


def test_cells_and_signs_are_used_evenly() -> None:
    rows = grams.rows([hashlib.sha256(str(i).encode()).hexdigest()[:12] for i in range(2_000)])
    used = np.count_nonzero(rows, axis=0)
    assert (used > 0).all()
    assert abs(np.sign(rows).sum()) < 0.05 * np.count_nonzero(rows)
