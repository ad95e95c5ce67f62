"""The fast encoder for English: layer 4 and last layer of MiniLM, the static mean of wordllama, and the style block.

It was the default of earlier releases, with the name `full`.

The blocks of MiniLM and the static mean are unit vectors; the style block is shorter for texts of plain style. The
blocks are weighted, concatenated and scaled to length one. Layer 4 alone and the static part alone are modes for large
batches. The static mode needs no transformer. The weights of its two blocks were chosen for that mode, because beside
MiniLM they hardly matter.
"""

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from traitbench.encoders import FULL, Part, Vectors, check_mode, counted_apart, graph
from traitbench.encoders import minilm as transformer
from traitbench.encoders.minilm import MiniLM
from traitbench.encoders.scheduler import side_by_side
from traitbench.encoders.static import Static
from traitbench.encoders.style import COUNT
from traitbench.encoders.table import WORDLLAMA
from traitbench.encoders.tokens import in_slices, join

ID = "full-l4fws-int8-1"
WEIGHTS = (*transformer.BLOCKS, 0.4, 0.2)


class MiniLMFull:
    """The encoder; see the module."""

    def __init__(self, *, minilm: MiniLM, static: Static, id: str = ID, source: Sequence[str] = WORDLLAMA) -> None:
        """`id` and `source`, the hashes of its files, tell a recipe with another static table from ours."""
        self.id = id
        self._minilm, self._static = minilm, static
        self._static_width = static.table.width + COUNT
        self.dimension = minilm.dimension + self._static_width
        self.modes: Mapping[str, slice] = MappingProxyType(
            {"layer4": slice(0, graph.WIDTH), "static": slice(minilm.dimension, self.dimension)}
        )
        parts = (id, minilm.digest, *source, static.style.digest, str(WEIGHTS))
        self.digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def file_bytes(self) -> int:
        """The size of its files."""
        return self._minilm.file_bytes + self._static.file_bytes

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        """(n_texts, 1091) unit rows; 384 columns in mode layer4, 323 in mode static."""
        check_mode(self, mode)
        if mode == "static":
            return in_slices(texts, self._without_transformer, self._static_width)
        return self.counted(texts, mode=mode)[0]

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        """The result of `encode`, and the number of word pieces of each text.

        To count them, the static mode must tokenize a second time.
        """
        check_mode(self, mode)
        if mode == "static":
            return counted_apart(self, texts, mode=mode)
        if mode == "layer4":
            return self._minilm.counted(texts, mode=mode)
        return side_by_side(texts, self._whole, self.dimension)

    def count_tokens(self, text: str) -> int:
        """The number of MiniLM's word pieces, without special tokens."""
        return self._minilm.count_tokens(text)

    def words(self) -> Sequence[str]:
        """The words of MiniLM's vocabulary."""
        return self._minilm.words()

    def _without_transformer(self, texts: Sequence[str]) -> Vectors:
        return join(WEIGHTS[2:], self._static.blocks(texts))

    def _whole(self, texts: Sequence[str]) -> tuple[Vectors, list[int]]:
        blocks, counts = self._minilm.transformer.blocks(texts)
        return join(WEIGHTS, [*blocks, *self._static.blocks(texts)]), counts


def load(part: Part) -> MiniLMFull:
    """The encoder; raise `EncoderUnavailable` if one of its parts is not installed."""
    static, minilm = part("static"), part("minilm")
    assert isinstance(minilm, MiniLM)
    assert isinstance(static, Static)
    return MiniLMFull(minilm=minilm, static=static)
