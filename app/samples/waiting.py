"""Pending feedback: samples that wait for the automatic retraining.

The API does not count it. A trained model gains samples only by feedback, so the number of pending samples is the
number of samples minus the sample count of its newest version.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

import streamlit as st

from traitbench.app.shell.service import client, reader
from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.errors import TraitbenchError
from traitbench.settings import read_settings

_LOOKED_THROUGH = 5_000


@dataclass(frozen=True)
class Rule:
    """When the service retrains automatically; `known` is false if these are only the defaults."""

    samples: int
    seconds: int
    known: bool = True

    @property
    def in_words(self) -> str:
        """The rule in words: `10 are pending or the oldest has waited 5 min`."""
        usual = "" if self.known else ", unless the operator of the service has changed it"
        return f"{self.samples} are pending or the oldest has waited {_span(self.seconds)}{usual}"


@dataclass(frozen=True)
class Waiting:
    """The number of pending samples; the oldest was sent at `since`, or None if unknown.

    They are `stalled` if the model has fewer samples than its active version was trained on, because some were deleted.
    The service does not retrain such a model automatically.
    """

    samples: int
    since: datetime | None = None
    stalled: bool = False

    def due(self, rule: Rule, now: datetime | None = None) -> str:
        """Say when the retraining is due: `any moment`, `within 4 min`, or "" if unknown."""
        if self.samples >= rule.samples:
            return "any moment"
        if self.since is None or not rule.known:
            return ""
        left = (self.since + timedelta(seconds=rule.seconds) - (now or datetime.now(UTC))).total_seconds()
        # A time this far in the future is due to a wrong clock, and the service ignores it.
        return f"within {_span(min(left, rule.seconds))}" if 1 < left <= 2 * rule.seconds else "any moment"


def rule() -> Rule:
    """Return the retraining rule: this process's settings, or the defaults for a remote service."""
    settings = read_settings()
    return Rule(settings.retrain_after_samples, settings.retrain_after_seconds, known=settings.api_url is None)


def waiting(model: Model, traits: Sequence[Trait], newest: Version | None) -> Waiting:
    """Return the pending samples of a model whose newest version is `newest`."""
    held = sum(trait.sample_count for trait in traits)
    if newest is None or model.zero_data_retention or held == newest.sample_count:
        return Waiting(0)
    try:
        if held < newest.sample_count:
            return _after_a_purge(model.handle, newest)
        since = _oldest(reader(), model.handle, newest.sample_count) if held <= _LOOKED_THROUGH else None
    except TraitbenchError:
        since = None
    return Waiting(max(held - newest.sample_count, 0), since)


def _after_a_purge(handle: str, newest: Version) -> Waiting:
    """Find pending samples by time, because counts are meaningless after samples were deleted."""
    fed_back = [
        sample
        for sample in client().samples.list(handle, limit=LARGEST_SAMPLE_PAGE)
        if sample.provenance == "score_feedback"
    ]
    later = [sample.created_at for sample in fed_back if sample.created_at > newest.created_at]
    return Waiting(len(later), min(later, default=None), stalled=True)


@st.cache_data(max_entries=500, show_spinner=False)
def _oldest(reader: tuple[str, str], handle: str, trained: int) -> datetime | None:
    """Return the time of the first sample after the `trained` ones. A trained model only gains samples."""
    learned = client().samples.list(handle, held_out=False, limit=LARGEST_SAMPLE_PAGE)
    pending = islice(learned, trained, None)
    return next((sample.created_at for sample in pending), None)


def _span(seconds: float) -> str:
    """Format a duration: `40 s`, `5 min`."""
    return f"{round(seconds)} s" if seconds < 100 else f"{round(seconds / 60)} min"
