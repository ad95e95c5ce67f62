import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit

from tests.real_encoder import best
from tests.scoring.hand import axis, encode, snapshot
from tests.scoring.positions import positions
from tests.scoring.test_words import IN_WORDS, joined
from tests.size import sized
from traitbench.as_read import as_read
from traitbench.encoders import leave_one_out_of
from traitbench.scoring.explain import MOST_PARTS, MOST_READ, Reasons, TextPart, explain
from traitbench.scoring.segments import Segment
from traitbench.scoring.snapshot import Snapshot
from traitbench.scoring.words import characters, with_endings

TEXTS = {
    "one word": "east",
    "one sentence": "east and then a little north",
    "sentences": "East it is. North, they said, but not west. So be it.",
    "paragraphs": "East.\n\nNorth north east.\n\n\nSouth.",
    "many sentences": " ".join(f"{wind} {number}." for number, wind in enumerate(("East", "north", "west") * 9)),
    "segments": " ".join(f"They went {wind} for a long while, day {day}." for day, wind in enumerate(("east", "north")))
    * 20,
    "a silent segment": "east " * 60 + ". " + "nowhere " * 60 + ". north west.",
    "padded": "  \n east north.  West. \t ",
    "without a space": "eastnorth" * 40,
}
SILENT = ("nothing", "...", "\n\n", "")
ASKED = ("none", "mean", "max", "min")


def model(*, max_depth: int = 1) -> Snapshot:
    """A trait for every aggregation, each different."""
    return snapshot(
        *(
            axis(name, vector=(2.0 + i, 0.5 * i - 1), offset=0.25 * i - 0.3, aggregation=name)
            for i, name in enumerate(ASKED)
        ),
        max_depth=max_depth,
    )


def total(reasons: Reasons) -> float:
    return math.fsum([reasons.baseline, *(part.contribution for part in reasons.parts)])


def score_of(reasons: Reasons) -> float:
    return float(expit(reasons.position)) if reasons.unit == "logit" else reasons.position


def gaps(text: str, pieces: Sequence[object], start: int, end: int) -> str:
    """The characters of the text that are in no piece."""
    left = ""
    for piece in pieces:
        left += text[start : piece.start]  # type: ignore[attr-defined]
        start = piece.end  # type: ignore[attr-defined]
    return left + text[start:end]


def assert_sound(text: str, depth: int) -> None:
    """Contributions add up to the position of a score, and nothing but space is left out."""
    scored = model(max_depth=depth)
    result = explain(scored, encode, text)
    for trait, position in zip(scored.traits, positions(scored, encode, [text])[0], strict=True):
        reasons = result.traits[trait.key]
        assert total(reasons) == pytest.approx(reasons.position, abs=1e-9)
        assert score_of(reasons) == pytest.approx(position, abs=1e-12)
        assert reasons.baseline == (0.0 if reasons.unit == "logit" else 0.5)
        assert not gaps(text, reasons.parts, 0, len(text)).strip()
        for part in reasons.parts:
            if part.pieces:
                assert len(part.pieces) > 1
                assert (part.pieces[0].start, part.pieces[-1].end) == (part.start, part.end)
                assert not gaps(text, part.pieces, part.start, part.end).strip()
                sum_of_pieces = math.fsum(each.contribution for each in part.pieces)
                assert sum_of_pieces == pytest.approx(part.contribution, abs=1e-9)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("text", [*TEXTS.values(), *SILENT], ids=[*TEXTS, *map(repr, SILENT)])
def test_contributions_add_up_and_cover_the_text(text: str, depth: int) -> None:
    assert_sound(text, depth)


@settings(max_examples=sized(40, 120), deadline=None, derandomize=True)
@given(
    words=st.lists(
        st.sampled_from(["east", "North", "West.", "no", "\n\n", "a,", "。東", "\u2028", "…", "x" * 30]), max_size=90
    ),
    gap=st.sampled_from([" ", "  ", "\n", ""]),
    depth=st.integers(1, 3),
)
def test_contributions_add_up_and_cover_any_text(words: list[str], gap: str, depth: int) -> None:
    assert_sound(gap.join(words), depth)


def test_a_word_counts_by_what_it_changes_and_opposite_words_in_opposite_directions() -> None:
    (part,) = explain(snapshot(), encode, "nowhere east nowhere").traits["warmth"].parts
    assert [piece.contribution for piece in part.pieces] == pytest.approx([0, 2, 0], abs=1e-12)
    text = "East east north. West."
    first, second = explain(snapshot(), encode, text).traits["warmth"].parts
    assert first.contribution > 0 > second.contribution
    assert text[second.start : second.end] == "West."


def test_two_words_use_both_orders() -> None:
    """Two words at 45 degrees: each counts fully alone, and both together count less than their sum."""
    (part,) = explain(snapshot(axis(vector=(2, 0))), encode, "east north").traits["warmth"].parts
    together = 2 / math.sqrt(2)
    east, north = (piece.contribution for piece in part.pieces)
    assert (east, north) == pytest.approx(((2 + together) / 2, (0 + together - 2) / 2), abs=1e-6)


def test_a_text_that_says_nothing_has_no_reasons() -> None:
    for reasons in explain(model(max_depth=3), encode, "nothing at all").traits.values():
        assert (reasons.position, reasons.unit, reasons.decided_by) == (0.0, "logit", None)
        assert {part.contribution for part in reasons.parts} == {0.0}


@pytest.mark.parametrize(
    ("aggregation", "text", "decided"),
    [
        ("max", "East is where it begins.\n\nWest.\n\nNorth, in the end.", "East is where it begins."),
        ("min", "East is where it begins.\n\nWest.\n\nNorth, in the end.", "West."),
        ("max", "East.\n\nEast.", "East."),
    ],
    ids=["max", "min", "the first of equals"],
)
def test_the_deciding_part_is_named_and_counts_alone(aggregation: str, text: str, decided: str) -> None:
    reasons = explain(snapshot(axis(aggregation=aggregation), max_depth=2), encode, text).traits["warmth"]
    start = text.index(decided)
    end = start + len(decided)
    assert reasons.decided_by == Segment(start, end)
    assert {part.contribution for part in reasons.parts if not start <= part.start < end} == {0.0}


def test_a_mean_of_parts_is_explained_on_the_scale_of_scores() -> None:
    text = "East.\n\nWest west."
    reasons = explain(snapshot(max_depth=2), encode, text).traits["warmth"]
    scores = expit([2.0, -2.0])
    assert (reasons.unit, reasons.decided_by) == ("score", None)
    assert [part.contribution for part in reasons.parts] == pytest.approx([(each - 0.5) / 2 for each in scores])


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_reasons_of_a_trait_depend_on_its_text_and_axis_alone(text: str) -> None:
    scored = model(max_depth=2)
    together = explain(scored, encode, text)
    assert explain(scored, encode, text).traits == together.traits
    for trait in scored.traits:
        alone = explain(replace(scored, traits=(trait,)), encode, text)
        assert alone.traits[trait.key] == together.traits[trait.key]


class Counting:
    """The encoder, counting the texts it encodes."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return encode(texts)


LONG = " ".join(f"{'East' if day % 3 else 'West'} on day {day}, and {day} miles north." for day in range(3_000))


@pytest.mark.parametrize("text", [*TEXTS.values(), LONG], ids=[*TEXTS, "long"])
@pytest.mark.parametrize("count", [1, 20])
def test_encodings_are_limited_and_shared_by_traits(text: str, count: int) -> None:
    scored = snapshot(*(axis(f"trait_{i}", vector=(2.0, 0.1 * i)) for i in range(count)))
    look = Counting()
    explain(scored, encode, text, look=look)
    assert len(look.texts) <= MOST_READ


def test_in_a_long_text_the_most_important_passages_are_divided() -> None:
    quiet = "They walked on for a while. Nothing was to be seen. " * 6
    text = (quiet * 40 + "East! East! North.\n\n" + quiet) * 3 + LONG
    reasons = explain(snapshot(), encode, text).traits["warmth"]
    assert not reasons.refined
    assert reasons.position == pytest.approx(total(reasons), abs=1e-9)
    strongest = max(reasons.parts, key=lambda part: abs(part.contribution))
    assert strongest.end - strongest.start < 400
    assert explain(snapshot(), encode, TEXTS["sentences"]).traits["warmth"].refined


def test_merged_passages_cover_a_very_long_text_too() -> None:
    text = "\n\n".join(f"They went {'east' if day % 3 else 'west'} on day {day}." for day in range(2 * MOST_PARTS))
    parts = explain(snapshot(max_depth=3), encode, text).traits["warmth"].parts
    assert len(parts) < len(text.split("\n\n"))
    assert not gaps(text, parts, 0, len(text)).strip()


def test_a_short_text_is_explained_by_words_and_a_longer_one_by_phrases() -> None:
    def pieces(text: str) -> list[str]:
        (part,) = explain(snapshot(), encode, text).traits["warmth"].parts
        return [text[each.start : each.end] for each in part.pieces]

    assert pieces("you would not go east") == ["you", "would", "not", "go", "east"]
    long = "east of the river they built a house, and north of it a barn, which they sold because of the rain in spring"
    assert pieces(long)[:3] == ["east", "of the", "river"]
    assert len(pieces(long)) <= 18
    assert TextPart(0, 4, 2.0, ()) == explain(snapshot(), encode, "east").traits["warmth"].parts[0]


def by_letters(texts: Sequence[str]) -> NDArray[np.float32]:
    """How many letters have even and odd code points, at length one: every letter of every script counts."""
    codes = [[ord(letter) for letter in text if not letter.isspace()] for text in texts]
    rows = [(sum(1 for code in own if code % 2 == 0), sum(code % 2 for code in own)) for own in codes]
    return np.array([np.array(row) / (np.linalg.norm(row) or 1) for row in rows], np.float32).reshape(-1, 2)


SCRIPTS = {
    "Thai": "ร้านนี้อาหารอร่อยมากพนักงานบริการดีที่จอดรถน้อย" * 12,
    "Khmer": "ខ្ញុំចូលចិត្តម្ហូបនៅទីនេះណាស់ប៉ុន្តែសេវាកម្មយឺតពេក" * 12,
    "Japanese": "この映画はとても面白かったか\u3099楽しい" * 20,
    "families": "👨‍👩‍👧‍👦" * 300,
    "flags": "🇩🇪🇫🇷" * 500 + "👍🏽" * 301,
    "stacked marks": ("Z" + "\u0337\u0321" * 40) * 60,
    "one character": "Z" + "\u0337" * 255 + "\u0321" * 256 + "\u0316" * 256 + "\u0317" * 256 + "\u0318" * 256,
}


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS)
def test_no_part_begins_or_ends_inside_a_character(text: str, depth: int) -> None:
    scored, whole = model(max_depth=depth), set(characters(text))
    for reasons in explain(scored, by_letters, text).traits.values():
        assert total(reasons) == pytest.approx(reasons.position, abs=1e-9)
        assert not gaps(text, reasons.parts, 0, len(text)).strip()
        for part in reasons.parts:
            assert math.fsum(each.contribution for each in part.pieces or [part]) == pytest.approx(part.contribution)
            assert {place for each in (part, *part.pieces) for place in (each.start, each.end)} <= whole
            assert all(each.start < each.end for each in (part, *part.pieces))


def test_the_words_of_a_script_without_spaces_count_alone_and_no_space_is_put_between_them() -> None:
    text, asked = "この映画はとても面白い", list[str]()

    def noting(texts: Sequence[str]) -> NDArray[np.float32]:
        asked.extend(texts)
        return by_letters(texts)

    (part,) = explain(snapshot(), noting, text).traits["warmth"].parts
    assert [text[each.start : each.end] for each in part.pieces] == ["この", "映画は", "とても", "面白い"]
    assert "この" in asked
    assert not [each for each in asked if " " in each]


@pytest.mark.parametrize("language", IN_WORDS)
def test_the_reasons_of_the_real_encoder_add_up_in_every_script(language: str) -> None:
    text, encoder = joined(language), best()
    axes = np.random.default_rng(3).normal(size=(2, encoder.dimension))
    made = snapshot(*(axis(f"trait_{i}", vector=tuple(each)) for i, each in enumerate(axes)))
    scored = replace(made, encoder=replace(made.encoder, dimension=encoder.dimension))
    [vector] = encoder.encode([as_read(text).text])
    whole = {text[start:end] for start, end in with_endings(text)}
    leave_one_out = leave_one_out_of(encoder)
    assert leave_one_out
    for trait, reasons in explain(scored, encoder.encode, text, leave_one_out=leave_one_out).traits.items():
        assert total(reasons) == pytest.approx(reasons.position, abs=1e-9)
        assert reasons.position == pytest.approx(float(axes[int(trait[-1])] @ vector.astype(np.float64)), abs=1e-5)
        pieces = [text[each.start : each.end] for part in reasons.parts for each in part.pieces or [part]]
        assert whole & set(pieces)
        assert "".join(pieces).replace(" ", "") == text.replace(" ", "")
