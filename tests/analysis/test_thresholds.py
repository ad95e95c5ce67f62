"""Thresholds carried over to another scale: the map, what is held out, and what few or one-sided values are worth."""

import numpy as np
import pytest

from traitbench.analysis.thresholds import (
    FEWEST,
    FEWEST_ON_A_SIDE,
    CarriedOver,
    carry_over,
    learned,
    units_of,
)

Drawn = tuple[np.ndarray, np.ndarray, np.ndarray]


def drawn(n: int, noise: float, lot: np.random.Generator) -> Drawn:
    """Our values, recorded ones of the same texts, and which texts are unsure: these stay from .4 to .6."""
    subject = lot.normal(-0.5, 1, n)
    recorded = 1 / (1 + np.exp(-1.5 * (subject + lot.normal(0, 0.3, n))))
    ours = 1 / (1 + np.exp(-3 * (subject + lot.normal(0, noise, n))))
    unsure = np.abs(ours - 0.5) < 0.2
    return np.where(unsure, 0.5 + 0.2 * (ours - 0.5), ours), recorded, unsure


def carried(ours: np.ndarray, recorded: np.ndarray, unsure: np.ndarray | None = None, *old: float) -> CarriedOver:
    none = np.zeros(len(ours), bool)
    return carry_over(
        ours, recorded, none if unsure is None else unsure, np.arange(len(ours)), thresholds=old or (0.8,)
    )


def test_the_same_judgement_on_another_scale_is_carried_over_exactly() -> None:
    recorded = np.linspace(0, 1, 400)
    result = carried(recorded**3, recorded, None, 0.5, 0.8)
    assert result.correlation == pytest.approx(1)
    for each in result.thresholds:
        for new in (each.by_value, each.as_many):
            assert new is not None
            assert new.threshold == pytest.approx(each.old**3, abs=0.01)
            assert new.added + new.dropped <= 2  # the texts beside the threshold
            assert new.interval[0] < new.same <= new.interval[1] <= 1


def test_a_threshold_holds_as_many_texts_as_before_where_the_mean_holds_fewer() -> None:
    result = carried(*drawn(2_000, 0.6, np.random.default_rng(1)))
    [each] = result.thresholds
    assert each.as_many is not None
    assert abs(each.as_many.above - each.before) <= 0.15 * each.before
    assert each.by_value is None or each.by_value.above < each.before
    for new in filter(None, (each.by_value, each.as_many)):
        assert new.above - new.added + new.dropped == each.before
        assert new.same == pytest.approx(1 - (new.added + new.dropped) / result.texts)


def test_what_is_said_of_held_out_texts_is_true_of_new_ones() -> None:
    lot = np.random.default_rng(2)
    new_ours, new_recorded, _ = drawn(100_000, 0.6, lot)
    truth_of_ranks = carried(new_ours, new_recorded).correlation
    assert truth_of_ranks is not None
    ranks = shares = total = 0
    for _ in range(60):
        result = carried(*drawn(150, 0.6, lot), 0.5)
        [each] = result.thresholds
        assert result.interval is not None
        assert each.as_many is not None
        truth = ((new_ours >= each.as_many.threshold) == (new_recorded >= 0.5)).mean()
        ranks += result.interval[0] <= truth_of_ranks <= result.interval[1]
        shares += each.as_many.interval[0] <= truth <= each.as_many.interval[1]
        total += 1
    assert min(ranks, shares) >= 0.9 * total


def test_equal_texts_count_once_and_are_never_on_both_sides_of_a_fold() -> None:
    ours, recorded, unsure = drawn(100, 0.6, np.random.default_rng(3))
    once = carried(ours, recorded, unsure)
    units = units_of([f"text {number}" for number in range(100)] * 5, [None] * 500)
    five = carry_over(np.tile(ours, 5), np.tile(recorded, 5), np.tile(unsure, 5), units, thresholds=(0.8,))
    assert (five.texts, five.units, once.units) == (500, 100, 100)
    assert five.interval == pytest.approx(once.interval)


def test_texts_are_equal_but_for_case_and_punctuation_and_rows_belong_together_by_name() -> None:
    units = units_of(["You fool!", "you  FOOL", "Thank you.", "Hello", "Bye"], [None, "", None, "anna", "anna"])
    assert units.tolist() == [0, 0, *units[2:].tolist()]
    assert units[3] == units[4]
    assert len({*units.tolist()}) == 3
    assert learned(["You fool!", "Bye"], ["you fool"]) == [True, False]
    assert units_of([], []).tolist() == []


@pytest.mark.parametrize("number", [0, 1, FEWEST - 1])
def test_few_texts_give_no_map(number: int) -> None:
    result = carried(*drawn(number, 0.3, np.random.default_rng(4)))
    assert (result.texts, [*result.thresholds]) == (number, [])
    assert result.why_not == f"{number} different texts are too few: a map needs {FEWEST}"


def test_a_threshold_that_hardly_any_text_reaches_is_not_carried_over() -> None:
    recorded = np.linspace(0, 0.7, 100)
    few, enough = carried(recorded, recorded, None, 0.66, 0.6).thresholds
    assert (few.before, few.by_value, few.as_many) == (6, None, None)
    assert few.why_not == f"6 different texts have 0.66 or more; {FEWEST_ON_A_SIDE} are needed"
    assert enough.as_many is not None
    [low] = carried(1 - recorded, 1 - recorded, None, 0.305).thresholds
    assert low.why_not == f"1 text has less than 0.305; {FEWEST_ON_A_SIDE} are needed"


@pytest.mark.parametrize(
    ("ours", "why_not"),
    [
        (np.full(100, 0.5), "all texts have the same score, so there is nothing to compare"),
        (
            1 - np.linspace(0, 1, 100),
            "high scores go with low recorded values, so the poles may be the wrong way round",
        ),
        (np.tile([0.2, 0.8], 50), "the scores do not rank the texts as the recorded values do"),
    ],
)
def test_a_trait_that_does_not_rank_as_the_values_do_gets_no_threshold(ours: np.ndarray, why_not: str) -> None:
    result = carried(ours, np.linspace(0, 1, 100))
    assert (result.why_not, [*result.thresholds]) == (why_not, [])
    same = carried(np.linspace(0, 1, 100), np.zeros(100))
    assert same.why_not == "all texts have the same recorded value, so there is nothing to compare"


def test_a_threshold_that_stays_as_it_is_is_compared_too() -> None:
    recorded = np.linspace(0, 1, 400)
    [each] = carried(recorded**3, recorded, None, 0.8).thresholds
    assert (each.unchanged.threshold, each.unchanged.added) == (0.8, 0)
    assert (
        each.unchanged.dropped == each.before - each.unchanged.above == ((recorded >= 0.8) & (recorded**3 < 0.8)).sum()
    )


def test_texts_with_low_confidence_are_counted_at_each_threshold() -> None:
    ours, recorded, unsure = drawn(1_000, 0.6, np.random.default_rng(5))
    result = carried(ours, recorded, unsure, 0.5, 0.8)
    assert result.unsure == unsure.sum()
    assert [each.unsure for each in result.thresholds] == [(unsure & (recorded >= old)).sum() for old in (0.5, 0.8)]
