"""The bar chart against pictures drawn by hand (core/docs/contract.md, section 8)."""

import pytest

from tests.display.answers import card, trait_score
from traitbench.contract.scores import Card, Comparison, Confidence, Delta, Tier
from traitbench.display.barchart import draw, draw_pair


def drawn(*rows: tuple[str, int, Confidence, Tier | None], composite: int = 0, confidence: Confidence = "high") -> Card:
    detail = {key: trait_score(score, sure, label) for key, score, sure, label in rows}
    return card(detail, composite=composite, confidence=confidence)


def test_a_card_of_three_traits() -> None:
    picture = draw(
        drawn(
            ("clarity", 77, "high", "Solid"),
            ("x", 100, "moderate", "Strong"),
            ("warmth", 0, "low", None),
            composite=87,
            confidence="low",
        )
    )
    assert picture == (
        "clarity    ███████████████░░░░░   77  ●●●       Solid\n"
        "x          ████████████████████  100  ●●○      Strong\n"
        "warmth     ░░░░░░░░░░░░░░░░░░░░    0  ●○○            \n"
        "────────────────────────────────────\n"
        "Composite  █████████████████░░░   87  ●○○"
    )


def test_a_key_longer_than_composite_widens_every_row() -> None:
    picture = draw(
        drawn(("clarity_and_simplicity", 40, "high", "Developing"), ("warmth", 9, "high", "Weak"), composite=15)
    )
    assert picture == (
        "clarity_and_simplicity  ████████░░░░░░░░░░░░   40  ●●●  Developing\n"
        "warmth                  ██░░░░░░░░░░░░░░░░░░    9  ●●●        Weak\n"
        "─────────────────────────────────────────────────\n"
        "Composite               ███░░░░░░░░░░░░░░░░░   15  ●●●"
    )


def test_one_trait_has_neither_rule_nor_composite_nor_its_width() -> None:
    picture = draw(drawn(("warmth", 63, "moderate", "Solid"), composite=63, confidence="moderate"))
    assert picture == "warmth  █████████████░░░░░░░   63  ●●○       Solid"


@pytest.mark.parametrize(
    ("score", "full"), [(0, 0), (2, 0), (3, 1), (7, 1), (8, 2), (50, 10), (97, 19), (98, 20), (100, 20)]
)
def test_a_cell_is_five_points(score: int, full: int) -> None:
    assert draw(drawn(("a", score, "high", "Solid"))).split("  ")[1] == "█" * full + "░" * (20 - full)


def comparison(a: Card, b: Card) -> Comparison:
    deltas = {key: Delta(a=a.scores[key], b=b.scores[key], delta=b.scores[key] - a.scores[key]) for key in a.scores}
    return Comparison(a=a, b=b, improvement=b.composite - a.composite, per_trait=deltas)


def test_two_cards_side_by_side() -> None:
    picture = draw_pair(
        comparison(
            drawn(("clarity", 77, "high", "Solid"), ("warmth", 40, "low", None), composite=53, confidence="low"),
            drawn(("clarity", 77, "high", "Solid"), ("warmth", 9, "high", "Developing"), composite=16),
        )
    )
    assert picture == (
        "           a                                             b                                              b-a\n"
        "clarity    ███████████████░░░░░   77  ●●●       Solid    ███████████████░░░░░   77  ●●●       Solid       0\n"
        "warmth     ████████░░░░░░░░░░░░   40  ●○○                ██░░░░░░░░░░░░░░░░░░    9  ●●●  Developing     -31\n"
        "───────────────────────────────────────────────────────────────────────────────────────────────────────────\n"
        "Composite  ███████████░░░░░░░░░   53  ●○○                ███░░░░░░░░░░░░░░░░░   16  ●●●                 -37"
    )


def test_two_cards_of_one_trait_have_no_composite() -> None:
    picture = draw_pair(comparison(drawn(("warmth", 0, "high", "Weak")), drawn(("warmth", 100, "high", "Strong"))))
    assert picture == (
        "        a                                             b                                              b-a\n"
        "warmth  ░░░░░░░░░░░░░░░░░░░░    0  ●●●        Weak    ████████████████████  100  ●●●      Strong    +100"
    )
