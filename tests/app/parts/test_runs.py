"""When a refit would change nothing: the settings are compared, not the sentences about them."""

from collections.abc import Mapping
from typing import Any

import pytest

from traitbench.contract.metrics import Metrics
from traitbench.contract.models import Model, RetrainRule
from traitbench.contract.versions import Version
from traitbench_app.parts import runs
from traitbench_app.parts.runs import SearchChoice

METRICS: Mapping[str, Any] = {
    "scoring_method": "balanced_cosine",
    "effort": "high",
    "search": "a sentence of an older release",
    "use_labels": True,
    "traits": {"warmth": {"search": {"tried": 54}}},
}


def version(**changes: Any) -> Version:
    given: dict[str, Any] = {"version_no": 1, "triggered_by": "train", "snapshot": {"max_depth": 1}, **changes}
    metrics = Metrics.model_validate(changes.get("metrics", METRICS))
    return Version.model_construct(**{**given, "metrics": metrics})


@pytest.mark.parametrize(
    ("changes", "nothing"),
    [
        ({}, True),
        ({"triggered_by": "retune"}, True),
        ({"triggered_by": "backfill"}, True),
        ({"metrics": {**METRICS, "effort": "low"}}, False),
        ({"metrics": {**METRICS, "use_labels": False}}, False),
        ({"triggered_by": "retrain_buffered", "metrics": {**METRICS, "traits": {}}}, False),
        ({"snapshot": {"max_depth": 2}}, False),
    ],
)
def test_a_refit_changes_nothing_only_with_the_settings_and_samples_of_the_version(
    monkeypatch: pytest.MonkeyPatch, changes: Mapping[str, Any], nothing: bool
) -> None:
    newest = version(**changes)
    monkeypatch.setattr(runs, "version", lambda handle, listed: listed)
    model, again = (
        Model.model_construct(
            handle="local.tone",
            scoring_method="balanced_cosine",
            max_depth=1,
            retrain=RetrainRule(after_samples=10, after_seconds=300, pending=pending, due_at=None),
        )
        for pending in (0, 1)
    )
    choice = SearchChoice("high", True)
    assert runs.gains_nothing(model, newest, choice) is nothing
    assert not runs.gains_nothing(again, newest, choice), "feedback is new to a refit"
