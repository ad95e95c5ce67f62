"""Turns of conversations whose labels mean nothing: without groups nearly all seem right, with them none is shown."""

import random

import pytest

from tests.estimators.conftest import scorer
from traitbench.analysis.belonging import belonging
from traitbench.contract.metrics import Metrics
from traitbench.display.quality import Evidence, by_trait

THINGS = (
    *("kite", "ferry", "tram", "lawn", "harp", "well", "oven", "loom", "dam", "mill", "fair", "forge", "quarry"),
    *("orchard", "library", "museum", "bakery", "harbour", "stable", "tunnel", "bridge", "market", "garden", "theatre"),
)
TURNS = (
    "The {} was checked again in the morning.",
    "A note says that the {} came late.",
    "For the {}, somebody asked once more.",
    "We moved the {} and wrote it down.",
    "About the {}: see page two.",
    "The list of the {} is at the desk.",
)
TEXTS = [turn.format(thing) for thing in THINGS for turn in TURNS]
CONVERSATIONS = [thing for thing in THINGS for _ in TURNS]


def labels(seed: int) -> list[str]:
    """Each conversation has one label, at random."""
    drawn = dict(zip(THINGS, random.Random(seed).sample(["cold", "warm"] * 12, 24), strict=True))
    return [drawn[thing] for thing in CONVERSATIONS]


def evidence(y: list[str], groups: list[str] | None) -> Evidence:
    fitted = scorer().fit(TEXTS, y, groups=groups)
    return by_trait(Metrics.model_validate(fitted.metrics_))["warmth"]


@pytest.mark.parametrize("seed", range(3))
def test_with_groups_labels_that_mean_nothing_are_not_shown_to_be_better_than_a_guess(seed: int) -> None:
    y = labels(seed)
    assert evidence(y, None).share > 0.95
    kept = evidence(y, CONVERSATIONS)
    assert kept.title in ("No better than a guess", "Not shown to be better than a guess")
    assert "of 144 samples in 24 groups" in kept.lead([])


def test_their_conversations_are_found() -> None:
    y = [float(label == "warm") for label in labels(1)]
    column = belonging({"n": [*map(str, range(144))], "about": CONVERSATIONS}, y, TEXTS)
    assert column is not None
    assert (column.column, column.values, column.one_label) == ("about", 24, 24)
