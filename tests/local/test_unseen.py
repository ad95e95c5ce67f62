"""Held-out scores of samples, read from the rows of a version."""

import pytest

from tests.conftest import COLD, WARM, Service, make_draft, train
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench.local.unseen import UnseenRow, axes_of, joined, possible_scores, worst_first
from traitbench.local.version import PreviewUnavailable


def test_a_row_tells_the_side_of_its_label_unless_the_score_is_in_the_middle() -> None:
    cases: list[tuple[float, bool, bool | None]] = [
        (0.9, True, True),
        (0.9, False, False),
        (0.2, True, False),
        (0.2, False, True),
        (0.5, False, None),
    ]
    for position, right, positive in cases:
        assert UnseenRow(1, "warmth", position, right, False).positive is positive
    assert UnseenRow(1, "warmth", 0.9, None, False).positive is None
    assert UnseenRow(1, "warmth", None, None, False).positive is None


def test_the_worst_come_first_and_those_without_a_side_do_not_come() -> None:
    rows = [
        UnseenRow(1, "warmth", 0.4, False, False),
        UnseenRow(2, "warmth", 0.9, False, False),
        UnseenRow(3, "warmth", 0.9, True, False),
        UnseenRow(4, "warmth", 0.7, None, False),
        UnseenRow(5, "warmth", None, None, False),
        UnseenRow(6, "warmth", 0.4, False, True),
    ]
    assert [each.sample_id for each in worst_first(rows)] == [2, 1, 6, 3]


def test_samples_with_one_text_and_label_are_one_score(service: Service) -> None:
    handle, key = "unseen.tone", service.issue(namespaces=("unseen",))
    with Traitbench(service.base_url, key) as client:
        make_draft(client, handle)
        wrong = [SampleInput(trait="warmth", text=f"{text} Really.", quality=0.0) for text in WARM[:2]]
        client.samples.add(
            handle, [*wrong, wrong[0], SampleInput(trait="warmth", text=f"{COLD[0]} Really.", quality=1)]
        )
        train(client, handle)
        axes = axes_of(client.versions.get(handle))
        rows = [UnseenRow(*dict(row).values()) for row in client.versions.samples(handle)]
        samples = {sample.id: sample for sample in client.samples.list(handle)}
        mistakes = worst_first(row for row in rows if row.right is False)
        found = joined(mistakes, samples.values(), axes)
        assert [each.distance for each in found] == sorted((each.distance for each in found), reverse=True)
        assert {f"{WARM[0]} Really.", f"{COLD[0]} Really."} <= {each.first.text for each in found}
        assert [len(each.samples) for each in found if each.first.text == f"{WARM[0]} Really."] == [2]
        for row in rows:
            for score in joined([row], [samples[row.sample_id]], axes):
                told = possible_scores(row, axes[row.trait])
                own = (score.positive, score.points, score.tier)
                assert own in [(each.positive, each.points, each.tier) for each in told]
        without = {sample_id: sample for sample_id, sample in samples.items() if sample_id != found[0].first.id}
        assert len(joined(mistakes, without.values(), axes)) >= len(found) - 1
        listed = next(iter(client.versions.list(handle)))
        with pytest.raises(PreviewUnavailable):
            axes_of(listed)
