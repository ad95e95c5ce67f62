"""The fallback without a transformer: the mean of a text's token vectors from wordllama's table, beside its style.

The table is read from the files of the package wordllama, taken only when they are the published ones; the package is
not imported, since its own loader looks for the tokenizer on the network.
"""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from tokenizers import Tokenizer

from core.encoders import Vectors, installed
from core.encoders.style import COUNT, StyleBlock
from core.encoders.vectors import join, unit

ID = "static-ws-1"
WEIGHTS = (1.0, 0.5)

_TABLE = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
_TOKENIZER = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
_WIDTH = 256
_WORD = re.compile("\u2581[a-z]{3,}")


class Table:
    """Vectors of tokens, and their mean over a text."""

    def __init__(self) -> None:
        package = installed.folder("wordllama", distribution="wordllama")
        content = installed.read(package / "weights" / "l2_supercat_256.safetensors", sha256=_TABLE)
        tokenizer = installed.read(package / "tokenizers" / "l2_supercat_tokenizer_config.json", sha256=_TOKENIZER)
        self._rows: NDArray[np.float16] = safetensors.numpy.load(content)["embedding.weight"]
        self._tokenizer = Tokenizer.from_buffer(tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def tokens(self, text: str) -> list[int]:
        """Their ids, without marks; space around the text, which this tokenizer would count, left out."""
        ids: list[int] = self._tokenizer.encode(text.strip(), add_special_tokens=False).ids
        return ids

    def words(self) -> list[str]:
        """The tokens that begin a word and look like a whole one, in the order of the table."""
        pieces = sorted(self._tokenizer.get_vocab().items(), key=lambda item: item[1])
        return [piece[1:] for piece, _ in pieces if _WORD.fullmatch(piece)]

    def mean(self, text: str) -> NDArray[np.float64]:
        """(256,); zeros for a text without a token."""
        ids = self.tokens(text)
        return self._rows[ids].mean(axis=0, dtype=np.float64) if ids else np.zeros(_WIDTH)


class Static:
    """The encoder; see the module."""

    id = ID
    dimension = _WIDTH + COUNT

    def __init__(self) -> None:
        self._table, self._style = Table(), StyleBlock()
        parts = (ID, _TABLE, _TOKENIZER, str(WEIGHTS), self._style.digest)
        self.digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n_texts, 323) unit rows."""
        return np.array([self._vector(text) for text in texts], np.float32).reshape(len(texts), self.dimension)

    def count_tokens(self, text: str) -> int:
        """Tokens of the table."""
        return len(self._table.tokens(text))

    def words(self) -> Sequence[str]:
        """About 9,000; some are the beginning of a longer word, since the table does not tell."""
        return self._table.words()

    def _vector(self, text: str) -> Vectors:
        if not text.strip():
            return np.zeros(self.dimension, np.float32)
        return join(WEIGHTS, [unit(self._table.mean(text)), self._style.features(text)])


def load(*, cache: Path) -> Static:
    """The encoder; `EncoderUnavailable` when the package is not installed. Nothing needs keeping."""
    return Static()
