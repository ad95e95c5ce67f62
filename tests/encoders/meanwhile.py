"""An encoder that lets something happen in the middle of a run."""

from collections.abc import Callable, Sequence

from traitbench.encoders import FULL, Encoder, Vectors, counted_apart


class Meanwhile:
    """The encoder, with a callback that is called before the first text is encoded."""

    def __init__(self, encoder: Encoder, happens: Callable[[], object]) -> None:
        self.id, self.dimension, self.digest, self.modes = encoder.id, encoder.dimension, encoder.digest, encoder.modes
        self.count_tokens, self.words = encoder.count_tokens, encoder.words
        self._encoder, self._happens = encoder, [happens]

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        while self._happens:
            self._happens.pop()()
        return self._encoder.encode(texts, mode=mode)

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        return counted_apart(self, texts, mode=mode)
