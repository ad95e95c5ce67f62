"""Run a transformer of our graph over texts: the means of their tokens at an early layer and at the last layer.

Each mean is standardised by fixed statistics over generic text (see `style`) and scaled to length one.

Texts run one by one: int8 takes the scale of an activation over all that runs together, so in a batch one text would
change another's vector. Running them one by one costs nothing, because a single text already keeps a processor busy.
"""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traitbench.encoders import graph, tokens
from traitbench.encoders.runtime import InferenceSession, SessionOptions
from traitbench.encoders.style import Statistics
from traitbench.scoring.inputs import unit

Ids = Sequence[int]


class PackagedTransformer:
    """A graph with its input; safe to call from several threads.

    `content` gives the graph, which is loaded when a text needs it: a mode without the transformer never does. `ids_of`
    splits texts into tokens, `given` makes the input of the graph from the tokens of a window, which has at
    most `window` of them.
    """

    def __init__(
        self,
        content: Callable[[], bytes],
        *,
        ids_of: Callable[[Sequence[str]], Sequence[Ids]],
        given: Callable[[Ids], NDArray[Any]],
        window: int,
        statistics: Statistics,
    ) -> None:
        self.ids_of = ids_of
        self._content, self._given, self._window, self._statistics = content, given, window, statistics
        self._session: InferenceSession | None = None
        self._one_at_a_time = Lock()

    @property
    def file_bytes(self) -> int:
        """The size of the graph."""
        return len(self._content())

    def blocks(self, texts: Sequence[str], *, whole: bool = True) -> tuple[list[NDArray[np.float64]], list[int]]:
        """(n_texts, 384) unit rows of the early layer and, if `whole`, of the last layer; and the number of tokens of
        each text.

        Rows are zeros for a text without a token.
        """
        tokenized = self.ids_of(texts)
        return self.blocks_of(tokenized, whole=whole), list(map(len, tokenized))

    def blocks_of(self, tokenized: Sequence[Ids], *, whole: bool = True) -> list[NDArray[np.float64]]:
        """The rows of `blocks`, from the tokens of each text."""
        there = [i for i, ids in enumerate(tokenized) if ids]
        count = 2 if whole else 1
        rows: NDArray[np.float64] = np.zeros((len(tokenized), count, graph.WIDTH))
        if there:
            means = np.array([self._means(tokenized[i], whole) for i in there])
            standard = self._statistics.part(slice(count * graph.WIDTH)).standardise(means)
            rows[there] = standard.reshape(-1, count, graph.WIDTH)
        return [unit(rows[:, i]) for i in range(count)]

    def means(self, text: str) -> NDArray[np.float32]:
        """(768,): the mean over the tokens for each of the two layers, as the graph returns them; the text must have a
        token.
        """
        return self._means(self.ids_of([text])[0], whole=True)

    def _means(self, ids: Ids, whole: bool) -> NDArray[np.float32]:
        windows = list(tokens.windows(ids, self._window))
        runs = [self._run(window, whole) for window in windows]
        if len(runs) == 1:
            return runs[0]
        mean: NDArray[np.float64] = np.average(runs, axis=0, weights=[len(window) for window in windows])
        return mean.astype(np.float32)

    def _run(self, window: Ids, whole: bool) -> NDArray[np.float32]:
        early, last = self._loaded().run(None, {graph.TEXT: self._given(window), graph.WHOLE: np.array(whole)})
        means: NDArray[np.float32] = np.concatenate([early[0], last[0]]) if whole else early[0]
        return means

    def _loaded(self) -> InferenceSession:
        if self._session is None:
            with self._one_at_a_time:
                self._session = self._session or _session(self._content())
        return self._session


def _session(content: bytes) -> InferenceSession:
    """One thread per run, so that concurrent requests do not compete for processors."""
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return InferenceSession(content, options, providers=["CPUExecutionProvider"])
