"""What a trait's words add to a training, and how to train without them."""

import pytest

from tests.contexts import AUTHOR, ON_SQLITE, done_here, draft
from traitbench.contract.models import TrainRequest
from traitbench.contract.scores import ScoreRequest
from traitbench.errors import ModelBusy
from traitbench.operations import models, scores, training, versions
from traitbench.operations.context import Context

pytestmark = ON_SQLITE


def trained(context: Context, *, use_labels: bool) -> str:
    handle = draft(context, warm=6, cold=6)
    body = TrainRequest(effort="low", use_labels=use_labels)
    done_here(context, training.start(context, AUTHOR, handle, body)[0].run_id)
    assert models.get(context, AUTHOR, handle).state == "ready"
    return handle


@pytest.mark.parametrize("use_labels", [True, False])
def test_labels_are_listened_to_unless_somebody_says_no_and_a_retrain_keeps_to_it(
    context: Context, *, use_labels: bool
) -> None:
    handle = trained(context, use_labels=use_labels)
    for i in range(10):
        body = ScoreRequest(content=f"said number {i}", feedback={"warmth": i % 2})
        scores.score(context, AUTHOR, handle, body, request_id="req")
    last = models.get(context, AUTHOR, handle).last_operation
    assert last is not None
    done_here(context, last.run_id)
    for version in ("v1", "v2"):
        metrics = versions.get(context, AUTHOR, handle, version).metrics
        assert metrics.use_labels == use_labels
        labels = metrics.traits["warmth"].labels
        assert labels is not None
        assert labels.used == use_labels


def test_a_training_without_labels_is_another_training(context: Context) -> None:
    handle = draft(context, warm=2, cold=2)
    first, _ = training.start(context, AUTHOR, handle, TrainRequest(effort="low"))
    same, _ = training.start(context, AUTHOR, handle, TrainRequest(effort="low", use_labels=True))
    assert same.run_id == first.run_id
    with pytest.raises(ModelBusy):
        training.start(context, AUTHOR, handle, TrainRequest(effort="low", use_labels=False))
