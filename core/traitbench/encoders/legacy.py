"""Legacy encoders: no longer used for training, but versions that were trained with one still score with it."""

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from traitbench.encoders import FULL, Part, Vectors, check_mode, counted_apart
from traitbench.encoders.static import Static
from traitbench.encoders.style import COUNT
from traitbench.encoders.table import WORDLLAMA
from traitbench.encoders.vectors import in_slices, join
from traitbench.scoring.unit import unit

ID = "static-ws-1"
WEIGHTS = (1.0, 0.5)


class StaticWithoutGrams:
    """The first static fallback: the table of wordllama and the style block."""

    id = ID
    modes: Mapping[str, slice] = MappingProxyType({})

    def __init__(self, static: Static) -> None:
        self._table, self._style = static.table, static.style
        self.dimension = self._table.width + COUNT
        parts = (ID, *WORDLLAMA, str(WEIGHTS), self._style.digest)
        self.digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        """(n_texts, 323) unit rows."""
        check_mode(self, mode)
        return in_slices(texts, self._encode, self.dimension)

    def count_tokens(self, text: str) -> int:
        """The number of tokens of the table."""
        return len(self._table.tokens(text))

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        """The rows of `encode`, and the number of tokens of each text."""
        return counted_apart(self, texts, mode=mode)

    def words(self) -> Sequence[str]:
        """The words of the table."""
        return self._table.words()

    def _encode(self, texts: Sequence[str]) -> Vectors:
        return join(WEIGHTS, [unit(self._table.means(texts, weighted=False)), self._style.rows(texts)])


def load(part: Part) -> StaticWithoutGrams:
    """The encoder, with the table of the current static encoder."""
    static = part("static")
    assert isinstance(static, Static)
    return StaticWithoutGrams(static)
