"""The vector cache: vectors come back unchanged, never exceed the limit, and are dropped when they must be."""

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np
import pytest

from tests.contexts import ON_SQLITE
from traitbench.encoders import FULL, Encoder, Vectors, counted_apart
from traitbench.operations.context import Context
from traitbench.operations.vector_cache import CachedEncoding, VectorCache, hash_of
from traitbench.store.text_vectors import Encoded, VectorKey

pytestmark = ON_SQLITE

VECTOR_KEY = VectorKey(1, "a" * 64, FULL)
ONE = Encoded(np.arange(100, dtype=np.float32), 7)
ROOM_FOR_TEN = 10 * (400 + 500)


class Counting:
    """An encoder that records which texts it encodes; a vector depends only on its text."""

    id, dimension, digest, modes = "counting-1", 3, "c" * 64, MappingProxyType({"static": slice(0, 2)})

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        self.asked += texts
        width = 3 if mode == FULL else 2
        return np.array([[len(text), text.count("a"), 0.1][:width] for text in texts], np.float32)

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        return counted_apart(self, texts, mode=mode)

    def words(self) -> Sequence[str]:
        return ()


def encoding(
    encoder: Encoder, cache: VectorCache, vector_key: VectorKey | None = VECTOR_KEY, *, mode: str = FULL
) -> CachedEncoding:
    return CachedEncoding(encoder, cache, vector_key, mode=mode, since=cache.mark())


def test_a_text_is_encoded_once_and_its_vector_is_the_same_bit_by_bit() -> None:
    encoder, cache = Counting(), VectorCache(ROOM_FOR_TEN)
    first = encoding(encoder, cache).encode(["a", "b", "a", ""])
    again = encoding(encoder, cache).encode(["b", "", "a", "aa"])
    assert encoder.asked == ["a", "b", "", "aa"]
    assert first.tobytes() == Counting().encode(["a", "b", "a", ""]).tobytes()
    assert again.tobytes() == Counting().encode(["b", "", "a", "aa"]).tobytes()
    assert again.dtype == np.float32


def test_what_is_kept_cannot_be_changed_through_what_was_given() -> None:
    encoder, cache = Counting(), VectorCache(ROOM_FOR_TEN)
    for _ in range(2):
        encoding(encoder, cache).encode(["a"])[0, 0] = 99
    assert encoding(encoder, cache).encode(["a"])[0, 0] == 1


def test_tokens_are_those_of_the_whole_text() -> None:
    encoder, cache = Counting(), VectorCache(ROOM_FOR_TEN)
    one = encoding(encoder, cache)
    one.encode(["a b", "c"])
    assert [one.tokens(text) for text in ("a b", "a b c", "c")] == [2, 3, 1]


def test_nothing_is_shared_between_models_encoders_and_modes() -> None:
    encoder, cache = Counting(), VectorCache(ROOM_FOR_TEN)
    shelves = [VECTOR_KEY, VectorKey(2, "a" * 64, FULL), VectorKey(1, "b" * 64, FULL)]
    for vector_key in shelves:
        encoding(encoder, cache, vector_key).encode(["a"])
    assert encoding(encoder, cache, VectorKey(1, "a" * 64, "static"), mode="static").encode(["a"]).shape == (1, 2)
    assert encoder.asked == ["a"] * 4


def test_without_a_key_nothing_is_looked_up_or_kept() -> None:
    encoder, cache = Counting(), VectorCache(ROOM_FOR_TEN)
    for _ in range(2):
        assert encoding(encoder, cache, None).encode(["a"]).tolist()[0][:2] == [1.0, 1.0]
    assert encoder.asked == ["a", "a"]
    assert cache.size == 0


def test_those_used_longest_ago_leave_when_there_is_no_room() -> None:
    cache = VectorCache(ROOM_FOR_TEN)
    for number in range(10):
        cache.put(VECTOR_KEY, hash_of(str(number)), ONE, since=cache.mark())
    assert cache.get(VECTOR_KEY, [hash_of("0")])[0] is ONE
    cache.put(VECTOR_KEY, hash_of("new"), ONE, since=cache.mark())
    assert cache.get(VECTOR_KEY, [hash_of("1")])[0] is None
    assert all(cache.get(VECTOR_KEY, [hash_of(text)])[0] is ONE for text in ("0", "2", "9", "new"))
    assert cache.size == ROOM_FOR_TEN


@pytest.mark.parametrize("limit", [0, 899])
def test_with_room_for_none_none_is_kept(limit: int) -> None:
    cache = VectorCache(limit)
    cache.put(VECTOR_KEY, hash_of("a"), ONE, since=cache.mark())
    assert (cache.get(VECTOR_KEY, [hash_of("a")])[0], cache.size) == (None, 0)


def test_the_same_text_twice_takes_room_once() -> None:
    cache = VectorCache(ROOM_FOR_TEN)
    for _ in range(3):
        cache.put(VECTOR_KEY, hash_of("a"), ONE, since=cache.mark())
    assert cache.size == 900
    cache.forget(1)
    assert cache.size == 0


def test_a_model_is_forgotten_with_all_that_was_on_its_way_and_no_other_is() -> None:
    cache, other = VectorCache(ROOM_FOR_TEN), VectorKey(2, "a" * 64, FULL)
    before = cache.mark()
    for vector_key in (VECTOR_KEY, other):
        cache.put(vector_key, hash_of("a"), ONE, since=before)
    cache.forget(1)
    cache.put(VECTOR_KEY, hash_of("b"), ONE, since=before)
    cache.put(other, hash_of("b"), ONE, since=before)
    assert [cache.get(VECTOR_KEY, [hash_of(text)])[0] for text in "ab"] == [None, None]
    assert [cache.get(other, [hash_of(text)])[0] for text in "ab"] == [ONE, ONE]
    cache.put(VECTOR_KEY, hash_of("c"), ONE, since=cache.mark())
    assert cache.get(VECTOR_KEY, [hash_of("c")])[0] is ONE


def test_a_model_that_may_store_nothing_leaves_no_result_in_memory(context: Context) -> None:
    reads: list[int] = []

    def read() -> int:
        reads.append(len(reads))
        return len(reads)

    asked = (context.cached(("test", "forget"), read), context.cached(("test", "forget"), read))
    context.forget(0)
    again = context.cached(("test", "forget"), read)
    # PostgreSQL has no cheap check for writes, so nothing is cached there.
    assert (asked, again) == (((1, 1), 2) if context.engine.dialect.name == "sqlite" else ((1, 2), 3))
