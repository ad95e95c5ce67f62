"""A run that brings its worker down fails, and no other run with it; one that only has bad luck does not fail."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.contexts import ON_BOTH_IN_SOAK, ON_SQLITE, until
from tests.runs.conftest import ROOT, Yard
from traitbench.operations import model_runs, rules
from traitbench.runs.engine import Runs
from traitbench.runs.heartbeat import Cause, WorkerExit, WorkItem
from traitbench.runs.recovery import judge
from traitbench.store import models, runs, samples, traits
from traitbench.store.database import writing

POISON = "This one brings the worker down."


@pytest.fixture
def poisoned(yard: Yard, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Yard]:
    """A yard whose service runs real trainings, with an encoder that crashes, or `hangs`, on one text."""
    # The tests are not installed, and a worker does not import from its working directory.
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    fields = {"url": yard.settings.database_url, "cache": str(yard.settings.cache), "poison": POISON}
    fields |= {"hangs": getattr(request, "param", "")}
    service = Runs(yard.settings.database_url, module="tests.runs.poison", greeting=fields)
    service.start()
    yield replace(yard, service=service)
    service.close()


def _trainable(yard: Yard, *, poison: str = "", name: str = "Warmth") -> tuple[int, str, int]:
    """A model with forty samples and a queued training, and the id of the sample that crashes the encoder."""
    model_id = yard.model()
    texts = [f"Thank you, dear friend number {number}." for number in range(40)]
    texts[20] = poison or texts[20]
    with writing(yard.engine) as connection:
        model = models.find_by_id(connection, model_id)
        assert model is not None
        trait = {"key": "warmth", "name": name, "description": "", "positive_label": "warm"}
        fixed = {"negative_label": "cold", "aggregation": "mean", "kind": "extrinsic"}
        traits.add(connection, model_id, [{**trait, **fixed}])
        [row] = traits.rows(connection, model_id)
        shared = {"trait_id": row.id, "provenance": "authored", "created_at": rules.now()}
        fields = [
            {**shared, "text": text, "quality": float(number % 2), "content_sha256": f"{number:064}"}
            for number, text in enumerate(texts)
        ]
        ids = samples.add(connection, model_id, fields)
    run_id = yard.queue(model_id)
    with writing(yard.engine) as connection:
        models.change(connection, model_id, now=rules.now(), run_id=run_id)
    return model_id, run_id, ids[20]


def _blamed(yard: Yard, model_id: int, run_id: str, cause: Cause, *places: WorkItem) -> str:
    """The state of a run after its worker ended at these places."""
    with writing(yard.engine) as connection:
        models.change(connection, model_id, now=rules.now(), run_id=run_id)
    for place in places:
        judge(yard.engine, [WorkerExit(cause, {run_id: place})], model_runs.fail)
    return yard.run(run_id).status


@ON_BOTH_IN_SOAK
def test_a_text_that_crashes_its_worker_is_named_and_every_other_run_succeeds(poisoned: Yard) -> None:
    bad_model, bad, sample_id = _trainable(poisoned, poison=POISON)
    good = [_trainable(poisoned)[1] for _ in range(2)]
    poisoned.wait(bad, "failed")
    error = poisoned.operation(bad_model).error
    assert error is not None
    assert error.code == "interrupted"
    assert f"sample {sample_id}," in error.message
    assert POISON not in error.message
    assert poisoned.state(bad_model) == "failed"
    for run_id in good:
        poisoned.wait(run_id)
    until(poisoned.service.healthy, what="the worker to be up")


@pytest.mark.soak
@ON_SQLITE
@pytest.mark.parametrize("poisoned", ["hangs"], indirect=True)
def test_a_training_that_hangs_in_native_code_is_set_aside_and_the_others_succeed(poisoned: Yard) -> None:
    model_id, hung, _ = _trainable(poisoned, name="hang")
    good = _trainable(poisoned)[1]
    poisoned.wait(good)
    poisoned.wait(hung, "failed")
    error = poisoned.operation(model_id).error
    assert error is not None
    assert "took too long twice in the phase learning" in error.message
    until(poisoned.service.healthy, what="the worker to be up")


PLACES = [
    ([WorkItem("encoding", samples=(1, 2, 3))], "queued"),
    ([WorkItem("encoding", samples=(1, 2, 3)), WorkItem("encoding", samples=(2,))], "failed"),
    ([WorkItem("encoding", samples=(1, 2, 3)), WorkItem("encoding", samples=(4,))], "queued"),
    ([WorkItem("learning", 1), WorkItem("learning", 1)], "failed"),
    ([WorkItem("learning", 1), WorkItem("learning", 2), WorkItem("learning", 3)], "queued"),
    ([WorkItem("encoding"), WorkItem("learning")], "queued"),
]


def test_two_ends_at_one_place_set_a_run_aside_and_progress_lifts_the_suspicion(yard: Yard) -> None:
    for places, status in PLACES:
        model_id = yard.model()
        assert _blamed(yard, model_id, yard.record(model_id), "silent", *places) == status, places


SAID: list[tuple[Cause, WorkItem, str, str]] = [
    ("silent", WorkItem("encoding", samples=(7,)), "stopped responding twice while it encoded sample 7", "Shorten"),
    ("slow", WorkItem("encoding", samples=(7, 9)), "took too long twice while it encoded samples 7 to 9", "Shorten"),
    ("memory", WorkItem("learning", 2), "ran out of memory twice in the phase learning", "Free memory"),
    ("crashed", WorkItem("learning", 2), "crashed twice in the phase learning", "Start again"),
]


def test_the_model_says_what_happened_where_and_what_to_do(yard: Yard) -> None:
    for cause, place, text, way_out in SAID:
        model_id = yard.model()
        _blamed(yard, model_id, yard.record(model_id), cause, place, place)
        error = yard.operation(model_id).error
        assert error is not None
        assert text in error.message
        assert way_out in error.message


def test_who_has_ended_or_is_unknown_is_not_blamed(yard: Yard) -> None:
    model_id = yard.model()
    run_id = yard.record(model_id)
    with writing(yard.engine) as connection:
        runs.fail(connection, run_id, code="cancelled", message="Deleted.", now=rules.now())
    places = {run_id: WorkItem("learning"), "run_unknown": WorkItem("learning")}
    judge(yard.engine, [WorkerExit("crashed", places)], model_runs.fail)
    assert yard.run(run_id).strikes == 0
