"""The quality filter of made texts: each reason, and what is accepted."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.scoring.hand import directions
from traitbench.synthesis import Exemplar
from traitbench.synthesis.quality_filter import (
    NEAR_DUPLICATE,
    Present,
    Reason,
    admit_varied,
    distinct,
    examine,
    on_side,
)

NEUTRAL = ("the", "of", "and", "to", "in", "is", "on", "by", "it", "or", "be", "at", "as", "an", "we", "us")


def spread(count: int) -> NDArray[np.float32]:
    """Unit vectors of which no two are alike, and all on the same place of the first axis."""
    return np.hstack([np.full((count, 1), 0.1), np.eye(count) * np.sqrt(0.99)]).astype(np.float32)


def graded(*texts: tuple[str, float]) -> list[Reason | None]:
    """The quality filter without vectors that matter."""
    quality = np.array([quality for _, quality in texts])
    return examine([text for text, _ in texts], quality, spread(len(texts)))


def both(positive: list[str], negative: list[str]) -> list[Reason | None]:
    return graded(*((text, 1.0) for text in positive), *((text, 0.0) for text in negative))


def test_good_texts_are_accepted() -> None:
    assert graded(("How kind of you.", 1.0), ("Send the form.", 0.0), ("It may be kind.", 0.5)) == [None] * 3
    assert examine([], np.zeros(0), np.zeros((0, 4), np.float32)) == []


def test_a_copy_is_found_whatever_its_case_and_marks() -> None:
    texts = ["How kind of you!", "Come in.", "come in"]
    assert examine(texts, np.ones(3), spread(3), known_texts=["how kind of you"]) == ["copy", None, "copy"]


def test_near_duplicates_of_samples_and_of_earlier_texts_are_found() -> None:
    X, known = directions(0, 5, 90, 100, 180), directions(179)
    assert examine(list("abcde"), np.ones(5), X, known=known) == [
        None,
        "near_duplicate",
        None,
        "near_duplicate",
        "near_duplicate",
    ]


def test_a_near_duplicate_of_a_rejected_text_may_stay() -> None:
    X = directions(0, 15, 30)
    assert examine(list("abc"), np.ones(3), X) == [None, "near_duplicate", None]


def test_a_text_far_on_the_other_side_is_rejected_unless_it_is_in_between() -> None:
    X = directions(0, 30, 60, 175, 180, 210, 240, 330, 140)
    quality = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.5])
    reasons = examine([*"abcdefghi"], quality, X, axis=np.array([1.0, 0.0]))
    assert [row for row, each in enumerate(reasons) if each == "wrong_side"] == [3, 7]


def test_a_variation_may_not_drift_to_the_other_pole() -> None:
    seeds = directions(0, 10, 20, 30, 180, 190, 200, 210)
    X = directions(60, 120, 39, 301, 141, 80, 240, 160)  # the second and the sixth cross to the other side
    axis, quality = np.array([1.0, 0.0]), np.repeat([1.0, 0.0], 4)
    reasons = examine(list("abcdefgh"), quality, X, axis=axis, seeds=seeds)
    assert [row for row, each in enumerate(reasons) if each == "wrong_side"] == [1, 5]
    few = examine(list("ab"), quality[:2], X[:2], axis=axis, seeds=seeds[:2])
    assert few == [None, None]


def test_an_opening_may_not_be_repeated_too_often() -> None:
    texts = [f"It is so {word} here" for word in NEUTRAL[:5]]
    assert both(texts, [f"{word} we go now" for word in NEUTRAL[:5]])[:5] == [None] * 3 + ["repetitive"] * 2


@pytest.mark.parametrize("mark", ["!", "?", " 42.", " “so”.", "\nBye.", " NEVER.", " ☺"])
def test_a_mark_of_one_pole_only_is_thinned_out(mark: str) -> None:
    ways = [f"{word.title()} was what all of them saw there" for word in NEUTRAL]
    marked, unmarked = [f"{way}{mark}" for way in ways], [f"{way} gone." for way in ways]
    assert both([*marked[:8], *unmarked[8:]], [f"Never {text}" for text in unmarked])[:16] == [None] * 16
    negative = [f"{text[:-1]}, no." for text in unmarked]
    reasons = both(marked, negative)
    assert Counter(filter(None, reasons)) == {"form": 8}
    assert reasons[16:] == [None] * 16
    assert both(marked, [f"{way}, no{mark}" for way in ways]) == [None] * 32


def test_few_texts_are_not_judged_by_their_form_or_cut_short() -> None:
    assert both(["Yes!", "Oh!"], ["A rather long and winding text.", "One more of this kind here."]) == [None] * 4


def test_poles_of_unequal_length_are_trimmed_until_they_are_alike() -> None:
    positive = [" ".join([word, *["so"] * length]) for length, word in enumerate(NEUTRAL, 4)]
    negative = [" ".join([word, *["no"] * length]) for length, word in enumerate(NEUTRAL, 10)]
    reasons = both(positive, negative)
    assert set(reasons) == {None, "length"}
    words = [
        np.mean([len(text.split()) for text, reason in zip(texts, some, strict=True) if reason is None])
        for texts, some in ((positive, reasons[:16]), (negative, reasons[16:]))
    ]
    assert words[1] <= 1.25 * words[0]
    assert reasons.count("length") < 16


def test_at_most_half_of_a_pole_is_too_long() -> None:
    reasons = both([f"{word} so" for word in NEUTRAL], [f"{word} {'no ' * 40}" for word in NEUTRAL])
    assert Counter(filter(None, reasons)) == {"length": 16}


def test_a_pair_stays_or_goes_together() -> None:
    texts = ["How kind.", "How harsh.", "So kind.", "So harsh."]
    reasons = examine(texts, np.array([1.0, 0, 1, 0]), spread(4), known_texts=["how harsh"], pairs=[0, 0, 1, 1])
    assert reasons == ["copy", "copy", None, None]


def test_a_variation_far_from_its_seed_strayed_unless_it_is_free() -> None:
    degrees = {"seed": 0, "near": 40, "far": 300}

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        return directions(*(degrees[text] for text in texts))

    made = [Exemplar("warmth", text, 1.0, 0) for text in ("near", "far")]
    for free, rejected in ((False, [("far", "strayed")]), (True, [])):
        present = Present.of([], encode)
        admitted = admit_varied(made, ["seed"] * 2, present, encode=encode, poles=[1.0, 1.0], free=free)
        assert [(each.exemplar.text, each.reason) for each in admitted.rejects] == rejected


# ---- before a pair is written ----------------------------------------------------------------------------------------


def test_the_first_of_near_duplicates_is_kept() -> None:
    close = float(np.degrees(np.arccos(NEAR_DUPLICATE)))
    assert distinct(directions(0, close - 1, close + 1, 90, 90, 180)).tolist() == [True, False, True, True, False, True]


def test_a_duplicate_of_a_dropped_text_may_stay() -> None:
    close = float(np.degrees(np.arccos(NEAR_DUPLICATE)))
    assert distinct(directions(0, close * 0.9, close * 1.8)).tolist() == [True, False, True]


def test_a_text_far_on_the_other_side_is_dropped() -> None:
    positive, negative = directions(0, 10, 20, 30, 170), directions(180, 190, 200, 210, 100)
    kept = on_side(positive, negative, np.array([1.0, 0.0]))
    assert [side.tolist() for side in kept] == [[True] * 4 + [False], [True] * 5]
