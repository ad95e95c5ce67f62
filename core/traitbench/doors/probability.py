"""A score as the probability of a pole: the number for programs that read nothing else.

The position of a text in 0..1 is calibrated (core/docs/scoring.md, section 4): of texts at 0.8, about eight in ten are
on the side of the positive pole, if both poles are equally frequent. A bare number cannot say "no clear side", so a
score of low confidence is drawn towards the middle: it stays between 0.4 and 0.6 and keeps its order.
"""

from math import floor

from traitbench.contract.scores import Confidence, TraitScore

_MIDDLE = 0.5
_UNSURE = 0.2
"""The part of the distance from the middle that a score of low confidence keeps."""
_GRID = 2.0**24
"""Probabilities are multiples of its reciprocal, which are exact: those of opposite poles always add to exactly 1."""


def of_positive(score: TraitScore) -> float:
    """Return the probability in 0..1 of the positive pole; that of the negative pole is `1 - p`, exactly."""
    return at(score.native.polarity, score.confidence)


def at(polarity: float, confidence: Confidence) -> float:
    """Return the probability of the positive pole at a polarity in -1..1.

    It is above 0.5 if, and only if, the polarity is above 0, as for sides (`traitbench.display.sides`).
    """
    distance = polarity / 2 * (_UNSURE if confidence == "low" else 1.0)
    # At least one step, so that no side is lost to rounding, which is downwards: 0.1 is no multiple of a step.
    shown = max(floor(abs(distance) * _GRID), 1) / _GRID if polarity else 0.0
    return _MIDDLE + (shown if polarity > 0 else -shown)


def on_grid(value: float) -> float:
    """Return the nearest multiple of the smallest step. Sums and differences of these are exact."""
    return round(value * _GRID) / _GRID
