"""The time left of simulated runs, by a clock that the tests set."""

import pytest

from tests.contexts import ON_SQLITE
from traitbench.runs.progress import Timeline

pytestmark = ON_SQLITE


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0
        self.shares: dict[str, float] = {}

    def __call__(self) -> float:
        return self.now


def _work(timeline: Timeline, clock: Clock, phase: str, seconds: float, *, of: float, pace: float) -> None:
    """Work for so many seconds, in small steps, on a phase whose work is `of`."""
    first = clock.shares.get(phase, 0.0)
    for step in range(1, 101):
        clock.now += seconds / 100
        timeline.reach(phase, min(1.0, first + seconds * step / 100 / pace / of))
    clock.shares[phase] = first + seconds / pace / of


@pytest.mark.parametrize("pace", [0.5, 1.0, 8.0])
def test_at_a_steady_pace_the_time_left_is_right(pace: float) -> None:
    clock = Clock()
    timeline = Timeline({"reading": 20.0, "learning": 5.0}, clock=clock)
    assert timeline.left_s == pytest.approx(25)
    for done in (4, 8, 12, 16):
        _work(timeline, clock, "reading", 4 * pace, of=20, pace=pace)
        assert timeline.left_s == pytest.approx((25 - done) * pace, rel=0.1)
        assert timeline.fraction == pytest.approx(done / 25, abs=0.05)
    _work(timeline, clock, "reading", 4 * pace, of=20, pace=pace)
    timeline.reach("learning")
    _work(timeline, clock, "learning", 5 * pace, of=5, pace=pace)
    assert timeline.left_s == pytest.approx(0, abs=1e-9)
    assert timeline.fraction == pytest.approx(1)


def test_a_wrong_expectation_is_corrected_within_the_first_second() -> None:
    clock = Clock()
    timeline = Timeline({"reading": 20.0}, clock=clock)
    _work(timeline, clock, "reading", 1.0, of=20, pace=5)
    assert 99 / 2 < timeline.left_s < 99 * 2


@pytest.mark.parametrize(("before", "after"), [(1.0, 2.0), (4.0, 2.0)])
def test_when_the_pace_halves_or_doubles_the_time_left_adapts(before: float, after: float) -> None:
    clock = Clock()
    timeline = Timeline({"reading": 200.0}, clock=clock)
    _work(timeline, clock, "reading", 50 * before, of=200, pace=before)
    assert timeline.left_s == pytest.approx(150 * before, rel=0.1)
    _work(timeline, clock, "reading", 30 * after, of=200, pace=after)
    assert timeline.left_s == pytest.approx(120 * after, rel=0.1)


def test_a_phase_that_is_slow_does_not_spoil_the_others_for_long() -> None:
    clock = Clock()
    timeline = Timeline({"words": 1.0, "learning": 30.0}, clock=clock)
    clock.now += 8.0  # eight times as long as expected
    timeline.reach("words", 1.0)
    timeline.reach("learning")
    _work(timeline, clock, "learning", 10.0, of=30, pace=1.0)
    assert timeline.left_s == pytest.approx(20.0, rel=0.1)


def test_the_work_of_a_phase_may_become_known_later_and_phases_may_be_skipped() -> None:
    clock = Clock()
    timeline = Timeline({"reading": 0.0, "words": 2.0, "learning": 4.0}, clock=clock)
    timeline.expect("reading", 10.0)
    assert timeline.left_s == pytest.approx(16.0)
    clock.now += 12.0
    timeline.reach("learning")
    assert timeline.left_s == pytest.approx(4.0)


def test_work_never_shrinks() -> None:
    clock = Clock()
    timeline = Timeline({"reading": 10.0}, clock=clock)
    clock.now += 5.0
    timeline.reach("reading", 0.5)
    timeline.reach("reading", 0.2)
    assert timeline.left_s == pytest.approx(5.0)
