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

from tests.contexts import (
    AUTHOR,
    COLD,
    ON_BOTH_IN_SOAK,
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
from traitbench.contract.models import ForkRequest, ModelCreate, ModelUpdate, PromoteRequest, TrainRequest
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.scores import ScoreRequest
from traitbench.contract.traits import TraitInput, TraitsCreate, TraitUpdate
from traitbench.errors import InsufficientSamples, SamplesPurged, Unavailable, ValidationFailed
from traitbench.operations import (
    forking,
    model_runs,
    models,
    promotion,
    retraining,
    samples,
    scores,
    serving,
    training,
    traits,
    versions,
)
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
ON, OFF = ModelUpdate(zero_data_retention=True), ModelUpdate(zero_data_retention=False)
TRAIN, RETUNE = TrainRequest(effort="low"), TrainRequest(effort="low", reoptimize_params=True)


def _tell(context: Context, handle: str, *, mark: str = MARK) -> None:
    """Samples with a unique word."""
    results = [(text, 1.0) for text in WARM] + [(text, 0.0) for text in COLD]
    inputs = [SampleInput(trait="warmth", text=f"{mark} {text}", quality=quality) for text, quality in results]
    samples.add(context, AUTHOR, handle, SamplesCreate(samples=inputs))


def _marked(context: Context, *, trained: bool = False) -> str:
    handle = draft(context)
    _tell(context, handle)
    if trained:
        done_here(context, training.start(context, AUTHOR, handle, TRAIN)[0].run_id)
    return handle


def _files(context: Context, mark: str = MARK) -> list[str]:
    """The database files that contain the mark; a database server has none that we can search."""
    file = sqlite_file(context.settings.database_url)
    if file is None:
        return []
    return [path.name for path in Path(file).parent.glob(f"{file.name}*") if mark.encode() in path.read_bytes()]


def _kept(context: Context, handle: str) -> dict[str, int]:
    with reading(context.engine) as connection:
        model = stored.find(connection, handle)
        assert model is not None
        own = tables.samples.c.model_id == model.id
        texts = connection.execute(select(func.count()).where(own)).scalar_one()
        encoded = select(func.count()).select_from(tables.vectors.join(tables.samples)).where(own)
        return {"samples": texts, "vectors": connection.execute(encoded).scalar_one()}


def _unsettled(context: Context, handle: str) -> bool:
    with reading(context.engine) as connection:
        model = stored.find(connection, handle)
        assert model is not None
        return model.id in stored.unsettled_purges(connection)


def test_switched_on_everything_that_holds_a_text_is_gone_by_the_answer(context: Context) -> None:
    handle = _marked(context, trained=True)
    assert _kept(context, handle) == {"samples": 8, "vectors": 8}
    models.update(context, AUTHOR, handle, ModelUpdate(demo_texts=[f"{MARK} on stage"]))
    if context.engine.dialect.name == "sqlite":
        assert _files(context) != []
    shown = models.update(context, AUTHOR, handle, ON)
    assert (shown.zero_data_retention, shown.demo_texts) == (True, [])
    assert _files(context) == []
    assert _kept(context, handle) == {"samples": 0, "vectors": 0}
    assert not _unsettled(context, handle)
    trait = traits.get(context, AUTHOR, handle, "warmth")
    assert (trait.sample_count, trait.positive_samples, trait.negative_samples) == (0, 0, 0)
    version = versions.get(context, AUTHOR, handle, "v1")
    assert version.sample_count == 8
    assert MARK not in version.model_dump_json()


def test_under_zero_retention_demo_texts_are_refused_and_stay_refused_when_it_is_restored(context: Context) -> None:
    handle = trained_here(context)
    with pytest.raises(ValidationFailed) as caught:
        models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=True, demo_texts=[MARK]))
    assert MARK not in f"{caught.value} {caught.value.details}"
    assert not models.get(context, AUTHOR, handle).zero_data_retention
    models.update(context, AUTHOR, handle, ON)
    models.delete(context, AUTHOR, handle)
    assert models.restore(context, AUTHOR, handle).zero_data_retention
    with pytest.raises(ValidationFailed):
        models.update(context, AUTHOR, handle, ModelUpdate(demo_texts=[MARK]))
    assert models.update(context, AUTHOR, handle, ModelUpdate(demo_texts=[])).demo_texts == []
    assert _files(context) == []


def test_a_model_under_zero_retention_scores_and_keeps_nothing_of_it(context: Context) -> None:
    handle = trained_here(context)
    models.update(context, AUTHOR, handle, ON)
    card = scores.score(context, AUTHOR, handle, ScoreRequest(content="zibeline thank you"), request_id="req")
    assert card.scores
    assert _files(context, "zibeline") == []


def test_switched_on_the_version_as_it_was_is_not_kept_in_memory(context: Context) -> None:
    """A snapshot may hold words of the samples; neither of the two caches keeps it for the next request."""
    handle = trained_here(context)
    cached = weakref.ref(serving.now(context, handle, None).snapshot)
    gc.collect()
    assert cached() is not None
    models.update(context, AUTHOR, handle, ON)
    gc.collect()
    assert cached() is None


def test_without_samples_a_fresh_search_is_refused_and_training_is_nothing_to_do(context: Context) -> None:
    handle = trained_here(context)
    models.update(context, AUTHOR, handle, ON)
    with pytest.raises(SamplesPurged):
        training.start(context, AUTHOR, handle, RETUNE)
    assert training.start(context, AUTHOR, handle, TRAIN)[1] is False


def test_a_draft_that_was_purged_can_be_told_again_and_is_purged_when_it_is_trained(context: Context) -> None:
    handle = _marked(context)
    models.update(context, AUTHOR, handle, ON)
    with pytest.raises(InsufficientSamples):
        training.start(context, AUTHOR, handle, TRAIN)
    _tell(context, handle)
    done_here(context, training.start(context, AUTHOR, handle, TRAIN)[0].run_id)
    assert models.get(context, AUTHOR, handle).state == "ready"
    assert _kept(context, handle) == {"samples": 0, "vectors": 0}
    assert _files(context) == []
    assert versions.get(context, AUTHOR, handle, "v1").sample_count == 8


def test_a_training_that_fails_leaves_the_samples_for_the_next(context: Context) -> None:
    handle = new_handle()
    models.create(context, AUTHOR, ModelCreate(handle=handle, zero_data_retention=True))
    traits.add(context, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name="Warmth")]))
    _tell(context, handle)
    started = training.start(context, AUTHOR, handle, TRAIN)[0]

    def broken(_: object) -> None:
        raise RuntimeError(MARK)

    execute(
        Worker(context.engine, context.settings.database_url, "here", {"train": broken}, model_runs.fail),
        str(started.run_id),
    )
    model = models.get(context, AUTHOR, handle)
    assert model.state == "failed"
    assert MARK not in model.model_dump_json()
    assert _kept(context, handle)["samples"] == 8
    models.update(context, AUTHOR, handle, ON)
    assert _files(context) == []


def test_asked_for_again_it_purges_again(context: Context) -> None:
    handle = draft(context)
    models.update(context, AUTHOR, handle, ON)
    _tell(context, handle)
    models.update(context, AUTHOR, handle, ModelUpdate(description="an edit of something else"))
    assert _kept(context, handle)["samples"] == 8
    models.update(context, AUTHOR, handle, ON)
    assert _kept(context, handle)["samples"] == 0


def test_switched_off_it_brings_nothing_back_and_feedback_is_kept_again(context: Context) -> None:
    handle = trained_here(context)
    models.update(context, AUTHOR, handle, ON)
    shown = models.update(context, AUTHOR, handle, OFF)
    assert not shown.zero_data_retention
    assert samples.list_samples(context, AUTHOR, handle).items == []
    request = ScoreRequest(content="thank you", feedback={"warmth": 1})
    assert len(scores.score(context, AUTHOR, handle, request, request_id="req").metadata.sample_ids) == 1
    assert models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=None)) == models.get(
        context, AUTHOR, handle
    )


def test_feedback_that_waits_is_purged_and_never_learnt(context: Context) -> None:
    handle = trained_here(context)
    for i in range(9):
        request = ScoreRequest(content=f"{MARK} {i}", feedback={"warmth": i % 2})
        scores.score(context, AUTHOR, handle, request, request_id="req")
    models.update(context, AUTHOR, handle, ON)
    assert _files(context) == []
    retraining.sweep(context.engine, context.runs, context.settings)
    assert models.get(context, AUTHOR, handle).state == "ready"


# ---- forks -----------------------------------------------------------------------------------------------------------


def _fork(context: Context, handle: str) -> str:
    return forking.fork(context, AUTHOR, handle, ForkRequest(handle=new_handle())).handle


def _promote(context: Context, handle: str, fork: str, *, force: bool = False, keep: bool = False) -> None:
    promotion.promote(context, AUTHOR, handle, PromoteRequest(**{"from": fork}, force=force, keep=keep))


def _refitted(context: Context, handle: str) -> str:
    done_here(context, training.start(context, AUTHOR, handle, TRAIN)[0].run_id)
    return handle


def _forks_of(context: Context, handle: str) -> dict[str, str]:
    return {each.handle: each.state for each in models.list_models(context, AUTHOR, forked_from=handle).items}


def test_archived_forks_lose_their_samples_with_the_model_and_others_are_named(context: Context) -> None:
    handle = _marked(context, trained=True)
    promoted = _refitted(context, _fork(context, handle))
    inner = _refitted(context, _fork(context, promoted))
    _promote(context, promoted, inner)
    _promote(context, handle, promoted)
    left, living = _fork(context, handle), _fork(context, handle)
    models.delete(context, AUTHOR, left)
    another = _refitted(context, _fork(context, living))
    _promote(context, handle, another, force=True)
    gone = (promoted, inner, left, another)
    assert _forks_of(context, handle) == {**dict.fromkeys(gone, "archived"), living: "draft"}
    assert [_kept(context, each)["samples"] > 0 for each in (*gone, living)] == [True] * 5

    models.update(context, AUTHOR, handle, ON)
    assert [_kept(context, each) for each in gone] == [{"samples": 0, "vectors": 0}] * 4
    assert all(models.get(context, AUTHOR, each).zero_data_retention for each in gone)
    assert not any(_unsettled(context, each) for each in (handle, *gone))
    assert _kept(context, living)["samples"] == 8
    assert not models.get(context, AUTHOR, living).zero_data_retention
    models.update(context, AUTHOR, living, ON)
    assert _files(context) == []
    assert models.restore(context, AUTHOR, promoted).zero_data_retention


def test_a_model_that_was_promoted_without_being_a_fork_counts_as_one(context: Context) -> None:
    handle, other = trained_here(context), _marked(context, trained=True)
    _promote(context, handle, other, force=True)
    assert _forks_of(context, handle) == {other: "archived"}
    models.update(context, AUTHOR, handle, ON)
    assert _kept(context, other)["samples"] == 0
    assert _files(context) == []


def test_a_fork_that_is_promoted_under_zero_retention_is_archived_without_samples(context: Context) -> None:
    handle = _marked(context, trained=True)
    early, kept = (_refitted(context, _fork(context, handle)) for _ in range(2))
    models.update(context, AUTHOR, handle, ON)
    _promote(context, handle, kept, keep=True)
    _promote(context, handle, early, force=True)
    assert _kept(context, early) == {"samples": 0, "vectors": 0}
    assert _kept(context, kept)["samples"] == 8
    models.update(context, AUTHOR, kept, ON)
    zero.sweep(context.engine)
    assert not any(_unsettled(context, each) for each in (handle, early, kept))
    assert _files(context) == []
    late = _fork(context, handle)
    _tell(context, late)
    models.update(context, AUTHOR, handle, ON)
    assert _kept(context, late)["samples"] == 8
    _promote(context, handle, _refitted(context, late))
    assert _kept(context, late)["samples"] == 0
    zero.sweep(context.engine)
    assert _files(context) == []


def test_a_fork_in_a_namespace_of_another_team_is_neither_named_nor_changed(context: Context) -> None:
    handle = _marked(context, trained=True)
    both = replace(AUTHOR, namespaces=AUTHOR.namespaces | {"theirs"})
    own = replace(both, namespaces=frozenset({"theirs"}))
    copy = forking.fork(context, both, handle, ForkRequest(handle=f"theirs.{new_handle().partition('.')[2]}")).handle
    models.delete(context, own, copy)
    assert _forks_of(context, handle) == {}
    assert [each.handle for each in models.list_models(context, own, forked_from=handle).items] == [copy]
    models.update(context, AUTHOR, handle, ON)
    assert _kept(context, copy)["samples"] == 8
    models.update(context, both, handle, ON)
    assert _kept(context, copy)["samples"] == 0


def test_a_purge_of_forks_that_was_killed_is_completed_by_the_sweep(context: Context) -> None:
    handle = _marked(context, trained=True)
    fork = _refitted(context, _fork(context, handle))
    _promote(context, handle, fork)
    with reading(context.engine) as connection:
        ids = [stored.find(connection, each).id for each in (handle, fork)]  # type: ignore[union-attr]
    with writing(context.engine) as connection:
        for model_id in ids:
            zero.purge(connection, model_id)
    zero.sweep(context.engine)
    assert not any(_unsettled(context, each) for each in (handle, fork))
    assert _files(context) == []


# ---- what runs meanwhile ---------------------------------------------------------------------------------------------


def _done_while(context: Context, run_id: str | None, happens: Callable[[], object]) -> None:
    train = partial(training.run, context.engine, Meanwhile(context.encoder, happens))
    bodies = dict.fromkeys(("train", "retune", "retrain"), train)
    execute(Worker(context.engine, context.settings.database_url, "here", bodies, model_runs.fail), str(run_id))


def test_a_run_in_flight_is_cancelled_and_stores_nothing(context: Context) -> None:
    handle = _marked(context)
    started = training.start(context, AUTHOR, handle, TRAIN)[0]
    answers: list[Any] = []

    def switch_on() -> None:
        answers.append(models.update(context, AUTHOR, handle, ON))
        answers.append(_files(context))

    _done_while(context, started.run_id, switch_on)
    shown, files = answers
    assert (shown.state, files) == ("failed", [])
    after = models.get(context, AUTHOR, handle)
    assert after == shown
    assert after.last_operation is not None
    assert after.last_operation.error is not None
    assert (after.last_operation.run_id, after.last_operation.error.code) == (started.run_id, "cancelled")
    assert _kept(context, handle) == {"samples": 0, "vectors": 0}
    assert versions.list_versions(context, AUTHOR, handle).items == []
    assert _files(context) == []


def test_a_search_in_flight_is_cancelled_and_the_old_version_serves(context: Context) -> None:
    handle = _marked(context, trained=True)
    started = training.start(context, AUTHOR, handle, RETUNE)[0]
    shown = models.update(context, AUTHOR, handle, ON)
    assert (shown.state, shown.version_no) == ("ready", 1)
    done_here(context, started.run_id)
    assert models.get(context, AUTHOR, handle) == shown
    assert _files(context) == []


def test_switched_off_in_mid_training_the_samples_stay(context: Context) -> None:
    handle = draft(context)
    models.update(context, AUTHOR, handle, ON)
    _tell(context, handle)
    started = training.start(context, AUTHOR, handle, TRAIN)[0]
    _done_while(context, started.run_id, lambda: models.update(context, AUTHOR, handle, OFF))
    assert models.get(context, AUTHOR, handle).state == "ready"
    assert _kept(context, handle)["samples"] == 8
    models.update(context, AUTHOR, handle, ON)


# ---- a log that somebody reads ---------------------------------------------------------------------------------------


def test_a_log_that_somebody_reads_is_said_to_hold_the_texts_still(context: Context) -> None:
    handle = _marked(context)
    with reading(context.engine) as reader:
        model = stored.find(reader, handle)
        assert model is not None
        with writing(context.engine) as connection:
            zero.purge(connection, model.id)
        assert _kept(context, handle) == {"samples": 0, "vectors": 0}
        if context.engine.dialect.name == "sqlite":
            with pytest.raises(Unavailable) as caught:
                zero.settle_or_say(context.engine, model.id, patience_s=0.1)
            assert "Retry-After" in caught.value.headers
            assert _unsettled(context, handle)
            assert _files(context) == ["traitbench.db-wal"]
    # Sent again when the reader has gone. The log of a database server is the operator's: there is nothing to wait for.
    zero.settle_or_say(context.engine, model.id, patience_s=0.1)
    assert not _unsettled(context, handle)
    assert _files(context) == []


@ON_SQLITE
def test_a_database_that_refuses_the_rewrite_is_not_said_to_have_deleted_nothing(
    context: Context, caplog: pytest.LogCaptureFixture
) -> None:
    def write_nothing(connection: sqlite3.Connection, *_: object) -> None:
        connection.execute("PRAGMA query_only = 1")

    handle = _marked(context)
    with writing(context.engine) as connection:
        model = stored.hold(connection, handle)
        assert model is not None
        zero.purge(connection, model.id)
    event.listen(context.engine, "checkout", write_nothing)
    try:
        with pytest.raises(Unavailable, match=r"read-only\. Zero data retention is on and the samples are deleted"):
            zero.settle_or_say(context.engine, model.id)
        zero.sweep(context.engine)
        assert "purged samples cannot be removed from the database's files: read_only" in caplog.messages
    finally:
        event.remove(context.engine, "checkout", write_nothing)
        context.engine.dispose()
    assert _unsettled(context, handle)
    zero.sweep(context.engine)
    assert not _unsettled(context, handle)


def test_a_log_is_emptied_by_the_sweep_when_its_reader_has_gone(context: Context) -> None:
    handle = _marked(context)
    with reading(context.engine) as reader:
        model = stored.find(reader, handle)
        assert model is not None
        with writing(context.engine) as connection:
            zero.purge(connection, model.id)
    zero.sweep(context.engine)
    assert not _unsettled(context, handle)
    assert _files(context) == []


def test_a_purge_that_came_later_is_not_taken_for_settled(context: Context) -> None:
    handle = draft(context)
    with writing(context.engine) as connection:
        model = stored.hold(connection, handle)
        assert model is not None
        zero.purge(connection, model.id)
        microseconds = stored.unsettled_purges(connection)[model.id]
        stored.purge_settled(connection, model.id, microseconds - 1_000_000)
    assert _unsettled(context, handle)
    assert zero.settle(context.engine, model.id)
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
    with writing(context.engine) as connection:
        model = stored.hold(connection, handle)
        assert model is not None
        stored_traits.add(connection, model.id, [{**fields, **anchors, **stored_traits.axis_fields(axis)}])


def test_names_that_were_words_of_the_texts_give_way_to_keys_in_the_versions_too(context: Context) -> None:
    handle = _marked(context)
    _add_discovered(context, handle, WORDS)
    traits.update(context, AUTHOR, handle, "axis_1", TraitUpdate(negative_label="my own word"))
    done_here(context, training.start(context, AUTHOR, handle, TRAIN)[0].run_id)
    models.update(context, AUTHOR, handle, ON)
    trait = traits.get(context, AUTHOR, handle, "axis_1")
    assert (trait.name, trait.positive_label, trait.negative_label) == ("axis_1", "positive", "my own word")
    assert (trait.description, trait.kind) == ("", "intrinsic")
    assert trait.anchor_sample_ids is not None
    assert trait.anchor_sample_ids.model_dump() == {"positive": [], "negative": []}
    version = versions.get(context, AUTHOR, handle, "v1")
    assert version.snapshot is not None
    assert param_hash(Snapshot.from_json(version.snapshot)) == version.param_hash
    assert _files(context) == []
    assert scores.score(context, AUTHOR, handle, ScoreRequest(content="hello"), request_id="req").scores.keys() == {
        "warmth",
        "axis_1",
    }


@pytest.mark.parametrize("discovered_first", [True, False])
def test_the_neutral_name_is_never_that_of_another_trait(context: Context, discovered_first: bool) -> None:
    handle = new_handle()
    models.create(context, AUTHOR, ModelCreate(handle=handle))
    others = TraitsCreate(traits=[TraitInput(key="own", name="axis_1"), TraitInput(key="more", name="axis_1_")])
    if not discovered_first:
        traits.add(context, AUTHOR, handle, others)
    _add_discovered(context, handle, WORDS)
    if discovered_first:
        traits.add(context, AUTHOR, handle, others)
    models.update(context, AUTHOR, handle, ON)
    names = {trait.key: trait.name for trait in traits.list_traits(context, AUTHOR, handle).traits}
    assert names == {"own": "axis_1", "more": "axis_1_", "axis_1": "axis_1__"}


@ON_BOTH_IN_SOAK
def test_a_worker_leaves_nothing_of_what_it_has_learnt(tmp_path: Path) -> None:
    with fresh_settings(tmp_path) as settings, opened(settings, runs=True) as context:
        handle = new_handle()
        models.create(context, AUTHOR, ModelCreate(handle=handle, zero_data_retention=True))
        traits.add(context, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name="Warmth")]))
        _tell(context, handle)
        training.start(context, AUTHOR, handle, TRAIN)
        assert settled(context, handle).state == "ready"
        assert _kept(context, handle) == {"samples": 0, "vectors": 0}
        until(lambda: not _unsettled(context, handle), what="the log to be emptied")
        assert _files(context) == []
