"""What goes on behind label mode, so that keys never wait: encode the heap, refit the draft, score the next texts.

A thread works for one person and model, in this order: refit the draft if its samples changed, score and explain the
texts that come next, encode more of the heap. It ends when no page asked for a while. Nothing is stored; the results
are in memory until then. The thread calls no service and draws nothing.
"""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.display.sides import side_of
from traitbench.encoders.scheduler import SCHEDULER, BatchQueue
from traitbench.errors import TraitbenchError
from traitbench.local import preview
from traitbench.local.labeller import Highlights, ItemScore, highlights_of
from traitbench.local.preview import PreviewUnavailable, Rehearsal
from traitbench.scoring.segments import embed

MOST_RANKED = 10_000
"""The most texts of a heap that are encoded and ranked: chosen at random, which loses little."""

MOST_FITTED = 2_000
"""The most samples with which the draft is refitted after every decision."""

_A_TURN = 16
_AHEAD = 4
_MOST_HINTS = 400
_IDLE_S, _POLL_S = 60.0, 0.15
_LONGEST_EXPLAINED = 1_500
_MOST_ASSISTANTS = 4

Vectors = NDArray[np.float32]
Key = tuple[str, str, str]


@dataclass(frozen=True)
class HeapText:
    """A text without labels; `hash` is the `content_sha256` that its sample would have."""

    hash: str
    text: str


@dataclass(frozen=True)
class Hint:
    """The score of a text on a trait, and the strength of its parts from -1 to 1."""

    score: ItemScore
    highlights: Highlights = ()


@dataclass(frozen=True, eq=False)
class Wanted:
    """What a page asks for: the samples to refit with, and the texts that come next.

    `scorer` scores them, `scored_by` names it; without one, the refitted draft does.
    """

    model: Model
    traits: Sequence[Trait]
    samples: Sequence[Sample]
    next: Sequence[HeapText] = ()
    scorer: Rehearsal | None = None
    scored_by: str = ""
    hints: bool = True


@dataclass(frozen=True, eq=False)
class Refit:
    """The draft fitted to `identity`, a hash of traits and samples; `error` says why it could not be fitted."""

    identity: str
    samples: int
    seconds: float
    rehearsal: Rehearsal | None = None
    error: str = ""


@dataclass(eq=False)
class Assistant:
    """The work behind the pages of one person and model."""

    heap: Sequence[HeapText] = ()
    refit: Refit | None = None
    problem: str = ""
    axes: dict[str, Vectors | None] = field(default_factory=dict)
    queues: dict[str, Any] = field(default_factory=dict)
    _X: Vectors = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    _count: int = 0
    _wanted: Wanted | None = None
    _hints: dict[tuple[str, str], Mapping[str, Hint]] = field(default_factory=dict)
    _asked: float = -_IDLE_S
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _thread: threading.Thread | None = None

    def ask(self, heap: Sequence[HeapText], wanted: Wanted) -> None:
        """Ask for work; the newest wish replaces older ones."""
        with self._lock:
            self._take(sorted(heap, key=lambda each: each.hash)[:MOST_RANKED])
            self._wanted, self._asked = wanted, time.monotonic()
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="label-assistant", daemon=True)
                self._thread.start()

    def _take(self, heap: Sequence[HeapText]) -> None:
        """Take another heap, and keep the vectors of the texts that are in both. The caller holds the lock."""
        known = {each.hash: row for row, each in enumerate(self.heap[: self._count])}
        if {each.hash for each in heap} == {each.hash for each in self.heap}:
            return
        kept = [each for each in heap if each.hash in known]
        rows = self._X[[known[each.hash] for each in kept]]
        self.heap = (*kept, *(each for each in heap if each.hash not in known))
        self._X = np.zeros((len(heap), rows.shape[1]), np.float32)
        self._X[: len(kept)] = rows
        self._count = len(kept)

    def end(self) -> None:
        """Let the thread end after the step it is at."""
        self._asked = -_IDLE_S

    @property
    def encoded(self) -> tuple[Sequence[HeapText], Vectors]:
        """Return the heap and the vectors (n, d) of its first texts, as many as are encoded."""
        with self._lock:
            return self.heap, self._X[: self._count]

    @property
    def busy(self) -> bool:
        """Whether there is work left, so that a page may look again soon."""
        wanted = self._wanted
        return wanted is not None and not self.problem and self._next_step(wanted) is not None

    @property
    def refitting(self) -> bool:
        """Whether the figures are older than the samples."""
        wanted = self._wanted
        return wanted is not None and not self.problem and self._must_refit(wanted)

    def hints_of(self, text: HeapText) -> Mapping[str, Hint]:
        """Return the hints on a text by trait, from the newest scorer that saw it; empty if none did."""
        with self._lock:
            hints = [self._hints[key] for key in reversed(self._hints) if key[1] == text.hash]
        return hints[0] if hints else {}

    # ---- the thread --------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        turns = BatchQueue()
        while time.monotonic() - self._asked < _IDLE_S:
            wanted = self._wanted
            try:
                step = None if wanted is None or self.problem else self._next_step(wanted)
                if wanted is None or step is None:
                    time.sleep(_POLL_S)
                    continue
                {"axes": self._make_axes, "refit": self._refit, "hint": self._hint}.get(step, self._encode)(
                    wanted, turns
                )
            except PreviewUnavailable as reason:
                self.problem = str(reason)
            except Exception as error:
                logging.getLogger(__name__).exception("label mode: %s", type(error).__name__)
                self.problem = "An error in the workbench stopped the preview. Labels are saved as usual."

    def _next_step(self, wanted: Wanted) -> str | None:
        if self._must_refit(wanted):
            return "refit"
        if self._unhinted(wanted) is not None:
            return "hint"
        if any(trait.key not in self.axes for trait in wanted.traits):
            return "axes"
        return "heap" if self._count < len(self.heap) else None

    def _must_refit(self, wanted: Wanted) -> bool:
        if len(wanted.samples) > MOST_FITTED:
            return False
        done = self.refit
        return done is None or done.identity != preview.identity(wanted.traits, wanted.samples)

    def _refit(self, wanted: Wanted, _turns: BatchQueue) -> None:
        began, identity = time.monotonic(), preview.identity(wanted.traits, wanted.samples)
        try:
            made, error = preview.rehearse(wanted.model, _counted(wanted.traits, wanted.samples), wanted.samples), ""
        except PreviewUnavailable as reason:
            made, error = None, str(reason)
        self.refit = Refit(identity, len(wanted.samples), time.monotonic() - began, made, error)

    def _scorer(self, wanted: Wanted) -> tuple[Rehearsal | None, str]:
        """Return what scores, and its name."""
        if wanted.scorer is not None:
            return wanted.scorer, wanted.scored_by
        return (self.refit.rehearsal, self.refit.identity) if self.refit else (None, "")

    def _unhinted(self, wanted: Wanted) -> HeapText | None:
        scorer, name = self._scorer(wanted)
        if scorer is None or not wanted.hints:
            return None
        return next((each for each in wanted.next[:_AHEAD] if (name, each.hash) not in self._hints), None)

    def _hint(self, wanted: Wanted, _turns: BatchQueue) -> None:
        (scorer, name), text = self._scorer(wanted), self._unhinted(wanted)
        if scorer is None or text is None:
            return
        try:
            made = _hints(scorer, text.text, wanted.traits)
        except TraitbenchError:
            made = {}
        with self._lock:
            self._hints[name, text.hash] = made
            while len(self._hints) > _MOST_HINTS:
                self._hints.pop(next(iter(self._hints)))

    def _make_axes(self, wanted: Wanted, _turns: BatchQueue) -> None:
        trait = next(each for each in wanted.traits if each.key not in self.axes)
        self.axes[trait.key] = None if trait.kind == "intrinsic" else preview.label_axis(trait)

    def _encode(self, _wanted: Wanted, turns: BatchQueue) -> None:
        with self._lock:
            heap, first = self.heap, self._count
        some = [each.text for each in heap[first : first + _A_TURN]]
        with SCHEDULER.slot(turns):
            made = embed(preview.encode, some)
        with self._lock:
            if self.heap is not heap:
                return
            if self._X.shape != (len(heap), made.shape[1]):
                self._X = np.zeros((len(heap), made.shape[1]), np.float32)
            self._X[first : first + len(made)] = made
            self._count = first + len(made)


def _hints(scorer: Rehearsal, text: str, traits: Sequence[Trait]) -> Mapping[str, Hint]:
    card = preview.score_rehearsal(scorer, [text])[0]
    reasons = preview.explain_rehearsal(scorer, text) if len(text) <= _LONGEST_EXPLAINED else {}
    by_key = {trait.key: trait for trait in traits}
    result = {}
    for key, score in card.detail.items():
        if trait := by_key.get(key):
            side = side_of(score, positive_label=trait.positive_label, negative_label=trait.negative_label)
            highlights = highlights_of(reasons[key]) if key in reasons else ()
            result[key] = Hint(ItemScore(score.score, side.words, side.positive), highlights)
    return result


def _counted(traits: Sequence[Trait], samples: Sequence[Sample]) -> list[Trait]:
    """Return the traits with the numbers of these samples at their poles, by which a rehearsal leaves traits out."""
    own = {trait.key: [each.quality for each in samples if each.trait == trait.key] for trait in traits}
    return [
        trait.model_copy(
            update={
                "positive_samples": sum(quality > 0.5 for quality in own[trait.key]),
                "negative_samples": sum(quality < 0.5 for quality in own[trait.key]),
            }
        )
        for trait in traits
    ]


# ---- those of this process -------------------------------------------------------------------------------------------

_ASSISTANTS: dict[Key, Assistant] = {}
_LOCK = threading.Lock()


def assistant_of(service: str, handle: str, owner: str) -> Assistant:
    """Return the assistant of a person for a model; the ones used longest ago are dropped."""
    key = (service, handle, owner)
    with _LOCK:
        assistant = _ASSISTANTS.pop(key, None) or Assistant()
        _ASSISTANTS[key] = assistant
        while len(_ASSISTANTS) > _MOST_ASSISTANTS:
            _ASSISTANTS.pop(next(iter(_ASSISTANTS))).end()
        return assistant


def dismiss(service: str, handle: str) -> None:
    """Drop the assistants of a model with their vectors and hints, because its heap is gone."""
    with _LOCK:
        for key in [each for each in _ASSISTANTS if each[:2] == (service, handle)]:
            _ASSISTANTS.pop(key).end()
