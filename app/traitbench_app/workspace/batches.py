"""Batches that the workbench scores for its pages, a few at a time, each in a thread (`background`)."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from itertools import islice
from typing import Any, get_args

from traitbench.batch.audits import Audit
from traitbench.batch.outcomes import Outcomes, RowOutcome, encoded, outcomes
from traitbench.batch.parts import CannotResume, Parts, in_parts
from traitbench.client import Traitbench
from traitbench.contract.batches import BatchSettings, ScoredLine
from traitbench.contract.scores import Confidence, ConfidenceReason, Tier, TraitScore
from traitbench.display.sides import side_of
from traitbench.errors import InternalError
from traitbench.names import unpin
from traitbench.tables.source import Source
from traitbench_app.shell import people, session
from traitbench_app.shell.people import OPERATOR
from traitbench_app.workspace import background
from traitbench_app.workspace.background import BackgroundWork, State

BATCHES = "batch.batches"
"""The batches of a tab in its session, by the handle of their model."""

MOST_ROWS = 100_000

TIERS: tuple[Tier | None, ...] = (None, "Weak", "Developing", "Solid", "Strong")
CONFIDENCES: tuple[Confidence, ...] = ("low", "moderate", "high")
REASONS: tuple[ConfidenceReason, ...] = get_args(ConfidenceReason)

NONE = -1
"""The placeholder in a row without a score, and of a reason that there is none."""


class TraitColumn:
    """The scores of one trait, stored compactly: one byte per row and column."""

    def __init__(self) -> None:
        self.scores, self.sides, self.tiers = array("b"), array("b"), array("b")
        self.confidences, self.reasons = array("b"), array("b")

    def put(self, row: int, trait: TraitScore | None) -> None:
        """Set a row, or add the next one."""
        _put(self.scores, row, NONE if trait is None else trait.score)
        _put(self.sides, row, 0 if trait is None else _side(trait))
        _put(self.tiers, row, NONE if trait is None else TIERS.index(trait.label))
        _put(self.confidences, row, NONE if trait is None else CONFIDENCES.index(trait.confidence))
        reason = None if trait is None else trait.confidence_reason
        _put(self.reasons, row, NONE if reason is None else REASONS.index(reason))


class Batch(BackgroundWork):
    """A batch and its results so far, in columns. Rows that are missing can be scored as long as `source` is there.

    `parts` has what is on disk; without it the results are only in memory.
    """

    def __init__(
        self,
        client: Traitbench,
        settings: BatchSettings,
        source: Source,
        column: str,
        *,
        name: str,
        keys: Sequence[str],
        owner: str = OPERATOR.id,
        parts: Parts | None = None,
    ) -> None:
        super().__init__(total=source.count, owner=owner)
        self.client, self.settings, self.column, self.name = client, settings, column, name
        self.columns = source.columns
        self.source: Source | None = source
        self.parts = parts
        self.changes = 0  # rows that were scored again
        self.audits: dict[str, Audit] = {}
        self.lines, self.composites, self.confidences = array("q"), array("b"), array("b")
        self.texts: list[str] = []
        self.others: list[tuple[str, ...]] = []
        self.errors: dict[int, str] = {}
        self.traits: Mapping[str, TraitColumn] = {key: TraitColumn() for key in keys}
        self.computed: Any = None  # results that a page computed; discarded together with the batch

    @property
    def handle(self) -> str:
        """The model, without its version."""
        return unpin(self.settings.handle)[0]

    @property
    def handles(self) -> tuple[str, ...]:
        """The model, without its version."""
        return (self.handle,)

    @property
    def version(self) -> str:
        """The version that scores all rows."""
        return unpin(self.settings.handle)[1]

    @property
    def other_columns(self) -> list[str]:
        """All columns except the one with the texts."""
        return [column for column in self.columns if column != self.column]

    def unlike(self, trait: str) -> int:
        """How many texts are less sure on a trait because they are unlike the samples."""
        return self.traits[trait].reasons.count(REASONS.index("unlike_samples"))

    def work(self) -> State:
        """Score the rows that are left. A row counts as done once it is on disk."""
        if self.source is None:
            raise InternalError("The file is no longer there. Score it again as a new batch.")
        rest, first = islice(self.source.lines(), self.done, None), self.done + 1
        try:
            with self.parts.locked() if self.parts else nullcontext():
                # Only under the lock is it certain that nobody appends meanwhile.
                if self.parts and self.parts.rows != self.done:
                    raise InternalError("Another workbench continued this batch. Reload the page to see its results.")
                # Closed at once, so that a stop also ends the request that is under way.
                with closing(outcomes(self.client, self.settings, rest, self.column, first=first)) as coming:
                    for some in in_parts(self._until_stopped(coming)):
                        if self.parts:
                            self.parts.append(some)
                        self.add(some)
        except CannotResume as error:
            raise InternalError(str(error)) from error
        except OSError as error:
            raise InternalError(f"The results cannot be written: {error.strerror}. Make room, then resume.") from error
        if self.done < self.total:
            return "stopped"
        self.source = None
        return "done"

    def add(self, some: Sequence[RowOutcome]) -> None:
        """Store whole rows, and only then increase `done`, because pages read the rows up to it."""
        for row, outcome in enumerate(some, start=self.done):
            cells = dict(outcome.row.cells) if outcome.row else {}
            # Only the texts that are scored are shown as they are read.
            given = outcome.row.given if outcome.row else {}
            cells |= {name: cell for name, cell in given.items() if name != self.column}
            self.lines.append(outcome.line)
            self.others.append(tuple(_drawable(cells.get(column, "")) for column in self.other_columns))
            self._put(row, cells.get(self.column, ""), outcome.card)
            if outcome.card is None:
                self.errors[row] = outcome.reason
        self.failed = len(self.errors)
        self.done += len(some)

    def replace(self, row: int, text: str, card: ScoredLine) -> None:
        """Replace the text and the scores of a row."""
        self._put(row, text, card)
        self.errors.pop(row, None)
        self.failed = len(self.errors)
        self.changes += 1

    def _put(self, row: int, text: str, card: ScoredLine | None) -> None:
        self.texts[row : row + 1] = [_drawable(text)]
        _put(self.composites, row, NONE if card is None else card.composite)
        _put(self.confidences, row, NONE if card is None else CONFIDENCES.index(card.confidence))
        for key, column in self.traits.items():
            column.put(row, None if card is None else card.detail.get(key))

    def _until_stopped(self, coming: Outcomes) -> Iterator[RowOutcome]:
        for outcome in coming:
            yield outcome
            if self.asked_to_stop:
                return


def _side(trait: TraitScore) -> int:
    """Return the side that a score claims: 1 for the positive pole, -1 for the negative one, 0 for none."""
    positive = side_of(trait, positive_label="", negative_label="").positive
    return 0 if positive is None else 1 if positive else -1


def _put(column: "array[int]", row: int, value: int) -> None:
    if row == len(column):
        column.append(value)
    else:
        column[row] = value


def _drawable(text: str) -> str:
    """Return a text that tables and files can hold: a lone surrogate is escaped as in JSON."""
    return encoded(text).decode()


def find(batch_id: str | None, *, owner: str = OPERATOR.id) -> Batch | None:
    """Return a batch of this owner by its id, or None if it is gone."""
    return background.find(batch_id, Batch, owner=owner)


def batch_of_tab(handle: str) -> Batch | None:
    """Return the batch of this tab for a model."""
    batch = find(session.get(BATCHES, {}).get(handle), owner=people.current().id)
    return batch if batch is not None and batch.handle == handle else None
