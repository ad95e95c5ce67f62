"""Models: what is made, changed, deleted, restored and listed, and what is refused."""

import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from pydantic import ValidationError
from sqlalchemy import update as change

from tests.contexts import AUTHOR, ON_BOTH, SCORER, STRANGER, draft, new_handle, trained_here
from tests.operations.author import get, last_operation, new_model, update
from tests.operations.conftest import add_traits
from traitbench import errors
from traitbench.contract.models import ModelCreate, ModelUpdate, TrainRequest
from traitbench.contract.traits import TraitInput
from traitbench.operations import models, rules, samples, training, traits
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.store import tables
from traitbench.store.database import writing


@ON_BOTH
def test_a_test_is_on_the_database_it_names(context: Context, database: str) -> None:
    assert context.engine.dialect.name == database


def test_a_new_model_is_an_untrained_draft(context: Context) -> None:
    handle = new_handle()
    made = models.create(context, AUTHOR, ModelCreate(handle=handle))
    assert made.model_dump() == {
        "handle": handle,
        "scoring_method": "balanced_cosine",
        "description": "",
        "state": "draft",
        "kind": "scoring",
        "traits": [],
        "current_version_id": None,
        "version_no": None,
        "version_tags": [],
        "zero_data_retention": False,
        "last_operation": None,
        "max_depth": 1,
        "additional_terms": None,
        "upstream_sources": None,
        "readme_markdown": None,
        "version_retention_policy": None,
        "hold_if_worse": False,
        "language_model_allowed": False,
        "held_version_no": None,
        "forked_from": None,
        "archived_at": None,
        "main_trait": None,
        "demo_texts": [],
        "retrain": {"after_samples": None, "after_seconds": None, "pending": 0, "due_at": None},
    }
    assert models.get(context, SCORER, handle) == made


@ON_BOTH
def test_what_is_sent_at_creation_is_kept(context: Context) -> None:
    sent: dict[str, Any] = {
        "description": "Wärme – 温かさ",
        "max_depth": 3,
        "additional_terms": "be kind",
        "upstream_sources": [{"name": "a", "nested": {"list": [1, 2.5, None, True, "é"]}}],
        "readme_markdown": "# Hello",
    }
    made = models.create(context, AUTHOR, ModelCreate(handle=new_handle(), **sent))
    assert made.model_dump(include=set(sent)) == sent


@pytest.mark.parametrize(
    ("caller", "fields", "error"),
    [
        (SCORER, {}, errors.InsufficientScope),
        (STRANGER, {}, errors.NamespaceForbidden),
        (AUTHOR, {"handle": "local"}, errors.InvalidHandle),
        (AUTHOR, {"handle": "local.a@v1"}, errors.InvalidHandle),
        (AUTHOR, {"kind": "retrieval"}, errors.UnsupportedKind),
        (AUTHOR, {"scoring_method": "cosine"}, errors.UnsupportedScoringMethod),
        (AUTHOR, {"upstream_sources": [{"name": "a\x00b"}]}, errors.ValidationFailed),
        (AUTHOR, {"upstream_sources": [{"a\ud800": 1}]}, errors.ValidationFailed),
        (AUTHOR, {"upstream_sources": [{"a": [math.nan]}]}, errors.ValidationFailed),
        (AUTHOR, {"upstream_sources": [{"a": 2**70}]}, errors.ValidationFailed),
    ],
)
def test_a_model_that_cannot_be_made_is_refused(
    context: Context, caller: Caller, fields: dict[str, Any], error: type[errors.TraitbenchError]
) -> None:
    with pytest.raises(error):
        models.create(context, caller, ModelCreate(**{"handle": new_handle(), **fields}))


def test_a_patch_changes_what_was_sent_and_null_brings_back_the_default(context: Context) -> None:
    handle = new_handle()
    models.create(context, AUTHOR, ModelCreate(handle=handle, description="old", max_depth=3, readme_markdown="# old"))
    changed = update(context, handle, description="new", max_depth=None)
    assert (changed.description, changed.max_depth, changed.readme_markdown) == ("new", 1, "# old")
    optional = ("upstream_sources", "additional_terms", "zero_data_retention", "version_retention_policy")
    reset = update(
        context, handle, description=None, scoring_method=None, readme_markdown=None, **dict.fromkeys(optional)
    )
    assert (reset.description, reset.scoring_method, reset.readme_markdown) == ("", "balanced_cosine", None)
    assert update(context, handle) == reset


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (ModelUpdate(scoring_method="cosine"), errors.UnsupportedScoringMethod),
        (ModelUpdate(upstream_sources=[{"a": "\x00"}]), errors.ValidationFailed),
    ],
)
def test_a_patch_that_is_refused_changes_nothing(
    context: Context, body: ModelUpdate, error: type[errors.TraitbenchError]
) -> None:
    handle = draft(context)
    before = get(context, handle)
    with pytest.raises(error):
        models.update(context, AUTHOR, handle, body.model_copy(update={"description": "changed"}))
    assert get(context, handle) == before


def test_a_deleted_model_can_be_read_and_deleted_again_and_its_handle_stays_taken(context: Context) -> None:
    handle = draft(context)
    assert models.delete(context, AUTHOR, handle).deleted
    assert models.delete(context, AUTHOR, handle).deleted
    assert get(context, handle).state == "archived"
    with pytest.raises(errors.ModelArchived):
        update(context, handle, description="x")
    with pytest.raises(errors.HandleTaken):
        models.create(context, AUTHOR, ModelCreate(handle=handle))


def test_an_archived_model_is_restored_as_it_was_until_30_days_have_passed(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = draft(context, warm=1, cold=1)
    before = get(context, handle)
    assert models.restore(context, AUTHOR, handle) == before
    models.delete(context, AUTHOR, handle)
    since = get(context, handle).archived_at
    assert since is not None
    models.delete(context, AUTHOR, handle)
    assert get(context, handle).archived_at == since
    monkeypatch.setattr(rules, "now", lambda: since + timedelta(days=30, seconds=1))
    with pytest.raises(errors.ModelArchived, match="more than 30 days ago"):
        models.restore(context, AUTHOR, handle)
    monkeypatch.setattr(rules, "now", lambda: since + timedelta(days=30))
    assert models.restore(context, AUTHOR, handle) == before
    assert len(samples.list_samples(context, AUTHOR, handle).items) == 2
    with pytest.raises(errors.InsufficientScope):
        models.restore(context, SCORER, handle)


def test_a_busy_model_is_restored_as_its_cancelled_run_left_it(context: Context) -> None:
    handle = draft(context, warm=2, cold=2)
    training.start(context, AUTHOR, handle, TrainRequest(effort="low"))
    models.delete(context, AUTHOR, handle)
    assert models.restore(context, AUTHOR, handle).state == "failed"
    assert last_operation(context, handle).status == "failed"


def test_a_model_that_an_earlier_release_archived_is_restored_by_its_version(context: Context) -> None:
    handles = (draft(context), trained_here(context))
    for handle in handles:
        models.delete(context, AUTHOR, handle)
    with writing(context.engine) as connection:
        connection.execute(change(tables.models).where(tables.models.c.handle.in_(handles)).values(archived_from=None))
    assert [models.restore(context, AUTHOR, handle).state for handle in handles] == ["draft", "ready"]


def test_a_main_trait_is_found_by_name_and_goes_with_its_trait(context: Context) -> None:
    handle = draft(context)
    add_traits(context, handle, {"name": "Plain words"})
    assert update(context, handle, main_trait="Plain words").main_trait == "plain_words"
    with pytest.raises(errors.ValidationFailed) as caught:
        update(context, handle, main_trait="absent")
    assert caught.value.details["errors"][0]["type"] == "unknown_trait"
    traits.delete(context, AUTHOR, handle, "warmth")
    assert get(context, handle).main_trait == "plain_words"
    traits.delete(context, AUTHOR, handle, "plain_words")
    assert get(context, handle).main_trait is None


@pytest.mark.parametrize("texts", [[""], [" \n"], ["x" * 2_001], ["x"] * 51, ["a\x00"], [1]])
def test_demo_texts_are_bounded(texts: list[str]) -> None:
    with pytest.raises(ValidationError):
        ModelUpdate(demo_texts=texts)


def test_a_missing_model_is_named_in_the_refusal(context: Context) -> None:
    with pytest.raises(errors.ModelNotFound) as caught:
        get(context, "local.missing")
    assert caught.value.details == {"handle": "local.missing"}


@pytest.fixture(scope="module")
def shelf(context: Context) -> Caller:
    """A caller whose namespace has seven models, one of them archived."""
    caller = Caller("key_shelf", "authoring", frozenset({"shelf"}))
    for number in range(7):
        new_model(context, TraitInput(name="B"), TraitInput(name="A"), caller=caller, handle=f"shelf.m{number}")
    models.delete(context, caller, "shelf.m6")
    return caller


def _list(context: Context, caller: Caller, **asked: Any) -> list[str]:
    return [model.handle for model in models.list_models(context, caller, **asked).items]


@ON_BOTH
def test_a_listing_goes_by_handle_page_by_page(context: Context, shelf: Caller) -> None:
    first = models.list_models(context, shelf, namespace="shelf", limit=4)
    assert [model.handle for model in first.items] == ["shelf.m0", "shelf.m1", "shelf.m2", "shelf.m3"]
    assert [model.traits for model in first.items] == [["B", "A"]] * 4
    second = models.list_models(context, shelf, namespace="shelf", limit=4, cursor=first.next_cursor)
    assert [model.handle for model in second.items] == ["shelf.m4", "shelf.m5"]
    assert (first.limit, second.next_cursor) == (4, None)
    assert models.list_models(context, shelf, namespace="shelf", limit=6).next_cursor is None, "a page just full"


def test_archived_models_are_listed_only_when_asked_for(context: Context, shelf: Caller) -> None:
    assert "shelf.m6" not in _list(context, shelf, namespace="shelf")
    assert _list(context, shelf, namespace="shelf", state="archived") == ["shelf.m6"]
    assert _list(context, shelf, namespace="shelf", state="ready") == []
    assert len(_list(context, shelf, namespace="shelf", kind="scoring")) == 6


def test_without_a_namespace_the_public_ones_are_listed(context: Context, shelf: Caller, public: str) -> None:
    listed = _list(context, shelf, limit=250)
    assert public in listed
    assert all(handle.startswith("demo.") for handle in listed)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"namespace": "local"}, errors.NamespaceForbidden),
        ({"namespace": "demo"}, errors.NamespaceForbidden),
        ({"limit": 0}, errors.InvalidParameter),
        ({"limit": 251}, errors.InvalidParameter),
        ({"state": "trained"}, errors.InvalidParameter),
        ({"kind": "retrieval"}, errors.InvalidParameter),
        ({"cursor": "nonsense"}, errors.InvalidCursor),
    ],
)
def test_a_listing_that_makes_no_sense_is_refused(
    context: Context, shelf: Caller, asked: dict[str, Any], error: type[errors.TraitbenchError]
) -> None:
    with pytest.raises(error):
        models.list_models(context, shelf, **asked)


@ON_BOTH
def test_twenty_threads_that_create_one_model_create_one(context: Context) -> None:
    handle, barrier = new_handle(), Barrier(20)

    def create(_: int) -> str:
        barrier.wait()
        try:
            return models.create(context, AUTHOR, ModelCreate(handle=handle)).handle
        except errors.HandleTaken:
            return "taken"

    with ThreadPoolExecutor(20) as pool:
        assert Counter(pool.map(create, range(20))) == {handle: 1, "taken": 19}


def test_a_cursor_is_good_for_its_own_filters_only(context: Context, shelf: Caller) -> None:
    cursor = models.list_models(context, shelf, namespace="shelf", limit=2).next_cursor
    with pytest.raises(errors.InvalidCursor):
        models.list_models(context, shelf, namespace="shelf", state="draft", limit=2, cursor=cursor)
