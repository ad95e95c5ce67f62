"""The most common words of an encoder's vocabulary, with their vectors.

Encoding them takes seconds, so the vectors are cached in a file. They depend only on the encoder.
"""

import hashlib
from pathlib import Path

import numpy as np

from traitbench.encoders import Encoder
from traitbench.encoders.file_cache import cached_bytes
from traitbench.scoring.inputs import Vocabulary

SIZE = 5_000

_KNOWN: dict[tuple[str, int], tuple[str, ...]] = {}


def load_vocabulary(encoder: Encoder, *, cache: Path, size: int = SIZE) -> Vocabulary:
    """The `size` most common words, none for an encoder without a vocabulary; vectors are read from `cache` or added to
    it.
    """
    words = _most_common(encoder, size)
    content = cached_bytes(cache / _file(encoder, words), lambda: encoder.encode(words).astype("<f2").tobytes())
    # Read back also when just encoded, so that a first start has the same rounded numbers as the next.
    vectors = np.frombuffer(content, "<f2").astype(np.float32).reshape(len(words), encoder.dimension)
    return Vocabulary(words, vectors)


def words_to_encode(encoder: Encoder, *, cache: Path, size: int = SIZE) -> int:
    """How many words `load_vocabulary` would have to encode; 0 if their vectors are cached."""
    words = _most_common(encoder, size)
    return 0 if (cache / _file(encoder, words)).is_file() else len(words)


def _most_common(encoder: Encoder, size: int) -> tuple[str, ...]:
    """The most common words; found once for each encoder, because all of its tokens are looked at."""
    words = _KNOWN.get((encoder.digest, size))
    if words is None:
        words = _KNOWN[encoder.digest, size] = tuple(encoder.words()[:size])
    return words


def _file(encoder: Encoder, words: tuple[str, ...]) -> str:
    digest = hashlib.sha256("\n".join((encoder.digest, *words)).encode()).hexdigest()
    return f"words-{digest[:16]}.f2"
