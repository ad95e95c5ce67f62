"""Which side a score claims, in words."""

import pytest

from tests.display.answers import trait_score
from traitbench.contract.scores import Confidence
from traitbench.display.sides import side_of


@pytest.mark.parametrize(
    ("polarity", "confidence", "words"),
    [
        (0.8, "high", "clearly warm"),
        (-0.8, "high", "clearly cold"),
        (0.1, "moderate", "probably warm"),
        (-0.1, "moderate", "probably cold"),
        (0.9, "low", "no clear side"),
        (-0.9, "low", "no clear side"),
        (0.0, "high", "no clear side"),
    ],
)
def test_a_side_is_claimed_only_as_far_as_confidence_promises(
    polarity: float, confidence: Confidence, words: str
) -> None:
    score = trait_score(50, confidence, polarity=polarity)
    side = side_of(score, positive_label="warm", negative_label="cold")
    assert side.words == words
    assert (side.positive is None) == (words == "no clear side")
