"""How a text is spelled, in four numbers that need no encoder: how surprising its letters are, its share of letters,
whether it is in another language than English (`language`), and how long it is.

The surprise is the mean negative log-probability, in nats, of each character given the one before it (a bigram model,
Shannon 1951). The probabilities are of generic English text and fixed (`spelling.npy`): what matters is only how a text
compares with the samples of a model. Random letters and foreign scripts stand far from samples in any language.
"""

import unicodedata
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from traitbench.scoring.language import is_not_english
from traitbench.scoring.segments import segment_count

Floats = NDArray[np.float64]
Spelling = NDArray[np.float64]
"""(4,): the surprise in nats per character, the share of letters, 1 for another language in Latin script or 0, and the
number of segments.
"""

_READ = 10_000  # characters: enough to tell, and as quick for any text
_LETTERS = 26
_SPACE, _DIGIT, _APOSTROPHE, _MARK, _SIGN, _LATIN, _FOREIGN = range(_LETTERS, _LETTERS + 7)
_KINDS = _FOREIGN + 1
_IS_LETTER = np.array([kind < _LETTERS or kind >= _LATIN for kind in range(_KINDS)])
_LATIN_BELOW = 0x250


class _Kinds(dict[int, int]):
    """The kind of each character, found when it is first seen; a table for `str.translate`."""

    def __missing__(self, code: int) -> int:
        self[code] = kind = _kind(chr(code))
        return kind


_KIND_OF = _Kinds()


def spelling(texts: Sequence[str]) -> Floats:
    """(n_texts, 4): the `Spelling` of each text; zeros for a blank text."""
    return np.array([_spelling(text) for text in texts], np.float64).reshape(-1, 4)


def _spelling(text: str) -> tuple[float, float, float, float]:
    kinds = _kinds(text)
    counts = np.bincount(kinds, minlength=_KINDS)
    characters = len(kinds) - int(counts[_SPACE])
    if not characters:
        return 0.0, 0.0, 0.0, 0.0
    surprise = -float(_bigram_table()[kinds[:-1], kinds[1:]].mean(dtype=np.float64))
    letters = float(counts[_IS_LETTER].sum()) / characters
    return surprise, letters, float(is_not_english(text)), float(segment_count(text))


def _kinds(text: str) -> NDArray[np.uint8]:
    """The kinds of the first characters, with one space for each run of space, and one at either end."""
    words = f" {' '.join(text[:_READ].split())} "
    return np.frombuffer(words.translate(_KIND_OF).encode("latin-1"), np.uint8)


def _kind(character: str) -> int:
    lower = character.lower()
    if lower in ascii_lowercase:  # that of U+0130 has two characters
        return ord(lower) - ord("a")
    if character.isspace():
        return _SPACE
    if character.isdigit():
        return _DIGIT
    if character in "'’":
        return _APOSTROPHE
    if character in ".,!?":
        return _MARK
    if unicodedata.category(character)[0] in "LM":
        return _LATIN if ord(character) < _LATIN_BELOW else _FOREIGN
    return _SIGN


@cache
def _bigram_table() -> NDArray[np.float32]:
    table: NDArray[np.float32] = np.load(Path(__file__).with_name("spelling.npy"))
    return table
