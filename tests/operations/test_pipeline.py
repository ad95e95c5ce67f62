"""Pipelines: made in threads, taken in order, never far ahead, and nothing left running at the end."""

from collections.abc import Callable, Iterator, Sequence
from threading import Event, Lock
from threading import enumerate as threads

import pytest

from tests.contexts import ON_SQLITE, until
from tests.patience import PATIENCE_S
from traitbench.errors import Unavailable
from traitbench.operations.pipeline import AHEAD, Pipeline, Pipelines

pytestmark = ON_SQLITE


def brief() -> float:
    return 0.004


class Made:
    """Makes bytes of numbers and records them; a gate can hold some of them back."""

    def __init__(self, *held: int) -> None:
        self.numbers: list[int] = []
        self.finished = 0
        self.gate = Event()
        self.held, self._lock = held, Lock()

    def __call__(self, numbers: Sequence[int]) -> list[bytes]:
        for number in numbers:
            if number in self.held:
                self.gate.wait()
        with self._lock:
            self.numbers += numbers
        return [str(number).encode() for number in numbers]

    def finish(self) -> None:
        self.finished += 1


@pytest.fixture
def live() -> Iterator[Pipelines]:
    pipelines = Pipelines()
    yield pipelines
    pipelines.close()
    until(lambda: not alive(), what="all threads to end")


def alive() -> list[str]:
    return [thread.name for thread in threads() if thread.name == "batch"]


def pipeline(live: Pipelines, made: Made, order: Sequence[int], *, hands: int = 3) -> Pipeline[bytes]:
    numbers = sorted(set(order))
    weights = [10**9 if number in made.held else 1 for number in numbers]
    return Pipeline(order, [(numbers, hands)], made, weights=weights, handful_s=brief, live=live, finish=made.finish)


@pytest.mark.parametrize("count", [1, 2, 7, 1_000])
@pytest.mark.parametrize("hands", [1, 3])
def test_all_of_it_comes_in_order(live: Pipelines, count: int, hands: int) -> None:
    made = Made()
    taken = list(pipeline(live, made, range(count), hands=hands))
    assert taken == [(place, str(place).encode()) for place in range(count)]
    until(lambda: made.finished and not alive(), what="the threads to end")
    assert made.finished == 1


def test_equal_things_are_made_once(live: Pipelines) -> None:
    made, order = Made(), [0, 1, 0, 2, 2, 0, 1] * 20
    assert [int(thing) for _, thing in pipeline(live, made, order)] == order
    assert sorted(made.numbers) == [0, 1, 2]


def test_things_made_by_other_hands_find_their_places(live: Pipelines) -> None:
    made = Made(0)
    hands = [(range(1, 100), 2), ([0], 1)]
    both = Pipeline(range(100), hands, made, weights=[1] * 100, handful_s=brief, live=live, finish=made.finish)
    both.start(lambda: None)
    until(lambda: len(made.numbers) == 99, what="the others to be made")
    assert both.take() == []
    made.gate.set()
    until(lambda: len(both.take()) == 100, what="all to be there")


def test_what_is_ready_can_be_taken_while_the_rest_is_being_made(live: Pipelines) -> None:
    made = Made(5)
    taking = iter(pipeline(live, made, range(9), hands=1))
    assert [next(taking)[0] for _ in range(5)] == [0, 1, 2, 3, 4]
    made.gate.set()
    assert [place for place, _ in taking] == [5, 6, 7, 8]


def test_nobody_takes_and_nothing_is_made(live: Pipelines) -> None:
    made = Made()
    waiting = pipeline(live, made, range(3 * AHEAD))
    waiting.start(lambda: None)
    until(lambda: len(made.numbers) == AHEAD, what="as much as may be ahead")
    assert len(waiting.take()) == AHEAD
    until(lambda: len(made.numbers) == 2 * AHEAD, what="as much again")
    assert max(made.numbers) < 2 * AHEAD


@pytest.mark.parametrize("leave", [lambda taking: taking.close(), lambda taking: next(taking) and taking.close()])
def test_whoever_leaves_takes_the_work_with_them(live: Pipelines, leave: Callable[[object], None]) -> None:
    made = Made()
    taking = iter(pipeline(live, made, range(10_000)))
    next(taking)
    leave(taking)
    until(lambda: not alive(), what="the threads to end")
    assert len(made.numbers) < 10_000
    assert made.finished == 1


def test_a_service_that_stops_ends_all_and_begins_none(live: Pipelines) -> None:
    made, woken = Made(), Event()
    some = [pipeline(live, made, range(10_000)) for _ in range(3)]
    for each in some:
        each.start(woken.set)
    live.close()
    assert not alive()
    assert all(each.closed for each in some)
    assert woken.is_set()
    with pytest.raises(Unavailable):
        pipeline(live, made, range(3)).start(woken.set)


def test_whoever_waits_when_all_is_closed_waits_no_more(live: Pipelines) -> None:
    made = Made(0)
    waiting = pipeline(live, made, range(3), hands=1)
    woken = Event()
    waiting.start(woken.set)
    waiting.close()
    assert woken.wait(PATIENCE_S)
    made.gate.set()
