"""What waits for the automatic retrain: feedback that no version has learnt from yet.

The API counts it nowhere and needs not: feedback is all that a trained model gains, so what it has more than its newest
version learnt from is what waits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

import streamlit as st

from traitbench.app.service import client, reader
from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.errors import TraitbenchError
from traitbench.settings import read_settings

_LOOKED_THROUGH = 5_000


@dataclass(frozen=True)
class Rule:
    """When the service retrains by itself; `known` is false where these are only the contract's defaults."""

    samples: int
    seconds: int
    known: bool = True

    @property
    def in_words(self) -> str:
        """`10 wait or the oldest has waited 5 min`."""
        usual = "" if self.known else ", unless the operator of the service has set it otherwise"
        return f"{self.samples} wait or the oldest has waited {_span(self.seconds)}{usual}"


@dataclass(frozen=True)
class Waiting:
    """So many samples, the oldest of them sent at `since`; None where that cannot be said.

    They are `stalled` when the model has fewer samples than what serves was learnt from, for some were removed: the
    service does not let it forget by itself.
    """

    samples: int
    since: datetime | None = None
    stalled: bool = False

    def due(self, rule: Rule, now: datetime | None = None) -> str:
        """`any moment`, `within 4 min`, or nothing where it is not known."""
        if self.samples >= rule.samples:
            return "any moment"
        if self.since is None or not rule.known:
            return ""
        left = (self.since + timedelta(seconds=rule.seconds) - (now or datetime.now(UTC))).total_seconds()
        # Dated further ahead than the rule is long, it was a wrong clock, and the service does not wait for it.
        return f"within {_span(min(left, rule.seconds))}" if 1 < left <= 2 * rule.seconds else "any moment"


def rule() -> Rule:
    """The rule of the service that the workbench speaks to: this process's own settings, unless that is elsewhere."""
    settings = read_settings()
    return Rule(settings.retrain_after_samples, settings.retrain_after_seconds, known=settings.api_url is None)


def waiting(model: Model, traits: Sequence[Trait], newest: Version | None) -> Waiting:
    """What waits in a model whose newest version this is."""
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
    """Where samples were removed once, numbers say nothing; times do."""
    fed_back = [
        sample
        for sample in client().samples.list(handle, limit=LARGEST_SAMPLE_PAGE)
        if sample.provenance == "score_feedback"
    ]
    later = [sample.created_at for sample in fed_back if sample.created_at > newest.created_at]
    return Waiting(len(later), min(later, default=None), stalled=True)


@st.cache_data(max_entries=500, show_spinner=False)
def _oldest(reader: tuple[str, str], handle: str, learnt: int) -> datetime | None:
    """When the first sample came that no version has learnt from: samples of a trained model are only ever added."""
    behind = islice(client().samples.list(handle, limit=LARGEST_SAMPLE_PAGE), learnt, None)
    return next((sample.created_at for sample in behind), None)


def _span(seconds: float) -> str:
    """`40 s`, `5 min`."""
    return f"{round(seconds)} s" if seconds < 100 else f"{round(seconds / 60)} min"
