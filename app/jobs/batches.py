"""Batches that the workbench scores for its pages, a few at a time, each in a thread and in memory.

A batch outlives the page and the browser tab: its id is in the address, and its owner can open it again. Nothing is
written to disk. A batch that is not viewed is discarded after some hours, under zero data retention after minutes.
Threads never draw. Pages read the rows up to `Job.done`.
"""

import logging
import secrets
import sys
import threading
import time
from array import array
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import islice
from typing import Any, Literal, get_args

from traitbench.app.access.people import OPERATOR
from traitbench.app.files.tables import Source, Unreadable
from traitbench.app.jobs.batching import Outcome, encoded, outcomes, reason_of
from traitbench.client import Traitbench
from traitbench.client.batches import Asked
from traitbench.contract.batch import ScoredLine
from traitbench.contract.names import unpin
from traitbench.contract.scores import Breaks, Confidence, ConfidenceReason, Tier, TraitScore
from traitbench.errors import InternalError, TraitbenchError

State = Literal["running", "done", "stopped", "failed"]

MOST_ROWS = 100_000
MOST_MEGABYTES = 50
MOST_JOBS = 6
MOST_RUNNING = 3

TIERS: tuple[Tier | None, ...] = (None, "Weak", "Developing", "Solid", "Strong")
CONFIDENCES: tuple[Confidence, ...] = ("low", "moderate", "high")
REASONS: tuple[ConfidenceReason, ...] = get_args(ConfidenceReason)
NONE = -1
"""The placeholder in a row without a score, and of a reason that there is none."""

FORGOTTEN_AFTER, PURGED_AFTER = 6 * 3_600.0, 15 * 60.0
"""Seconds after which a batch that is not viewed is discarded; the second applies to zero data retention."""

_DESERTED_AFTER = 15 * 60.0


class Full(Exception):
    """Too many batches are already running."""


class TraitColumn:
    """The scores of one trait, stored compactly: one byte per row and column."""

    def __init__(self) -> None:
        self.scores, self.tiers, self.confidences, self.reasons = array("b"), array("b"), array("b"), array("b")
        self.breaks: Breaks | None = None


class Job:
    """A batch and its results so far."""

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
        self.id = secrets.token_urlsafe(12)
        self.owner = owner
        self.asked, self.column, self.name, self.total = asked, column, name, source.count
        self.columns = source.columns
        self.state: State = "running"
        self.error: TraitbenchError | None = None
        self.seen = time.monotonic()
        self.done = self.failed = self.unlike = 0
        self.lines, self.composites, self.confidences = array("q"), array("b"), array("b")
        self.texts: list[str] = []
        self.reasons: list[str] = []  # few different ones
        self.others: list[tuple[str, ...]] = []
        self.errors: dict[int, str] = {}
        self.traits: Mapping[str, TraitColumn] = {key: TraitColumn() for key in keys}
        self.computed: Any = None  # results that a page computed; discarded together with the batch
        self._client, self._source = client, source
        self._stop = threading.Event()
        self._seconds, self._since = 0.0, time.monotonic()
        self._before = 0
        self._thread: threading.Thread | None = None

    @property
    def handle(self) -> str:
        """The model, without its version."""
        return unpin(self.asked.handle)[0]

    @property
    def version(self) -> str:
        """The version that scores all rows."""
        return unpin(self.asked.handle)[1]

    @property
    def other_columns(self) -> list[str]:
        """All columns except the one with the texts."""
        return [column for column in self.columns if column != self.column]

    @property
    def seconds(self) -> float:
        """Seconds that the batch has been running, without pauses."""
        return self._seconds + (time.monotonic() - self._since if self.state == "running" else 0.0)

    @property
    def rate(self) -> float:
        """Rows per second since the last start; 0 if it is not running."""
        seconds = time.monotonic() - self._since
        return (self.done - self._before) / seconds if self.state == "running" and seconds > 0 else 0.0

    def start(self) -> None:
        """Start the batch, or continue it from where it stopped."""
        if self._thread is not None and self._thread.is_alive():
            return
        self.state, self.error = "running", None
        self._stop.clear()
        self._since, self._before = time.monotonic(), self.done
        self._thread = threading.Thread(target=self._run, name=f"batch-{self.handle}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the batch and keep its results."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=2.0)

    def _run(self) -> None:
        ended: State = "failed"
        try:
            ended = self._score()
        except TraitbenchError as error:
            self.error = error
        except Unreadable as error:
            self.error = InternalError(str(error))
        except Exception as error:
            logging.getLogger(__name__).exception("a batch ended with %s", type(error).__name__)
            self.error = InternalError(
                "An error in the workbench stopped this batch. Continue it, or see the log for details."
            )
        finally:
            self._seconds += time.monotonic() - self._since
            self.state = ended

    def _score(self) -> State:
        rest = islice(self._source.lines(), self.done, None)
        with closing(outcomes(self._client, self.asked, rest, self.column)) as coming:
            for outcome in coming:
                self._add(outcome)
                if self._stop.is_set() and self.done < self.total:
                    return "stopped"
        return "done"

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


def _is_unlike(trait: TraitScore) -> bool:
    return trait.confidence_reason == "unlike_samples"


def _reason(trait: TraitScore | None) -> int:
    reason = None if trait is None else trait.confidence_reason
    return NONE if reason is None else REASONS.index(reason)


def _drawable(text: str) -> str:
    """Return a text that tables and files can hold: a lone surrogate is escaped as in JSON."""
    return encoded(text).decode()


# ---- those of this process -----------------------------------------------------------------------------------------

_JOBS: dict[str, Job] = {}
_TIMERS: dict[str, threading.Timer] = {}
_LOCK = threading.Lock()


def start(job: Job, *, forget_after: float = FORGOTTEN_AFTER) -> None:
    """Start a new batch; discard it when it was not viewed for `forget_after` seconds.

    Raise `Full` if too many batches are running.
    """
    with _LOCK:
        _make_room()
        _JOBS[job.id] = job
    job.start()
    _forget_later(job.id, forget_after)


def held() -> tuple[str, ...]:
    """Return the ids of all batches in memory."""
    return tuple(_JOBS)


def find(job_id: str | None, *, owner: str = OPERATOR.id) -> Job | None:
    """Return a batch of this owner by its id, or None if it is gone."""
    job = _JOBS.get(job_id or "")
    if job is None or job.owner != owner:
        return None
    job.seen = time.monotonic()
    return job


def discard(job_id: str) -> None:
    """Stop a batch and discard it with all its texts."""
    with _LOCK:
        job, timer = _JOBS.pop(job_id, None), _TIMERS.pop(job_id, None)
    if timer is not None:
        timer.cancel()
    if job is not None:
        job.stop()


def discard_of(handle: str) -> None:
    """Discard all batches of a model."""
    for job in list(_JOBS.values()):
        if job.handle == handle:
            discard(job.id)


def pinned(asked: Asked, card: ScoredLine) -> Asked:
    """Return `asked` with its handle pinned to the version of `card`."""
    return asked.of_version(card.metadata.version_id)


def _make_room() -> None:
    """Make room for a new batch; the caller holds the lock.

    Stop running batches that were not viewed for a while, and discard the finished ones that were viewed longest ago.
    Raise `Full` if too many are still running.
    """
    now = time.monotonic()
    for job in list(_JOBS.values()):
        if job.state == "running" and _running() >= MOST_RUNNING and now - job.seen > _DESERTED_AFTER:
            job.stop()
    if _running() >= MOST_RUNNING:
        raise Full(f"{MOST_RUNNING} batches are already running in this workbench. Wait for one to end, or stop one.")
    ended = sorted((job for job in _JOBS.values() if job.state != "running"), key=lambda job: job.seen)
    for job in ended[: max(len(_JOBS) - MOST_JOBS + 1, 0)]:
        del _JOBS[job.id]
        _TIMERS.pop(job.id).cancel()


def _running() -> int:
    return sum(job.state == "running" for job in _JOBS.values())


def _forget_later(job_id: str, seconds: float) -> None:
    """Discard a batch when it was not viewed for `seconds`."""

    def look() -> None:
        job = _JOBS.get(job_id)
        if job is None:
            return
        left = seconds - (time.monotonic() - job.seen)
        if left > 0:
            wait(left)
        else:
            discard(job_id)

    def wait(left: float) -> None:
        timer = threading.Timer(left, look)
        timer.daemon = True
        _TIMERS[job_id] = timer
        timer.start()

    wait(seconds)
