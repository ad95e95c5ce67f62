"""The bar chart against pictures drawn by hand (core/docs/contract.md, section 8)."""

import pytest

from traitbench.contract.scores import (
    Breaks,
    Card,
    Comparison,
    Confidence,
    Delta,
    Native,
    ScoreMetadata,
    Tier,
    TraitScore,
)
from traitbench.display.barchart import draw, draw_pair


def card(*rows: tuple[str, int, Confidence, Tier | None], composite: int = 0, confidence: Confidence = "high") -> Card:
    return Card(
        scores={key: score for key, score, _, _ in rows},
        composite=composite,
        confidence=confidence,
        headroom=None,
        detail={key: trait(score, sure, label) for key, score, sure, label in rows},
        input_tokens=3,
        metadata=ScoreMetadata(request_id="req_0", version_id="v1", sample_ids=[]),
    )


def trait(score: int, confidence: Confidence, label: Tier | None) -> TraitScore:
    return TraitScore(
        score=score,
        label=label,
        confidence=confidence,
        band=[40, 60],
        headroom=None,
        breaks=Breaks(developing=20, solid=50, strong=80),
        native=Native(polarity=0.0),
    )


def test_a_card_of_three_traits() -> None:
    drawn = draw(
        card(
            ("clarity", 77, "high", "Solid"),
            ("x", 100, "moderate", "Strong"),
            ("warmth", 0, "low", None),
            composite=87,
            confidence="low",
        )
    )
    assert drawn == (
        "clarity    ███████████████░░░░░   77  ●●●       Solid\n"
        "x          ████████████████████  100  ●●○      Strong\n"
        "warmth     ░░░░░░░░░░░░░░░░░░░░    0  ●○○            \n"
        "────────────────────────────────────\n"
        "Composite  █████████████████░░░   87  ●○○"
    )


def test_a_key_longer_than_composite_widens_every_row() -> None:
    drawn = draw(
        card(("clarity_and_simplicity", 40, "high", "Developing"), ("warmth", 9, "high", "Weak"), composite=15)
    )
    assert drawn == (
        "clarity_and_simplicity  ████████░░░░░░░░░░░░   40  ●●●  Developing\n"
        "warmth                  ██░░░░░░░░░░░░░░░░░░    9  ●●●        Weak\n"
        "─────────────────────────────────────────────────\n"
        "Composite               ███░░░░░░░░░░░░░░░░░   15  ●●●"
    )


def test_one_trait_has_neither_rule_nor_composite_nor_its_width() -> None:
    drawn = draw(card(("warmth", 63, "moderate", "Solid"), composite=63, confidence="moderate"))
    assert drawn == "warmth  █████████████░░░░░░░   63  ●●○       Solid"


def test_the_rule_lies_under_name_bar_and_score() -> None:
    first, _, rule, total = draw(card(("a", 5, "high", "Weak"), ("b", 7, "high", "Weak"))).split("\n")
    assert set(rule) == {"─"}
    assert first[: len(rule)].endswith("  5")
    assert first[len(rule) :].startswith("  ●●●")
    assert total[: len(rule)].endswith("  0")


@pytest.mark.parametrize(
    ("score", "full"), [(0, 0), (2, 0), (3, 1), (7, 1), (8, 2), (50, 10), (97, 19), (98, 20), (100, 20)]
)
def test_a_cell_is_five_points(score: int, full: int) -> None:
    assert draw(card(("a", score, "high", "Solid"))).split("  ")[1] == "█" * full + "░" * (20 - full)


def test_traits_stand_in_the_order_of_the_card() -> None:
    rows = draw(card(("b", 1, "high", "Weak"), ("a", 2, "high", "Weak"), ("c", 3, "high", "Weak"))).split("\n")
    assert [row[0] for row in rows[:3]] == ["b", "a", "c"]


def comparison(a: Card, b: Card) -> Comparison:
    deltas = {key: Delta(a=a.scores[key], b=b.scores[key], delta=b.scores[key] - a.scores[key]) for key in a.scores}
    return Comparison(a=a, b=b, improvement=b.composite - a.composite, per_trait=deltas)


def test_two_cards_side_by_side() -> None:
    drawn = draw_pair(
        comparison(
            card(("clarity", 77, "high", "Solid"), ("warmth", 40, "low", None), composite=53, confidence="low"),
            card(("clarity", 77, "high", "Solid"), ("warmth", 9, "high", "Developing"), composite=16),
        )
    )
    assert drawn == (
        "           a                                             b                                              b-a\n"
        "clarity    ███████████████░░░░░   77  ●●●       Solid    ███████████████░░░░░   77  ●●●       Solid       0\n"
        "warmth     ████████░░░░░░░░░░░░   40  ●○○                ██░░░░░░░░░░░░░░░░░░    9  ●●●  Developing     -31\n"
        "───────────────────────────────────────────────────────────────────────────────────────────────────────────\n"
        "Composite  ███████████░░░░░░░░░   53  ●○○                ███░░░░░░░░░░░░░░░░░   16  ●●●                 -37"
    )


def test_two_cards_of_one_trait_have_no_composite() -> None:
    drawn = draw_pair(comparison(card(("warmth", 0, "high", "Weak")), card(("warmth", 100, "high", "Strong"))))
    assert drawn == (
        "        a                                             b                                              b-a\n"
        "warmth  ░░░░░░░░░░░░░░░░░░░░    0  ●●●        Weak    ████████████████████  100  ●●●      Strong    +100"
    )
