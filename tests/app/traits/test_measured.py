"""What the Traits page says of all traits at once, and in which order it lists them."""

from typing import Any

import pytest

from traitbench.contract.metrics import Metrics, ScoreCounts, TraitMetrics
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench_app.traits.listing import rows_html
from traitbench_app.traits.measured import MeasuredTrait, measured, title_of, weakest_first


def one(name: str, right: int = 0, wrong: int = 0, *, samples: int = 20) -> MeasuredTrait:
    trait = Trait.model_construct(name=name, key=name, sample_count=samples, held_out_samples=0)
    if not right + wrong:
        return MeasuredTrait(trait)
    scores = [0] * 101
    scores[90], scores[10] = right, wrong
    return MeasuredTrait(trait, {"positive": scores, "negative": [0] * 101})


@pytest.mark.parametrize(
    ("every", "title"),
    [
        ([one("Warmth", 90, 10)], "1 trait: about 9 in 10 right"),
        ([one("Warmth", 90, 10), one("Clarity", 90, 10)], "2 traits: about 9 in 10 right"),
        ([one("Warmth", 95, 5), one("Clarity", 85, 15)], "2 traits: about 9 in 10 right, Clarity least"),
        ([one("Warmth", 20)], "1 trait: all 20 right"),
        ([one("A", 60, 40), one("B")], "2 traits: about 6 in 10 right, A is hardly told apart, 1 is not trained"),
        ([one("Warmth"), one("Clarity")], "2 traits, not trained yet"),
        ([one(str(n), 90, 10) for n in range(6)], "6 traits: about 9 in 10 right"),
        ([*(one(str(n), 90, 10) for n in range(6)), one("A", 6, 4), one("B")],
         "8 traits: A is hardly told apart, 1 is not trained"),
        ([*(one(str(n), 9, 1) for n in range(4)), one("A", 6, 4), one("B", 5, 5)], "6 traits: 2 are hardly told apart"),
    ],
)  # fmt: skip
def test_the_title_names_what_is_weakest_and_what_is_not_trained(every: list[MeasuredTrait], title: str) -> None:
    assert title_of(every)[0] == title


def test_the_line_below_has_the_counts_or_the_rest_of_many() -> None:
    assert title_of([one("A", 9, 1), one("B", 10)])[1].startswith("19 of 20 samples fall on the side of their label.")
    many = [*(one(str(n), 90, 10) for n in range(5)), one("A", 6, 4)]
    assert title_of(many)[1] == "The other 5 are about 9 in 10 right. Weakest first."


def test_untrained_traits_with_samples_come_first_and_those_without_last() -> None:
    every = [one("good", 9, 1), one("none", samples=0), one("bad", 6, 4), one("some", samples=3)]
    assert [each.trait.name for each in weakest_first(every)] == ["some", "bad", "good", "none"]


def test_the_figures_of_poles_that_a_draft_has_exchanged_are_exchanged() -> None:
    counts: ScoreCounts = {"positive": [0] * 100 + [3], "negative": [2] + [0] * 100}
    trait = Trait.model_construct(key="a", name="A", negative_label="warm", positive_label="cold")
    before = trait.model_copy(update={"negative_label": "cold", "positive_label": "warm"})
    figures = TraitMetrics.model_construct(score_counts=counts)
    made = Version.model_construct(metrics=Metrics.model_construct(traits={"a": figures}))
    [now] = measured([trait], made, [before])
    assert now.counts == {"positive": [0] * 100 + [2], "negative": [3] + [0] * 100}
    assert (now.right, now.wrong) == (5, 0)


@pytest.mark.parametrize(
    ("negative", "positive", "says"),
    [(0, 0, "by its two words alone"), (12, 9, "10 for each side"), (12, 10, "there are enough samples")],
)
def test_an_untrained_row_says_whether_there_are_enough_samples(negative: int, positive: int, says: str) -> None:
    fields: dict[str, Any] = {"name": "Warmth", "key": "warmth", "kind": "extrinsic", "held_out_samples": 0}
    fields |= {"negative_label": "cold", "positive_label": "warm", "sample_count": negative + positive}
    trait = Trait.model_construct(**fields, negative_samples=negative, positive_samples=positive)
    assert says in rows_html([MeasuredTrait(trait)])
