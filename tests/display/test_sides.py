"""Which side a score claims, in words."""

import pytest

from tests.display.answers import trait_score
from traitbench.contract.scores import Confidence
from traitbench.contract.traits import Trait
from traitbench.display.sides import label_of, side_of


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


@pytest.mark.parametrize(
    ("quality", "words"),
    [
        (1.0, "▲ warm"),
        (0.75, "▲ rather warm (0.75)"),
        (0.5, "■ in between"),
        (0.1, "▼ rather cold (0.1)"),
        (0.0, "▼ cold"),
    ],
)
def test_a_label_is_said_by_the_word_of_its_pole(quality: float, words: str) -> None:
    trait = Trait.model_construct(positive_label="warm", negative_label="cold")
    assert label_of(trait, quality) == words
