"""The messages between a worker and its parent, and which runs may run side by side."""

import os
import time
from threading import Event, Thread

import pytest

from tests.benches import until
from traitbench.runs.pulse import Listener, Place, Pulse
from traitbench.runs.room import Room


@pytest.mark.parametrize(
    ("place", "other", "within"),
    [
        (Place("encoding", samples=(2,)), Place("encoding", samples=(1, 2, 3)), True),
        (Place("encoding", samples=(1, 2, 3)), Place("encoding", samples=(2,)), False),
        (Place("encoding", samples=(4,)), Place("encoding", samples=(1, 2, 3)), False),
        (Place("encoding", samples=(1,)), Place("encoding"), False),
        (Place("learning", 2), Place("learning", 2), True),
        (Place("learning", 2), Place("learning", 1), False),
        (Place("learning", 2), Place("writing", 2), False),
    ],
)
def test_a_part_of_a_place_is_the_same_place(place: Place, other: Place, within: bool) -> None:
    assert place.within(other) is within
    assert Place.from_json(place.to_json()) == place


def test_the_parent_hears_what_the_worker_says_however_it_is_cut() -> None:
    near, far = os.pipe()
    pulse = Pulse(far)
    pulse.encoder("loaded")
    pulse.at("run_1", Place("encoding", samples=(1, 2)))
    pulse.at("run_2", Place("learning", 3))
    pulse.at("run_1", None)
    os.write(far, b"a library prints \xff something\nat run_3 no json\n")
    pulse.ready()
    pulse.judged()
    content = os.read(near, 65_536)
    listener = Listener()
    for each in content:
        listener.hear(bytes([each]))
    assert (listener.ready, listener.judged, listener.encoder) == (True, True, "loaded")
    assert listener.places == {"run_2": Place("learning", 3)}
    os.close(near)
    os.close(far)


def test_a_parent_that_does_not_read_holds_nobody_up() -> None:
    near, far = os.pipe()
    pulse = Pulse(far)
    for number in range(10_000):
        pulse.at("run_1", Place("encoding", samples=(number,)))
    os.close(near)
    pulse.ready()  # the same for a parent that has ended
    os.close(far)


def test_who_is_alone_has_no_other_beside_and_is_let_in_before_later_ones() -> None:
    room, order, leave, leave_alone = Room(), list[str](), Event(), Event()

    def stay(name: str, alone: bool, until_told: Event) -> None:
        with room.entered(alone=alone):
            order.append(name)
            until_told.wait(20)

    threads = []
    for name, alone, told in (("first", False, leave), ("alone", True, leave_alone), ("later", False, leave)):
        threads.append(Thread(target=stay, args=(name, alone, told)))
        threads[-1].start()
        time.sleep(0.1)
    assert order == ["first"]
    leave.set()
    until(lambda: order == ["first", "alone"], what="the one alone")
    time.sleep(0.1)
    assert order == ["first", "alone"]
    leave_alone.set()
    for thread in threads:
        thread.join(20)
    assert order == ["first", "alone", "later"]
