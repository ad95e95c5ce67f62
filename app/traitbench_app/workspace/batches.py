"""Batches that the workbench scores for its pages, a few at a time, each in a thread (`background`)."""

import sys
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import islice
from typing import Any, get_args

from traitbench.batch.audits import Audit
from traitbench.batch.outcomes import Outcome, encoded, outcomes, reason_of
from traitbench.client import Traitbench
from traitbench.contract.asked import Asked
from traitbench.contract.batches import ScoredLine
from traitbench.contract.scores import Breaks, Card, Confidence, ConfidenceReason, Tier, TraitScore
from traitbench.errors import InternalError
from traitbench.names import unpin
from traitbench.tables.source import Source
from traitbench_app.shell import people, session
from traitbench_app.shell.people import OPERATOR
from traitbench_app.workspace import background
from traitbench_app.workspace.background import State, Work

JOBS = "batch.jobs"
"""The batches of a tab in its session, by the handle of their model."""

MOST_ROWS = 100_000
MOST_MEGABYTES = 50

TIERS: tuple[Tier | None, ...] = (None, "Weak", "Developing", "Solid", "Strong")
CONFIDENCES: tuple[Confidence, ...] = ("low", "moderate", "high")
REASONS: tuple[ConfidenceReason, ...] = get_args(ConfidenceReason)
KEPT_EVERY_S = 15.0
"""Seconds between two writes of the results so far."""

_SHARE_OF_WRITING = 0.05

NONE = -1
"""The placeholder in a row without a score, and of a reason that there is none."""


class TraitColumn:
    """The scores of one trait, stored compactly: one byte per row and column."""

    def __init__(self) -> None:
        self.scores, self.tiers, self.confidences, self.reasons = array("b"), array("b"), array("b"), array("b")
        self.breaks: Breaks | None = None


class Results(Work):
    """The results of a batch so far, in columns. Rows that are missing can be scored as long as `source` is there."""

    def __init__(
        self,
        asked: Asked,
        column: str,
        *,
        columns: tuple[str, ...],
        name: str,
        keys: Sequence[str],
        owner: str,
        total: int,
    ) -> None:
        super().__init__(total=total, owner=owner)
        self.asked, self.column, self.name = asked, column, name
        self.columns = columns
        self.unlike = 0
        self.changes = 0  # rows that were scored again
        self.audits: dict[str, Audit] = {}
        self.lines, self.composites, self.confidences = array("q"), array("b"), array("b")
        self.texts: list[str] = []
        self.reasons: list[str] = []  # few different ones
        self.others: list[tuple[str, ...]] = []
        self.errors: dict[int, str] = {}
        self.traits: Mapping[str, TraitColumn] = {key: TraitColumn() for key in keys}
        self.computed: Any = None  # results that a page computed; discarded together with the batch
        self.source: Source | None = None
        self.client: Traitbench | None = None
        self.keep: Callable[[], None] | None = None  # writes the results so far
        self._keep_next = 0.0

    @property
    def handle(self) -> str:
        """The model, without its version."""
        return unpin(self.asked.handle)[0]

    @property
    def handles(self) -> tuple[str, ...]:
        """The model, without its version."""
        return (self.handle,)

    @property
    def version(self) -> str:
        """The version that scores all rows."""
        return unpin(self.asked.handle)[1]

    def work(self) -> State:
        """Score the rows that are left; raise `InternalError` if their texts are gone."""
        if self.source is None or self.client is None:
            raise InternalError("The file is no longer there. Score it again as a new batch.")
        rest = islice(self.source.lines(), self.done, None)
        self._keep_next = time.monotonic() + KEPT_EVERY_S
        with closing(outcomes(self.client, self.asked, rest, self.column)) as coming:
            for outcome in coming:
                self._add(outcome)
                if self.asked_to_stop and self.done < self.total:
                    return "stopped"
                self._keep_from_time_to_time()
        return "done"

    @property
    def other_columns(self) -> list[str]:
        """All columns except the one with the texts."""
        return [column for column in self.columns if column != self.column]

    def replace(self, row: int, text: str, card: Card) -> None:
        """Replace the text and the scores of a row."""
        before = [column.reasons[row] for column in self.traits.values()]
        self.texts[row] = _drawable(text)
        self.errors.pop(row, None)
        self.failed = len(self.errors)
        self.composites[row] = card.composite
        self.confidences[row] = CONFIDENCES.index(card.confidence)
        self.reasons[row] = reason_of(card)
        for key, column in self.traits.items():
            trait = card.detail[key]
            column.scores[row], column.tiers[row] = trait.score, TIERS.index(trait.label)
            column.confidences[row], column.reasons[row] = CONFIDENCES.index(trait.confidence), _reason(trait)
        unlike = REASONS.index("unlike_samples")
        after = [column.reasons[row] for column in self.traits.values()]
        self.unlike += (unlike in after) - (unlike in before)
        self.changes += 1

    def _add(self, outcome: Outcome) -> None:
        """Store the whole row, and only then increase `done`, because pages read the rows up to it."""
        cells = outcome.row.cells if outcome.row else {}
        self.lines.append(outcome.line)
        self.texts.append(_drawable(cells.get(self.column, "")))
        self.others.append(tuple(_drawable(cells.get(column, "")) for column in self.other_columns))
        self._add_figures(outcome.card)
        if outcome.card is None:
            self.errors[self.done] = outcome.reason
            self.failed += 1
        self.done += 1

    def _add_figures(self, card: ScoredLine | None) -> None:
        self.composites.append(NONE if card is None else card.composite)
        self.confidences.append(NONE if card is None else CONFIDENCES.index(card.confidence))
        self.reasons.append("" if card is None else sys.intern(reason_of(card)))
        # A text is unlike the samples of the whole model, not of one trait.
        self.unlike += card is not None and any(_is_unlike(each) for each in card.detail.values())
        for key, column in self.traits.items():
            trait = None if card is None else card.detail.get(key)
            column.scores.append(NONE if trait is None else trait.score)
            column.tiers.append(NONE if trait is None else TIERS.index(trait.label))
            column.confidences.append(NONE if trait is None else CONFIDENCES.index(trait.confidence))
            column.reasons.append(_reason(trait))
            if trait is not None and column.breaks is None:
                column.breaks = trait.breaks

    def _keep_from_time_to_time(self) -> None:
        """Write the results so far, so that little is lost when the process is killed."""
        start = time.monotonic()
        if self.keep is not None and start >= self._keep_next:
            self.keep()
            took = time.monotonic() - start
            self._keep_next = time.monotonic() + max(KEPT_EVERY_S, took / _SHARE_OF_WRITING)


class Restored(Results):
    """The results of a batch that was read from the home folder."""

    def restore(self, job_id: str, state: State, seconds: float) -> None:
        """Set what the file says."""
        self.id, self.state, self._seconds = job_id, state, seconds


class Job(Results):
    """A batch that is scored."""

    def __init__(
        self,
        client: Traitbench,
        asked: Asked,
        source: Source,
        column: str,
        *,
        name: str,
        keys: Sequence[str],
        owner: str = OPERATOR.id,
    ) -> None:
        super().__init__(asked, column, columns=source.columns, name=name, keys=keys, owner=owner, total=source.count)
        self.client, self.source = client, source


def _is_unlike(trait: TraitScore) -> bool:
    return trait.confidence_reason == "unlike_samples"


def _reason(trait: TraitScore | None) -> int:
    reason = None if trait is None else trait.confidence_reason
    return NONE if reason is None else REASONS.index(reason)


def _drawable(text: str) -> str:
    """Return a text that tables and files can hold: a lone surrogate is escaped as in JSON."""
    return encoded(text).decode()


def find(job_id: str | None, *, owner: str = OPERATOR.id) -> Results | None:
    """Return a batch of this owner by its id, or None if it is gone."""
    job = background.work(job_id, owner=owner)
    return job if isinstance(job, Results) else None


def job_of_tab(handle: str) -> Results | None:
    """Return the batch of this tab for a model."""
    job = find(session.get(JOBS, {}).get(handle), owner=people.current().id)
    return job if job is not None and job.handle == handle else None


def pinned(asked: Asked, card: ScoredLine) -> Asked:
    """Return `asked` with its handle pinned to the version of `card`."""
    return asked.of_version(card.metadata.version_id)
