"""Which texts come next: those of the heap that have no label yet, in the order of a queue."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from traitbench.analysis.active_learning import LabelQueue, Order
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.local import preview
from traitbench.local.assistant import Assistant, HeapText, Vectors
from traitbench_app.label.saving import item_id
from traitbench_app.workspace.heap_file import Decision

_FEWEST_RANKED = 32
_GROWS = 1.25


@dataclass(frozen=True, eq=False)
class Work:
    """A person's heap with what is decided and labelled, and the traits to label."""

    texts: Sequence[HeapText]
    traits: Sequence[Trait]
    decisions: Sequence[Decision]
    samples: Sequence[Sample]

    def closed(self, trait: Trait) -> AbstractSet[str]:
        """Return the hashes of texts that need no label for the trait: labelled here or elsewhere, or skipped."""
        decided = {each.hash for each in self.decisions if each.trait == trait.key}
        return decided | {each.content_sha256 for each in self.samples if each.trait == trait.key}

    def labels(self, trait: Trait) -> Mapping[str, float]:
        """Return the qualities to learn from by the hash of the text, saved or not; test samples are left out."""
        given = {each.content_sha256: each.quality for each in self.samples if each.trait == trait.key}
        given |= {
            each.hash: each.quality
            for each in self.decisions
            if each.trait == trait.key and each.quality is not None and each.pending
        }
        tests = {each.content_sha256 for each in self.samples if each.trait == trait.key and each.held_out}
        return {key: quality for key, quality in given.items() if key not in tests}

    def skipped(self) -> list[Decision]:
        """Return the skipped texts of these traits."""
        keys = {trait.key for trait in self.traits}
        return [each for each in self.decisions if each.quality is None and each.trait in keys]

    @property
    def saved(self) -> int:
        """How many labels of these traits the service confirmed."""
        keys = {trait.key for trait in self.traits}
        return sum(each.quality is not None and not each.pending for each in self.decisions if each.trait in keys)

    @property
    def total(self) -> int:
        """How many decisions there are to make, those made included."""
        return len(self.texts) * len(self.traits)

    @property
    def done(self) -> int:
        """How many texts of the heap need no decision any more, over all traits."""
        own = {each.hash for each in self.texts}
        return sum(len(own & self.closed(trait)) for trait in self.traits)


@dataclass(frozen=True)
class Next:
    """A text and the trait to label it for."""

    text: HeapText
    trait: Trait

    @property
    def id(self) -> str:
        """The id of the item in the labeller."""
        return item_id(self.text.hash, self.trait.key)


def upcoming(assistant: Assistant, work: Work, order: Order, count: int) -> list[Next]:
    """Return the next items in order. With several traits, all of a text come one after another."""
    ranked = [_ranked(assistant, work, trait, order, count) for trait in work.traits]
    texts = list(dict.fromkeys(text for row in zip_longest(*ranked) for text in row if text is not None))
    closed = {trait.key: work.closed(trait) for trait in work.traits}
    items = [Next(text, trait) for text in texts for trait in work.traits if text.hash not in closed[trait.key]]
    return items[:count]


def _ranked(assistant: Assistant, work: Work, trait: Trait, order: Order, count: int) -> list[HeapText]:
    """Return the first texts of a trait. Texts without a vector come last, in a random order that never changes."""
    closed = work.closed(trait)
    queue = None if order == "random" else _queue(assistant, work, trait)
    first: list[HeapText] = []
    if queue is not None:
        heap, learned = queue
        free = np.array([text.hash not in closed for text in heap])
        first = [heap[place] for place in learned.first(order, count, free=free)]
    there = {text.hash for text in first}
    rest = [text for text in work.texts if text.hash not in closed and text.hash not in there]
    return [*first, *sorted(rest, key=lambda text: text.hash)[: max(count - len(first), 0)]]


def _queue(assistant: Assistant, work: Work, trait: Trait) -> tuple[Sequence[HeapText], LabelQueue] | None:
    """Return the ranked texts and their queue, which has learned the labels; None if few texts have a vector yet."""
    heap, X = assistant.encoded
    if len(X) < min(_FEWEST_RANKED, len(assistant.heap)) or not len(X):
        return None
    held = assistant.queues.get(trait.key)
    axis = assistant.axes.get(trait.key)
    if held is None or held[0] is not heap or held[2] is not axis or _has_grown(len(X), held[1], len(heap)):
        held = [heap, len(X), axis, LabelQueue(X, None if axis is None else (X @ axis).astype(np.float64)), None]
        assistant.queues[trait.key] = held
    queue, ranked = held[3], heap[: held[1]]
    labels = work.labels(trait)
    if held[4] == labels:
        return ranked, queue
    held[4] = labels
    rows = {text.hash: row for row, text in enumerate(ranked)}
    vectors = _vectors(labels, rows, X, work.samples)
    ids = [each for each in labels if each in vectors]
    stacked = np.array([vectors[each] for each in ids], np.float32).reshape(len(ids), X.shape[1])
    y = np.array([labels[each] for each in ids])
    queue.learn(ids, stacked, y, None if axis is None else stacked @ axis)
    return ranked, queue


def _has_grown(now: int, before: int, most: int) -> bool:
    """Whether enough texts were encoded to rank again; each time costs a pass over all."""
    return now >= _GROWS * before or (now == most and now > before)


def _vectors(
    labels: Mapping[str, float], rows: Mapping[str, int], X: Vectors, samples: Sequence[Sample]
) -> Mapping[str, Vectors]:
    """Return the vectors of labelled texts that are in memory: of the heap, or of samples that were encoded."""
    others = [each for each in samples if each.content_sha256 in labels and each.content_sha256 not in rows]
    unread = {each.content_sha256 for each in preview.unread(others)} if others else set()
    others = [each for each in others if each.content_sha256 not in unread]
    known = {each.content_sha256: vector for each, vector in zip(others, preview.vectors(others), strict=True)}
    return known | {each: X[rows[each]] for each in labels if each in rows}
