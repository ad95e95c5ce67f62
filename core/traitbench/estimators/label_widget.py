"""A widget for notebooks that labels texts by keys and fits a scorer to the labels meanwhile.

Works wherever anywidget does: Jupyter, JupyterLab, VS Code, marimo and Colab. Script and style are part of the widget's
state, so that nothing is loaded from elsewhere.
"""

import asyncio
import json
import uuid
from collections.abc import Callable, Hashable, Mapping, Sequence
from importlib.resources import files
from typing import Any, Literal

import anywidget
import numpy as np
import traitlets
from numpy.typing import NDArray

from traitbench.analysis.active_learning import Order
from traitbench.contract.samples import text_hash
from traitbench.display.quality import evidence_of
from traitbench.display.sides import SIGNS
from traitbench.encoders import Encoder
from traitbench.estimators.labels import labelled_columns, read_labels
from traitbench.local.label_session import MOST_FITTED, Judge, Labels, LabelSession, LabelWork, Learner, Vectors
from traitbench.local.labeller import SCRIPT, STYLE, Answers
from traitbench.local.samples import LocalTrait
from traitbench.local.texts import read_texts, scored_size

Queue = Literal["uncertain", "random", "top", "bottom"]

ORDERS: Mapping[Queue, Order] = {"uncertain": "informative", "random": "random", "top": "top", "bottom": "bottom"}
"""The order behind each queue."""

_ADAPTER = files(__package__).joinpath("label_widget.js").read_text("utf-8")


def judge_of(scorer: Any, key: str) -> Judge:
    """Return a fitted `Scorer` as what scores texts."""
    return Judge(scorer.cards, lambda text: {key: scorer.explain(text)}, scorer.metrics_, scorer, scorer.param_hash_)


def scorer_learner(
    trait: LocalTrait,
    blank: Callable[[], Any],
    scorer: Any | None,
    encoder: Callable[[], Encoder],
    axis: Callable[[], Vectors | None],
) -> Learner:
    """Return what fits copies of a `Scorer` to the labels: `blank` makes one that is not fitted.

    A `scorer` that was fitted before scores and ranks the texts. Else `axis` returns the label axis (d,), by which
    texts are ranked before there are labels.
    """

    def prior(_key: str, texts: Sequence[str], X: Vectors) -> NDArray[np.float64] | None:
        if scorer is not None:
            positions: NDArray[np.float64] = scorer.decision_function(list(texts))
            return positions
        label_axis = axis()
        return None if label_axis is None else (X @ label_axis).astype(np.float64)

    def basis(labels: Mapping[str, Labels]) -> Hashable | None:
        own = labels[trait.key]
        poles = {quality > 0.5 for quality in own.values() if quality != 0.5}
        return tuple(own.items()) if len(poles) == 2 and len(own) <= MOST_FITTED else None

    def fit(labels: Mapping[str, Labels], texts: Mapping[str, str]) -> Judge:
        own, made = labels[trait.key], blank()
        made.fit([texts[each] for each in own], np.array([*own.values()]))
        return judge_of(made, trait.key)

    return Learner(encoder, prior, basis, fit, None if scorer is None else judge_of(scorer, trait.key))


class Labeller(anywidget.AnyWidget):
    """Label texts by keys in a notebook; made by `Scorer.label`.

    Keys: left and right arrow for the poles, down to skip, 0 to 9 for grades, U to undo, ? for help.

    Attributes
    ----------
    samples : list of dict
        The labelled texts: `text` and `quality` (0 is the negative pole, 1 the positive one). `pandas.DataFrame` makes
        a table of them, and `client.samples.add` takes them with a trait.
    labels : ndarray of shape (n,)
        The quality of each text as they were given, NaN for those without a label.
    scorer : Scorer
        A copy of the scorer, fitted again after each decision; not fitted until both poles have a label.
    """

    _esm = f"{SCRIPT}\nconst STYLE = {json.dumps(STYLE)}\n{_ADAPTER}"

    data = traitlets.Dict().tag(sync=True)
    answers = traitlets.Dict().tag(sync=True)

    def __init__(
        self, trait: LocalTrait, learner: Learner, blank: Any, texts: Any, *, queue: Queue, labels: Any, blind: bool
    ) -> None:
        if queue not in ORDERS:
            raise ValueError(f"The queue {queue!r} is unknown. Use one of: {', '.join(map(repr, ORDERS))}.")
        # Only a text that may be too large needs the encoder, which may have to be loaded.
        too_large = scored_size(lambda text: learner.encoder().count_tokens(text))
        rows = read_texts(texts, to_train=True, too_large=too_large)
        self._texts = {text_hash(text): text for text in sorted(set(rows), key=text_hash)}
        self._of_row = [text_hash(text) for text in rows]
        known = {self._of_row[row]: quality for row, quality in _given(labels, trait, len(rows)).items()}
        traits: Sequence[LocalTrait] = [trait]
        work = LabelWork(traits, self._texts, ORDERS[queue], learner, not blind, {trait.key: known})
        self._trait, self._blank, self._session = trait, blank, LabelSession(work)
        self._run, self._handled, self._loop = uuid.uuid4().hex, dict[str, int](), _running_loop()
        super().__init__(data=self._drawn())
        self._session.work(self._redraw)

    @property
    def samples(self) -> list[dict[str, Any]]:
        """The labelled texts: `text` and `quality` of each."""
        labels = self._session.labels(self._trait.key)
        return [{"text": self._texts[each], "quality": quality} for each, quality in labels.items()]

    @property
    def labels(self) -> NDArray[np.float64]:
        """(n,) the quality of each text as they were given, NaN for those without a label."""
        labels = self._session.labels(self._trait.key)
        return np.array([labels.get(each, np.nan) for each in self._of_row], np.float64)

    @property
    def scorer(self) -> Any:
        """The `Scorer` fitted to the labels so far."""
        return self._blank if self._session.fitted is None else self._session.fitted.source

    def wait(self, timeout: float = 60.0) -> bool:
        """Wait until the scorer is fitted to all labels; return False if it takes longer than `timeout` seconds."""
        return self._session.wait(timeout)

    @traitlets.observe("answers")
    def _take(self, change: Any) -> None:
        sent = Answers.read(change["new"])
        if sent.mount:
            self._session.take(sent.new(self._handled))
            self._handled = dict(sent.handled(self._handled))
            self._draw()
            self._session.work(self._redraw)

    def _redraw(self) -> None:
        """Draw from the thread behind: through the kernel's loop, if there is one, as widgets are not thread-safe."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._draw)
        else:
            self._draw()

    def _draw(self) -> None:
        self.data = self._drawn()

    def _drawn(self) -> dict[str, Any]:
        wire = self._session.to_wire(
            run=self._run,
            handled=self._handled,
            keys="element",
            empty="All texts are decided. `samples` has the labelled ones.",
            scorer="The scorer says",
        )
        return wire | {"figures": self._figures(), "status": self._status()}

    def _figures(self) -> list[dict[str, str]]:
        negative, positive = self._session.balance(self._trait.key)
        figures = self._session.figures(self._trait.key)
        evidence = None if figures is None else evidence_of(self._trait.key, figures)
        poles = f"At {self._trait.negative_label}, then at {self._trait.positive_label}."
        right = "Each text is checked by a fit that had not seen it." + (f" {evidence.figure}." if evidence else "")
        return [
            {"name": "Labels", "value": f"{SIGNS[False]} {negative:,} · {positive:,} {SIGNS[True]}", "help": poles},
            {
                "name": "Right so far",
                "value": f"{evidence.right:,} of {evidence.samples:,}" if evidence else "–",
                "help": right,
            },
        ]

    def _status(self) -> str:
        """Say how good the fit is and what it is based on, or what is missing."""
        session, trait = self._session, self._trait
        labels = len(session.labels(trait.key))
        if session.problem:
            return f"The scorer could not be fitted: {session.problem} Your labels are kept."
        if labels > MOST_FITTED:
            return f"Over {MOST_FITTED:,} labels: the scorer is no longer fitted here. Fit it yourself."
        if missing := session.missing(trait):
            return missing
        if session.is_fitting:
            return "Fitting the scorer to your labels."
        figures = session.figures(trait.key)
        evidence = None if figures is None else evidence_of(trait.key, figures)
        traits: Any = [trait]
        said = "" if evidence is None else f"{evidence.title}. {evidence.lead(traits)} "
        return f"{said}The scorer is fitted to all {labels:,} labels."


def _given(labels: Any, trait: LocalTrait, rows: int) -> dict[int, float]:
    """Return the qualities of the texts that have a label, by row; raise `ValueError` for labels of other texts."""
    if labels is None:
        return {}
    [(labelled, values)] = labelled_columns(labels, [trait])
    if len(labels) != rows:
        raise ValueError(f"There are {rows:,} texts and {len(labels):,} labels. Pass one for each text, or NaN.")
    if not labelled:
        return {}
    qualities = read_labels(values, trait.poles, rows=labelled).qualities
    return dict(zip(labelled, qualities.tolist(), strict=True))


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
