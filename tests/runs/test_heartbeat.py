"""The messages between a worker and its parent, and which runs may run side by side."""

import os
import time
from threading import Event, Thread

import pytest

from tests.contexts import ON_SQLITE, until
from tests.patience import PATIENCE_S
from traitbench.runs.heartbeat import Heartbeat, Listener, WorkItem
from traitbench.runs.recovery import RunIsolation

pytestmark = ON_SQLITE


@pytest.mark.parametrize(
    ("place", "other", "within"),
    [
        (WorkItem("encoding", samples=(2,)), WorkItem("encoding", samples=(1, 2, 3)), True),
        (WorkItem("encoding", samples=(1, 2, 3)), WorkItem("encoding", samples=(2,)), False),
        (WorkItem("encoding", samples=(4,)), WorkItem("encoding", samples=(1, 2, 3)), False),
        (WorkItem("encoding", samples=(1,)), WorkItem("encoding"), False),
        (WorkItem("learning", 2), WorkItem("learning", 2), True),
        (WorkItem("learning", 2), WorkItem("learning", 1), False),
        (WorkItem("learning", 2), WorkItem("writing", 2), False),
    ],
)
def test_a_part_of_a_place_is_the_same_place(place: WorkItem, other: WorkItem, within: bool) -> None:
    assert place.within(other) is within
    assert WorkItem.from_json(place.to_json()) == place


def test_the_parent_hears_what_the_worker_says_however_it_is_cut() -> None:
    near, far = os.pipe()
    heartbeat = Heartbeat(far)
    heartbeat.encoder("loaded")
    heartbeat.at("run_1", WorkItem("encoding", samples=(1, 2)))
    heartbeat.at("run_2", WorkItem("learning", 3))
    heartbeat.at("run_1", None)
    os.write(far, b"a library prints \xff something\nat run_3 no json\n")
    heartbeat.ready()
    heartbeat.judged()
    content = os.read(near, 65_536)
    listener = Listener()
    for each in content:
        listener.hear(bytes([each]))
    assert (listener.ready, listener.judged, listener.encoder) == (True, True, "loaded")
    assert listener.work == {"run_2": WorkItem("learning", 3)}
    os.close(near)
    os.close(far)


def test_a_parent_that_does_not_read_holds_nobody_up() -> None:
    near, far = os.pipe()
    heartbeat = Heartbeat(far)
    for number in range(10_000):
        heartbeat.at("run_1", WorkItem("encoding", samples=(number,)))
    os.close(near)
    heartbeat.ready()  # the same for a parent that has ended
    os.close(far)


def test_who_is_alone_has_no_other_beside_and_is_let_in_before_later_ones() -> None:
    isolation, order, leave, leave_alone = RunIsolation(), list[str](), Event(), Event()

    def stay(name: str, alone: bool, until_told: Event) -> None:
        with isolation.entered(alone=alone):
            order.append(name)
            until_told.wait(PATIENCE_S)

    threads = []
    for name, alone, result, arrived in (
        ("first", False, leave, lambda: order == ["first"]),
        ("alone", True, leave_alone, lambda: isolation._waiting_alone == 1),
        ("later", False, leave, lambda: True),
    ):
        threads.append(Thread(target=stay, args=(name, alone, result)))
        threads[-1].start()
        until(arrived, what=f"{name} to arrive")
    assert order == ["first"]
    leave.set()
    until(lambda: order == ["first", "alone"], what="the one alone")
    time.sleep(0.1)
    assert order == ["first", "alone"]
    leave_alone.set()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert order == ["first", "alone", "later"]
