from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from traitbench.scoring.segments import (
    WORDS_PER_SEGMENT,
    count_words,
    embed,
    parts,
    phrases,
    segment_count,
    segments,
    sentences,
)
from traitbench.scoring.words import words

SENTENCE = "The ferry leaves the small harbour at nine and comes back before the light is gone. "


def pieces(text: str) -> list[str]:
    return [text[segment.start : segment.end] for segment in segments(text)]


def test_a_short_text_is_one_segment_without_the_space_around_it() -> None:
    assert pieces("  Hello there.  How are you?\n") == ["Hello there.  How are you?"]


@pytest.mark.parametrize("text", ["", " ", "\n\t \n"])
def test_a_blank_text_has_no_segment_and_no_part(text: str) -> None:
    assert segments(text) == ()
    assert parts(text, 1) == parts(text, 2) == parts(text, 3) == ()


def test_a_long_text_is_divided_at_sentence_ends_into_about_sixty_words() -> None:
    result = pieces(SENTENCE * 30)
    assert len(result) == 8
    assert all(piece.endswith(".") for piece in result)
    assert all(45 <= len(piece.split()) <= 75 for piece in result)


def test_an_endless_sentence_is_divided_between_words() -> None:
    result = pieces(" ".join(f"word{i}" for i in range(300)))
    assert [len(piece.split()) for piece in result] == [60] * 5


def test_a_text_without_spaces_is_divided_too() -> None:
    assert all(len(piece) <= 130 for piece in pieces("今日はとても良い天気です。" * 60))
    assert "".join(pieces("x" * 50_000)) == "x" * 50_000


@given(st.text(alphabet=st.sampled_from("ab .!?\n,。今\u00a0é😀"), max_size=2_000))
def test_segments_cover_the_text_without_overlap(text: str) -> None:
    assert "".join("".join(pieces(text)).split()) == "".join(text.split())
    ends = [(segment.start, segment.end) for segment in segments(text)]
    assert all(start < end for start, end in ends)
    assert all(before[1] <= after[0] for before, after in pairwise(ends))


@given(st.text(alphabet=st.sampled_from("aB .!?\n,。今"), max_size=400), st.integers(1, 3))
def test_parts_cover_the_whole_text(text: str, depth: int) -> None:
    result = [text[part.start : part.end] for part in parts(text, depth)]
    assert "".join("".join(result).split()) == "".join(text.split())
    assert all(part == part.strip() != "" for part in result)


@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        (1, ["First one. Second one!\n\nA new paragraph,\nstill going. The end"]),
        (2, ["First one. Second one!", "A new paragraph,\nstill going. The end"]),
        (3, ["First one.", "Second one!", "A new paragraph,\nstill going.", "The end"]),
    ],
)
def test_depth_decides_how_far_a_text_is_divided(depth: int, expected: list[str]) -> None:
    text = "First one. Second one!\n\nA new paragraph,\nstill going. The end\n"
    assert [text[part.start : part.end] for part in parts(text, depth)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Who met Mr. Bean. They left.", ["Dr. Who met Mr. Bean.", "They left."]),
        ("It costs 3.50 today. Cheap!", ["It costs 3.50 today.", "Cheap!"]),
        ("He said “Go.” She went.", ["He said “Go.”", "She went."]),
        ("Wait... what? Yes.", ["Wait... what?", "Yes."]),
        ("今日は。明日は！", ["今日は。", "明日は！"]),
        ("- milk\n- bread", ["- milk", "- bread"]),
        ("  Yes, e.g. Mr. Hill.  \n\nBye. ", ["Yes, e.g. Mr. Hill.", "Bye."]),
    ],
)
def test_sentences_end_where_a_reader_would_stop(text: str, expected: list[str]) -> None:
    assert [text[part.start : part.end] for part in parts(text, 3)] == expected
    assert [text[part.start : part.end] for part in sentences(text)] == expected


def lengths(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.array([(1.0, 0.0) if len(text) % 2 else (0.0, 1.0) for text in texts], np.float32)


def test_a_text_is_the_mean_of_its_segments_at_length_one() -> None:
    long = " ".join(["ab"] * 60 + ["abc"] * 60)
    assert [len(piece) % 2 for piece in pieces(long)] == [1, 1]
    text = " ".join(["ab"] * 60) + " " + " ".join(["abc"] * 59) + " abcd"
    assert [len(piece) % 2 for piece in pieces(text)] == [1, 0]
    np.testing.assert_allclose(embed(lengths, [text, "ab"]), [[0.5**0.5, 0.5**0.5], [0.0, 1.0]], rtol=1e-6)


def test_a_blank_text_is_a_row_of_zeros() -> None:
    np.testing.assert_array_equal(embed(lengths, [" ", "a"]), [[0, 0], [1, 0]])
    assert embed(lengths, []).shape == (0, 2)


def test_phrases_end_at_a_near_comma_or_conjunction() -> None:
    text = "We waited for an hour, nobody came to see us and so we left again"
    assert [text[each.start : each.end] for each in phrases(text, 3)] == [
        "We waited for an hour,",
        "nobody came to see us",
        "and so we left again",
    ]


@pytest.mark.parametrize("text", ["one", "east 東西南北へ行く", "a,b;c — d", "word " * 30])
@pytest.mark.parametrize("count", [1, 3, 100])
def test_phrases_are_no_shorter_than_words_and_cover_the_text(text: str, count: int) -> None:
    result = phrases(text, count)
    assert len(result) <= max(1, min(count, len(words(text))))
    assert "".join(text[each.start : each.end] for each in result).replace(" ", "") == text.replace(" ", "")


@given(
    words=st.lists(
        st.sampled_from(["a", "word", "é", "映画", "x" * 25, "y" * 130, "\x1c", "…"]), min_size=80, max_size=100
    ),
    gap=st.sampled_from([" ", "\n", "  "]),
)
def test_a_text_near_the_size_of_two_segments_is_one_only_if_its_words_say_so(words: list[str], gap: str) -> None:
    text = gap.join(words)
    expected = max(1, round(count_words(text) / WORDS_PER_SEGMENT))
    assert segment_count(text) == expected
    assert (len(segments(text)) == 1) == (expected == 1)
