"""Scheduling: interactive calls first, batches in turns."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event, Thread

import pytest

from tests.benches import until
from traitbench.encoders.lanes import Batch, Lanes, in_turn

FOR_EVER = 3_600.0


def test_a_call_never_waits() -> None:
    lanes, batch = Lanes(1), Batch()
    with lanes.turn(batch), lanes.call(), lanes.call():
        assert lanes.waiting == 0


def test_a_batch_waits_until_the_last_call_is_over() -> None:
    lanes, events = Lanes(2, patience_s=FOR_EVER), list[str]()
    with lanes.turn(Batch()):
        """The first turn ever is granted at once; from here on patience counts."""

    def work() -> None:
        with lanes.turn(Batch()):
            events.append("turn")

    thread = Thread(target=work)
    with lanes.call():
        with lanes.call():
            thread.start()
            until(lambda: lanes.waiting == 1, what="the batch to wait")
        events.append("one call is over")
        assert lanes.waiting == 1
        events.append("the other call is over")
    thread.join()
    assert events == ["one call is over", "the other call is over", "turn"]


def test_endless_calls_do_not_starve_a_batch() -> None:
    lanes, batch, turns = Lanes(1, patience_s=0.001), Batch(), 0
    with lanes.call():
        for _ in range(20):
            with lanes.turn(batch):
                turns += 1
    assert turns == 20


@pytest.mark.parametrize("width", [1, 2, 3])
def test_turns_at_a_time_are_limited_to_the_width(width: int) -> None:
    lanes, batch, together = Lanes(width), Batch(), list[int]()
    at_work = set[int]()

    def work(number: int) -> None:
        for _ in range(50):
            with lanes.turn(batch):
                at_work.add(number)
                together.append(len(at_work))
                at_work.discard(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert len(together) == 8 * 50
    assert max(together) <= width


def test_batches_get_equal_turns_whatever_their_threads() -> None:
    lanes, small, large, enough = Lanes(1), Batch(), Batch(), Event()

    def work(batch: Batch) -> None:
        while not enough.is_set():
            with lanes.turn(batch):
                if small.turns >= 100:
                    enough.set()

    with lanes.turn(Batch()):
        threads = [Thread(target=work, args=(batch,)) for batch in (small, *[large] * 5)]
        for thread in threads:
            thread.start()
        until(lambda: lanes.waiting == 6, what="all to wait")
    for thread in threads:
        thread.join()
    assert abs(small.turns - large.turns) <= 10


def test_a_later_batch_does_not_catch_up() -> None:
    lanes, early, late = Lanes(1), Batch(), Batch()
    for _ in range(50):
        with lanes.turn(early):
            """Alone."""
    with ExitStack() as taken:
        taken.enter_context(lanes.turn(early))
        threads = [Thread(target=_one_turn, args=(lanes, batch)) for batch in (early, late)]
        for thread in threads:
            thread.start()
        until(lambda: lanes.waiting == 2, what="both to wait")
        assert late.turns >= early.turns - 1
        assert early.turns > 50
    for thread in threads:
        thread.join()


def test_a_turn_uses_one_processor() -> None:
    lanes = Lanes(2)
    assert not in_turn()
    with lanes.turn(Batch()):
        assert in_turn()
        with ThreadPoolExecutor(1) as other:
            assert not other.submit(in_turn).result()
    assert not in_turn()


def test_a_turn_that_fails_is_over() -> None:
    lanes, batch = Lanes(1), Batch()
    with pytest.raises(ZeroDivisionError), lanes.turn(batch):
        raise ZeroDivisionError
    with lanes.turn(batch):
        assert lanes.waiting == 0


def _one_turn(lanes: Lanes, batch: Batch) -> None:
    with lanes.turn(batch):
        """Nothing more."""
