"""Samples: added, listed, searched, held out and deleted, all of a request or none of it."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from tests.contexts import AUTHOR, ON_BOTH, draft
from tests.operations.author import samples_of
from traitbench.contract.samples import SampleInput, SampleQuery, SamplesCreate, SamplesDelete, SamplesUpdate
from traitbench.errors import InvalidCursor, InvalidParameter, SampleNotFound, TraitNotFound, ValidationFailed
from traitbench.operations import samples, traits
from traitbench.operations.context import Context


def _add(context: Context, handle: str, *inputs: dict[str, Any]) -> list[int]:
    defaults: dict[str, Any] = {"trait": "warmth", "text": "a", "quality": 1.0}
    results = [SampleInput(**defaults | fields) for fields in inputs]
    return samples.add(context, AUTHOR, handle, SamplesCreate(samples=results)).ids


@ON_BOTH
def test_a_sample_comes_back_as_it_was_sent(context: Context) -> None:
    handle = draft(context)
    text = "  naïve ☕ \u2028 text\n"
    given = {"trait": "Warmth", "text": text, "quality": 0.25, "source_url": "https://a.b"}
    given |= {"group": "Gespräch 7", "note": "Höflich, aber kühl."}
    [sample_id] = _add(context, handle, given)
    [sample] = samples_of(context, handle)
    assert sample.model_dump(exclude={"created_at"}) == {
        "id": sample_id,
        "trait": "warmth",
        "text": text,
        "quality": 0.25,
        "provenance": "authored",
        "source_url": "https://a.b",
        "content_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "seed_sample_id": None,
        "generator": None,
        "held_out": False,
        "must_pass": False,
        "pending": False,
        "score_then": None,
        "group": "Gespräch 7",
        "note": "Höflich, aber kühl.",
        "revision": 1,
    }


def test_a_batch_with_bad_elements_adds_nothing_and_names_themsamples_of(context: Context) -> None:
    handle = draft(context)
    with pytest.raises(ValidationFailed) as caught:
        _add(
            context,
            handle,
            {},
            {"trait": "unknown"},
            {"content_sha256": hashlib.sha256(b"a").hexdigest()},
            {"trait": "nor this", "content_sha256": "0" * 64},
        )
    assert [(error["loc"], error["type"]) for error in caught.value.details["errors"]] == [
        (["samples", 1, "trait"], "unknown_trait"),
        (["samples", 3, "trait"], "unknown_trait"),
        (["samples", 3, "content_sha256"], "sha256_mismatch"),
    ]
    assert samples_of(context, handle) == []


def test_a_model_takes_as_many_samples_as_the_operator_allows(context: Context) -> None:
    handle = draft(context)
    small = replace(context, settings=replace(context.settings, max_samples=3))
    _add(small, handle, {}, {})
    with pytest.raises(ValidationFailed):
        _add(small, handle, {}, {})
    _add(small, handle, {})
    assert len(samples_of(context, handle)) == 3


@ON_BOTH
def test_samples_are_listed_page_by_page_and_by_trait(context: Context) -> None:
    handle = draft(context, warm=6, cold=4)
    _add(context, handle, {"text": samples_of(context, handle)[0].text})
    everything = samples_of(context, handle, limit=3)
    assert [sample.id for sample in everything] == sorted(sample.id for sample in everything)
    assert len(everything) == 11, "the same text twice is two samples"
    assert samples_of(context, handle, trait="Warmth", limit=2) == everything
    with pytest.raises(TraitNotFound):
        samples.list_samples(context, AUTHOR, handle, SampleQuery(trait="coldness"))


@ON_BOTH
def test_paging_shows_each_sample_once_while_others_are_added_and_removed(context: Context) -> None:
    handle = draft(context, warm=60)
    stay = [sample.id for sample in samples_of(context, handle)][::2]

    def disturb(sample_id: int) -> None:
        if sample_id not in stay:
            samples.delete(context, AUTHOR, handle, sample_id)
            _add(context, handle, {"text": f"new {sample_id}"})

    with ThreadPoolExecutor(4) as pool:
        disturbed = [pool.submit(disturb, sample.id) for sample in samples_of(context, handle)]
        while not all(each.done() for each in disturbed):
            seen = [sample.id for sample in samples_of(context, handle, limit=7)]
            assert len(seen) == len(set(seen))
            assert set(stay) <= set(seen)
        for each in disturbed:
            each.result()


def test_a_page_has_its_bounds_and_a_cursor_belongs_to_its_model(context: Context) -> None:
    one, other = draft(context, warm=3), draft(context, warm=3)
    for limit in (0, 501):
        with pytest.raises(InvalidParameter):
            samples.list_samples(context, AUTHOR, one, limit=limit)
    cursor = samples.list_samples(context, AUTHOR, one, limit=1).next_cursor
    with pytest.raises(InvalidCursor):
        samples.list_samples(context, AUTHOR, other, limit=1, cursor=cursor)


def test_a_sample_is_deleted_from_its_own_model_only(context: Context) -> None:
    one, other = draft(context, warm=2), draft(context, warm=2)
    first, second = samples_of(context, one)
    for missing in (first.id, 0, -1, 2**63, -(10**30)):
        with pytest.raises(SampleNotFound):
            samples.delete(context, AUTHOR, other, missing)
    assert samples.delete(context, AUTHOR, one, first.id).deleted
    assert samples_of(context, one) == [second]


@ON_BOTH
def test_many_samples_are_deleted_as_a_whole_or_not_atsamples_of(context: Context) -> None:
    one, other = draft(context, warm=4), draft(context, warm=1)
    first, second, third, last = (sample.id for sample in samples_of(context, one))
    [foreign] = [sample.id for sample in samples_of(context, other)]
    with pytest.raises(ValidationFailed) as caught:
        samples.delete_many(context, AUTHOR, one, SamplesDelete(ids=[first, foreign, second, 2**53 - 1]))
    assert [(error["loc"], error["type"]) for error in caught.value.details["errors"]] == [
        (["ids", 1], "unknown_sample"),
        (["ids", 3], "unknown_sample"),
    ]
    assert len(samples_of(context, one)) == 4
    asked = SamplesDelete(ids=[third, first, third])
    assert samples.delete_many(context, AUTHOR, one, asked).ids == [third, first, third]
    assert [sample.id for sample in samples_of(context, one)] == [second, last]


def _marks(context: Context, handle: str) -> list[tuple[bool, bool]]:
    return [(sample.held_out, sample.must_pass) for sample in samples_of(context, handle)]


def _update(context: Context, handle: str, ids: list[int], **fields: Any) -> list[int]:
    return samples.update(context, AUTHOR, handle, SamplesUpdate(ids=ids, **fields)).ids


def test_samples_are_held_out_and_put_back(context: Context) -> None:
    handle = draft(context)
    first, second, third = _add(context, handle, {}, {"text": "b"}, {"text": "c", "held_out": True, "must_pass": True})
    assert _marks(context, handle) == [(False, False), (False, False), (True, True)]
    assert _update(context, handle, [second, first], held_out=True) == [second, first]
    assert _update(context, handle, [first], must_pass=True) == [first]
    assert _marks(context, handle) == [(True, True), (True, False), (True, True)]
    _update(context, handle, [first, second, third], held_out=None, must_pass=None)
    assert _marks(context, handle) == [(True, True), (True, False), (True, True)]
    _update(context, handle, [third], must_pass=False)
    _update(context, handle, [first, first], held_out=False)
    assert _marks(context, handle) == [(False, False), (True, False), (True, False)]
    _update(context, handle, [first], held_out=True, must_pass=True)
    assert _marks(context, handle)[0] == (True, True)


def test_samples_are_put_into_a_group_and_taken_out(context: Context) -> None:
    handle = draft(context)
    first, second, third = _add(context, handle, {"group": "a"}, {"text": "b"}, {"text": "c", "group": "a"})
    _update(context, handle, [second, third], group="b")
    _update(context, handle, [third], held_out=True)
    assert [sample.group for sample in samples_of(context, handle)] == ["a", "b", "b"]
    _update(context, handle, [first, second], group=" ")
    assert [sample.group for sample in samples_of(context, handle)] == [None, None, "b"]


def test_an_update_of_samples_applies_to_all_or_none_and_names_every_bad_one(context: Context) -> None:
    handle, other = draft(context), draft(context, warm=1)
    mine = _add(context, handle, {}, {"text": "b", "held_out": True}, {"text": "c"})
    [foreign] = [sample.id for sample in samples_of(context, other)]
    before = _marks(context, handle)
    with pytest.raises(ValidationFailed) as caught:
        _update(context, handle, [mine[0], mine[1], foreign, mine[2], 2**53 - 1], must_pass=True)
    assert [(error["loc"], error["type"]) for error in caught.value.details["errors"]] == [
        (["ids", 0], "not_held_out"),
        (["ids", 2], "unknown_sample"),
        (["ids", 3], "not_held_out"),
        (["ids", 4], "unknown_sample"),
    ]
    with pytest.raises(ValidationFailed):
        _update(context, handle, mine, held_out=False, must_pass=True)
    assert _marks(context, handle) == before
    assert _marks(context, other) == [(False, False)]


def test_test_samples_are_listed_apart(context: Context) -> None:
    handle = draft(context)
    ids = _add(context, handle, *({"text": str(place), "held_out": place % 3 == 0} for place in range(10)))
    assert [sample.id for sample in samples_of(context, handle, held_out=True, limit=2)] == ids[::3]
    rest = [sample_id for place, sample_id in enumerate(ids) if place % 3]
    assert [sample.id for sample in samples_of(context, handle, held_out=False, trait="warmth", limit=4)] == rest
    cursor = samples.list_samples(context, AUTHOR, handle, SampleQuery(held_out=True), limit=1).next_cursor
    with pytest.raises(InvalidCursor):
        samples.list_samples(context, AUTHOR, handle, SampleQuery(held_out=False), cursor=cursor)


def test_a_trait_counts_what_it_is_trained_with_and_the_rest_apart(context: Context) -> None:
    handle = draft(context, warm=3, cold=2)
    _update(context, handle, [sample.id for sample in samples_of(context, handle)][::2], held_out=True)
    [trait] = traits.list_traits(context, AUTHOR, handle).traits
    counts = (trait.sample_count, trait.positive_samples, trait.negative_samples, trait.held_out_samples)
    assert counts == (2, 1, 1, 3)


@ON_BOTH
def test_a_search_takes_signs_literally_and_ignores_case(context: Context) -> None:
    handle = draft(context)
    texts = ["The Über-bread", "über 100%", "ÜBER_100", "a\\b", "plain water"]
    _add(context, handle, *({"text": text} for text in texts))
    searched = {
        words: [each.text for each in samples_of(context, handle, text=words)]
        for words in ("BREAD the", "über", "Über", "0%", "r_1", "a\\b", "%", "absent")
    }
    assert searched == {
        "BREAD the": texts[:1],
        "über": texts[:3],
        "Über": texts[:3],
        "0%": texts[1:2],
        "r_1": texts[2:3],
        "a\\b": texts[3:4],
        "%": texts[1:2],
        "absent": [],
    }
