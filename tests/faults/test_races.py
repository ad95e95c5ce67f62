"""Many callers at the same moment: the operation runs once, and all of them get the same answer."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import TypeVar

import pytest

from tests.contexts import AUTHOR, done_here, draft, fresh_settings, new_handle, opened, settled
from tests.size import SOAK, sized
from traitbench.contract.models import Model, ModelCreate, RunStarted, TrainEffort, TrainRequest
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.errors import HandleTaken, ModelBusy, TraitbenchError
from traitbench.operations import models, samples, training, versions
from traitbench.operations.context import Context
from traitbench.settings import Settings

THREADS = 20
MODELS = sized(3, 10)
Answer = TypeVar("Answer")


def _at_once(call: Callable[[int], Answer]) -> list[Answer | type[TraitbenchError]]:
    barrier = Barrier(THREADS)

    def one(number: int) -> Answer | type[TraitbenchError]:
        barrier.wait()
        try:
            return call(number)
        except TraitbenchError as error:
            return type(error)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


def _begin(context: Context, handle: str, _: int) -> RunStarted:
    return training.start(context, AUTHOR, handle, TrainRequest(effort="low"))[0]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Context]:
    """A context with a worker; on PostgreSQL, `make test` executes the runs in this process."""
    with (
        fresh_settings(tmp_path_factory.mktemp("races")) as settings,
        opened(settings, runs=_has_worker(database)) as context,
    ):
        yield context


def _has_worker(database: str) -> bool:
    return SOAK or database == "sqlite"


def _trained(context: Context, handle: str, run_id: str | None) -> Model:
    """The model when its run has ended."""
    if not _has_worker(context.engine.dialect.name):
        done_here(context, run_id)
    return settled(context, handle)


def test_twenty_threads_that_train_one_model_start_one_run(context: Context) -> None:
    began: dict[str, str | None] = {}
    for handle in (draft(context, warm=2, cold=2) for _ in range(MODELS)):
        answers = _at_once(partial(_begin, context, handle))
        met = {answer.run_id for answer in answers if not isinstance(answer, type)}
        # A caller that arrives after the training is told that there is nothing to do.
        [began[handle]] = met - {None}
    for handle, run_id in began.items():
        assert _trained(context, handle, run_id).state == "ready"
        assert len(versions.list_versions(context, AUTHOR, handle).items) == 1


def test_trainings_of_different_effort_race_for_one_place(settings: Settings) -> None:
    with opened(settings, runs=False) as context:
        handle = draft(context, warm=2, cold=2)
        efforts: tuple[TrainEffort, ...] = ("low", "medium", "high", "max")
        answers = _at_once(
            lambda number: training.start(context, AUTHOR, handle, TrainRequest(effort=efforts[number % 4]))[0].run_id
        )
        count = Counter(answers)
        assert count[ModelBusy] == THREADS * 3 // 4
        assert len(count) == 2


def test_twenty_threads_that_create_one_model_create_one(settings: Settings) -> None:
    with opened(settings, runs=False) as context:
        handle = new_handle()
        answers = _at_once(lambda _: models.create(context, AUTHOR, ModelCreate(handle=handle)).handle)
        assert Counter(answers) == {handle: 1, HandleTaken: THREADS - 1}


def test_no_sample_gets_into_a_model_that_has_begun_to_train(context: Context) -> None:
    handle = draft(context, warm=2, cold=2)
    more = SamplesCreate(samples=[SampleInput(trait="warmth", text="hello", quality=1.0)])

    def call(number: int) -> str:
        if number == THREADS // 2:
            return str(training.start(context, AUTHOR, handle, TrainRequest(effort="low"))[0].run_id)
        samples.add(context, AUTHOR, handle, more)
        return "added"

    answers = Counter(_at_once(call))
    added = answers.pop("added", 0)  # none, if the training came first
    [run_id] = (answer for answer in answers if isinstance(answer, str))
    assert _trained(context, handle, run_id).state == "ready"
    assert versions.get(context, AUTHOR, handle, "v1").sample_count == 4 + added
    assert len(samples.list_samples(context, AUTHOR, handle).items) == 4 + added
