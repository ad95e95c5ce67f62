"""The held-out scores of a version's samples: they are those that its figures were measured on."""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.conftest import COLD, WARM, Service, make_draft, train
from traitbench.client import Traitbench
from traitbench.contract.metrics import TraitMetrics
from traitbench.contract.samples import SampleInput
from traitbench.local.mistakes import HeldOutScores, held_out_scores


@pytest.fixture(scope="module")
def scored(service: Service) -> Iterator[tuple[HeldOutScores, TraitMetrics]]:
    """A model with two wrong labels and some test samples, one of them at the wrong pole."""
    handle, key = "judged.tone", service.issue(namespaces=("judged",))
    with pytest.MonkeyPatch.context() as environment, Traitbench(service.base_url, key) as client:
        service.surround(environment)
        make_draft(client, handle)
        wrong = [SampleInput(trait="warmth", text=f"{WARM[0]} Really.", quality=0.0)]
        wrong.append(SampleInput(trait="warmth", text=f"{COLD[0]} Really.", quality=1.0))
        tests = [(WARM[1][:30], 1.0), (COLD[1][:30], 0.0), ("What a joy to have tea with you, my dear!", 0.0)]
        held = [SampleInput(trait="warmth", text=text, quality=quality, held_out=True) for text, quality in tests]
        client.samples.add(handle, [*wrong, *held])
        train(client, handle)
        version = client.versions.get(handle)
        found = held_out_scores(version, client.traits.list(handle), list(client.samples.list(handle)))
        yield found, version.metrics.traits["warmth"]


def test_they_are_the_scores_that_the_figures_counted(scored: tuple[HeldOutScores, TraitMetrics]) -> None:
    found, figures = scored
    assert not found.changed
    own = [each for each in found.by_trait["warmth"] if not each.first.held_out]
    counted = Counter(("positive" if each.positive else "negative", each.tier) for each in own)
    assert figures.confusion
    assert counted == {
        (pole, tier): number for pole, tiers in figures.confusion.items() for tier, number in tiers.items() if number
    }
    assert figures.confidence
    right = sum(each.right for each in figures.confidence.values())
    assert sum(each.is_wrong for each in own) == len(own) - right > 0


def test_test_samples_are_scored_with_the_version(scored: tuple[HeldOutScores, TraitMetrics]) -> None:
    found, figures = scored
    tests = [each for each in found.by_trait["warmth"] if each.first.held_out]
    assert figures.test
    assert figures.test.error is not None
    assert len(tests) == 3
    assert sum(each.is_wrong for each in tests) >= round(figures.test.error * figures.test.samples)


def test_the_worst_come_first(scored: tuple[HeldOutScores, TraitMetrics]) -> None:
    wrong = scored[0].wrong("warmth")
    assert {f"{WARM[0]} Really.", f"{COLD[0]} Really."} <= {each.first.text for each in wrong}
    assert [each.distance for each in wrong] == sorted((each.distance for each in wrong), reverse=True)
    assert scored[0].wrong("nothing") == []
