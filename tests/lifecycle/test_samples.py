import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from tests.benches import AUTHOR, draft
from traitbench.contract.samples import Sample, SampleInput, SamplesCreate
from traitbench.errors import InvalidCursor, InvalidParameter, SampleNotFound, TraitNotFound, ValidationFailed
from traitbench.lifecycle import samples
from traitbench.lifecycle.bench import Bench


def _add(bench: Bench, handle: str, *inputs: dict[str, Any]) -> list[int]:
    told = [SampleInput(**{"trait": "warmth", "text": "a", "quality": 1.0} | fields) for fields in inputs]
    return samples.add(bench, AUTHOR, handle, SamplesCreate(samples=told)).ids


def _all(bench: Bench, handle: str, **asked: Any) -> list[Sample]:
    page = samples.list_samples(bench, AUTHOR, handle, **asked)
    items = list(page.items)
    while page.next_cursor:
        page = samples.list_samples(bench, AUTHOR, handle, cursor=page.next_cursor, **asked)
        items += page.items
    return items


def test_a_sample_comes_back_as_it_was_sent(bench: Bench) -> None:
    handle = draft(bench)
    text = "  naïve ☕ \u2028 text\n"
    [sample_id] = _add(bench, handle, {"trait": "Warmth", "text": text, "quality": 0.25, "source_url": "https://a.b"})
    [sample] = _all(bench, handle)
    assert sample.model_dump(exclude={"created_at"}) == {
        "id": sample_id,
        "trait": "warmth",
        "text": text,
        "quality": 0.25,
        "provenance": "authored",
        "source_url": "https://a.b",
        "content_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "seed_sample_id": None,
    }


def test_the_same_text_twice_is_two_samples_with_rising_ids(bench: Bench) -> None:
    handle = draft(bench)
    ids = _add(bench, handle, {}, {}, {"text": "b"})
    assert ids == sorted(set(ids))
    assert [sample.id for sample in _all(bench, handle)] == ids


def test_a_batch_with_bad_elements_adds_nothing_and_names_them_all(bench: Bench) -> None:
    handle = draft(bench)
    with pytest.raises(ValidationFailed) as caught:
        _add(
            bench,
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
    assert _all(bench, handle) == []


def test_a_model_takes_as_many_samples_as_the_operator_allows(bench: Bench) -> None:
    handle = draft(bench)
    small = replace(bench, settings=replace(bench.settings, max_samples=3))
    _add(small, handle, {}, {})
    with pytest.raises(ValidationFailed):
        _add(small, handle, {}, {})
    _add(small, handle, {})
    assert len(_all(bench, handle)) == 3


def test_samples_are_listed_page_by_page_and_by_trait(bench: Bench) -> None:
    handle = draft(bench, warm=7, cold=4)
    everything = _all(bench, handle, limit=3)
    assert [sample.id for sample in everything] == sorted(sample.id for sample in everything)
    assert len(everything) == 11
    assert _all(bench, handle, trait="Warmth", limit=2) == everything
    with pytest.raises(TraitNotFound):
        samples.list_samples(bench, AUTHOR, handle, trait="coldness")


def test_paging_shows_each_sample_once_while_others_are_added_and_removed(bench: Bench) -> None:
    handle = draft(bench, warm=60)
    stay = [sample.id for sample in _all(bench, handle)][::2]

    def disturb(sample_id: int) -> None:
        if sample_id not in stay:
            samples.delete(bench, AUTHOR, handle, sample_id)
            _add(bench, handle, {"text": f"new {sample_id}"})

    with ThreadPoolExecutor(4) as pool:
        disturbed = [pool.submit(disturb, sample.id) for sample in _all(bench, handle)]
        while not all(each.done() for each in disturbed):
            seen = [sample.id for sample in _all(bench, handle, limit=7)]
            assert len(seen) == len(set(seen))
            assert set(stay) <= set(seen)
        for each in disturbed:
            each.result()


@pytest.mark.parametrize("limit", [0, 501])
def test_a_page_has_its_bounds(bench: Bench, limit: int) -> None:
    with pytest.raises(InvalidParameter):
        samples.list_samples(bench, AUTHOR, draft(bench), limit=limit)


def test_a_cursor_belongs_to_its_model(bench: Bench) -> None:
    one, other = draft(bench, warm=3), draft(bench, warm=3)
    cursor = samples.list_samples(bench, AUTHOR, one, limit=1).next_cursor
    with pytest.raises(InvalidCursor):
        samples.list_samples(bench, AUTHOR, other, limit=1, cursor=cursor)


def test_a_sample_is_deleted_from_its_own_model_only(bench: Bench) -> None:
    one, other = draft(bench, warm=2), draft(bench, warm=2)
    first, second = _all(bench, one)
    for missing in (first.id, 0, -1, 2**63, -(10**30)):
        with pytest.raises(SampleNotFound):
            samples.delete(bench, AUTHOR, other, missing)
    assert samples.delete(bench, AUTHOR, one, first.id).deleted
    assert _all(bench, one) == [second]
