"""A score card as plain text (CONTRACT 8, `Accept: text/plain`): one row a trait, then a rule and the composite.

    clarity    ███████████████░░░░░   77  ●●●       Solid
    warmth     █████████████████░░░   85  ●●○      Strong
    ────────────────────────────────────
    Composite  ████████████████░░░░   81  ●●○

Rows keep the blanks at their ends, so that columns can be cut by position. With one trait shown there is no composite.
"""

from collections.abc import Mapping

from core.contract.scores import Card, Confidence

CELLS = 20
GAP = "  "
TOTAL = "Composite"
DOTS: Mapping[Confidence, str] = {"high": "●●●", "moderate": "●●○", "low": "●○○"}


def draw(card: Card) -> str:
    """The card as lines of text, without a line end behind the last."""
    alone = len(card.detail) == 1
    width = max(len(name) for name in (*card.detail, *(() if alone else (TOTAL,))))
    rows = [
        GAP.join((_measure(key, trait.score, width), DOTS[trait.confidence], f"{trait.label or '':>10}"))
        for key, trait in card.detail.items()
    ]
    if not alone:
        total = _measure(TOTAL, card.composite, width)
        rows += ["─" * len(total), GAP.join((total, DOTS[card.confidence]))]
    return "\n".join(rows)


def _measure(name: str, score: int, width: int) -> str:
    """The first three columns: name, bar, score."""
    full = round(score / 100 * CELLS)
    return GAP.join((name.ljust(width), "█" * full + "░" * (CELLS - full), f"{score:>3}"))
