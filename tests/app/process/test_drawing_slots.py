"""Few pages are drawn at the same moment, in order of arrival, and a slow one holds nobody up."""

import threading
import time

from traitbench_app.process.drawing_slots import DrawingSlots


def test_no_more_than_the_slots_are_taken_and_the_others_come_in_order() -> None:
    slots, lock = DrawingSlots(at_once=2, longest=60), threading.Lock()
    order: list[int] = []
    now = most = 0
    arrived = [threading.Event() for _ in range(8)]

    def draw(number: int) -> None:
        nonlocal now, most
        arrived[number].set()
        with slots.slot():
            with lock:
                order.append(number)
                now += 1
                most = max(most, now)
            time.sleep(0.02)
            with lock:
                now -= 1

    threads = [threading.Thread(target=draw, args=(number,)) for number in range(8)]
    for number, thread in enumerate(threads):
        thread.start()
        arrived[number].wait()
        time.sleep(0.005)
    for thread in threads:
        thread.join()
    assert (most, sorted(order)) == (2, list(range(8)))
    assert all(abs(position - number) <= 2 for position, number in enumerate(order))


def test_a_page_that_takes_long_gives_its_slot_away() -> None:
    slots, over = DrawingSlots(at_once=1, longest=0.05), threading.Event()
    inside = threading.Event()

    def compute() -> None:
        with slots.slot():
            inside.set()
            over.wait()

    slow = threading.Thread(target=compute)
    slow.start()
    inside.wait()
    began = time.monotonic()
    with slots.slot():
        waited = time.monotonic() - began
        assert slow.is_alive()
    over.set()
    slow.join()
    assert 0.01 < waited < 30


def test_an_error_frees_the_slot() -> None:
    slots = DrawingSlots(at_once=1, longest=60)
    for _ in range(3):
        try:
            with slots.slot():
                raise ValueError
        except ValueError:
            pass
