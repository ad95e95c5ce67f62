"""Scheduling: interactive calls first, batches in turns."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event, Thread

import pytest

from tests.contexts import until
from traitbench.encoders.scheduler import BatchQueue, EncoderScheduler, in_slot

FOR_EVER = 3_600.0


def test_a_call_never_waits() -> None:
    scheduler, batch = EncoderScheduler(1), BatchQueue()
    with scheduler.slot(batch), scheduler.interactive(), scheduler.interactive():
        assert scheduler.waiting == 0


def test_a_batch_waits_until_the_last_call_is_over() -> None:
    scheduler, events = EncoderScheduler(2, patience_s=FOR_EVER), list[str]()
    with scheduler.slot(BatchQueue()):
        """The first turn ever is granted at once; from here on patience counts."""

    def work() -> None:
        with scheduler.slot(BatchQueue()):
            events.append("turn")

    thread = Thread(target=work)
    with scheduler.interactive():
        with scheduler.interactive():
            thread.start()
            until(lambda: scheduler.waiting == 1, what="the batch to wait")
        events.append("one call is over")
        assert scheduler.waiting == 1
        events.append("the other call is over")
    thread.join()
    assert events == ["one call is over", "the other call is over", "turn"]


def test_endless_calls_do_not_starve_a_batch() -> None:
    scheduler, batch, turns = EncoderScheduler(1, patience_s=0.001), BatchQueue(), 0
    with scheduler.interactive():
        for _ in range(20):
            with scheduler.slot(batch):
                turns += 1
    assert turns == 20


@pytest.mark.parametrize("width", [1, 2, 3])
def test_turns_at_a_time_are_limited_to_the_width(width: int) -> None:
    scheduler, batch, together = EncoderScheduler(width), BatchQueue(), list[int]()
    at_work = set[int]()

    def work(number: int) -> None:
        for _ in range(50):
            with scheduler.slot(batch):
                at_work.add(number)
                together.append(len(at_work))
                at_work.discard(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert len(together) == 8 * 50
    assert max(together) <= width


def test_batches_get_equal_turns_whatever_their_threads() -> None:
    scheduler, small, large, enough = EncoderScheduler(1), BatchQueue(), BatchQueue(), Event()

    def work(batch: BatchQueue) -> None:
        while not enough.is_set():
            with scheduler.slot(batch):
                if small.slots >= 100:
                    enough.set()

    with scheduler.slot(BatchQueue()):
        threads = [Thread(target=work, args=(batch,)) for batch in (small, *[large] * 5)]
        for thread in threads:
            thread.start()
        until(lambda: scheduler.waiting == 6, what="all to wait")
    for thread in threads:
        thread.join()
    assert abs(small.slots - large.slots) <= 10


def test_a_later_batch_does_not_catch_up() -> None:
    scheduler, early, late = EncoderScheduler(1), BatchQueue(), BatchQueue()
    for _ in range(50):
        with scheduler.slot(early):
            """Alone."""
    with ExitStack() as taken:
        taken.enter_context(scheduler.slot(early))
        threads = [Thread(target=_one_slot, args=(scheduler, batch)) for batch in (early, late)]
        for thread in threads:
            thread.start()
        until(lambda: scheduler.waiting == 2, what="both to wait")
        assert late.slots >= early.slots - 1
        assert early.slots > 50
    for thread in threads:
        thread.join()


def test_a_turn_uses_one_processor() -> None:
    scheduler = EncoderScheduler(2)
    assert not in_slot()
    with scheduler.slot(BatchQueue()):
        assert in_slot()
        with ThreadPoolExecutor(1) as other:
            assert not other.submit(in_slot).result()
    assert not in_slot()


def test_a_turn_that_fails_is_over() -> None:
    scheduler, batch = EncoderScheduler(1), BatchQueue()
    with pytest.raises(ZeroDivisionError), scheduler.slot(batch):
        raise ZeroDivisionError
    with scheduler.slot(batch):
        assert scheduler.waiting == 0


def _one_slot(scheduler: EncoderScheduler, batch: BatchQueue) -> None:
    with scheduler.slot(batch):
        """Nothing more."""
