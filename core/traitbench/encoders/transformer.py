"""Run a transformer of our graph over texts: the means of their tokens at an early layer and at the last layer.

Each mean is standardised by fixed statistics over generic text (see `style`) and scaled to length one.

Texts run one by one: int8 takes the scale of an activation over all that runs together, so in a batch one text would
change another's vector. Running them one by one costs little, because a text of usual length keeps a processor busy.
"""

from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traitbench.encoders import graph, tokens
from traitbench.encoders.runtime import InferenceSession, SessionOptions
from traitbench.encoders.scheduler import in_threads
from traitbench.encoders.style import Statistics
from traitbench.scoring.inputs import unit

Ids = Sequence[int]

# A run of few tokens mostly waits for the weights, so short texts that are read for an explanation run together.
_TOKENS_AT_ONCE = 64


class PackagedTransformer:
    """A graph with its input; safe to call from several threads.

    `content` gives the graph, which is loaded when a text needs it: a mode without the transformer never does. `ids_of`
    splits texts into tokens, `given` makes the input of the graph from the tokens of a window, which has at most
    `window` of them. `bare` does so with only one token before and one after them, by default `given` does.
    """

    def __init__(
        self,
        content: Callable[[], bytes],
        *,
        ids_of: Callable[[Sequence[str]], Sequence[Ids]],
        given: Callable[[Ids], NDArray[Any]],
        window: int,
        statistics: Statistics,
        bare: Callable[[Ids], NDArray[Any]] | None = None,
    ) -> None:
        self.ids_of, self._bare = ids_of, bare or given
        self._content, self._given, self._window, self._statistics = content, given, window, statistics
        self._session: tuple[InferenceSession, Sequence[str]] | None = None
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
            rows[there] = self._standard(means, count)
        return [unit(rows[:, i]) for i in range(count)]

    def blocks_without(self, several: Sequence[tuple[Ids, NDArray[np.bool_]]]) -> list[list[NDArray[np.float64]]]:
        """For each text, as its token ids and an array `without` (n, n_ids): (n, 384) unit rows of both layers from one
        reading of the text, each over the tokens that are not in its row of `without`.

        Texts of one length run together, so the rows of a text also depend slightly on the others.
        """
        windows = [(text, window) for text, (ids, _) in enumerate(several) for window in self._windows_of(ids)]
        read = self._read([[several[text][0][at] for at in window] for text, window in windows])
        own: list[list[tuple[Sequence[int], NDArray[np.float32]]]] = [[] for _ in several]
        for (text, window), rows in zip(windows, read, strict=True):
            own[text].append((window, rows))
        return [self._without(without, rows) for (_, without), rows in zip(several, own, strict=True)]

    def _windows_of(self, ids: Ids) -> Iterator[Sequence[int]]:
        return tokens.windows(range(len(ids)), self._window)

    def _read(self, windows: Sequence[Ids]) -> list[NDArray[np.float32]]:
        """(n_ids + 2, 768): the tokens of each window at both layers, with the tokens before and after them."""
        by_length: dict[int, list[int]] = {}
        for at, window in enumerate(windows):
            by_length.setdefault(len(window), []).append(at)
        runs = [
            indices[first : first + most]
            for length, indices in sorted(by_length.items(), reverse=True)
            for most in [max(1, _TOKENS_AT_ONCE // (length + 2))]
            for first in range(0, len(indices), most)
        ]

        def run(indices: Sequence[int]) -> NDArray[np.float32]:
            given = np.concatenate([self._bare(windows[at]) for at in indices])
            session, (_, _, *tokens_of) = self._loaded()
            states = session.run(tokens_of, {graph.TEXT: given, graph.WHOLE: np.array(True)})
            return np.concatenate(states, axis=2)

        rows: dict[int, NDArray[np.float32]] = {}
        for indices, read in zip(runs, in_threads(run, runs), strict=True):
            rows.update(zip(indices, read, strict=True))
        return [rows[at] for at in range(len(windows))]

    def _without(
        self, without: NDArray[np.bool_], read: Sequence[tuple[Sequence[int], NDArray[np.float32]]]
    ) -> list[NDArray[np.float64]]:
        edge = np.ones((len(without), 1), np.bool_)
        remaining = [part for window, _ in read for part in (edge, ~without[:, window[0] : window[-1] + 1], edge)]
        chosen = np.concatenate(remaining, axis=1).astype(np.float32)
        means = chosen @ np.concatenate([rows for _, rows in read]) / chosen.sum(axis=1, keepdims=True)
        standard = self._standard(means, 2)
        return [unit(standard[:, i]) for i in range(2)]

    def _standard(self, means: NDArray[np.float32], count: int) -> NDArray[np.float64]:
        return self._statistics.part(slice(count * graph.WIDTH)).standardise(means).reshape(-1, count, graph.WIDTH)

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
        given = {graph.TEXT: self._given(window), graph.WHOLE: np.array(whole)}
        session, (*means_of, _, _) = self._loaded()
        early, last = session.run(means_of, given)
        means: NDArray[np.float32] = np.concatenate([early[0], last[0]]) if whole else early[0]
        return means

    def _loaded(self) -> tuple[InferenceSession, Sequence[str]]:
        """The graph, and the names of its four outputs."""
        if self._session is None:
            with self._one_at_a_time:
                self._session = self._session or _session(self._content())
        return self._session


def _session(content: bytes) -> tuple[InferenceSession, Sequence[str]]:
    """With one thread per run, so that concurrent requests do not compete for processors."""
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return session, [each.name for each in session.get_outputs()]
