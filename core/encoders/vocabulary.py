"""The commonest words that an encoder knows, and where they lie among its vectors.

Encoding them takes seconds, so it is done once and kept in the cache folder; nothing but the encoder decides them.
"""

import hashlib
from pathlib import Path

import numpy as np

from traitbench.encoders import Encoder
from traitbench.encoders.keep import kept
from traitbench.scoring.inputs import Vocabulary

SIZE = 5_000


def load_vocabulary(encoder: Encoder, *, cache: Path, size: int = SIZE) -> Vocabulary:
    """The `size` commonest words, none for an encoder that knows none; vectors come from `cache` or are made there."""
    words = tuple(encoder.words()[:size])
    mark = hashlib.sha256("\n".join((encoder.digest, *words)).encode()).hexdigest()
    content = kept(cache / f"words-{mark[:16]}.f2", lambda: encoder.encode(words).astype("<f2").tobytes())
    vectors = np.frombuffer(content, "<f2").astype(np.float32).reshape(len(words), encoder.dimension)
    return Vocabulary(words, vectors)
