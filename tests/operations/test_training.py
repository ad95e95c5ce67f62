"""Trainings and refits from the request to the version, and the answers that start none."""

import json
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import create_engine, delete, select, text, update

from tests.contexts import AUTHOR, COLD, ON_BOTH, ON_SQLITE, SCORER, WARM, draft, trained_here
from tests.operations import author
from traitbench.contract.models import TrainRequest
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.errors import InsufficientSamples, ModelBusy, SamplesPurged
from traitbench.operations import models, rules, samples, training, traits
from traitbench.operations.context import Context
from traitbench.operations.sample_vectors import adopt
from traitbench.scoring.segments import embed
from traitbench.scoring.snapshot import Snapshot, param_hash
from traitbench.store import models as stored_models
from traitbench.store import runs, tables, vectors
from traitbench.store import samples as stored_samples
from traitbench.store.database import reading, sqlite_file, writing
from traitbench.store.vectors import Vector


@pytest.fixture(scope="module")
def trained(context: Context) -> str:
    """A model with one version, which tests only read."""
    return trained_here(context, warm=12, cold=12)


# ---- a first training ------------------------------------------------------------------------------------------------


def test_a_training_leaves_a_ready_model_on_its_first_version(context: Context, trained: str) -> None:
    model, version = models.get(context, SCORER, trained), author.active(context, trained, "v1")
    assert (model.state, model.version_no, model.version_tags) == ("ready", 1, [])
    done = model.last_operation
    assert done is not None
    assert (done.kind, done.status, done.error) == ("train", "succeeded", None)
    assert done.progress is not None
    assert (done.progress.done, done.progress.fraction, done.progress.eta_s) == (done.progress.total, 1.0, 0.0)
    assert (version.version_id, version.version_no, version.run_id) == (model.current_version_id, 1, done.run_id)
    assert (version.triggered_by, version.sample_count, version.tags) == ("train", 24, [])
    assert version.metrics.effort == "low"
    assert (version.metrics.elapsed_s or 0) > 0
    assert version.metrics.traits["warmth"].counts["positive"] == 12


def test_the_hash_of_a_version_is_that_of_the_snapshot_it_shows_and_no_text_is_in_it(
    context: Context, trained: str
) -> None:
    version = author.active(context, trained)
    assert version.snapshot is not None
    assert version.param_hash == param_hash(Snapshot.from_json(json.loads(json.dumps(version.snapshot))))
    assert not any(text in version.model_dump_json() for text in (*WARM, *COLD))


def test_the_texts_of_a_version_are_counted_by_language(context: Context) -> None:
    """Once for each text, however many traits it is labelled for; a test text does not count."""
    handle = author.new_model(context, TraitInput(name="A"), TraitInput(name="B"))
    fast, late = "Danke, das ging wirklich schnell!", "Das Paket kam viel zu spät."
    author.add_samples(context, handle, [(fast, 1.0), (late, 0.0), ("荷物が届きました。", 1.0)], trait="a")
    author.add_samples(context, handle, [(fast, 1.0), ("lol", 0.0)], trait="b")
    author.add_samples(context, handle, [("The parcel was late again today.", 0.0)], trait="a", held_out=True)
    author.train(context, handle)
    languages = author.active(context, handle).metrics.languages
    assert languages is not None
    assert (languages.texts, languages.unclear) == ({"de": 2, "ja": 1}, 1)


def test_each_text_is_encoded_and_kept_once(context: Context) -> None:
    handle = author.new_model(context, TraitInput(name="A"), TraitInput(name="B"))
    poles = [(WARM[0], 1.0), (WARM[1], 1.0), (COLD[0], 0.0), (COLD[1], 0.0)]
    ids = [each for trait in ("a", "b") for each in author.add_samples(context, handle, poles, trait=trait)]
    author.train(context, handle)
    with reading(context.engine) as connection:
        kept = select(tables.vectors.c.sample_id).where(tables.vectors.c.sample_id.in_(ids))
        assert len(connection.execute(kept).all()) == 4


def test_a_training_in_flight_answers_the_same_request_and_refuses_others(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    first, enqueued = training.start(context, AUTHOR, handle, TrainRequest())
    assert (first.state, enqueued) == ("busy", True)
    operation = author.last_operation(context, handle)
    assert (operation.kind, operation.status, operation.run_id) == ("train", "queued", first.run_id)
    assert (operation.progress, operation.error) == (None, None)
    for same in (TrainRequest(), TrainRequest(effort="high"), TrainRequest(use_labels=True)):
        assert training.start(context, AUTHOR, handle, same) == (first, True)
    for other in (author.QUICK, TrainRequest(effort="max"), TrainRequest(use_labels=False)):
        with pytest.raises(ModelBusy) as caught:
            training.start(context, AUTHOR, handle, other)
        assert caught.value.headers == {"X-Run-Id": first.run_id}
        assert caught.value.details["run_id"] == first.run_id


def test_a_draft_has_nothing_to_refit_and_is_trained(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    started, _ = training.start(context, AUTHOR, handle, TrainRequest(reoptimize_params=True))
    assert (author.last_operation(context, handle).kind, started.state) == ("train", "busy")
    assert training.start(context, AUTHOR, handle, TrainRequest(effort="high", reoptimize_params=True))[0] == started
    with pytest.raises(ModelBusy):
        training.start(context, AUTHOR, handle, TrainRequest(effort="high"))


def test_a_trait_without_both_poles_is_refused_with_the_counts(context: Context) -> None:
    handle = draft(context, warm=2, cold=1)
    traits.add(context, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name="Clarity"), TraitInput(name="Zeal")]))
    author.add_samples(context, handle, [("so so", 0.5)], trait="clarity")
    author.add_samples(context, handle, [("!", 0.9)], trait="zeal")
    with pytest.raises(InsufficientSamples) as caught:
        training.start(context, AUTHOR, handle, TrainRequest())
    assert caught.value.details["traits"] == {
        "warmth": {"positive": 2, "negative": 1},
        "clarity": {"positive": 0, "negative": 0},
        "zeal": {"positive": 1, "negative": 0},
    }
    assert author.get(context, handle).state == "draft"
    with pytest.raises(InsufficientSamples):
        training.start(context, AUTHOR, author.new_model(context), TrainRequest())


@ON_BOTH
@pytest.mark.parametrize("ending", ["the model is deleted", "zero data retention is switched on"])
def test_a_cancelled_run_never_starts_and_says_so(context: Context, ending: str) -> None:
    handle = draft(context, warm=1, cold=1)
    run_id = training.start(context, AUTHOR, handle, TrainRequest())[0].run_id
    assert _in_queue(context, run_id) == "ENQUEUED"
    if ending == "the model is deleted":
        models.delete(context, AUTHOR, handle)
    else:
        author.update(context, handle, zero_data_retention=True)
    assert _in_queue(context, run_id) == "CANCELLED"
    operation = author.last_operation(context, handle)
    assert operation.error is not None
    assert (operation.run_id, operation.status, operation.error.code) == (run_id, "failed", "cancelled")


def _in_queue(context: Context, run_id: str | None) -> str:
    """The run's status in the queue, where workers look for what to start."""
    schema = "" if sqlite_file(context.settings.database_url) else "dbos."
    with reading(context.engine) as connection:
        asked = text(f"SELECT status FROM {schema}workflow_status WHERE workflow_uuid = :id")
        status: str = connection.execute(asked, {"id": run_id}).scalar_one()
    return status


@pytest.mark.parametrize("use_labels", [True, False])
def test_labels_are_used_unless_somebody_says_no_and_a_retrain_keeps_to_it(
    context: Context, *, use_labels: bool
) -> None:
    handle = draft(context, warm=6, cold=6)
    author.train(context, handle, TrainRequest(effort="low", use_labels=use_labels))
    author.say(context, handle, times=10)
    author.finish(context, handle)
    for version in ("v1", "v2"):
        metrics = author.active(context, handle, version).metrics
        labels = metrics.traits["warmth"].labels
        assert labels is not None
        assert (metrics.use_labels, labels.used) == (use_labels, use_labels)


# ---- a refit ---------------------------------------------------------------------------------------------------------


def test_a_refit_makes_a_version_that_takes_over(context: Context) -> None:
    handle = trained_here(context, warm=6, cold=6)
    second = author.train(context, handle, TrainRequest(effort="high", reoptimize_params=True))
    operation = author.last_operation(context, handle)
    assert (operation.kind, operation.status) == ("retune", "succeeded")
    assert (second.version_no, second.triggered_by, second.run_id) == (2, "retune", operation.run_id)
    assert (second.sample_count, second.metrics.effort) == (12, "high")


def test_the_same_samples_and_effort_give_the_same_parameters_again(context: Context) -> None:
    handle, again = (trained_here(context, warm=6, cold=6) for _ in range(2))
    author.train(context, handle, author.REFIT)
    trained = ((handle, "v1"), (handle, "v2"), (again, "v1"))
    assert len({author.active(context, each, version).param_hash for each, version in trained}) == 1


def test_the_old_version_serves_while_a_refit_runs_and_after_it_failed(context: Context) -> None:
    handle = trained_here(context)
    started, _ = training.start(context, AUTHOR, handle, author.REFIT)
    assert training.start(context, AUTHOR, handle, author.REFIT) == (started, True)
    for other in (author.QUICK, TrainRequest(effort="max", reoptimize_params=True)):
        with pytest.raises(ModelBusy) as caught:
            training.start(context, AUTHOR, handle, other)
        assert caught.value.headers == {"X-Run-Id": started.run_id}
    for state in ("busy", "ready"):
        assert (author.get(context, handle).state, author.get(context, handle).version_no) == (state, 1)
        assert author.score(context, handle).metadata.version_id == "v1"
        if state == "busy":
            author.fail(context, handle)
    assert (author.last_operation(context, handle).kind, author.last_operation(context, handle).status) == (
        "retune",
        "failed",
    )


def test_training_a_ready_model_is_nothing_to_do_even_without_samples(context: Context) -> None:
    handle = trained_here(context)
    started, enqueued = training.start(context, AUTHOR, handle, TrainRequest(effort="max"))
    assert (started.state, started.run_id, enqueued) == ("ready", None, False)
    with writing(context.engine) as connection:
        stored_samples.purge(connection, author.row(context, handle).id)
    with pytest.raises(SamplesPurged):
        training.start(context, AUTHOR, handle, author.REFIT)
    assert training.start(context, AUTHOR, handle, TrainRequest())[1] is False


def test_a_pole_that_is_missing_is_counted_before_anything_is_queued(context: Context) -> None:
    handle = trained_here(context, warm=6, cold=6)
    cold = [sample.id for sample in author.samples_of(context, handle) if sample.quality == 0]
    with writing(context.engine) as connection:
        stored_samples.remove(connection, author.row(context, handle).id, cold)
    with pytest.raises(InsufficientSamples) as caught:
        training.start(context, AUTHOR, handle, author.REFIT)
    assert caught.value.details["traits"] == {"warmth": {"positive": 6, "negative": 0}}
    assert author.get(context, handle).state == "ready"


# ---- vectors that the workbench has made -----------------------------------------------------------------------------


def _made(context: Context, handle: str) -> dict[int, tuple[str, Vector]]:
    """The vectors of a draft's samples, as a check in the workbench makes them."""
    listed = author.samples_of(context, handle)
    rows = embed(context.encoder.encode, [sample.text for sample in listed])
    return {sample.id: (sample.content_sha256, row) for sample, row in zip(listed, rows, strict=True)}


def _stored(context: Context, handle: str) -> dict[int, Vector]:
    with reading(context.engine) as connection:
        return vectors.read(connection, author.row(context, handle).id, context.encoder.digest)


@ON_BOTH
def test_a_training_uses_adopted_vectors_and_gives_the_same_parameters(context: Context) -> None:
    handle = draft(context, warm=12, cold=12)
    made = _made(context, handle)
    adopt(context.engine, context.encoder.digest, made)
    assert {key: row.tobytes() for key, row in _stored(context, handle).items()} == {
        key: row.tobytes() for key, (_, row) in made.items()
    }
    assert (
        author.train(context, handle).param_hash
        == author.active(context, trained_here(context, warm=12, cold=12)).param_hash
    )


def test_a_training_encodes_nothing_that_was_adopted(context: Context) -> None:
    handle = draft(context, warm=3, cold=3)
    opposite = {key: (digest, -row) for key, (digest, row) in _made(context, handle).items()}
    adopt(context.engine, context.encoder.digest, opposite)
    author.train(context, handle)
    assert np.allclose([*_stored(context, handle).values()], [row for _, row in opposite.values()])


def test_vectors_of_other_texts_other_samples_and_models_that_keep_nothing_are_not_stored(context: Context) -> None:
    handle, digest = draft(context, warm=2, cold=2), context.encoder.digest
    made = _made(context, handle)
    first, second, *_ = sorted(made)
    adopt(context.engine, digest, {first: ("0" * 64, made[first][1]), second: made[second], 10**9: made[first]})
    assert list(_stored(context, handle)) == [second]
    samples.delete(context, AUTHOR, handle, second)
    adopt(context.engine, digest, made)
    assert second not in _stored(context, handle)

    silent = author.new_model(context, TraitInput(name="Warmth"), zero_data_retention=True)
    author.add_samples(context, silent, [(WARM[0], 1.0)])
    adopt(context.engine, digest, _made(context, silent))
    assert not _stored(context, silent)


@ON_BOTH
def test_many_vectors_are_adopted_at_once(context: Context) -> None:
    handle = draft(context, warm=300, cold=300)
    vector = np.ones(context.encoder.dimension, np.float32)
    adopt(
        context.engine,
        context.encoder.digest,
        {sample.id: (sample.content_sha256, vector) for sample in author.samples_of(context, handle)},
    )
    assert len(_stored(context, handle)) == 600


@ON_SQLITE
def test_a_store_that_fails_costs_only_the_vectors(caplog: pytest.LogCaptureFixture) -> None:
    without_tables = create_engine("sqlite://")
    adopt(without_tables, "0" * 64, {1: ("0" * 64, np.zeros(4, np.float32))})
    assert "vectors of samples could not be stored: StoreUnavailable" in caplog.text


# ---- a clock that was wrong ------------------------------------------------------------------------------------------


@ON_BOTH
def test_a_clock_that_ran_ahead_dates_no_later_version(context: Context) -> None:
    """Samples, versions and runs from then stay in the future; what is made afterwards is dated by the right clock."""
    handle = trained_here(context)
    copy = author.improved(context, handle)
    ahead = rules.now() + timedelta(days=4_000)
    with writing(context.engine) as connection:
        for table in (tables.samples, tables.versions, tables.runs):
            connection.execute(update(table).values(created_at=ahead))
    author.refit(context, copy)
    assert author.active(context, copy).created_at < rules.now()
    with writing(context.engine) as connection:
        connection.execute(update(tables.versions).values(created_at=ahead))
    assert author.promote(context, handle, copy).created_at < rules.now()


def test_the_live_run_of_a_key_goes_before_one_from_the_future(context: Context) -> None:
    handle = draft(context)
    with writing(context.engine) as connection:
        model = stored_models.hold(connection, handle)
        assert model is not None
        model_id = model.id
        for run_id, days in (("run_succeeded", 4_000), ("run_live", 0)):
            made_at = rules.now() + timedelta(days=days)
            runs.add(connection, run_id, model_id=model_id, kind="discover", effort="low", now=made_at, run_key="key")
            if days:
                connection.execute(update(tables.runs).where(tables.runs.c.id == run_id).values(status="succeeded"))
        same = runs.same(connection, model_id, "key")
        connection.execute(delete(tables.runs).where(tables.runs.c.model_id == model_id))
    assert same is not None
    assert same.id == "run_live"
