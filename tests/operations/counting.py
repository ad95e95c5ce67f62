"""An encoder that records which texts it encodes."""

from collections.abc import Sequence

from traitbench.encoders import FULL, Encoder, Vectors, counted_apart


class Counting:
    """The encoder, with a list of the texts that it was asked for."""

    def __init__(self, encoder: Encoder) -> None:
        self.id, self.dimension, self.digest, self.modes = encoder.id, encoder.dimension, encoder.digest, encoder.modes
        self.count_tokens, self.words = encoder.count_tokens, encoder.words
        self.asked: list[str] = []
        self._encoder = encoder

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        self.asked += texts
        return self._encoder.encode(texts, mode=mode)

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        return counted_apart(self, texts, mode=mode)
