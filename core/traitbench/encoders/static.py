"""The fallback without a transformer: wordllama's table, the style block, and hashed n-grams.

The mean over the table's tokens weighs a token by the logarithm of its rank, so that "refund" counts more than "the".
The n-grams represent words that are not in the table. The style block, which is not a unit vector, represents how the
text is written.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from traitbench.encoders import FULL, Vectors, check_mode, counted_apart, grams
from traitbench.encoders.style import COUNT, StyleBlock
from traitbench.encoders.table import ROWS, TOKENIZER, WORDLLAMA, TokenTable, wordllama
from traitbench.encoders.tokens import in_slices, join
from traitbench.scoring.inputs import unit

ID = "static-wsn-2"
WEIGHTS = (1.0, 0.3, 1.0)


class Static:
    """The static encoder; see the module. Other recipes use its table and its style block too."""

    modes: Mapping[str, slice] = MappingProxyType({})

    def __init__(self, table: TokenTable, *, id: str, source: Sequence[str], file_bytes: int) -> None:
        self.table, self.style, self.id = table, StyleBlock(), id
        self.dimension = table.width + COUNT + grams.CELLS
        self.file_bytes = file_bytes
        parts = (id, *source, str(WEIGHTS), self.style.digest, grams.RECIPE)
        self.digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        """(n_texts, dimension) unit rows: 1347 columns with wordllama's table."""
        check_mode(self, mode)
        return in_slices(texts, self._encode, self.dimension)

    def blocks(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        """The means at length one, and the unscaled style block; `minilm-full` uses both."""
        return [unit(self.table.means(texts)), self.style.rows(texts)]

    def count_tokens(self, text: str) -> int:
        """The number of tokens of the table."""
        return len(self.table.tokens(text))

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        """The rows of `encode`, and the number of tokens of each text."""
        return counted_apart(self, texts, mode=mode)

    def words(self) -> Sequence[str]:
        """About 9,000 tokens of wordllama's table that look like words.

        Some are only the beginning of a longer word; the tokens do not show which.
        """
        return self.table.words()

    def _encode(self, texts: Sequence[str]) -> Vectors:
        return join(WEIGHTS, [*self.blocks(texts), grams.rows(texts)])


def load(*, cache: Path) -> Static:
    """The encoder; raise `EncoderUnavailable` if the package is not installed. `cache` is not used."""
    return Static(wordllama(), id=ID, source=WORDLLAMA, file_bytes=ROWS.size + TOKENIZER.size)
