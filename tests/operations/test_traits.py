"""Traits: added, changed and deleted, all of a request or none of it."""

from typing import Any

import pytest

from tests.contexts import AUTHOR, ON_BOTH, SCORER, draft, export_of, new_handle
from tests.operations.author import add_samples, fork, promote, samples_of, score, toned_model, train
from tests.operations.conftest import add_traits
from traitbench.contract.traits import TraitUpdate
from traitbench.errors import DuplicateTrait, TraitbenchError, TraitNotFound, ValidationFailed
from traitbench.operations import bundles, models, traits
from traitbench.operations.context import Context


def test_a_new_trait_has_the_defaults_and_no_samples(context: Context, handle: str) -> None:
    add_traits(context, handle, {"name": "Clarity and Simplicity"})
    assert traits.get(context, SCORER, handle, "clarity_and_simplicity").model_dump() == {
        "key": "clarity_and_simplicity",
        "name": "Clarity and Simplicity",
        "positive_label": "positive",
        "negative_label": "negative",
        "sample_count": 0,
        "positive_samples": 0,
        "negative_samples": 0,
        "held_out_samples": 0,
        "description": "",
        "kind": "extrinsic",
        "aggregation": "mean",
        "discrimination": None,
        "explained_variance": None,
        "anchor_sample_ids": None,
    }


def test_traits_come_back_in_the_order_sent_and_are_listed_as_added(context: Context, handle: str) -> None:
    assert add_traits(context, handle, {"name": "Zeal"}, {"name": "Anger"}) == ["zeal", "anger"]
    assert add_traits(context, handle, {"name": "Mirth"}, {"name": "Anger"}) == ["mirth", "anger"]
    assert [trait.key for trait in traits.list_traits(context, SCORER, handle).traits] == ["zeal", "anger", "mirth"]
    assert models.get(context, SCORER, handle).traits == ["Zeal", "Anger", "Mirth"]


@pytest.mark.parametrize(
    ("key", "index", "order"), [("c", 0, "cab"), ("a", 1, "bac"), ("a", 99, "bca"), ("b", 1, "abc")]
)
def test_a_trait_is_moved_among_the_others(context: Context, handle: str, key: str, index: int, order: str) -> None:
    add_traits(context, handle, *({"name": name} for name in "ABC"))
    for _ in range(2):
        traits.update(context, AUTHOR, handle, key, TraitUpdate(index=index))
    assert [trait.key for trait in traits.list_traits(context, SCORER, handle).traits] == [*order]
    add_traits(context, handle, {"name": "D"})
    assert models.get(context, SCORER, handle).traits == [*f"{order}d".upper()]


@ON_BOTH
def test_the_order_of_traits_goes_into_scores_forks_promotions_and_exports(context: Context) -> None:
    handle = toned_model(context)
    before = [trait.key for trait in traits.list_traits(context, AUTHOR, handle).traits]
    copy = fork(context, handle).handle
    traits.update(context, AUTHOR, copy, before[-1], TraitUpdate(index=0))
    after = [before[-1], *before[:-1]]
    again = bundles.import_(context, AUTHOR, export_of(context, AUTHOR, copy), new_handle()).handle
    assert [trait.key for trait in traits.list_traits(context, AUTHOR, again).traits] == after
    train(context, copy)
    assert [*score(context, copy, "Good morning.").detail] == after
    assert [*score(context, handle, "Good morning.").detail] == before
    promote(context, handle, copy)
    assert [trait.key for trait in traits.list_traits(context, AUTHOR, handle).traits] == after


def test_a_key_that_exists_is_changed_in_place(context: Context, handle: str) -> None:
    add_traits(context, handle, {"name": "Zeal", "description": "old", "positive_label": "hot"})
    add_traits(context, handle, {"name": "Fervour", "key": "zeal", "aggregation": "max"})
    trait = traits.get(context, AUTHOR, handle, "zeal")
    assert (trait.name, trait.description, trait.positive_label, trait.aggregation) == (
        "Fervour",
        "",
        "positive",
        "max",
    )


def test_two_traits_may_swap_their_names_in_one_batch(context: Context, handle: str) -> None:
    add_traits(context, handle, {"name": "A"}, {"name": "B"})
    add_traits(context, handle, {"name": "B", "key": "a"}, {"name": "A", "key": "b"})
    assert traits.get(context, AUTHOR, handle, "a").name == "B"


@pytest.mark.parametrize(
    ("inputs", "error"),
    [
        ([{"name": "A", "key": "x"}, {"name": "B", "key": "x"}], DuplicateTrait),
        ([{"name": "A", "key": "x"}, {"name": "A", "key": "y"}], DuplicateTrait),
        ([{"name": f"Trait {number}"} for number in range(64)], ValidationFailed),
    ],
)
def test_a_batch_that_is_refused_adds_nothing(
    context: Context, handle: str, inputs: list[dict[str, Any]], error: type[TraitbenchError]
) -> None:
    add_traits(context, handle, {"name": "Present"})
    with pytest.raises(error):
        add_traits(context, handle, *inputs)
    assert [trait.key for trait in traits.list_traits(context, AUTHOR, handle).traits] == ["present"]


def test_a_patch_keeps_the_key_and_what_is_null(context: Context, handle: str) -> None:
    add_traits(context, handle, {"name": "Zeal", "description": "old"})
    [trait] = traits.update(context, AUTHOR, handle, "Zeal", TraitUpdate(name="Fervour", description=None)).traits
    assert (trait.key, trait.name, trait.description) == ("zeal", "Fervour", "old")
    assert traits.update(context, AUTHOR, handle, "zeal", TraitUpdate()).traits == [trait]


def test_a_key_wins_over_a_name(context: Context, handle: str) -> None:
    add_traits(context, handle, {"name": "b", "key": "a"}, {"name": "a", "key": "b"})
    assert traits.get(context, AUTHOR, handle, "a").name == "b"


def test_a_trait_goes_with_its_samples(context: Context) -> None:
    handle = draft(context, warm=3, cold=2)
    trait = traits.get(context, AUTHOR, handle, "warmth")
    assert (trait.sample_count, trait.positive_samples, trait.negative_samples) == (5, 3, 2)
    assert traits.delete(context, AUTHOR, handle, "warmth").deleted
    assert samples_of(context, handle) == []
    with pytest.raises(TraitNotFound):
        traits.delete(context, AUTHOR, handle, "warmth")


def test_a_neutral_sample_counts_for_neither_pole(context: Context) -> None:
    handle = draft(context)
    add_samples(context, handle, [("so so", 0.5)])
    trait = traits.get(context, AUTHOR, handle, "warmth")
    assert (trait.sample_count, trait.positive_samples, trait.negative_samples) == (1, 0, 0)
