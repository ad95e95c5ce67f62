"""What is said of feedback that waits for the automatic retrain."""

from datetime import UTC, datetime, timedelta

import pytest

from traitbench_app.workspace.waiting import RetrainRule, WaitingFeedback

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
USUAL = RetrainRule(samples=10, seconds=300)


@pytest.mark.parametrize(
    ("samples", "waited", "due"),
    [
        (10, 0, "any moment"),
        (1, 0, "within 5 min"),
        (1, 210, "within 90 s"),
        (9, 299.5, "any moment"),
        (1, 4_000, "any moment"),
    ],
)
def test_it_is_due_by_number_or_by_the_age_of_the_oldest(samples: int, waited: float, due: str) -> None:
    assert WaitingFeedback(samples, NOW - timedelta(seconds=waited)).due(USUAL, NOW) == due


def test_nothing_is_promised_where_the_time_or_the_rule_is_not_known() -> None:
    assert WaitingFeedback(3, None).due(USUAL, NOW) == ""
    assert WaitingFeedback(3, NOW).due(RetrainRule(10, 300, known=False), NOW) == ""


def test_the_rule_is_said_in_words() -> None:
    assert USUAL.learned == "Learned after 10 corrections, or in 5 min."
    assert RetrainRule(3, 20).learned == "Learned after 3 corrections, or in 20 s."
    assert RetrainRule(10, 300, known=False).learned.endswith("unless the operator of the service has changed that.")


def test_feedback_of_a_clock_that_was_ahead_is_due_at_once() -> None:
    assert WaitingFeedback(1, NOW + timedelta(hours=3)).due(USUAL, NOW) == "any moment"
    assert WaitingFeedback(1, NOW + timedelta(seconds=30)).due(USUAL, NOW) == "within 5 min"
