"""A card as rows for the bars: which pole, how sure, why not, and the same as a table."""

from typing import get_args

import pandas as pd
import pytest

from traitbench.contract.scores import (
    Breaks,
    Card,
    Comparison,
    Confidence,
    ConfidenceReason,
    Native,
    ScoreMetadata,
    Tier,
    TraitScore,
)
from traitbench.display.colours import SIDES
from traitbench.display.words import REASONS
from traitbench.local.names import NameScore
from traitbench_app.parts.card import ScoreRow, card_table, pair_rows, row_by_names, score_rows, signed

NAMES = {"clarity": "Clarity", "warmth": "Warmth"}
POLES = {"clarity": ("confusing", "clear"), "warmth": ("cold", "warm")}


def trait(
    score: int,
    label: Tier | None = "Solid",
    confidence: Confidence = "high",
    reason: ConfidenceReason | None = None,
) -> TraitScore:
    return TraitScore(
        score=score,
        label=label,
        confidence=confidence,
        confidence_reason=reason,
        band=[40, 60],
        headroom=None if label is None else 5,
        breaks=Breaks(developing=20, solid=50, strong=80),
        native=Native(polarity=score / 50 - 1),
    )


def card(**detail: TraitScore) -> Card:
    return Card(
        scores={key: each.score for key, each in detail.items()},
        composite=50,
        confidence="high",
        headroom=None,
        detail=detail,
        input_tokens=3,
        metadata=ScoreMetadata(request_id="req", version_id="v1", sample_ids=[]),
    )


def rows(**detail: TraitScore) -> list[ScoreRow]:
    return score_rows(card(**detail), NAMES, POLES)


@pytest.mark.parametrize(
    ("score", "confidence", "words", "side"),
    [
        (84, "high", "clearly warm", True),
        (61, "moderate", "probably warm", True),
        (9, "high", "clearly cold", False),
        (70, "low", "no clear side", None),
        (50, "high", "no clear side", None),
    ],
)
def test_a_bar_has_words_and_colour_of_its_pole(
    score: int, confidence: Confidence, words: str, side: bool | None
) -> None:
    (row,) = rows(warmth=trait(score, None, confidence))
    look = SIDES[side]
    assert (row.words, row.colour, row.fill, row.sign) == (words, look.words, look.colour, look.sign)
    assert (row.negative, row.positive, row.score, row.sure) == ("cold", "warm", score, confidence)


def test_the_main_trait_is_first_and_the_others_keep_their_order() -> None:
    detail = card(clarity=trait(50), depth=trait(50), warmth=trait(50))
    assert [row.name for row in score_rows(detail, NAMES, POLES, main="warmth")] == ["Warmth", "Clarity", "depth"]
    assert [row.name for row in score_rows(detail, NAMES, POLES)] == ["Clarity", "depth", "Warmth"]


@pytest.mark.parametrize("reason", get_args(ConfidenceReason))
def test_why_a_score_is_not_sure_is_below_its_bar_and_in_the_table(reason: ConfidenceReason) -> None:
    detail = {"clarity": trait(84, "Strong"), "warmth": trait(52, None, "low", reason)}
    assert [row.note for row in rows(**detail)] == ["", REASONS[reason].sentence]
    assert [row.note for row in score_rows(card(**detail), NAMES, POLES, reasons=False)] == ["", ""]
    column = card_table(detail, NAMES)["Why not high"]
    assert pd.isna(column[0])
    assert column[1] == REASONS[reason].short


@pytest.mark.parametrize("reason", get_args(ConfidenceReason))
@pytest.mark.parametrize(("score", "lean", "side"), [(73, "leans to warm", True), (9, "leans to cold", False)])
def test_a_text_without_a_side_leans_where_its_samples_can_say_where(
    reason: ConfidenceReason, score: int, lean: str, side: bool
) -> None:
    (row,) = score_rows(card(warmth=trait(score, None, "low", reason)), NAMES, POLES, leans=True)
    if reason in ("few_samples", "unlike_samples"):
        assert (row.words, row.sure, row.fill) == (lean, "leans", SIDES[side].colour)
        assert row.note.endswith("less sure.")
        assert (row.data["how"], row.data["pole"]) == ("leans to", lean.split()[-1])
    else:
        assert (row.words, row.sure, row.note) == ("no clear side", "low", REASONS[reason].sentence)


def test_a_text_in_the_middle_or_with_a_side_does_not_lean() -> None:
    middle, sure = trait(50, None, "low", "few_samples"), trait(61, None, "moderate", "few_samples")
    drawn = score_rows(card(warmth=middle, clarity=sure), NAMES, POLES, leans=True)
    assert [row.words for row in drawn] == ["no clear side", "probably clear"]
    assert drawn[1].note == REASONS["few_samples"].less_sure, "no bar with a side says that its score means little"


@pytest.mark.parametrize(("score", "words", "sure"), [(94, "nearer to urgent", "names"), (55, "no clear side", "low")])
def test_a_side_by_names_alone_is_marked_as_not_tested(score: int, words: str, sure: str) -> None:
    row = row_by_names("relaxed", "urgent", NameScore(score))
    assert (row.words, row.sure, row.chip) == (words, sure, "not tested")
    assert row.note.startswith(f"From the two words alone: nearer to urgent than {score} of 100 everyday sentences.")


def test_a_row_in_words_names_both_poles() -> None:
    assert rows(warmth=trait(84))[0].alt == "Warmth: clearly warm, 84 from 0, cold, to 100, warm"


def test_of_two_texts_the_largest_sure_difference_is_first_and_an_unsure_one_claims_no_side() -> None:
    a = card(clarity=trait(10), warmth=trait(80), depth=trait(40))
    b = card(clarity=trait(90), warmth=trait(20), depth=trait(50))
    both = Comparison.of(a, b, {"clarity": False, "warmth": True, "depth": True})
    changes = pair_rows(both, NAMES, POLES | {"depth": ("flat", "deep")})
    assert [(row.name, row.words, row.sure) for row in changes] == [
        ("Warmth", "closer to cold", "high"),
        ("depth", "closer to deep", "high"),
        ("Clarity", "no sure difference", "low"),
    ]
    assert [(row.before, row.score) for row in changes] == [(80, 20), (40, 50), (10, 90)]
    assert changes[2].colour == SIDES[None].words


def test_an_older_version_says_that_it_cannot_judge_a_difference() -> None:
    both = Comparison.of(card(warmth=trait(80)), card(warmth=trait(20)), {"warmth": None})
    (row,) = pair_rows(both, NAMES, POLES)
    assert (row.words, row.sure) == ("closer to cold", "moderate")
    assert "not known" in row.note


@pytest.mark.parametrize(("delta", "text"), [(7, "▲ +7"), (-3, "▼ −3"), (0, "=")])
def test_a_change_is_said_by_a_sign_and_a_number(delta: int, text: str) -> None:
    assert signed(delta) == text


def test_the_table_has_all_that_the_card_has() -> None:
    row = card_table({"clarity": trait(84, "Strong")}, NAMES).iloc[0].to_dict()
    assert row == {
        "Trait": "Clarity",
        "Score": 84,
        "Tier": "Strong",
        "Confidence": "high",
        "Why not high": None,
        "Band low": 40,
        "Band high": 60,
        "To next tier": 5,
        "Developing from": 20,
        "Solid from": 50,
        "Strong from": 80,
        "Polarity": 0.68,
    }
