"""Test samples chosen at random: how many, of which pole, and what goes aside together."""

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.size import sized
from traitbench.fitting.held_out import Choice, TooFew, choose


@dataclass(frozen=True)
class Sample:
    id: int
    quality: float
    trait: str = "tone"
    provenance: str = "authored"
    held_out: bool = False


def some(positive: int, negative: int) -> list[Sample]:
    return [Sample(place, float(place < positive)) for place in range(positive + negative)]


def sides(samples: list[Sample], choice: Choice) -> Counter[tuple[str, bool]]:
    return Counter((each.trait, each.quality > 0.5) for each in samples if each.id in choice.ids)


@pytest.mark.parametrize(
    ("positive", "negative", "expected"), [(20, 20, (10, 10)), (200, 60, (40, 12)), (40, 1_000, (10, 200))]
)
def test_a_fifth_of_each_pole_goes_aside_and_ten_at_least(
    positive: int, negative: int, expected: tuple[int, int]
) -> None:
    samples = some(positive, negative)
    chosen = sides(samples, choose(samples, [each.id for each in samples]))
    assert (chosen["tone", True], chosen["tone", False]) == expected


def test_a_trait_with_too_few_texts_keeps_all_and_says_how_many_it_needs() -> None:
    samples = [*some(30, 19), *(Sample(100 + place, place % 2, trait="pace") for place in range(60))]
    choice = choose(samples, [each.id for each in samples])
    assert choice.too_few == (TooFew("tone", 30, 19, 20),)
    assert sides(samples, choice) == {("pace", True): 10, ("pace", False): 10}


def test_equal_texts_count_once_and_go_aside_together() -> None:
    samples = some(60, 60)
    groups = [each.id // 2 for each in samples]
    choice = choose(samples, groups)
    aside = {group for each, group in zip(samples, groups, strict=True) if each.id in choice.ids}
    assert len(choice.ids) == 40
    assert sorted(each.id for each, group in zip(samples, groups, strict=True) if group in aside) == list(choice.ids)


def test_synthesized_texts_go_aside_only_with_a_text_that_they_vary() -> None:
    written = some(25, 25)
    variations = [Sample(100 + each.id, each.quality, provenance="synthesized") for each in written]
    others = [Sample(200 + place, 1.0, provenance="synthesized") for place in range(50)]
    samples = [*written, *variations, *others]
    choice = choose(samples, [each.id % 100 if each.id < 200 else each.id for each in samples])
    chosen = {each for each in choice.ids if each < 100}
    assert len(chosen) == 20
    assert set(choice.ids) == chosen | {100 + each for each in chosen}


def test_a_text_of_two_traits_goes_aside_in_both() -> None:
    tone, pace = some(30, 30), [Sample(100 + each.id, each.quality, trait="pace") for each in some(30, 30)]
    choice = choose([*tone, *pace], [each.id % 100 for each in [*tone, *pace]])
    assert {each % 100 for each in choice.ids if each < 100} == {each - 100 for each in choice.ids if each >= 100}
    assert len(choice.ids) == 40


def test_what_is_held_out_already_counts() -> None:
    samples = some(30, 30)
    first = choose(samples, [each.id for each in samples], seed=3)
    marked = [Sample(each.id, each.quality, held_out=each.id in first.ids) for each in samples]
    assert choose(marked, [each.id for each in marked], seed=9) == Choice((), ())


@settings(max_examples=sized(20, 60), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 40)), max_size=120),
    st.integers(0, 5),
)
def test_a_choice_is_repeatable_and_always_leaves_enough_to_train_with(
    rows: list[tuple[str, float, int]], seed: int
) -> None:
    samples = [Sample(place, quality, trait=trait) for place, (trait, quality, _) in enumerate(rows)]
    groups = [group for *_, group in rows]
    choice = choose(samples, groups, at_least=3, seed=seed)
    assert choice == choose(samples, groups, at_least=3, seed=seed)
    left_out = {each.trait for each in choice.too_few}
    for trait in {each.trait for each in samples} - left_out:
        for above in (True, False):
            rest = {
                group
                for each, group in zip(samples, groups, strict=True)
                if each.trait == trait and each.quality != 0.5 and (each.quality > 0.5) == above
                if each.id not in choice.ids
            }
            assert len(rest) >= 3 or all(each.quality == 0.5 for each in samples if each.trait == trait)
