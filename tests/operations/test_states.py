"""The table of states (core/docs/contract.md, section 5), checked through the operations themselves, row by row."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.contexts import AUTHOR, draft, settled
from traitbench.contract.models import ModelUpdate, State, TrainRequest
from traitbench.contract.samples import SampleInput, SamplesCreate, SamplesUpdate
from traitbench.contract.scores import ScoreRequest
from traitbench.contract.traits import TraitInput, TraitsCreate, TraitUpdate
from traitbench.contract.versions import VersionActivate
from traitbench.errors import ModelArchived, ModelBusy, ModelNotDraft, ModelNotTrained, TraitbenchError
from traitbench.operations import model_runs, models, rules, samples, scores, training, traits, versions
from traitbench.operations.context import Context
from traitbench.store import models as stored
from traitbench.store import runs
from traitbench.store.database import writing

STATES: tuple[State, ...] = ("draft", "busy", "ready", "failed", "archived")
SAMPLE = SamplesCreate(samples=[SampleInput(trait="warmth", text="hello", quality=1.0)])


def _first_sample(context: Context, handle: str) -> int:
    return samples.list_samples(context, AUTHOR, handle).items[0].id


EDITS: dict[str, Callable[[Context, str], Any]] = {
    "add traits": lambda b, h: traits.add(b, AUTHOR, h, TraitsCreate(traits=[TraitInput(name="New")])),
    "update a trait": lambda b, h: traits.update(b, AUTHOR, h, "warmth", TraitUpdate(description="x")),
    "delete a trait": lambda b, h: traits.delete(b, AUTHOR, h, "warmth"),
    "add samples": lambda b, h: samples.add(b, AUTHOR, h, SAMPLE),
    "hold a sample out": lambda b, h: samples.update(
        b, AUTHOR, h, SamplesUpdate(ids=[_first_sample(b, h)], held_out=True)
    ),
    "delete a sample": lambda b, h: samples.delete(b, AUTHOR, h, _first_sample(b, h)),
}
USES: dict[str, Callable[[Context, str], Any]] = {
    "score": lambda b, h: scores.score(b, AUTHOR, h, ScoreRequest(content="hello"), request_id="req"),
    "tag": lambda b, h: versions.tag(b, AUTHOR, h, "good"),
    "untag": lambda b, h: (versions.tag(b, AUTHOR, h, "bad"), versions.untag(b, AUTHOR, h, "bad")),
    "activate": lambda b, h: versions.activate(b, AUTHOR, h, VersionActivate(version="v1")),
}
READS: dict[str, Callable[[Context, str], Any]] = {
    "get": lambda b, h: models.get(b, AUTHOR, h),
    "list traits": lambda b, h: traits.list_traits(b, AUTHOR, h),
    "get a trait": lambda b, h: traits.get(b, AUTHOR, h, "warmth"),
    "list samples": lambda b, h: samples.list_samples(b, AUTHOR, h),
    "list versions": lambda b, h: versions.list_versions(b, AUTHOR, h),
}
OTHERS: dict[str, Callable[[Context, str], Any]] = {
    "train": lambda b, h: training.start(b, AUTHOR, h, TrainRequest(effort="low")),
    "retune": lambda b, h: training.start(b, AUTHOR, h, TrainRequest(effort="low", reoptimize_params=True)),
    "update": lambda b, h: models.update(b, AUTHOR, h, ModelUpdate(description="x")),
    "delete": lambda b, h: models.delete(b, AUTHOR, h),
    "restore": lambda b, h: models.restore(b, AUTHOR, h),
}
CALLS = EDITS | USES | READS | OTHERS

Cell = type[TraitbenchError] | State
_SAME: tuple[Cell, ...] = STATES
TABLE: dict[str, tuple[Cell, ...]] = {
    **dict.fromkeys(EDITS, ("draft", ModelBusy, ModelNotDraft, "draft", ModelArchived)),
    **dict.fromkeys(USES, (ModelNotTrained, ModelNotTrained, "ready", ModelNotTrained, ModelArchived)),
    **dict.fromkeys(READS, _SAME),
    "train": ("busy", "busy", "ready", "busy", ModelArchived),
    "retune": ("busy", ModelBusy, "busy", "busy", ModelArchived),
    "update": ("draft", "busy", "ready", "failed", ModelArchived),
    "delete": ("archived",) * 5,
    # The archived one was a draft.
    "restore": ("draft", "busy", "ready", "failed", "draft"),
}


@pytest.fixture(scope="module")
def made(context: Context, working: Context) -> dict[State, Callable[[], tuple[Context, str]]]:
    """How to get a model into each state."""

    def busy() -> tuple[Context, str]:
        handle = draft(context, warm=2, cold=2)
        training.start(context, AUTHOR, handle, TrainRequest(effort="low"))
        return context, handle

    def ready() -> tuple[Context, str]:
        handle = draft(working, warm=2, cold=2)
        training.start(working, AUTHOR, handle, TrainRequest(effort="low"))
        assert settled(working, handle).state == "ready"
        return working, handle

    def failed() -> tuple[Context, str]:
        _, handle = busy()
        with writing(context.engine) as connection:
            model = stored.find(connection, handle)
            assert model is not None
            run = runs.read(connection, str(model.run_id))
            assert run is not None
            assert model_runs.fail(connection, run, code="internal_error", message="It failed.")
        return context, handle

    def archived() -> tuple[Context, str]:
        handle = draft(context, warm=2, cold=2)
        models.delete(context, AUTHOR, handle)
        return context, handle

    return {
        "draft": lambda: (context, draft(context, warm=2, cold=2)),
        "busy": busy,
        "ready": ready,
        "failed": failed,
        "archived": archived,
    }


@pytest.mark.parametrize("state", STATES)
def test_an_operation_means_in_a_state_what_the_contract_says(
    made: dict[State, Callable[[], tuple[Context, str]]], state: State
) -> None:
    """One test for each state: a ready model takes a training, and most operations do not change its state."""
    column = STATES.index(state)
    result, context, handle = {}, *made[state]()
    for name in TABLE:
        if models.get(context, AUTHOR, handle).state != state or _is_edited(context, handle):
            context, handle = made[state]()
        result[name] = _outcome(context, handle, CALLS[name])
    assert result == {name: row[column] for name, row in TABLE.items()}


def test_a_version_serves_while_its_model_is_busy_again(working: Context) -> None:
    handle = draft(working, warm=2, cold=2)
    training.start(working, AUTHOR, handle, TrainRequest(effort="low"))
    assert settled(working, handle).state == "ready"
    with writing(working.engine) as connection:
        model = stored.hold(connection, handle)
        assert model is not None
        stored.move(connection, model, "busy", now=rules.now())
    for name, use in USES.items():
        assert _outcome(working, handle, use) == "busy", name


def test_a_run_that_fails_on_a_trained_model_leaves_it_ready(working: Context) -> None:
    handle = draft(working, warm=2, cold=2)
    training.start(working, AUTHOR, handle, TrainRequest(effort="low"))
    assert settled(working, handle).state == "ready"
    with writing(working.engine) as connection:
        model = stored.hold(connection, handle)
        assert model is not None
        runs.add(connection, f"{model.run_id}x", model_id=model.id, kind="retune", effort="low", now=rules.now())
        stored.move(connection, model, "busy", now=rules.now(), run_id=f"{model.run_id}x")
        run = runs.read(connection, f"{model.run_id}x")
        assert run is not None
        assert model_runs.fail(connection, run, code="internal_error", message="It failed.")
        assert not model_runs.fail(connection, run, code="internal_error", message="It failed.")
    after = models.get(working, AUTHOR, handle)
    assert (after.state, after.version_no) == ("ready", 1)
    assert after.last_operation is not None
    assert after.last_operation.status == "failed"


def _outcome(context: Context, handle: str, call: Callable[[Context, str], Any]) -> Cell:
    try:
        call(context, handle)
    except TraitbenchError as error:
        return type(error)
    return models.get(context, AUTHOR, handle).state


def _is_edited(context: Context, handle: str) -> bool:
    return [trait.sample_count for trait in traits.list_traits(context, AUTHOR, handle).traits] != [4]
