import itertools

import pytest

from traitbench.fitting import work
from traitbench.fitting.search import EFFORTS
from traitbench.fitting.speed import Speed, _others, speed, speed_now

LEVELS = ("low", "medium", "high", "max")


@pytest.mark.parametrize("samples", [2, 50, 500, 5_000, 100_000])
def test_more_effort_never_costs_less(samples: int) -> None:
    costs = [work.searching(effort, [samples]) for effort in LEVELS]
    assert all(less <= more for less, more in itertools.pairwise(costs))


def test_more_samples_longer_texts_and_more_traits_take_longer() -> None:
    plain = work.searching("medium", [100])
    assert plain < work.searching("medium", [400])
    assert plain < work.searching("medium", [100, 100])
    assert work.reading([100] * 10) < work.reading([100] * 11) < work.reading([1_000] * 10)


def test_a_fit_without_a_search_is_cheaper() -> None:
    searched, reused = (sum(work.fitting(EFFORTS["max"], 400, searched=each).values()) for each in (True, False))
    assert reused < searched / 3


def test_a_model_without_traits_costs_only_the_start() -> None:
    assert 0 < work.searching("max", []) < 1


def test_the_fastest_probe_decides_how_fast_the_processor_is() -> None:
    """Seen in practice: one probe took 80 ms instead of 4, and every estimate was twenty times too long."""
    idle = [(0.004, 0.004)]
    assert speed([(0.08, 0.08), *idle, *idle], queue=0.5) == speed(idle, queue=0.5) == Speed(1.0, 1.0, 1.0, 1.0)
    assert speed([(0.008, 0.008)], queue=0.5) == Speed(2.0, 2.0, 2.0, 2.0)
    assert speed([(60.0, 60.0)], queue=0.5).most < 60.0


def test_a_busy_machine_takes_longer_and_nobody_knows_how_long() -> None:
    assert speed([(0.004, 0.012)], queue=6.0) == Speed(3.0, 6.0, 6.0, 1.0)
    assert speed([(0.004, 0.04)], queue=1.0) == Speed(1.0, 10.0, 1.0, 1.0)


def test_who_waits_for_a_processor_is_counted_without_the_probe() -> None:
    assert _others([2, 2, 2]) == 0.0
    assert _others([5, 7, 0]) == 4.0
    assert _others([1]) == 0.0
    assert _others([]) == _others([0]) >= 0.0, "a system that does not say has its load average"


def test_a_vocabulary_that_is_not_cached_costs_as_much_as_short_texts() -> None:
    assert work.vocabulary(0) == 0.0
    assert work.vocabulary(2_500) == pytest.approx(work.reading([7] * 2_500))
    assert work.searching("high", [300], dimension=323, modes=(), blocks=0) < work.searching("high", [300])


def test_the_speed_of_this_machine_is_measured_once_and_kept_for_a_while() -> None:
    measured = speed_now()
    assert 0 < measured.fastest <= measured.least <= measured.likely <= measured.most
    assert speed_now() is measured
