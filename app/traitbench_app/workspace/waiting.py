"""Pending feedback: samples that no version was trained with."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.errors import TraitbenchError
from traitbench.settings import read_settings
from traitbench_app.shell.service import client

_LOOKED_THROUGH = 5_000


@dataclass(frozen=True)
class RetrainRule:
    """When the service retrains automatically; `known` is false if these are only the defaults."""

    samples: int
    seconds: int
    known: bool = True

    @property
    def learned(self) -> str:
        """The rule in words: `Learned after 10 corrections, or in 5 min.`"""
        usual = "" if self.known else ", unless the operator of the service has changed that"
        return f"Learned after {self.samples} corrections, or in {_span(self.seconds)}{usual}."


@dataclass(frozen=True)
class WaitingFeedback:
    """The number of pending samples; the oldest was sent at `since`, or None if unknown.

    They are `stalled` if the model has fewer samples than its active version was trained on, because some were deleted.
    The service does not retrain such a model automatically.
    """

    samples: int
    since: datetime | None = None
    stalled: bool = False

    def due(self, rule: RetrainRule, now: datetime | None = None) -> str:
        """Say when the retraining is due: `any moment`, `within 4 min`, or "" if unknown."""
        if self.samples >= rule.samples:
            return "any moment"
        if self.since is None or not rule.known:
            return ""
        left = (self.since + timedelta(seconds=rule.seconds) - (now or datetime.now(UTC))).total_seconds()
        # A time this far in the future is due to a wrong clock, and the service ignores it.
        return f"within {_span(min(left, rule.seconds))}" if 1 < left <= 2 * rule.seconds else "any moment"


def rule() -> RetrainRule:
    """Return the retraining rule: this process's settings, or the defaults for a remote service."""
    settings = read_settings()
    # The API has no endpoint for this rule.
    return RetrainRule(settings.retrain_after_samples, settings.retrain_after_seconds, known=settings.api_url is None)


def waiting(model: Model, traits: Sequence[Trait], newest: Version | None) -> WaitingFeedback:
    """Return the pending samples of a model whose newest version is `newest`."""
    if newest is None or model.zero_data_retention:
        return WaitingFeedback(0)
    total = sum(trait.sample_count for trait in traits)
    # Feedback that a version on hold was trained with still waits, and may have been withdrawn.
    stalled = total < newest.sample_count and newest.version_no != model.held_version_no
    try:
        pending = [sample.created_at for sample in waiting_samples(model.handle)]
    except TraitbenchError:
        # Only authors of the model may list its samples.
        return WaitingFeedback(max(total - newest.sample_count, 0), stalled=stalled)
    return WaitingFeedback(len(pending), min(pending, default=None), stalled=stalled and bool(pending))


def waiting_samples(handle: str) -> list[Sample]:
    """The feedback that no version of the model was trained with, oldest first."""
    return list(islice(client().samples.list(handle, limit=LARGEST_SAMPLE_PAGE, pending=True), _LOOKED_THROUGH))


def _span(seconds: float) -> str:
    """Format a duration: `40 s`, `5 min`."""
    return f"{round(seconds)} s" if seconds < 100 else f"{round(seconds / 60)} min"
