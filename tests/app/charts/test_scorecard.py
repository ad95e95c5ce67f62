"""A card as a figure: what is drawn, what is not, and the same in words and as a table."""

from typing import Any, get_args

import pandas as pd
import pytest

from traitbench.app.charts import scorecard
from traitbench.app.charts.rows import ROW_HEIGHT
from traitbench.app.shell.theme import NO_TIER, PALETTE, TIERS
from traitbench.contract.confidence import REASONS
from traitbench.contract.scores import Breaks, Confidence, ConfidenceReason, Native, Tier, TraitScore

NAMES = {"clarity": "Clarity", "warmth": "Warmth"}


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


def drawn(**traits: TraitScore) -> Any:
    return scorecard.figure(traits, NAMES, PALETTE)


def bars(figure: Any) -> Any:
    return next(trace for trace in figure.data if trace.type == "bar" and trace.hovertemplate)


def notes(figure: Any) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


def test_a_bar_is_as_long_as_its_score() -> None:
    assert list(bars(drawn(clarity=trait(84), warmth=trait(9))).x) == [84, 9]


@pytest.mark.parametrize(("label", "sign"), TIERS.items())
def test_a_tier_is_said_by_colour_and_by_word(label: Tier, sign: Any) -> None:
    figure = drawn(clarity=trait(50, label))
    assert bars(figure).marker.color[0] == sign.colour
    assert label in notes(figure)[0]


def test_a_score_of_low_confidence_has_no_tier_and_is_hatched() -> None:
    figure = drawn(clarity=trait(52, None, "low"))
    assert bars(figure).marker.pattern.shape[0] == "/"
    assert bars(figure).marker.color[0] not in {sign.colour for sign in TIERS.values()}
    assert bars(figure).marker.line.color == NO_TIER.colour
    assert "uncertain" in notes(figure)[0]
    assert not any(tier in notes(figure)[0] for tier in TIERS)


def test_the_track_steps_at_the_breaks() -> None:
    tracks = [trace for trace in drawn(clarity=trait(84)).data if trace.type == "bar" and not trace.hovertemplate]
    assert [(trace.base[0], trace.base[0] + trace.x[0]) for trace in tracks] == [(0, 20), (20, 50), (50, 80), (80, 100)]


def test_the_band_is_a_line_from_its_low_to_its_high_end() -> None:
    band = next(trace for trace in drawn(clarity=trait(84), warmth=trait(9)).data if trace.type == "scatter")
    assert list(band.x) == [40, 60, None, 40, 60, None]


@pytest.mark.parametrize("count", [1, 2, 64])
def test_the_height_grows_by_a_row_a_trait(count: int) -> None:
    one, more = (drawn(**{f"trait_{i}": trait(50) for i in range(rows)}).layout.height for rows in (1, count))
    assert more - one == (count - 1) * ROW_HEIGHT


def test_no_text_has_a_colour_of_its_own() -> None:
    """A colour that is set here would stay when the theme is switched."""
    figure = drawn(clarity=trait(84))
    figure.update_layout(template="none")
    assert '"font"' not in figure.to_json().partition('"template"')[0]
    assert figure.layout.annotations
    assert all(annotation.font.color is None for annotation in figure.layout.annotations)
    assert figure.layout.font.color is None


def test_tags_in_a_name_are_shown_not_obeyed() -> None:
    figure = scorecard.figure({"a": trait(50)}, {"a": "<b>Bold & co"}, PALETTE)
    assert figure.layout.yaxis.ticktext[0].strip() == "&lt;b&gt;Bold &amp; co"
    assert bars(figure).customdata[0][0] == "&lt;b&gt;Bold &amp; co"


def test_a_long_name_is_cut_in_its_row_and_whole_in_the_table() -> None:
    name = "How urgently the writer wants an answer"
    figure = scorecard.figure({"a": trait(50)}, {"a": name}, PALETTE)
    assert figure.layout.yaxis.ticktext[0].strip().endswith("…")
    assert scorecard.table({"a": trait(50)}, {"a": name})["Trait"].tolist() == [name]


def test_the_chart_in_words_says_every_score() -> None:
    words = scorecard.alt({"clarity": trait(84, "Strong"), "warmth": trait(52, None, "low")}, NAMES)
    assert "Clarity 84 (Strong, high confidence)" in words
    assert "Warmth 52 (uncertain, low confidence, no tier)" in words


@pytest.mark.parametrize("reason", get_args(ConfidenceReason))
def test_why_confidence_is_not_high_is_in_the_hover_the_alt_text_and_the_table(reason: ConfidenceReason) -> None:
    detail = {"clarity": trait(84, "Strong"), "warmth": trait(52, None, "low", reason)}
    words = REASONS[reason]
    hints = [hint for _, hint in bars(scorecard.figure(detail, NAMES, PALETTE)).customdata]
    assert words.sentence in hints[1]
    assert f"Warmth 52 (uncertain, low confidence, no tier: {words.short})" in scorecard.alt(detail, NAMES)
    column = scorecard.table(detail, NAMES)["Why not high"]
    assert pd.isna(column[0])
    assert column[1] == words.short
    assert not any(each.sentence in hints[0] for each in REASONS.values())


def test_a_service_that_gives_no_reason_is_shown_without_one() -> None:
    detail = {"warmth": trait(52, None, "low")}
    assert scorecard.alt(detail, NAMES).endswith("Warmth 52 (uncertain, low confidence, no tier).")
    assert "<br><br>" not in bars(scorecard.figure(detail, NAMES, PALETTE)).customdata[0][1]


def test_the_table_has_all_that_the_card_has() -> None:
    row = scorecard.table({"clarity": trait(84, "Strong")}, NAMES).iloc[0].to_dict()
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
