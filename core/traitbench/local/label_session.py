"""Labelling texts by keys: which text comes next, what was decided, and what is learned from it.

One engine for the Label page, the widget for notebooks, blind rounds and audits. `take` is quick and belongs to
whoever hears the keys. `step` does the next piece of the work that labels cause (rank, fit, score, encode); `work` runs
all of it in a thread. Without a learner there is no such work. Texts are in memory only.
"""

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traitbench.analysis.active_learning import MOST_LABELS, LabelQueue, Order
from traitbench.contract.explanations import Explanation
from traitbench.contract.metrics import TraitMetrics
from traitbench.contract.scores import Card
from traitbench.contract.traits import Trait
from traitbench.display.sides import COLOURS, SIGNS, side_of
from traitbench.display.text import count
from traitbench.encoders import Encoder
from traitbench.encoders.scheduler import SCHEDULER, BatchQueue
from traitbench.errors import TraitbenchError
from traitbench.local.labeller import BATCH, Handled, LabelAnswer, decide, highlights_of
from traitbench.local.samples import LocalTrait
from traitbench.local.vectors import vectors_of
from traitbench.local.version import PreviewUnavailable

MOST_RANKED = 10_000
"""The most texts that are encoded and ranked; the others come last, in random order."""

MOST_FITTED = 2_000
"""The most labels to which a fit is made after every decision."""

FEWEST_FITTED = 2
"""How many labels of each pole the first figures need."""

_PAUSE_S = 0.3
_A_TURN, _FEWEST_RANKED, _GROWS = 16, 32, 1.25
# More is ranked than one message takes. Longer texts take too long to explain between two keys.
_AHEAD, _RANKED_AHEAD, _LONGEST_EXPLAINED = 4, 120, 1_500
_MOST_HINTS, _MOST_CHARACTERS = 400, 300_000

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Hint = Mapping[str, Any]
"""The score of a text on a trait now and the strength of its parts, as the script takes them."""

Labels = Mapping[str, float]
"""The quality of each labelled text by its id, the oldest label first."""


@dataclass(frozen=True)
class Judge:
    """What scores texts and explains their scores by trait key: a version, or a fit to the labels.

    `metrics` are the figures of its training. `source` is what it was made from, `id` what tells two versions apart.
    """

    score: Callable[[Sequence[str]], list[Card]]
    explain: Callable[[str], Mapping[str, Explanation]]
    metrics: Mapping[str, Any] = field(default_factory=dict)
    source: Any = None
    id: Hashable = None


@dataclass(frozen=True)
class Learner:
    """What learns from labels.

    `prior` returns where the texts (n,) lie on a trait before there are labels, from the texts and their vectors, or
    None. `basis` returns what a fit to the labels by trait would depend on; None if it cannot or should not be made.
    `fit` takes the labels and the texts by id. `judge` scores the texts instead of the newest fit.
    """

    encoder: Callable[[], Encoder]
    prior: Callable[[str, Sequence[str], Vectors], Floats | None]
    basis: Callable[[Mapping[str, Labels]], Hashable | None]
    fit: Callable[[Mapping[str, Labels], Mapping[str, str]], Judge]
    judge: Judge | None = None


@dataclass(frozen=True, eq=False)
class LabelWork:
    """What is labelled: texts by id, and the traits to label them for.

    The texts are in a random order, which never changes; ids are hashes, or what names a row. With several traits, all
    of a text come one after another. `given` are labels from elsewhere by trait and id: None closes a text without
    teaching anything, as a test sample does. `decided` are decisions by item, None for a skip. `others` are the texts
    of given labels that are not among the texts.
    """

    traits: Sequence[LocalTrait] | Sequence[Trait] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    order: Order = "random"
    learner: Learner | None = None
    hints: bool = True
    given: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    decided: Mapping[str, float | None] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)


@dataclass(eq=False)
class _Ranking:
    """The order of the texts for a trait: `first` are the ids to label next, ranked when the state was `seen`."""

    prior: Floats
    queued: int
    queue: LabelQueue
    first: Sequence[str] = ()
    seen: tuple[Order, int, int] | None = None
    learned: Labels = field(default_factory=dict)


def item_id(text: str, trait: str) -> str:
    """Return the id of a text on a trait in the labeller."""
    return f"{text}:{trait}"


class LabelSession:
    """What was decided about texts, which come next, and what is learned from the labels."""

    def __init__(self, work: LabelWork | None = None) -> None:
        self.fitted: Judge | None = None
        self.problem: Exception | None = None
        self.until = float("inf")
        self.lock, self._threads, self._ranks = threading.RLock(), threading.Lock(), threading.Lock()
        self._thread: threading.Thread | None = None
        self._texts: Mapping[str, str] = {}
        self._ranked: Sequence[str] = ()
        self._X, self._count = np.zeros((0, 0), np.float32), 0
        self._rankings: dict[str, _Ranking] = {}
        self._hints: dict[str, tuple[Hashable, Mapping[str, Hint]]] = {}
        self._basis: Hashable | None = None
        self._fits, self._changed_at = 0, float("-inf")
        self._of = LabelWork()
        self.update(work or LabelWork())

    def update(self, work: LabelWork) -> None:
        """Go on with other texts, labels or choices; vectors and hints that still hold are kept."""
        with self.lock:
            before, self._of = self._of, work
            if [each.key for each in work.traits] != [each.key for each in before.traits]:
                self._hints = {}
            if (before.given, before.decided) != (work.given, work.decided):
                self.problem = None
            self.decided = dict(work.decided)
            self._encode_texts(work.texts)
            self._close()

    def _encode_texts(self, texts: Mapping[str, str]) -> None:
        """Take other texts, and keep the vectors of those that stay."""
        if texts is self._texts or texts.keys() == self._texts.keys():
            self._texts = texts
            return
        wanted = dict.fromkeys(list(texts)[:MOST_RANKED])
        rows = [row for row, each in enumerate(self._ranked[: self._count]) if each in wanted]
        stay = dict.fromkeys(self._ranked[row] for row in rows)
        before, self._X = self._X[rows], np.zeros((len(wanted), self._X.shape[1]), np.float32)
        self._X[: len(rows)] = before
        self._texts, self._count = texts, len(rows)
        self._ranked = (*stay, *(each for each in wanted if each not in stay))
        self._rankings = {}

    def _close(self) -> None:
        """Note which texts need no decision."""
        self._closed = {trait.key: set(self._of.given.get(trait.key, ())) for trait in self._of.traits}
        for item in self.decided:
            text, _, trait = item.rpartition(":")
            if trait in self._closed:
                self._closed[trait].add(text)

    def take(self, answers: Sequence[LabelAnswer]) -> None:
        """Take decisions; the same one may be taken again."""
        with self.lock:
            self.problem = None
            before = self.decided
            self.decided = decide(before, [each for each in answers if self._has(each.id)])
            if self.decided != before:
                self._changed_at = time.monotonic()
            self._close()

    def _has(self, item: str) -> bool:
        text, _, trait = item.rpartition(":")
        return text in self._texts and any(each.key == trait for each in self._of.traits)

    # ---- what there is -----------------------------------------------------------------------------------------------

    def labels(self, trait: str) -> dict[str, float]:
        """Return the labels to learn from; one that was decided here replaces one from elsewhere."""
        with self.lock:
            given, decided = self._of.given.get(trait, {}), self.decided
        own = {item.rpartition(":")[0]: each for item, each in decided.items() if item.rpartition(":")[2] == trait}
        new = {text: each for text, each in own.items() if each is not None and given.get(text, each) is not None}
        return {text: each for text, each in given.items() if each is not None and text not in new} | new

    def balance(self, trait: str) -> tuple[int, int]:
        """Return how many texts are labelled at the negative and at the positive pole."""
        values = self.labels(trait).values()
        return sum(quality < 0.5 for quality in values), sum(quality > 0.5 for quality in values)

    def figures(self, trait: str) -> TraitMetrics | None:
        """Return the figures of the newest fit for a trait; None if there are none yet."""
        made = None if self.fitted is None else self.fitted.metrics.get("traits", {}).get(trait)
        return None if made is None else TraitMetrics.model_validate(made)

    @property
    def done(self) -> int:
        """How many decisions are made, here or elsewhere."""
        return sum(sum(text in self._texts for text in closed) for closed in self._closed.values())

    @property
    def total(self) -> int:
        """How many decisions there are to make, those made included."""
        return len(self._texts) * len(self._of.traits)

    @property
    def last(self) -> str | None:
        """The item that was decided last."""
        return next((item for item in reversed(self.decided) if self._has(item)), None)

    def is_open(self, trait: str) -> bool:
        """Whether texts need a decision for a trait."""
        with self.lock:
            closed = self._closed.get(trait) or {*self._of.given.get(trait, ())}
        return any(text not in closed for text in self._texts)

    def missing(self, trait: LocalTrait | Trait) -> str:
        """`The first figures need 2 more texts at cold.`; empty if they need none."""
        few = [
            f"{count(FEWEST_FITTED - have, 'more text')} at {pole}"
            for have, pole in zip(self.balance(trait.key), (trait.negative_label, trait.positive_label), strict=True)
            if have < FEWEST_FITTED
        ]
        return f"The first figures need {' and '.join(few)}." if few else ""

    def upcoming(self, count: int) -> list[str]:
        """Return the items to label next, at most `count`."""
        with self.lock:
            first = {trait.key: self._first(trait.key, count) for trait in self._of.traits}
            texts = dict.fromkeys(text for row in zip_longest(*first.values()) for text in row if text is not None)
            items = [item_id(text, trait) for text in texts for trait in first if text not in self._closed[trait]]
        return items[:count]

    def _first(self, trait: str, count: int) -> list[str]:
        """The first open texts of a trait. Texts without a rank come last, in their random order."""
        ranking = None if self._of.order == "random" else self._rankings.get(trait)
        ranked = ranking.first if ranking and ranking.seen and ranking.seen[0] == self._of.order else ()
        closed, chosen = self._closed[trait], dict[str, None]()
        for texts in (ranked, self._texts):
            for text in texts:
                if len(chosen) >= count:
                    return list(chosen)
                if text not in closed:
                    chosen[text] = None
        return list(chosen)

    def items(self, count: int = BATCH) -> list[dict[str, Any]]:
        """Return the items to label next as the script takes them, but not too many characters at once.

        `hint` is the score now: 0 to 100, its headline (`clearly warm`), and the side that it claims.
        """
        traits, characters, made = {trait.key: trait for trait in self._of.traits}, 0, list[dict[str, Any]]()
        for item in self.upcoming(count):
            text, _, key = item.rpartition(":")
            trait, shown = traits[key], self._hints.get(text, (None, {}))[1].get(key) if self._of.hints else None
            characters += len(self._texts[text])
            if characters > _MOST_CHARACTERS and len(made) > 1:
                break
            poles = ("negative", trait.negative_label, False), ("positive", trait.positive_label, True)
            signs = {pole: {"label": name, "sign": SIGNS[at], "colour": COLOURS[at]} for pole, name, at in poles}
            made.append({"id": item, "text": self._texts[text], "trait": trait.name, **signs, **(shown or {})})
        return made

    def to_wire(
        self,
        *,
        run: str,
        handled: Handled,
        keys: str,
        keep: str = "",
        saved: int | None = None,
        notice: str = "",
        empty: str = "",
        scorer: str = "Score now",
        middle: bool = False,
        leave: bool = True,
    ) -> dict[str, Any]:
        """Return what the script draws.

        `run` clears the screen when it changes. `handled` are the answers that were handled. `keys` is where keys are
        heard: "page" or "element". Unsent answers are kept in the tab's storage under `keep`, or nowhere. `saved` is
        the number of labels that a service confirmed. `notice` is an alert; `empty` is shown without an item. `scorer`
        is who gives the score. `middle` also offers a label between the poles, and `leave` to leave.
        """
        return {
            "run": run,
            "items": self.items(),
            "done": self.done,
            "total": self.total,
            "saved": saved,
            "handled": dict(handled),
            "blind": not self._of.hints,
            "last": self.last,
            "keep": keep,
            "notice": notice,
            "empty": empty,
            "scorer": scorer,
            "keys": keys,
            "middle": middle,
            "leave": leave,
        }

    # ---- the work behind it ------------------------------------------------------------------------------------------

    def work(self, on_step: Callable[[], None] = lambda: None) -> None:
        """Start the thread that does all steps, unless it runs. It ends when there are none, or after `until`."""
        with self._threads:
            if self._thread is None or not self._thread.is_alive():
                # No daemon, because a thread that is killed while it encodes would abort the whole process.
                self._thread = threading.Thread(
                    target=self._steps, args=(on_step,), name="traitbench-label", daemon=False
                )
                self._thread.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all steps are done; return False if that takes longer than `timeout` seconds."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout)
        return thread is None or not thread.is_alive()

    def _steps(self, on_step: Callable[[], None]) -> None:
        # The interpreter waits for this thread at its end, so the thread has to notice the end itself.
        while threading.main_thread().is_alive() and time.monotonic() < self.until:
            # A burst of keys causes one fit.
            if pause := max(0.0, self._changed_at + _PAUSE_S - time.monotonic()):
                time.sleep(pause)
                continue
            if self.step():
                on_step()
                continue
            with self._threads:
                # Looks again under the lock: a change that came meanwhile saw this thread alive.
                if not self.has_work:
                    self._thread = None
                    return

    def rank(self) -> None:
        """Rank again what is ranked already, so that the last label counts for the next texts that are sent."""
        learner = self._of.learner
        # Never waits for the thread, because the caller may hold the lock that the thread waits for.
        if learner is None or self.problem is not None or not self._ranks.acquire(blocking=False):
            return
        try:
            for key in [each.key for each in self._of.traits if each.key in self._rankings]:
                if not self._must_queue(self._rankings[key]) and self._must_rank(key):
                    self._try(partial(self._rank_one, learner, key))
        finally:
            self._ranks.release()

    def step(self) -> bool:
        """Do one piece of work; return whether there was any."""
        with self.lock:
            work = next(self._work(), None)
        if work is not None:
            self._try(work)
        return work is not None

    def _try(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # labelling goes on without figures
            # A missing encoder is no fault of the program; the page says it.
            if not isinstance(error, PreviewUnavailable):
                logging.getLogger(__name__).exception("labelling: %s", type(error).__name__)
            self.problem = error

    @property
    def has_work(self) -> bool:
        """Whether `step` has anything to do."""
        with self.lock:
            return next(self._work(), None) is not None

    @property
    def is_fitting(self) -> bool:
        """Whether the figures are older than the labels."""
        return self._of.learner is not None and self.problem is None and self._must_fit(self._of.learner) is not None

    def _work(self) -> Iterator[Callable[[], None]]:
        learner = self._of.learner
        if self.problem is not None or learner is None:
            return
        if (key := next((trait.key for trait in self._of.traits if self._must_rank(trait.key)), None)) is not None:
            yield lambda: self._rank(learner, key)
        if (basis := self._must_fit(learner)) is not None:
            yield lambda: self._fit(learner, basis)
        if self._of.hints and (text := self._unhinted(learner)) is not None:
            yield lambda: self._score(learner, text)
        if self._of.order != "random" and self._count < len(self._ranked):
            yield lambda: self._encode(learner)

    def _all_labels(self) -> dict[str, Labels]:
        return {trait.key: self.labels(trait.key) for trait in self._of.traits}

    def _must_fit(self, learner: Learner) -> Hashable | None:
        basis = learner.basis(self._all_labels())
        return None if basis == self._basis else basis

    def _fit(self, learner: Learner, basis: Hashable) -> None:
        self.fitted = learner.fit(self._all_labels(), {**self._of.others, **self._texts})
        self._basis = basis
        self._fits += 1

    def _judge(self, learner: Learner) -> tuple[Judge | None, Hashable]:
        """What scores the texts, and what tells it apart."""
        return (learner.judge, learner.judge.id) if learner.judge else (self.fitted, self._fits)

    def _unhinted(self, learner: Learner) -> str | None:
        judge, name = self._judge(learner)
        if judge is None:
            return None
        texts = dict.fromkeys(item.rpartition(":")[0] for item in self.upcoming(_AHEAD * len(self._of.traits)))
        return next((text for text in list(texts)[:_AHEAD] if self._hints.get(text, (None,))[0] != name), None)

    def _score(self, learner: Learner, text: str) -> None:
        judge, name = self._judge(learner)
        content, traits = self._texts.get(text), {trait.key: trait for trait in self._of.traits}
        if judge is None or content is None:
            return
        made = dict[str, Hint]()
        try:
            reasons = judge.explain(content) if len(content) <= _LONGEST_EXPLAINED else {}
            for key, score in judge.score([content])[0].detail.items():
                if trait := traits.get(key):
                    side = side_of(score, positive_label=trait.positive_label, negative_label=trait.negative_label)
                    hint = {"score": score.score, "words": side.words, "positive": side.positive}
                    made[key] = {"hint": hint, "highlights": highlights_of(reasons[key]) if key in reasons else []}
        except TraitbenchError:  # this text cannot be scored, the next one may
            made = {}
        with self.lock:
            # Set again at the end, so that those that are dropped are the oldest.
            self._hints.pop(text, None)
            self._hints[text] = name, made
            while len(self._hints) > _MOST_HINTS:
                self._hints.pop(next(iter(self._hints)))

    def _vectors(self, learner: Learner, texts: Mapping[str, str]) -> Vectors:
        """(n, d) the vectors of texts, encoded if they were not yet, behind what a person waits for."""
        with SCHEDULER.slot(BatchQueue()):
            made = vectors_of(learner.encoder(), texts)
        return np.array([made[each] for each in texts], np.float32).reshape(len(texts), -1)

    def _encode(self, learner: Learner) -> None:
        with self.lock:
            ranked, first = self._ranked, self._count
            some = {text: self._texts[text] for text in ranked[first : first + _A_TURN]}
        made = self._vectors(learner, some)
        with self.lock:
            # The texts were replaced while these were encoded.
            if self._ranked is not ranked:
                return
            if self._X.shape[1] != made.shape[1]:
                self._X = np.zeros((len(ranked), made.shape[1]), np.float32)
            self._X[first : first + len(made)] = made
            self._count = first + len(made)

    def _must_rank(self, trait: str) -> bool:
        if self._of.order == "random" or not self._count or self._count < min(_FEWEST_RANKED, len(self._ranked)):
            return False
        ranking = self._rankings.get(trait)
        if ranking is None or self._must_queue(ranking):
            return True
        seen = self._of.order, ranking.queued, len(self._closed[trait])
        return ranking.seen != seen or ranking.learned != self.labels(trait)

    def _must_queue(self, ranking: _Ranking) -> bool:
        """Whether enough texts were encoded to rank again; each time costs a pass over all."""
        now = self._count
        return now >= _GROWS * ranking.queued or (now == len(self._ranked) and now > ranking.queued)

    def _rank(self, learner: Learner, trait: str) -> None:
        with self._ranks:
            self._rank_one(learner, trait)

    def _rank_one(self, learner: Learner, trait: str) -> None:
        with self.lock:
            ranked, number, X, all_texts = self._ranked, self._count, self._X, self._texts
            ranking, order, closed = self._rankings.get(trait), self._of.order, set(self._closed.get(trait, ()))
        if ranking is None or self._must_queue(ranking):
            prior = self._prior(learner, trait, [all_texts[each] for each in ranked[:number]], X[:number])
            ranking = _Ranking(prior, number, LabelQueue(X[:number], prior))
        labels, texts = self.labels(trait), {**self._of.others, **all_texts}
        ids = [each for each in labels if each in texts][-MOST_LABELS:]
        row_of = {text: row for row, text in enumerate(ranked[: ranking.queued])}
        others = {each: texts[each] for each in ids if each not in row_of}
        row_of |= {each: ranking.queued + row for row, each in enumerate(others)}
        X_others = self._vectors(learner, others) if others else X[:0]
        prior = self._prior(learner, trait, [*others.values()], X_others) if others else np.zeros(0)
        rows = [row_of[each] for each in ids]
        known = np.concatenate([X[: ranking.queued], X_others])[rows], np.array([labels[each] for each in ids])
        ranking.queue.learn(ids, *known, np.concatenate([ranking.prior, prior])[rows])
        free = np.array([text not in closed for text in ranked[: ranking.queued]])
        ranking.first = [ranked[index] for index in ranking.queue.first(order, _RANKED_AHEAD, free=free)]
        ranking.seen, ranking.learned = (order, ranking.queued, len(closed)), labels
        with self.lock:
            if self._ranked is ranked:
                self._rankings[trait] = ranking

    def _prior(self, learner: Learner, trait: str, texts: Sequence[str], X: Vectors) -> Floats:
        made = learner.prior(trait, texts, X)
        return np.zeros(len(X)) if made is None else made.astype(np.float64)
