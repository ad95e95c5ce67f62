"""A widget for notebooks that labels texts by keys and fits a scorer to the labels meanwhile.

Works wherever anywidget does: Jupyter, JupyterLab, VS Code, marimo and Colab. Script and style are part of the widget's
state, so that nothing is loaded from elsewhere.
"""

import asyncio
import json
import threading
import time
import uuid
from importlib.resources import files
from typing import Any

import anywidget
import numpy as np
import traitlets
from numpy.typing import NDArray

from traitbench.contract.rounding import in_decimals
from traitbench.display.sides import SIGNS
from traitbench.local.label_session import LabelSession, Learner
from traitbench.local.labeller import BATCH, SCRIPT, STYLE, Answers, LabelItem, PoleSign, item_data

_ADAPTER = files(__package__).joinpath("label_widget.js").read_text("utf-8")


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

    def __init__(self, session: LabelSession, trait: Any, *, blind: bool = False) -> None:
        self._session, self._trait, self._blind = session, trait, blind
        self._run, self._handled = uuid.uuid4().hex, dict[str, int]()
        self._loop, self._lock = _running_loop(), threading.Lock()
        self._thread: threading.Thread | None = None
        super().__init__(data=self._drawn())
        self._work()

    @property
    def samples(self) -> list[dict[str, Any]]:
        """The labelled texts: `text` and `quality` of each."""
        return self._session.samples

    @property
    def labels(self) -> NDArray[np.float64]:
        """(n,) the quality of each text as they were given, NaN for those without a label."""
        return self._session.labels

    @property
    def scorer(self) -> Learner:
        """The scorer fitted to the labels so far."""
        return self._session.scorer

    def wait(self, timeout: float = 60.0) -> bool:
        """Wait until the scorer is fitted to all labels; return False if it takes longer than `timeout` seconds."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout)
        return thread is None or not thread.is_alive()

    @traitlets.observe("answers")
    def _take(self, change: Any) -> None:
        sent = Answers.read(change["new"])
        if sent.mount:
            self._session.take(sent.new(self._handled))
            self._handled = dict(sent.handled(self._handled))
            self._draw()
            self._work()

    def _work(self) -> None:
        """Start the thread behind the widget, unless it runs. It ends when there is nothing to do, or with Python."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                # No daemon, because a thread that is killed while it encodes would abort the whole process.
                self._thread = threading.Thread(target=self._steps, name="traitbench-label", daemon=False)
                self._thread.start()

    def _steps(self) -> None:
        while threading.main_thread().is_alive():
            while pause := self._session.pause:
                time.sleep(pause)
            if self._session.step(hints=not self._blind):
                self._redraw()
                continue
            with self._lock:
                # Looks again under the lock: an answer that came meanwhile found this thread alive.
                if not self._session.has_work(hints=not self._blind):
                    self._thread = None
                    return

    def _redraw(self) -> None:
        """Draw from the thread behind: through the kernel's loop, if there is one, as widgets are not thread-safe."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._draw)
        else:
            self._draw()

    def _draw(self) -> None:
        self.data = self._drawn()

    def _drawn(self) -> dict[str, Any]:
        session, trait = self._session, self._trait
        poles = PoleSign.negative(trait.negative_label), PoleSign.positive(trait.positive_label)
        last = session.last
        items = []
        for at in session.upcoming(BATCH):
            hint = None if self._blind else session.hint(at)
            score, marks = (hint.score, hint.highlights) if hint else (None, ())
            items.append(LabelItem(str(at), session.texts[at], trait.name, *poles, score, marks))
        return {
            "run": self._run,
            "items": [item_data(each, blind=self._blind) for each in items],
            "done": session.done,
            "total": len(session.texts),
            "saved": None,
            "handled": self._handled,
            "blind": self._blind,
            "last": None if last is None else str(last),
            "keep": "",
            "notice": "",
            "empty": "All texts are decided. `samples` has the labelled ones.",
            "scorer": "The scorer says",
            "keys": "element",
            "figures": self._figures(),
            "status": session.status(),
        }

    def _figures(self) -> list[dict[str, str]]:
        negative, positive = self._session.balance
        trait, auroc = self._trait, self._session.auroc
        about = (
            "How often a positive text scores above a negative one: 0.5 is chance, 1 is perfect. Each text is scored "
            "by a fit that did not use it."
        )
        value, between = ("–", None) if auroc is None else (in_decimals(auroc[0]), auroc[1])
        name = "Held-out AUROC" + (f", {in_decimals(between[0])} to {in_decimals(between[1])}" if between else "")
        return [
            {
                "name": "Labels",
                "value": f"{SIGNS[False]} {negative:,} · {positive:,} {SIGNS[True]}",
                "help": f"At {trait.negative_label}, then at {trait.positive_label}.",
            },
            {"name": name, "value": value, "help": about},
        ]


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
