import itertools

import pytest

from traitbench.scoring.cost import estimate, pace

LEVELS = ("low", "medium", "high", "max")


@pytest.mark.parametrize("samples", [2, 50, 500, 5_000, 100_000])
def test_more_effort_never_costs_less(samples: int) -> None:
    costs = [estimate(effort, samples_per_trait=[samples], to_encode=0) for effort in LEVELS]
    assert all(less <= more for less, more in itertools.pairwise(costs))


def test_more_samples_more_texts_and_more_traits_take_longer() -> None:
    plain = estimate("medium", samples_per_trait=[100], to_encode=100)
    assert plain < estimate("medium", samples_per_trait=[400], to_encode=100)
    assert plain < estimate("medium", samples_per_trait=[100], to_encode=400)
    assert plain < estimate("medium", samples_per_trait=[100, 100], to_encode=100)


def test_a_model_without_traits_costs_only_the_start() -> None:
    assert 0 < estimate("max", samples_per_trait=[], to_encode=0) < 1


def test_the_fastest_probe_decides_the_pace() -> None:
    """Seen in practice: one probe took 80 ms instead of 4, and every estimate was twenty times too long."""
    assert pace([0.08, 0.0042, 0.004, 0.13]) == pace([0.004])
    assert pace([0.008]) == 2 * pace([0.004])
    assert pace([60.0]) < 60.0
