"""The words of an encoder and their vectors."""

from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from tests.real_encoder import KEPT, best, vocabulary
from traitbench.encoders import FULL, Vectors, counted_apart
from traitbench.encoders.ngrams import NGrams
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.vocabulary import SIZE, load_vocabulary, words_to_encode


class Counting:
    """An encoder of three words that counts the texts it encodes."""

    id, dimension, digest, modes = "counting-1", 2, "a" * 64, MappingProxyType[str, slice]({})

    def __init__(self) -> None:
        self.encoded = 0

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        self.encoded += len(texts)
        return np.array([(1.0, len(text)) for text in texts], np.float32).reshape(-1, 2)

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        return counted_apart(self, texts, mode=mode)

    def words(self) -> Sequence[str]:
        return ["the", "and", "wonderful"]


@pytest.mark.parametrize("name", ["minilm", "static"])
def test_words_are_whole_distinct_and_sorted_by_frequency(name: str) -> None:
    words = load_encoder(name, cache=KEPT).words()
    assert len(words) == len(set(words)) > SIZE
    assert all(word.isalpha() and word.islower() and len(word) >= 3 for word in words)
    assert list(words[:2]) == ["the", "and"]
    assert {"good", "terrible", "customer"} <= set(words)


def test_the_vectors_are_those_of_the_words() -> None:
    result = vocabulary()
    assert result.vectors.shape == (SIZE, best().dimension)
    some = [0, 77, SIZE - 1]
    np.testing.assert_allclose(result.vectors[some], best().encode([result.words[i] for i in some]), atol=2e-3)


def test_those_of_the_default_encoder_come_with_it(tmp_path: Path) -> None:
    assert words_to_encode(best(), cache=tmp_path) == 0
    assert load_vocabulary(best(), cache=tmp_path, size=3).words == ("que", "die", "the")
    assert list(tmp_path.iterdir()) == []
    assert load_vocabulary(best(), cache=tmp_path).words == tuple(best().words()[:SIZE])


def test_word_vectors_are_encoded_once_for_each_encoder_and_reused(tmp_path: Path) -> None:
    encoder, other = Counting(), Counting()
    first, second = (load_vocabulary(encoder, cache=tmp_path) for _ in range(2))
    assert encoder.encoded == 3
    assert first.words == second.words == ("the", "and", "wonderful")
    np.testing.assert_array_equal(first.vectors, second.vectors)
    other.digest = "b" * 64
    load_vocabulary(other, cache=tmp_path)
    assert other.encoded == 3


def test_an_encoder_without_words_has_an_empty_vocabulary(tmp_path: Path) -> None:
    result = load_vocabulary(NGrams(), cache=tmp_path)
    assert result.words == ()
    assert result.vectors.shape == (0, NGrams.dimension)


def test_words_are_to_be_encoded_until_they_are_cached(tmp_path: Path) -> None:
    encoder = Counting()
    assert words_to_encode(encoder, cache=tmp_path, size=2) == 2
    load_vocabulary(encoder, cache=tmp_path, size=2)
    assert words_to_encode(encoder, cache=tmp_path, size=2) == 0
    assert words_to_encode(encoder, cache=tmp_path) == 3
    assert encoder.encoded == 2
