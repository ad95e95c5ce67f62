"""Labelling texts for a scorer: which text comes next, what was decided, and the scorer fitted to the labels so far.

`take` is quick and belongs to the thread that hears the keys. `step` does the next piece of the work that labels cause
(fit, score, encode, rank) and belongs to a thread behind it. Texts are in memory only.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from traitbench.analysis.active_learning import LabelQueue, Order
from traitbench.contract.explanations import Explanation
from traitbench.contract.samples import text_hash
from traitbench.contract.scores import Card
from traitbench.display.sides import side_of
from traitbench.encoders import Encoder
from traitbench.local.labeller import Answer, Highlights, ItemScore, highlights_of
from traitbench.local.texts import read_texts, scored_size
from traitbench.local.training import LocalTrait
from traitbench.local.vectors import vectors_of

Queue = Literal["uncertain", "random", "top", "bottom"]

ORDERS: Mapping[Queue, Order] = {"uncertain": "informative", "random": "random", "top": "top", "bottom": "bottom"}
"""The order of active learning behind each queue."""

MOST_RANKED = 10_000
"""The most texts that are encoded and ranked; the others come last, in random order."""

MOST_FITTED = 2_000
"""The most labels with which the scorer is fitted again after every decision."""

PAUSE_S = 0.3
"""How long no text must have been labelled before the scorer is fitted again."""

_A_TURN, _FEWEST_RANKED, _GROWS = 32, 32, 1.25
_AHEAD, _RANKED_AHEAD, _LONGEST_EXPLAINED = 4, 120, 1_500
_FEWEST = 2

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]


class Learner(Protocol):
    """What a session asks of a scorer."""

    param_hash_: str
    auroc_: float | None
    auroc_interval_: tuple[float, float] | None

    def fit(self, X: Any, y: Any) -> Any:
        """Train."""

    def cards(self, X: Any) -> list[Card]:
        """Score texts."""

    def explain(self, text: str) -> Explanation:
        """Say why a text has its score."""

    def decision_function(self, X: Any) -> Floats:
        """Return the log odds of the second class."""


@dataclass(frozen=True)
class Means:
    """What a session works with: `blank` makes an unfitted copy of the scorer.

    `judge` is the scorer itself if it was fitted before: then it scores and ranks the texts. `axis` returns the label
    axis (d,), by which texts are ranked before there are labels.
    """

    trait: LocalTrait
    blank: Callable[[], Learner]
    judge: Learner | None
    encoder: Callable[[], Encoder]
    axis: Callable[[], Vectors | None]


@dataclass(frozen=True)
class Hint:
    """The score of a text now, and the strength of its parts."""

    score: ItemScore
    highlights: Highlights = ()


class LabelSession:
    """Texts, labels and the scorer between them.

    `given` returns the qualities that texts have already, by row; it takes the number of rows.
    """

    def __init__(
        self,
        means: Means,
        texts: Any,
        *,
        queue: Queue = "uncertain",
        given: Callable[[int], Mapping[int, float]] = lambda rows: {},
    ) -> None:
        if queue not in ORDERS:
            raise ValueError(f"The queue {queue!r} is unknown. Use one of: {', '.join(map(repr, ORDERS))}.")
        # Only a text that may be too large needs the encoder, which may have to be loaded.
        too_large = scored_size(lambda text: means.encoder().count_tokens(text))
        rows = read_texts(texts, to_train=True, too_large=too_large)
        self.texts: Sequence[str] = list(dict.fromkeys(rows))
        self.scorer = means.blank()
        self.problem = ""
        self._means, self._order = means, ORDERS[queue]
        place = {text: at for at, text in enumerate(self.texts)}
        self._of_row = [place[text] for text in rows]
        # Random, and the same every time.
        self._random = sorted(range(len(self.texts)), key=lambda at: text_hash(self.texts[at]))
        self._given = {self._of_row[row]: quality for row, quality in given(len(rows)).items()}
        self._decided: dict[int, float | None] = {}
        self._first: Sequence[int] = ()
        self._hints: dict[int, tuple[int, Hint]] = {}
        self._fitted: Mapping[int, float] | None = None
        self._fits, self._last = 0, float("-inf")
        self._X, self._prior, self._count = np.zeros((0, 0), np.float32), np.zeros(0), 0
        self._axis: Vectors | None = None
        self._ranking: LabelQueue | None = None
        self._ranked: tuple[int, int, Mapping[int, float]] = (0, 0, {})
        self._queued = 0
        self._lock = threading.Lock()

    def take(self, answers: Sequence[Answer]) -> None:
        """Take decisions; the same one may be taken again."""
        with self._lock:
            for answer in answers:
                at = int(answer.id) if answer.id.isdecimal() else -1
                if not 0 <= at < len(self.texts):
                    continue
                self.problem = ""
                self._decided.pop(at, None)
                if answer.action in ("label", "skip"):
                    self._decided[at] = answer.quality
                    self._last = time.monotonic()

    # ---- what there is -----------------------------------------------------------------------------------------------

    @property
    def qualities(self) -> dict[int, float]:
        """The quality of each labelled text by its place in `texts`, the oldest label first."""
        with self._lock:
            decided = {at: quality for at, quality in self._decided.items() if quality is not None}
            return {at: quality for at, quality in self._given.items() if at not in decided} | decided

    @property
    def samples(self) -> list[dict[str, Any]]:
        """The labelled texts: `text` and `quality` of each."""
        return [{"text": self.texts[at], "quality": quality} for at, quality in self.qualities.items()]

    @property
    def labels(self) -> Floats:
        """(n,) the quality of each text as they were given, NaN for those without a label."""
        qualities = self.qualities
        return np.array([qualities.get(at, np.nan) for at in self._of_row], np.float64)

    @property
    def done(self) -> int:
        """How many texts need no decision any more."""
        with self._lock:
            return len(self._given.keys() | self._decided.keys())

    @property
    def last(self) -> int | None:
        """The place of the last text that was decided."""
        with self._lock:
            return next(reversed(self._decided), None)

    @property
    def balance(self) -> tuple[int, int]:
        """How many texts are labelled at the negative and at the positive pole."""
        values = self.qualities.values()
        return sum(quality < 0.5 for quality in values), sum(quality > 0.5 for quality in values)

    @property
    def is_fitted(self) -> bool:
        """Whether `scorer` can score."""
        return self._fits > 0

    @property
    def auroc(self) -> tuple[float, tuple[float, float] | None] | None:
        """The held-out AUROC of the newest fit with its interval; None if there is none."""
        if not self.is_fitted or self.scorer.auroc_ is None:
            return None
        return self.scorer.auroc_, self.scorer.auroc_interval_

    def status(self) -> str:
        """Say what the figures are based on, or what is missing for them."""
        labelled = len(self.qualities)
        if self.problem:
            return self.problem
        if labelled > MOST_FITTED:
            return f"Over {MOST_FITTED:,} labels: the scorer is no longer fitted here. Fit it yourself."
        missing = [
            f"{_FEWEST - have} more at {pole}"
            for have, pole in zip(self.balance, self._means.trait.poles, strict=True)
            if have < _FEWEST
        ]
        if missing:
            return f"The first figures need {' and '.join(missing)}."
        if self._must_fit():
            return "Fitting the scorer to your labels."
        return f"The scorer is fitted to all {labelled:,} labels."

    def upcoming(self, count: int) -> list[int]:
        """Return the places of the texts to label next, at most `count`."""
        with self._lock:
            closed = self._given.keys() | self._decided.keys()
        return list(_distinct(self._first, self._random, closed, count))

    def hint(self, at: int) -> Hint | None:
        """Return the score of a text by the newest scorer that saw it."""
        newest = self._hints.get(at)
        return newest[1] if newest else None

    # ---- the work behind it ------------------------------------------------------------------------------------------

    def step(self, *, hints: bool = True) -> bool:
        """Do one piece of work; return whether there was any."""
        work = next(self._work(hints=hints), None)
        if work is None:
            return False
        try:
            work()
        except Exception as error:  # labelling goes on without figures
            self.problem = f"The scorer could not be fitted: {error} Your labels are kept."
        return True

    def has_work(self, *, hints: bool = True) -> bool:
        """Return whether `step` has anything to do."""
        return next(self._work(hints=hints), None) is not None

    @property
    def pause(self) -> float:
        """Seconds to wait before the next step, so that a burst of keys causes one fit."""
        return max(0.0, self._last + PAUSE_S - time.monotonic()) if self._must_fit() else 0.0

    def _work(self, *, hints: bool) -> Iterator[Callable[[], None]]:
        if self.problem:
            return
        if self._must_rank():
            yield self._rank
        if self._must_fit():
            yield self._fit
        if hints and (at := self._unhinted()) is not None:
            yield lambda: self._score(at)
        if self._order != "random" and self._count < self._most:
            yield self._encode

    @property
    def _most(self) -> int:
        return min(len(self.texts), MOST_RANKED)

    def _must_fit(self) -> bool:
        if min(self.balance) < 1 or self.problem:
            return False
        qualities = self.qualities
        return len(qualities) <= MOST_FITTED and qualities != self._fitted

    def _fit(self) -> None:
        qualities, made = self.qualities, self._means.blank()
        made.fit([self.texts[at] for at in qualities], np.array([*qualities.values()]))
        self.scorer, self._fitted = made, qualities
        self._fits += 1

    def _unhinted(self) -> int | None:
        if self._means.judge is None and not self.is_fitted:
            return None
        seen = self._fits if self._means.judge is None else 0
        return next((at for at in self.upcoming(_AHEAD) if self._hints.get(at, (-1,))[0] != seen), None)

    def _score(self, at: int) -> None:
        judge, trait, text = self._means.judge, self._means.trait, self.texts[at]
        scorer, seen = (self.scorer, self._fits) if judge is None else (judge, 0)
        score = scorer.cards([text])[0].detail[trait.key]
        side = side_of(score, positive_label=trait.positive_label, negative_label=trait.negative_label)
        marks = highlights_of(scorer.explain(text)) if len(text) <= _LONGEST_EXPLAINED else ()
        self._hints[at] = seen, Hint(ItemScore(score.score, side.words, side.positive), marks)

    def _encode(self) -> None:
        first, encoder = self._count, self._means.encoder()
        places = self._random[first : min(first + _A_TURN, self._most)]
        some = {str(at): self.texts[at] for at in places}
        vectors = vectors_of(encoder, {text_hash(text): text for text in some.values()})
        made = np.array([vectors[text_hash(text)] for text in some.values()], np.float32)
        if not first:
            self._X, self._prior = np.zeros((self._most, made.shape[1]), np.float32), np.zeros(self._most)
            self._axis = None if self._means.judge else self._means.axis()
        rows = slice(first, first + len(made))
        self._X[rows] = made
        if self._means.judge:
            self._prior[rows] = self._means.judge.decision_function([*some.values()])
        elif self._axis is not None:
            self._prior[rows] = made @ self._axis
        self._count = first + len(made)

    def _must_rank(self) -> bool:
        if self._order == "random" or self._count < min(_FEWEST_RANKED, self._most):
            return False
        return self._must_queue() or self._ranked != (self._queued, self.done, self.qualities)

    def _must_queue(self) -> bool:
        """Whether enough texts were encoded to rank again; each time costs a pass over all."""
        now = self._count
        return self._ranking is None or now >= _GROWS * self._queued or (now == self._most and now > self._queued)

    def _rank(self) -> None:
        if self._must_queue():
            self._queued = self._count
            self._ranking = LabelQueue(self._X[: self._queued], self._prior[: self._queued])
        assert self._ranking is not None
        done, qualities, places = self.done, self.qualities, self._random[: self._queued]
        row_of = {at: row for row, at in enumerate(places)}
        ids = [at for at in qualities if at in row_of]
        rows = [row_of[at] for at in ids]
        self._ranking.learn(ids, self._X[rows], np.array([qualities[at] for at in ids]), self._prior[rows])
        with self._lock:
            closed = self._given.keys() | self._decided.keys()
        free = np.array([at not in closed for at in places])
        self._first = [places[row] for row in self._ranking.first(self._order, _RANKED_AHEAD, free=free)]
        self._ranked = self._queued, done, qualities


def _distinct(first: Sequence[int], rest: Sequence[int], closed: Any, count: int) -> Iterator[int]:
    """Places of both lists in order, each once, without those that are closed."""
    seen: set[int] = set()
    for places in (first, rest):
        for at in places:
            if len(seen) >= count:
                return
            if at not in closed and at not in seen:
                seen.add(at)
                yield at
