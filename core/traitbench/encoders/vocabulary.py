"""The most common words of an encoder's vocabulary, with their vectors.

Encoding them takes seconds, and they depend only on the encoder. Those of the default encoder are in a file beside this
module, which `write_statistics` makes; others are cached in a file. Words are only ranked by their vectors, so one byte
for each number is enough.
"""

import hashlib
from pathlib import Path

import numpy as np

from traitbench.encoders import Encoder
from traitbench.encoders.file_cache import cached_bytes
from traitbench.scoring.inputs import Vocabulary

SIZE = 5_000

_LARGEST = 127  # of a signed byte

_KNOWN: dict[tuple[str, int], tuple[str, ...]] = {}


def load_vocabulary(encoder: Encoder, *, cache: Path, size: int = SIZE) -> Vocabulary:
    """The `size` most common words, none for an encoder without a vocabulary; vectors are read from `cache` or added to
    it, unless they are in the file.
    """
    if shipped := _shipped(encoder.digest, size):
        return shipped
    words = _most_common(encoder, size)
    content = cached_bytes(cache / _file(encoder, words), lambda: encoder.encode(words).astype("<f2").tobytes())
    # Read back also when just encoded, so that a first start has the same rounded numbers as the next.
    vectors = np.frombuffer(content, "<f2").astype(np.float32).reshape(len(words), encoder.dimension)
    return Vocabulary(words, vectors)


def words_to_encode(encoder: Encoder, *, cache: Path, size: int = SIZE) -> int:
    """How many words `load_vocabulary` would have to encode; 0 if their vectors are in a file."""
    if _shipped_file(encoder.digest).is_file() and size <= SIZE:
        return 0
    words = _most_common(encoder, size)
    return 0 if (cache / _file(encoder, words)).is_file() else len(words)


def write_shipped(encoder: Encoder) -> None:
    """Write the file that `load_vocabulary` reads for this encoder."""
    words = encoder.words()[:SIZE]
    vectors = encoder.encode(words)
    scales = np.abs(vectors).max(axis=1, keepdims=True) / _LARGEST
    rows = np.round(vectors / scales).astype(np.int8)
    np.savez_compressed(_shipped_file(encoder.digest), words=np.array(words), rows=rows, scales=scales)


def _shipped(digest: str, size: int) -> Vocabulary | None:
    """The words of the file for the encoder with this digest; None without one, or if it has fewer."""
    file = _shipped_file(digest)
    if size > SIZE or not file.is_file():
        return None
    with np.load(file, allow_pickle=False) as arrays:
        words, rows, scales = (arrays[name][:size] for name in ("words", "rows", "scales"))
    return Vocabulary(tuple(words.tolist()), rows * scales)


def _shipped_file(digest: str) -> Path:
    return Path(__file__).with_name(f"words-{digest[:16]}.npz")


def _most_common(encoder: Encoder, size: int) -> tuple[str, ...]:
    """The most common words; found once for each encoder, because all of its tokens are looked at."""
    words = _KNOWN.get((encoder.digest, size))
    if words is None:
        words = _KNOWN[encoder.digest, size] = tuple(encoder.words()[:size])
    return words


def _file(encoder: Encoder, words: tuple[str, ...]) -> str:
    digest = hashlib.sha256("\n".join((encoder.digest, *words)).encode()).hexdigest()
    return f"words-{digest[:16]}.f2"
