"""Tokenizers as every encoder here wants them: whole texts, no padding, no truncation, no threads of their own."""

import os
import re
from collections.abc import Iterator, Sequence

from tokenizers import Tokenizer

from traitbench.encoders import EncoderUnavailable

# A call lasts a fraction of a millisecond, and the processors are busy with other texts: threads of the package's own
# would only wake each other. It reads this at every call.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

_BEGINS_A_WORD = ("\u2581", "\u0120")
_WORD = re.compile("[a-z]{3,}")


def plain(content: bytes, *, name: str = "tokenizer.json") -> Tokenizer:
    """The tokenizer of a file's content, nothing cut off and nothing filled up."""
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # the package raises nothing narrower
        raise EncoderUnavailable(f"{name} is no tokenizer that the package tokenizers can read: {error}.") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def words(tokenizer: Tokenizer) -> list[str]:
    """The tokens that look like a whole word, by number, which is mostly by how common they are.

    Where a token can say that it begins a word, only such are words; some are then the beginning of a longer one.
    """
    pieces = [piece for piece, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]
    beginning = [piece[1:] for piece in pieces if piece.startswith(_BEGINS_A_WORD)]
    candidates = beginning if 10 * len(beginning) > len(pieces) else pieces
    return list(dict.fromkeys(word for word in candidates if _WORD.fullmatch(word)))


def windows(ids: Sequence[int], most: int) -> Iterator[Sequence[int]]:
    """Cut into equal windows that a model can take; a text of usual length is one."""
    count = -(-len(ids) // most)
    for i in range(count):
        yield ids[i * len(ids) // count : (i + 1) * len(ids) // count]
