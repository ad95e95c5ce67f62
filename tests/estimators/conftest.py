from collections.abc import Iterator
from typing import Any

import pytest

import traitbench as tb
from tests.contexts import home_in_environment

TEXTS = [
    *("Thank you so much, dear friend!", "How kind of you.", "I love to help you.", "Lovely to hear from you."),
    *(
        "So glad you wrote to us today.",
        "You made my whole week.",
        "We are delighted for you.",
        "Warm regards, always.",
    ),
    *("Send the form by Friday.", "Your request was denied.", "No reply is needed.", "The deadline has passed."),
    *("Pay the invoice at once.", "Access is not permitted.", "See section four.", "This account is closed."),
]
NAMES = ["warm"] * 8 + ["cold"] * 8


@pytest.fixture(scope="package", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with home_in_environment(tmp_path_factory.mktemp("estimators") / "home"):
        yield


def scorer(trait: str = "warmth", **given: Any) -> tb.Scorer:
    """A scorer with the quickest encoder."""
    return tb.Scorer(trait, **{"poles": ("cold", "warm"), "encoder": "ngrams", "effort": "low", **given})


def score_card(**poles: tuple[str, str]) -> tb.ScoreCard:
    """A score card with the quickest encoder."""
    return tb.ScoreCard(poles, encoder="ngrams", effort="low")


@pytest.fixture(scope="package")
def fitted() -> tb.Scorer:
    return scorer().fit(TEXTS, NAMES)


@pytest.fixture(scope="package")
def fitted_card() -> tb.ScoreCard:
    """Of two traits."""
    card = score_card(warmth=("cold", "warm"), length=("short", "long"))
    return card.fit(TEXTS, {"warmth": NAMES, "length": [len(text) / 50 for text in TEXTS]})
