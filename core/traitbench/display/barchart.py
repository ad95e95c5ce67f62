"""Score cards as plain text: one row for each trait, then a rule and the composite.

    clarity    ███████████████░░░░░   77  ●●●       Solid
    warmth     █████████████████░░░   85  ●●○      Strong
    ────────────────────────────────────
    Composite  ████████████████░░░░   81  ●●○

Rows keep their trailing spaces, so that columns can be cut by position. A card with one trait has no composite row. A
comparison shows two cards side by side under `a` and `b`; its last column is the change from a to b.

See core/docs/contract.md, "Text charts".
"""

from collections.abc import Mapping

from traitbench.contract.scores import Card, Comparison, Confidence, TraitScore

CELLS = 20
GAP = "  "
TOTAL = "Composite"
DOTS: Mapping[Confidence, str] = {"high": "●●●", "moderate": "●●○", "low": "●○○"}

_BETWEEN = GAP * 2
_SIDE = len(GAP.join(("█" * CELLS, "100", "●●●", "Developing")))


def draw(card: Card) -> str:
    """Return the card as lines of text, without a newline at the end."""
    width = _width(card)
    rows = [GAP.join((key.ljust(width), _trait(trait))) for key, trait in card.detail.items()]
    if _has_total(card):
        total = GAP.join((TOTAL.ljust(width), _measure(card.composite)))
        rows += ["─" * len(total), GAP.join((total, DOTS[card.confidence]))]
    return "\n".join(rows)


def draw_pair(comparison: Comparison) -> str:
    """Return both cards side by side, as lines of text."""
    a, b, width = comparison.a, comparison.b, _width(comparison.a)
    rows = [_pair("", "a".ljust(_SIDE), "b".ljust(_SIDE), " b-a", width)]
    rows += [
        _pair(key, _trait(a.detail[key]), _trait(b.detail[key]), _change(delta.delta), width)
        for key, delta in comparison.per_trait.items()
    ]
    if _has_total(a):
        total = _pair(TOTAL, _total(a), _total(b), _change(comparison.improvement), width)
        rows += ["─" * len(total), total]
    return "\n".join(rows)


def _width(card: Card) -> int:
    return max(len(name) for name in (*card.detail, *((TOTAL,) if _has_total(card) else ())))


def _has_total(card: Card) -> bool:
    return len(card.detail) > 1


def _pair(name: str, a: str, b: str, change: str, width: int) -> str:
    return GAP.join((name.ljust(width), _BETWEEN.join((a, b, change))))


def _trait(trait: TraitScore) -> str:
    """The columns of one trait of one card: bar, score, dots, label."""
    return GAP.join((_measure(trait.score), DOTS[trait.confidence], f"{trait.label or '':>10}"))


def _total(card: Card) -> str:
    return GAP.join((_measure(card.composite), DOTS[card.confidence])).ljust(_SIDE)


def _measure(score: int) -> str:
    """Bar and score."""
    full = round(score / 100 * CELLS)
    return GAP.join(("█" * full + "░" * (CELLS - full), f"{score:>3}"))


def _change(delta: int) -> str:
    return f"{delta:>+4d}" if delta else "   0"
