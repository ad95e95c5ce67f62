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


def load_vocabulary(encoder: Encoder, *, cache: Path, size: int = SIZE) -> Vocabulary:
    """The `size` most common words, none for an encoder without a vocabulary; vectors are read from `cache` or added to
    it.
    """
    words = tuple(encoder.words()[:size])
    digest = hashlib.sha256("\n".join((encoder.digest, *words)).encode()).hexdigest()
    content = cached_bytes(cache / f"words-{digest[:16]}.f2", lambda: encoder.encode(words).astype("<f2").tobytes())
    vectors = np.frombuffer(content, "<f2").astype(np.float32).reshape(len(words), encoder.dimension)
    return Vocabulary(words, vectors)
