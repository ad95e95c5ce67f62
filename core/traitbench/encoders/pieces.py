"""Split texts into the pieces of multilingual-e5-small, by the rules of its file (`e5_file`).

Single characters are normalised by the map of the file, runs of spaces become one, and the most probable pieces are
found by SentencePiece. Its model is written here from the pieces of the file: the package `tokenizers` reads the same
vocabulary, but needs 290 MB for it, and SentencePiece 70. Characters that no piece has become one unknown piece.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate

from sentencepiece import SentencePieceProcessor

from traitbench.encoders.e5_file import UNKNOWN, E5File

_SPACES = re.compile(" {2,}")
_WORD = re.compile("\u2581([a-z]{3,})")

# Fields and values of SentencePiece's model file, by its published scheme: a message of pieces, of how it was trained,
# and of how texts are normalised, which is not at all.
_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3
_BYTES, _FLOAT, _NUMBER = 2, 5, 0
_MOST_BESIDES = 16  # bytes beside the piece


class Pieces:
    """The tokenizer; safe to call from several threads."""

    def __init__(self, model: bytes, normal: Mapping[int, str]) -> None:
        self._model = SentencePieceProcessor(model_proto=model)
        self._normal = dict(normal)

    def ids(self, text: str) -> list[int]:
        """The ids of the pieces of a text; none for a text of white space."""
        ids: list[int] = self._model.encode(self._plain(text))
        return ids

    def owners(self, text: str, ends: Sequence[int]) -> list[int]:
        """For each of the `ids`, which of the stretches that end at these offsets has its last character."""
        borders = [len(self._plain(text[:end])) for end in ends]
        pieces = self._model.encode(self._plain(text), out_type=str)
        # The pieces are the text with a space before it.
        lasts = [end - 1 for end in accumulate(map(len, pieces))]
        return [min(bisect_left(borders, last), len(ends) - 1) for last in lasts]

    def _plain(self, text: str) -> str:
        return _SPACES.sub(" ", text.translate(self._normal)).strip(" ")

    def words(self) -> list[str]:
        """The pieces that are whole words of at least three Latin letters, the most common first."""
        pieces = map(self._model.id_to_piece, range(self._model.vocab_size()))
        return [match[1] for piece in pieces if (match := _WORD.fullmatch(piece))]


def model_of(file: E5File) -> bytes:
    """The model file of SentencePiece for these pieces."""
    pieces = [piece.encode() for piece in file.pieces()]
    kinds = dict.fromkeys((*range(UNKNOWN), len(pieces) - 1), _CONTROL) | {UNKNOWN: _UNKNOWN}
    # Put together by hand, because calls for a quarter of a million pieces took most of a first start.
    scores, score = file.scores.astype("<f4").tobytes(), _varint(2 << 3 | _FLOAT)
    begins = [_varint(1 << 3 | _BYTES) + _varint(size) for size in range(max(map(len, pieces)) + _MOST_BESIDES)]
    ends = {kind: _number(3, kind) for kind in (_NORMAL, _UNKNOWN, _CONTROL)}
    listed = []
    for i, piece in enumerate(pieces):
        content = begins[len(piece)] + piece + score + scores[4 * i : 4 * i + 4] + ends[kinds.get(i, _NORMAL)]
        listed.append(begins[len(content)] + content)
    unigram = _number(3, 1)
    ids = b"".join(_number(field, i) for field, i in ((40, UNKNOWN), (41, 0), (42, 2), (43, 1)))
    normalizer = _message(1, b"identity") + _number(3, 1) + _number(4, 0) + _number(5, 1)
    return b"".join(listed) + _message(2, unigram + ids) + _message(3, normalizer)


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | _BYTES) + _varint(len(content)) + content


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _NUMBER) + _varint(value)


def _varint(value: int) -> bytes:
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*result, value))
