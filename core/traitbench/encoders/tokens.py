"""Set up tokenizers (whole texts, no padding, not truncated, no threads), and join blocks to vectors row by row."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from traitbench.encoders import EncoderUnavailable, Vectors
from traitbench.install import advice
from traitbench.scoring.inputs import unit

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# A call takes a fraction of a millisecond while other threads encode other texts, so the package's own threads would
# only add overhead. It reads this variable at every call.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

# The marks of SentencePiece and of byte-level BPE.
_BEGINS_A_WORD = ("\u2581", "\u0120")
_WORD = re.compile("[a-z]{3,}")


def plain(content: bytes, *, name: str = "tokenizer.json") -> "Tokenizer":
    """The tokenizer with this file content, without truncation and padding.

    Raise `EncoderUnavailable` if it cannot be read or the package, which the default encoder does without, is missing.
    """
    try:
        from tokenizers import Tokenizer
    except ModuleNotFoundError as error:
        raise EncoderUnavailable(advice(error) or str(error)) from None
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # the package raises plain Exception
        raise EncoderUnavailable(f"{name} is not a tokenizer that the package tokenizers can read: {error}.") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def unusable(error: Exception) -> EncoderUnavailable:
    """The error for a tokenizer that can be read, but fails on a text."""
    return EncoderUnavailable(f"tokenizer.json fails on a first text: {error}. Save the model's own tokenizer.")


def words(tokenizer: "Tokenizer") -> list[str]:
    """The tokens that look like a whole word, by token id, which is mostly by frequency.

    If tokens can mark the beginning of a word, only such tokens count; some of them then begin a longer word.
    """
    pieces = [piece for piece, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]
    beginning = [piece[1:] for piece in pieces if piece.startswith(_BEGINS_A_WORD)]
    candidates = beginning if 10 * len(beginning) > len(pieces) else pieces
    return list(dict.fromkeys(word for word in candidates if _WORD.fullmatch(word)))


def windows(ids: Sequence[int], most: int) -> Iterator[Sequence[int]]:
    """Split the ids into equal windows that a model can take; a text of usual length is one window."""
    count = -(-len(ids) // most)
    for i in range(count):
        yield ids[i * len(ids) // count : (i + 1) * len(ids) // count]


_AT_ONCE = 256


def join(weights: Sequence[float], blocks: Sequence[NDArray[np.floating]]) -> Vectors:
    """The blocks (n, d_i) side by side, each multiplied by its weight, each row at length one."""
    weighted = [weight * block for weight, block in zip(weights, blocks, strict=True)]
    return unit(np.concatenate(weighted, axis=-1)).astype(np.float32)


def in_slices(texts: Sequence[str], encode: Callable[[Sequence[str]], Vectors], width: int) -> Vectors:
    """(n_texts, width): encode a few texts at a time, so that intermediate results stay small."""
    rows = np.empty((len(texts), width), np.float32)
    for first in range(0, len(texts), _AT_ONCE):
        some = texts[first : first + _AT_ONCE]
        rows[first : first + len(some)] = encode(some)
    return rows
