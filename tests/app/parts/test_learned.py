"""What is said of feedback that waits for the automatic retrain."""

from datetime import UTC, datetime, timedelta

import pytest

from traitbench.contract.models import RetrainRule
from traitbench_app.parts.feedback import due, learned

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def rule(after_samples: int | None = 10, after_seconds: int | None = 300, left: float | None = None) -> RetrainRule:
    at = None if left is None else NOW + timedelta(seconds=left)
    return RetrainRule(after_samples=after_samples, after_seconds=after_seconds, pending=1, due_at=at)


@pytest.mark.parametrize(
    ("left", "words"),
    [(300, "within 5 min"), (90, "within 90 s"), (0.5, "any moment"), (-4_000, "any moment"), (None, "")],
)
def test_it_is_said_when_a_retrain_is_due(left: float | None, words: str) -> None:
    assert due(rule(left=left), NOW) == words


def test_the_rule_is_said_in_words() -> None:
    assert learned(rule()) == "Learned after 10 corrections, or in 5 min."
    assert learned(rule(3, 20)) == "Learned after 3 corrections, or in 20 s."
    assert learned(rule(None, None)) == ""
