"""The differences of two texts: which change of the composite is certain, and the words for each of them."""

import pytest

from tests.display.answers import card, trait_score
from traitbench.contract.scores import Comparison
from traitbench.display.words import leaning, sentences, verdict
from traitbench.scoring.card import composite


def compared(**moves: tuple[int, int, bool | None]) -> Comparison:
    """A comparison by the scores of a and b and their certainty, by trait."""
    a, b = (
        card({key: trait_score(score) for key, score in scores.items()}, composite=composite([*scores.values()]))
        for scores in ({key: a for key, (a, _, _) in moves.items()}, {key: b for key, (_, b, _) in moves.items()})
    )
    return Comparison.of(a, b, {key: certain for key, (_, _, certain) in moves.items()})


@pytest.mark.parametrize(
    ("moves", "certain"),
    [
        ({"x": (20, 80, True)}, True),
        ({"x": (80, 20, True)}, True),
        ({"x": (40, 60, False)}, False),
        ({"x": (50, 50, False)}, False),
        ({"x": (20, 80, None)}, None),
        ({"x": (20, 80, True), "y": (50, 50, False)}, True),
        ({"x": (20, 80, True), "y": (50, 55, False)}, True),
        ({"x": (20, 80, True), "y": (50, 49, False)}, False),
        ({"x": (20, 80, True), "y": (80, 20, True)}, False),
        ({"x": (20, 25, False), "y": (30, 35, False)}, False),
        ({"x": (20, 80, True), "y": (40, 60, None)}, None),
        # The composite leaves out scores of 0, so it can rise while the only trait that moved falls.
        ({"x": (10, 0, True), "y": (60, 60, False)}, False),
    ],
)
def test_the_composite_is_certain_if_a_trait_is_and_none_goes_the_other_way(
    moves: dict[str, tuple[int, int, bool | None]], certain: bool | None
) -> None:
    assert compared(**moves).certain is certain


def test_a_comparison_is_as_certain_backwards() -> None:
    there = compared(x=(20, 80, True), y=(50, 55, False), z=(10, 10, False))
    back = compared(x=(80, 20, True), y=(55, 50, False), z=(10, 10, False))
    assert (there.improvement, there.certain) == (-back.improvement, back.certain)


@pytest.mark.parametrize(
    ("delta", "certain", "words"),
    [
        (40, True, "b is higher (sure)"),
        (-40, True, "b is lower (sure)"),
        (9, False, "no sure difference"),
        (0, False, "no sure difference"),
        (40, None, "not known if the difference is sure"),
    ],
)
def test_a_difference_in_words(delta: int, certain: bool | None, words: str) -> None:
    assert verdict(delta, certain) == words


@pytest.mark.parametrize(
    ("delta", "certain", "words"),
    [
        (30, True, "closer to warm"),
        (-30, True, "closer to cold"),
        (-30, None, "closer to cold"),
        (30, False, "no sure difference"),
        (0, True, "no sure difference"),
    ],
)
def test_a_difference_leans_to_a_pole_only_if_it_may_be_sure(delta: int, certain: bool | None, words: str) -> None:
    assert leaning(delta, certain, positive_label="warm", negative_label="cold") == words


def test_traits_with_the_same_verdict_share_a_sentence() -> None:
    comparison = compared(x=(20, 80, True), y=(50, 55, False), z=(10, 70, True))
    assert sentences(comparison, {"x": "Warmth", "y": "Clarity"}, second="the second text") == [
        "The second text is higher (sure): Warmth, z.",
        "No sure difference: Clarity.",
        "Composite: the second text is higher (sure).",
    ]


def test_one_trait_has_no_sentence_for_the_composite() -> None:
    assert sentences(compared(x=(20, 80, True)), {}) == ["B is higher (sure): x."]
    assert sentences(compared(x=(20, 80, None)), {}) == ["Not known if the difference is sure: x."]


def test_answers_of_an_older_service_are_read_without_certainty() -> None:
    body = compared(x=(20, 80, True)).model_dump()
    del body["certain"], body["per_trait"]["x"]["certain"]
    old = Comparison.model_validate(body)
    assert (old.certain, old.per_trait["x"].certain) == (None, None)
