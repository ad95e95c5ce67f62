import itertools

import pytest

from core.scoring.cost import estimate

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


def test_a_model_without_traits_costs_the_start_alone() -> None:
    assert 0 < estimate("max", samples_per_trait=[], to_encode=0) < 1
