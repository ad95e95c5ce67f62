"""A long text is encoded in blocks, so its vectors are never all in memory; the result is the same, bit for bit."""

import hashlib
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.scoring.hand import axis, encode, snapshot
from tests.scoring.positions import positions
from tests.size import sized
from traitbench.scoring import card
from traitbench.scoring.segments import AT_ONCE, blocks, embed, mean, mean_of, segments

WORDS = ("east", "north", "west", "south", "and", "then", "slowly")


def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """(n, 24): a different vector for every text, and the same for the same; zeros for a text of only "and"."""
    seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) for text in texts]
    rows = [
        np.random.default_rng(seed).normal(size=24) * (text != "and") for seed, text in zip(seeds, texts, strict=True)
    ]
    return np.array(rows, np.float32).reshape(-1, 24)


def text_of(words: int, seed: int = 0) -> str:
    return " ".join(np.random.default_rng(seed).choice(WORDS, words))


@settings(max_examples=sized(16, 50), deadline=None)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(2, 900),
    width=st.integers(2, 40),
    ends=st.lists(st.integers(1, 899), max_size=8),
)
def test_a_mean_in_blocks_equals_the_mean_of_all(seed: int, rows: int, width: int, ends: list[int]) -> None:
    every = np.random.default_rng(seed).normal(size=(rows, width)).astype(np.float32)
    assert mean_of(np.split(every, sorted({end for end in ends if end < rows}))).tobytes() == mean(every).tobytes()


def test_a_long_text_encoded_in_blocks_has_the_same_vector() -> None:
    asked: list[int] = []

    def counting(texts: Sequence[str]) -> NDArray[np.float32]:
        asked.append(len(texts))
        return vectors(texts)

    long, short = text_of(60 * (2 * AT_ONCE + 10)), text_of(130, seed=1)
    result = segments(long)
    assert len(result) > 2 * AT_ONCE
    assert [len(block) for block in blocks(result)] == [AT_ONCE, AT_ONCE, len(result) - 2 * AT_ONCE]
    rows = embed(counting, [short, long, short])
    assert max(asked) <= AT_ONCE
    assert rows[1].tobytes() == mean(vectors([long[each.start : each.end] for each in result])).tobytes()
    assert rows[0].tobytes() == rows[2].tobytes() == embed(vectors, [short])[0].tobytes()
    assert embed(vectors, [long])[0].tobytes() == rows[1].tobytes()


@pytest.mark.parametrize("aggregation", ["mean", "max", "min"])
def test_many_parts_scored_in_blocks_have_the_same_score(aggregation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = snapshot(axis(aggregation=aggregation), axis("clarity", aggregation="none"), max_depth=3)
    many = " ".join(f"{text_of(4, seed=number).capitalize()}." for number in range(700))
    texts = [many, "East. North. West.", "and. and.", many + " East."]
    some = positions(trained, encode, texts)
    monkeypatch.setattr(card, "_PARTS", 7)
    fewer = positions(trained, encode, texts)
    monkeypatch.setattr(card, "_PARTS", 10**9)
    assert positions(trained, encode, texts).tobytes() == some.tobytes() == fewer.tobytes()
