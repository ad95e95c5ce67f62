"""The rules of core/docs/contract.md, section 8, row by row."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scoring.hand import axis, encode, snapshot
from traitbench.scoring import card
from traitbench.scoring.card import UnknownTrait, score, score_many
from traitbench.scoring.snapshot import EncoderMismatch, Quartiles, TierBreaks

Clusters = tuple[Quartiles | None, Quartiles | None]
APART: Clusters = (Quartiles(60, 70, 80), Quartiles(20, 30, 40))
OVERLAPPING: Clusters = (Quartiles(40, 60, 80), Quartiles(20, 30, 55))
WITHOUT: Clusters = (None, None)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((77, 85, 84, 71, 86), 80),
        ((85, 80, 30, 78), 57),
        ((84, 72, 31), 52),
        ((50,), 50),
        ((0, 0), 0),
        ((0, 60), 60),
        ((), 0),
        ((1, 3, 0), 2),  # exactly 1.5: half goes up
    ],
)
def test_the_composite_is_the_harmonic_mean_of_scores_above_zero(scores: tuple[int, ...], expected: int) -> None:
    assert card.composite(scores) == expected


@given(st.lists(st.integers(1, 100), min_size=1, max_size=64))
def test_the_composite_is_exact_however_many_scores_there_are(scores: list[int]) -> None:
    exact = len(scores) / sum(Fraction(1, points) for points in scores)
    assert card.composite([*scores, 0]) == math.floor(exact + Fraction(1, 2))


@pytest.mark.parametrize(("value", "expected"), [(0.49, 0), (0.5, 1), (1.5, 2), (2.5, 3), (99.5, 100), (49.4999, 49)])
def test_integers_are_rounded_half_up(value: float, expected: int) -> None:
    assert card.half_up(value) == expected


@pytest.mark.parametrize(
    ("clusters", "expected"),
    [
        (APART, TierBreaks(40, 60, 80)),
        (OVERLAPPING, TierBreaks(55, 55, 80)),
        ((Quartiles(10, 20, 30), Quartiles(40, 50, 60)), TierBreaks(60, 60, 60)),
        ((None, Quartiles(20, 30, 40)), TierBreaks(50, 50, 50)),
        ((Quartiles(60, 70, 80), None), TierBreaks(50, 50, 50)),
        (WITHOUT, TierBreaks(50, 50, 50)),
    ],
)
def test_breaks_come_from_the_quartiles_and_never_decrease(clusters: Clusters, expected: TierBreaks) -> None:
    assert card.breaks(*clusters) == expected


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((), None),
        ((0.7,), None),
        ((0.2, 0.4), Quartiles(25, 30, 35)),
        ((0.1, 0.2, 0.3, 0.4, 0.5), Quartiles(20, 30, 40)),
        ((0.005, 0.005), Quartiles(1, 1, 1)),
    ],
)
def test_quartiles_are_interpolated_and_rounded(scores: tuple[float, ...], expected: Quartiles | None) -> None:
    assert card.quartiles(np.array(scores)) == expected


@pytest.mark.parametrize(
    ("clusters", "points", "tier", "confidence", "headroom", "band"),
    [
        (APART, 0, "Weak", "high", 40, (20, 40)),
        (APART, 39, "Weak", "high", 1, (20, 40)),
        (APART, 40, "Developing", "moderate", 20, (20, 40)),
        (APART, 49, "Developing", "moderate", 11, (20, 40)),
        (APART, 51, "Developing", "moderate", 9, (60, 80)),
        (APART, 59, "Developing", "moderate", 1, (60, 80)),
        (APART, 60, "Solid", "high", 20, (60, 80)),
        (APART, 79, "Solid", "high", 1, (60, 80)),
        (APART, 80, "Strong", "high", 0, (60, 80)),
        (APART, 100, "Strong", "high", 0, (60, 80)),
        (OVERLAPPING, 39, "Weak", "high", 16, (20, 55)),
        (OVERLAPPING, 40, None, "low", None, (20, 55)),  # inside both: the nearer median
        (OVERLAPPING, 48, None, "low", None, (40, 80)),
        (OVERLAPPING, 55, None, "low", None, (40, 80)),
        (OVERLAPPING, 56, "Solid", "high", 24, (40, 80)),
        (OVERLAPPING, 80, "Strong", "high", 0, (40, 80)),
        *((WITHOUT, points, None, "low", None, (0, 100)) for points in (0, 49, 50, 100)),
    ],
)
def test_a_score_is_placed_by_the_clusters_of_its_trait(
    clusters: Clusters, points: int, tier: str | None, confidence: str, headroom: int | None, band: tuple[int, int]
) -> None:
    positive, negative = clusters
    trait = axis(positive=positive, negative=negative, breaks=card.breaks(positive, negative))
    result = card.trait_score(trait, points / 100)
    assert (result.score, result.label) == (points, tier)
    assert (result.confidence, result.headroom, result.band) == (confidence, headroom, band)


def test_a_card_has_the_keys_of_the_contract() -> None:
    wire = score(snapshot(axis("warmth"), axis("depth", vector=(0.0, 2.0))), encode, "east").to_wire()
    assert wire == {
        "scores": {"warmth": 88, "depth": 50},
        "composite": 64,
        "confidence": "moderate",
        "headroom": 10,
        "detail": {
            "warmth": {
                "score": 88,
                "label": "Strong",
                "confidence": "high",
                "confidence_reason": None,
                "band": [60, 80],
                "headroom": 0,
                "breaks": {"developing": 40, "solid": 60, "strong": 80},
                "native": {"polarity": pytest.approx(0.7615942)},
            },
            "depth": {
                "score": 50,
                "label": "Developing",
                "confidence": "moderate",
                "confidence_reason": "overlap",
                "band": [60, 80],
                "headroom": 10,
                "breaks": {"developing": 40, "solid": 60, "strong": 80},
                "native": {"polarity": 0.0},
            },
        },
    }


def test_a_card_has_the_lowest_confidence_and_the_largest_headroom() -> None:
    unsure = axis("unsure", positive=None, negative=None, breaks=TierBreaks(50, 50, 50))
    result = score(snapshot(axis(vector=(0.0, 0.0)), unsure), encode, "east")
    assert (result.confidence, result.headroom) == ("low", 10)
    assert score(snapshot(unsure), encode, "east").headroom is None


def test_a_subset_of_traits_never_changes_a_number() -> None:
    rng = np.random.default_rng(2)
    traits = [axis(f"t{i}", vector=rng.normal(size=2).tolist(), offset=float(rng.normal())) for i in range(9)]
    whole = score(snapshot(*traits), encode, "east north")
    for trait in traits:
        alone = score(snapshot(*traits), encode, "east north", traits=[trait.key])
        assert alone.traits == {trait.key: whole.traits[trait.key]}


def test_a_text_has_the_same_card_in_any_batch() -> None:
    texts = ["east", "north east", "west", "", "south"]
    assert score_many(snapshot(), encode, texts) == [score(snapshot(), encode, text) for text in texts]


def test_traits_are_chosen_by_key_or_name_and_the_key_wins() -> None:
    one, two = axis("Depth"), axis("depth", vector=(0.0, 2.0))
    assert list(score(snapshot(one, two), encode, "east", traits=["depth"]).traits) == ["depth"]
    assert list(score(snapshot(axis("warmth")), encode, "east", traits=["Warmth", "warmth"]).traits) == ["warmth"]


def test_an_unknown_trait_is_named() -> None:
    with pytest.raises(UnknownTrait, match="'cold'") as caught:
        score(snapshot(), encode, "east", traits=["warmth", "cold"])
    assert caught.value.name == "cold"


def test_a_text_without_a_token_scores_50_whatever_the_offset() -> None:
    assert score(snapshot(axis(offset=3.0)), encode, "  ").traits["warmth"].score == 50


@pytest.mark.parametrize(
    ("aggregation", "depth", "expected"),
    [
        ("mean", 1, 88),  # two winds from the east, one from the west: the whole points east
        ("none", 2, 88),
        ("mean", 2, 50),
        ("max", 2, 88),
        ("min", 2, 12),
        ("mean", 3, 63),
        ("min", 3, 12),
        ("none", 3, 88),
    ],
)
def test_depth_and_aggregation_combine_the_scores_of_parts(aggregation: str, depth: int, expected: int) -> None:
    trained = snapshot(axis(aggregation=aggregation), max_depth=depth)
    assert score(trained, encode, "East. East.\n\nWest.").traits["warmth"].score == expected


def test_parts_without_a_token_do_not_count() -> None:
    trained = snapshot(axis(aggregation="min"), max_depth=2)
    assert score(trained, encode, "East.\n\n...").traits["warmth"].score == 88
    assert score(trained, encode, "...\n\n...").traits["warmth"].score == 50


def test_vectors_of_another_dimension_are_refused() -> None:
    with pytest.raises(EncoderMismatch, match="plane-1"):
        score(snapshot(), lambda texts: np.ones((len(texts), 3), np.float32), "east")
