"""Zero data retention: what is deleted by the time of the response, what may stay, and what a live run leaves."""

import gc
import sqlite3
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event, func, select

from tests.conftest import not_none
from tests.contexts import (
    AUTHOR,
    COLD,
    ON_BOTH,
    ON_SQLITE,
    WARM,
    done_here,
    draft,
    fresh_settings,
    new_handle,
    opened,
    settled,
    trained_here,
    until,
)
from tests.encoders.meanwhile import Meanwhile
from tests.operations import author
from traitbench.contract.models import ForkRequest, Model, ModelUpdate
from traitbench.contract.traits import TraitInput, TraitsCreate, TraitUpdate
from traitbench.errors import InsufficientSamples, Unavailable, ValidationFailed
from traitbench.operations import model_runs, models, promotion, serving, training, traits, versions
from traitbench.operations import zero_retention as zero
from traitbench.operations.context import Context
from traitbench.runs.executor import Worker, execute
from traitbench.scoring.snapshot import Snapshot, param_hash
from traitbench.store import models as stored
from traitbench.store import tables
from traitbench.store import traits as stored_traits
from traitbench.store.database import reading, sqlite_file, writing

MARK = "quokkaplume"
WORDS = {"name": f"{MARK} vs form", "positive_label": MARK, "negative_label": "form", "description": f"{MARK}!"}
ON = ModelUpdate(zero_data_retention=True)


def _tell(context: Context, handle: str) -> None:
    """Samples with a unique word."""
    poles = [(text, 1.0) for text in WARM] + [(text, 0.0) for text in COLD]
    author.add_samples(context, handle, [(f"{MARK} {text}", quality) for text, quality in poles])


def _silent(context: Context) -> str:
    """A draft under zero retention, with samples."""
    handle = author.new_model(context, TraitInput(name="Warmth"), zero_data_retention=True)
    _tell(context, handle)
    return handle


def _marked(context: Context, *, trained: bool = False) -> str:
    handle = draft(context)
    _tell(context, handle)
    if trained:
        author.train(context, handle)
    return handle


def _files(context: Context, mark: str = MARK) -> list[str]:
    """The database files that contain the mark; a database server has none that we can search."""
    file = sqlite_file(context.settings.database_url)
    if file is None:
        return []
    return [path.name for path in Path(file).parent.glob(f"{file.name}*") if mark.encode() in path.read_bytes()]


def _switch_on(context: Context, handle: str) -> Model:
    return author.update(context, handle, zero_data_retention=True)


def _kept(context: Context, handle: str) -> dict[str, int]:
    own = tables.samples.c.model_id == author.row(context, handle).id
    with reading(context.engine) as connection:
        texts = connection.execute(select(func.count()).where(own)).scalar_one()
    return {"samples": texts, "vectors": author.vectors_of(context, handle)}


def _unsettled(context: Context, handle: str) -> bool:
    with reading(context.engine) as connection:
        return author.row(context, handle).id in stored.unsettled_purges(connection)


@ON_BOTH
def test_switched_on_everything_that_holds_a_text_is_gone_by_the_answer(context: Context) -> None:
    handle = _marked(context, trained=True)
    assert _kept(context, handle) == {"samples": 8, "vectors": 8}
    author.update(context, handle, demo_texts=[f"{MARK} on stage"])
    if context.engine.dialect.name == "sqlite":
        assert _files(context) != []
    shown = _switch_on(context, handle)
    assert (shown.zero_data_retention, shown.demo_texts) == (True, [])
    assert _files(context) == []
    assert _kept(context, handle) == {"samples": 0, "vectors": 0}
    assert not _unsettled(context, handle)
    trait = traits.get(context, AUTHOR, handle, "warmth")
    assert (trait.sample_count, trait.positive_samples, trait.negative_samples) == (0, 0, 0)
    version = author.active(context, handle)
    assert version.sample_count == 8
    assert MARK not in version.model_dump_json()


def test_under_zero_retention_demo_texts_are_refused_and_stay_refused_when_it_is_restored(context: Context) -> None:
    handle = trained_here(context)
    with pytest.raises(ValidationFailed) as caught:
        author.update(context, handle, zero_data_retention=True, demo_texts=[MARK])
    assert MARK not in f"{caught.value} {caught.value.details}"
    assert not author.get(context, handle).zero_data_retention
    _switch_on(context, handle)
    models.delete(context, AUTHOR, handle)
    assert models.restore(context, AUTHOR, handle).zero_data_retention
    with pytest.raises(ValidationFailed):
        author.update(context, handle, demo_texts=[MARK])
    assert author.update(context, handle, demo_texts=[]).demo_texts == []
    assert _files(context) == []


def test_a_model_under_zero_retention_scores_and_keeps_nothing_of_it(context: Context) -> None:
    handle = trained_here(context)
    _switch_on(context, handle)
    assert author.score(context, handle, "zibeline thank you").scores
    assert _files(context, "zibeline") == []


def test_switched_on_the_version_as_it_was_is_not_kept_in_memory(context: Context) -> None:
    """A snapshot may hold words of the samples; neither of the two caches keeps it for the next request."""
    handle = trained_here(context)
    cached = weakref.ref(serving.now(context, handle, None).snapshot)
    gc.collect()
    assert cached() is not None
    _switch_on(context, handle)
    gc.collect()
    assert cached() is None


@ON_BOTH
def test_a_draft_that_was_purged_can_be_told_again_and_is_purged_when_it_is_trained(context: Context) -> None:
    handle = _marked(context)
    _switch_on(context, handle)
    with pytest.raises(InsufficientSamples):
        training.start(context, AUTHOR, handle, author.QUICK)
    _tell(context, handle)
    author.train(context, handle)
    assert author.get(context, handle).state == "ready"
    assert _kept(context, handle) == {"samples": 0, "vectors": 0}
    assert _files(context) == []
    assert author.active(context, handle).sample_count == 8


def test_a_training_that_fails_leaves_the_samples_for_the_next(context: Context) -> None:
    handle = _silent(context)
    started = training.start(context, AUTHOR, handle, author.QUICK)[0]

    def broken(_: object) -> None:
        raise RuntimeError(MARK)

    execute(
        Worker(context.engine, context.settings.database_url, "here", {"train": broken}, model_runs.fail),
        str(started.run_id),
    )
    model = author.get(context, handle)
    assert model.state == "failed"
    assert MARK not in model.model_dump_json()
    assert _kept(context, handle)["samples"] == 8
    _switch_on(context, handle)
    assert _files(context) == []


def test_asked_for_again_it_purges_again(context: Context) -> None:
    handle = draft(context)
    _switch_on(context, handle)
    _tell(context, handle)
    author.update(context, handle, description="an edit of something else")
    assert _kept(context, handle)["samples"] == 8
    _switch_on(context, handle)
    assert _kept(context, handle)["samples"] == 0


def test_switched_off_it_brings_nothing_back_and_feedback_is_kept_again(context: Context) -> None:
    handle = trained_here(context)
    _switch_on(context, handle)
    shown = author.update(context, handle, zero_data_retention=False)
    assert not shown.zero_data_retention
    assert author.samples_of(context, handle) == []
    author.give_feedback(context, handle)
    assert author.update(context, handle, zero_data_retention=None) == author.get(context, handle)


@ON_BOTH
def test_feedback_that_waits_is_purged_and_never_learnt(context: Context) -> None:
    handle = trained_here(context)
    for i in range(9):
        author.give_feedback(context, handle, f"{MARK} {i}", warmth=i % 2)
    _switch_on(context, handle)
    assert _files(context) == []
    author.sweep(context)
    assert author.get(context, handle).state == "ready"


# ---- forks -----------------------------------------------------------------------------------------------------------


def _refitted_fork(context: Context, handle: str) -> str:
    copy = author.fork(context, handle).handle
    author.train(context, copy)
    return copy


def _forks_of(context: Context, handle: str) -> dict[str, str]:
    return {each.handle: each.state for each in models.list_models(context, AUTHOR, forked_from=handle).items}


@ON_BOTH
def test_archived_forks_lose_their_samples_with_the_model_and_others_are_named(context: Context) -> None:
    handle = _marked(context, trained=True)
    promoted = _refitted_fork(context, handle)
    inner = _refitted_fork(context, promoted)
    author.promote(context, promoted, inner)
    author.promote(context, handle, promoted)
    left, living = (author.fork(context, handle).handle for _ in range(2))
    models.delete(context, AUTHOR, left)
    another = _refitted_fork(context, living)
    author.promote(context, handle, another, force=True)
    gone = (promoted, inner, left, another)
    assert _forks_of(context, handle) == {**dict.fromkeys(gone, "archived"), living: "draft"}
    assert [_kept(context, each)["samples"] > 0 for each in (*gone, living)] == [True] * 5

    _switch_on(context, handle)
    assert [_kept(context, each) for each in gone] == [{"samples": 0, "vectors": 0}] * 4
    assert all(models.get(context, AUTHOR, each).zero_data_retention for each in gone)
    assert not any(_unsettled(context, each) for each in (handle, *gone))
    assert _kept(context, living)["samples"] == 8
    assert not models.get(context, AUTHOR, living).zero_data_retention
    _switch_on(context, living)
    assert _files(context) == []
    assert models.restore(context, AUTHOR, promoted).zero_data_retention


def test_a_model_that_was_promoted_without_being_a_fork_counts_as_one(context: Context) -> None:
    handle, other = trained_here(context), _marked(context, trained=True)
    author.promote(context, handle, other, force=True)
    assert _forks_of(context, handle) == {other: "archived"}
    _switch_on(context, handle)
    assert _kept(context, other)["samples"] == 0
    assert _files(context) == []


def test_a_fork_that_is_promoted_under_zero_retention_is_archived_without_samples(context: Context) -> None:
    handle = _marked(context, trained=True)
    early, kept = (_refitted_fork(context, handle) for _ in range(2))
    _switch_on(context, handle)
    author.promote(context, handle, kept, keep=True)
    author.promote(context, handle, early, force=True)
    assert _kept(context, early) == {"samples": 0, "vectors": 0}
    assert _kept(context, kept)["samples"] == 8
    _switch_on(context, kept)
    zero.sweep(context.engine)
    assert not any(_unsettled(context, each) for each in (handle, early, kept))
    assert _files(context) == []
    late = author.fork(context, handle).handle
    _tell(context, late)
    _switch_on(context, handle)
    assert _kept(context, late)["samples"] == 8
    author.train(context, late)
    author.promote(context, handle, late)
    assert _kept(context, late)["samples"] == 0
    zero.sweep(context.engine)
    assert _files(context) == []


def test_a_fork_in_a_namespace_of_another_team_is_neither_named_nor_changed(context: Context) -> None:
    handle = _marked(context, trained=True)
    both = replace(AUTHOR, namespaces=AUTHOR.namespaces | {"theirs"})
    own = replace(both, namespaces=frozenset({"theirs"}))
    copy = promotion.fork(context, both, handle, ForkRequest(handle=f"theirs.{new_handle().partition('.')[2]}")).handle
    models.delete(context, own, copy)
    assert _forks_of(context, handle) == {}
    assert [each.handle for each in models.list_models(context, own, forked_from=handle).items] == [copy]
    _switch_on(context, handle)
    assert _kept(context, copy)["samples"] == 8
    models.update(context, both, handle, ON)
    assert _kept(context, copy)["samples"] == 0


@ON_BOTH
def test_a_purge_of_forks_that_was_killed_is_completed_by_the_sweep(context: Context) -> None:
    handle = _marked(context, trained=True)
    copy = _refitted_fork(context, handle)
    author.promote(context, handle, copy)
    ids = [author.row(context, each).id for each in (handle, copy)]
    with writing(context.engine) as connection:
        for model_id in ids:
            zero.purge(connection, model_id)
    zero.sweep(context.engine)
    assert not any(_unsettled(context, each) for each in (handle, copy))
    assert _files(context) == []


# ---- what runs meanwhile ---------------------------------------------------------------------------------------------


def _done_while(context: Context, run_id: str | None, happens: Callable[[], object]) -> None:
    train = partial(training.run, context.engine, Meanwhile(context.encoder, happens))
    bodies = dict.fromkeys(("train", "retune", "retrain"), train)
    execute(Worker(context.engine, context.settings.database_url, "here", bodies, model_runs.fail), str(run_id))


@ON_BOTH
def test_a_run_in_flight_is_cancelled_and_stores_nothing(context: Context) -> None:
    handle = _marked(context)
    started = training.start(context, AUTHOR, handle, author.QUICK)[0]
    answers: list[Any] = []

    def switch_on() -> None:
        answers.append(_switch_on(context, handle))
        answers.append(_files(context))

    _done_while(context, started.run_id, switch_on)
    shown, files = answers
    assert (shown.state, files) == ("failed", [])
    after = author.get(context, handle)
    assert after == shown
    operation = author.last_operation(context, handle)
    assert (operation.run_id, not_none(operation.error).code) == (started.run_id, "cancelled")
    assert _kept(context, handle) == {"samples": 0, "vectors": 0}
    assert versions.list_versions(context, AUTHOR, handle).items == []
    assert _files(context) == []


def test_a_search_in_flight_is_cancelled_and_the_old_version_serves(context: Context) -> None:
    handle = _marked(context, trained=True)
    started = training.start(context, AUTHOR, handle, author.REFIT)[0]
    shown = _switch_on(context, handle)
    assert (shown.state, shown.version_no) == ("ready", 1)
    done_here(context, started.run_id)
    assert author.get(context, handle) == shown
    assert _files(context) == []


@ON_BOTH
def test_switched_off_in_mid_training_the_samples_stay(context: Context) -> None:
    handle = draft(context)
    _switch_on(context, handle)
    _tell(context, handle)
    started = training.start(context, AUTHOR, handle, author.QUICK)[0]
    _done_while(context, started.run_id, lambda: author.update(context, handle, zero_data_retention=False))
    assert author.get(context, handle).state == "ready"
    assert _kept(context, handle)["samples"] == 8
    _switch_on(context, handle)


# ---- a log that somebody reads ---------------------------------------------------------------------------------------


@ON_BOTH
def test_a_log_that_somebody_reads_is_said_to_hold_the_texts_still(context: Context) -> None:
    handle = _marked(context)
    model_id = author.row(context, handle).id
    with reading(context.engine) as reader:
        reader.execute(select(tables.models.c.id)).all()
        with writing(context.engine) as connection:
            zero.purge(connection, model_id)
        assert _kept(context, handle) == {"samples": 0, "vectors": 0}
        if context.engine.dialect.name == "sqlite":
            with pytest.raises(Unavailable) as caught:
                zero.settle_or_say(context.engine, model_id, patience_s=0.1)
            assert "Retry-After" in caught.value.headers
            assert _unsettled(context, handle)
            assert _files(context) == ["traitbench.db-wal"]
    # Sent again when the reader has gone. The log of a database server is the operator's: there is nothing to wait for.
    zero.settle_or_say(context.engine, model_id, patience_s=0.1)
    assert not _unsettled(context, handle)
    assert _files(context) == []


@ON_SQLITE
def test_a_database_that_refuses_the_rewrite_is_not_said_to_have_deleted_nothing(
    context: Context, caplog: pytest.LogCaptureFixture
) -> None:
    def write_nothing(connection: sqlite3.Connection, *_: object) -> None:
        connection.execute("PRAGMA query_only = 1")

    handle = _marked(context)
    model_id = author.row(context, handle).id
    with writing(context.engine) as connection:
        zero.purge(connection, model_id)
    event.listen(context.engine, "checkout", write_nothing)
    try:
        with pytest.raises(Unavailable, match=r"read-only\. Zero data retention is on and the samples are deleted"):
            zero.settle_or_say(context.engine, model_id)
        zero.sweep(context.engine)
        assert "purged samples cannot be removed from the database's files: read_only" in caplog.messages
    finally:
        event.remove(context.engine, "checkout", write_nothing)
        context.engine.dispose()
    assert _unsettled(context, handle)
    zero.sweep(context.engine)
    assert not _unsettled(context, handle)


@ON_BOTH
def test_a_log_is_emptied_by_the_sweep_when_its_reader_has_gone(context: Context) -> None:
    handle = _marked(context)
    model_id = author.row(context, handle).id
    with reading(context.engine) as reader:
        reader.execute(select(tables.models.c.id)).all()
        with writing(context.engine) as connection:
            zero.purge(connection, model_id)
    zero.sweep(context.engine)
    assert not _unsettled(context, handle)
    assert _files(context) == []


@ON_BOTH
def test_a_purge_that_came_later_is_not_taken_for_settled(context: Context) -> None:
    handle = draft(context)
    model_id = author.row(context, handle).id
    with writing(context.engine) as connection:
        zero.purge(connection, model_id)
        microseconds = stored.unsettled_purges(connection)[model_id]
        stored.purge_settled(connection, model_id, microseconds - 1_000_000)
    assert _unsettled(context, handle)
    assert zero.settle(context.engine, model_id)
    assert not _unsettled(context, handle)


# ---- words that discovery took from the texts ------------------------------------------------------------------------


def _add_discovered(context: Context, handle: str, words: Mapping[str, str]) -> None:
    """Store the trait `axis_1` as a discovery stores it, with these words from the samples."""
    fields = {
        **words,
        "key": "axis_1",
        "kind": "intrinsic",
        "aggregation": "mean",
        "discovery": {**words, "offset": 0.5},
    }
    axis = stored_traits.Axis(context.encoder.digest, np.eye(1, context.encoder.dimension, dtype=np.float32)[0])
    anchors = {"anchor_sample_ids": {"positive": [1], "negative": [2]}}
    model_id = author.row(context, handle).id
    with writing(context.engine) as connection:
        stored_traits.add(connection, model_id, [{**fields, **anchors, **stored_traits.axis_fields(axis)}])


@ON_BOTH
def test_names_that_were_words_of_the_texts_give_way_to_keys_in_the_versions_too(context: Context) -> None:
    handle = _marked(context)
    _add_discovered(context, handle, WORDS)
    traits.update(context, AUTHOR, handle, "axis_1", TraitUpdate(negative_label="my own word"))
    author.train(context, handle)
    _switch_on(context, handle)
    trait = traits.get(context, AUTHOR, handle, "axis_1")
    assert (trait.name, trait.positive_label, trait.negative_label) == ("axis_1", "positive", "my own word")
    assert (trait.description, trait.kind) == ("", "intrinsic")
    assert not_none(trait.anchor_sample_ids).model_dump() == {"positive": [], "negative": []}
    version = author.active(context, handle)
    assert param_hash(Snapshot.from_json(not_none(version.snapshot))) == version.param_hash
    assert _files(context) == []
    assert author.score(context, handle).scores.keys() == {"warmth", "axis_1"}


@pytest.mark.parametrize("discovered_first", [True, False])
def test_the_neutral_name_is_never_that_of_another_trait(context: Context, discovered_first: bool) -> None:
    handle = author.new_model(context)
    others = TraitsCreate(traits=[TraitInput(key="own", name="axis_1"), TraitInput(key="more", name="axis_1_")])
    if not discovered_first:
        traits.add(context, AUTHOR, handle, others)
    _add_discovered(context, handle, WORDS)
    if discovered_first:
        traits.add(context, AUTHOR, handle, others)
    _switch_on(context, handle)
    names = {trait.key: trait.name for trait in traits.list_traits(context, AUTHOR, handle).traits}
    assert names == {"own": "axis_1", "more": "axis_1_", "axis_1": "axis_1__"}


# `test_marker.py` has a model that a worker trains under zero retention, on SQLite.
@pytest.mark.soak
@ON_BOTH
def test_a_worker_leaves_nothing_of_what_it_has_learnt(tmp_path: Path) -> None:
    with fresh_settings(tmp_path) as settings, opened(settings, runs=True) as context:
        handle = _silent(context)
        training.start(context, AUTHOR, handle, author.QUICK)
        assert settled(context, handle).state == "ready"
        assert _kept(context, handle) == {"samples": 0, "vectors": 0}
        until(lambda: not _unsettled(context, handle), what="the log to be emptied")
        assert _files(context) == []
