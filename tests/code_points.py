"""Every character of Unicode, packed into texts; and the one at which a piece of work fails."""

import sys
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from functools import cache

from tests.size import SOAK

Characters = Sequence[str]

UNASSIGNED = ("\u0378", "\ufffe", "\U0001fffe", "\U0010ffff", "\ue000", "\uf8ff", "\U000f0000", "\U0010fffd")
"""Some that nobody has assigned, or everybody may use; texts have them all the same."""

_PER_TEXT = 100
_CASES = (str.lower, str.upper, str.title, str.casefold)


@cache
def assigned() -> Characters:
    """All but U+0000 and halves of surrogate pairs, which no text may have, and those for private use."""
    every = map(chr, range(1, sys.maxunicode + 1))
    return [character for character in every if unicodedata.category(character) not in ("Cn", "Co", "Cs")]


@cache
def typical() -> Characters:
    """One character of each kind, and all that change their number or their form in another case or when composed."""
    kinds: dict[Hashable, str] = {}
    for character in assigned():
        kinds.setdefault(character if _is_special(character) else _kind(character), character)
    return [*kinds.values(), *UNASSIGNED]


def text_of(characters: Characters) -> str:
    """One text with each character at the begin of a word, at an end, twice, and alone between two words."""
    return " ".join(f"{each}a {each} b{each}{each}" for each in characters)


def packed(characters: Characters, per_text: int) -> list[Characters]:
    """The characters that go into one text each."""
    return [characters[first : first + per_text] for first in range(0, len(characters), per_text)]


def typical_texts() -> list[str]:
    """Texts with the typical characters; at the full size with every character."""
    some = packed(typical(), 40) if not SOAK else packed([*UNASSIGNED, *assigned()], 400)
    return [text_of(each) for each in some]


def every_text() -> list[str]:
    """Texts with every character."""
    return [text_of(some) for some in packed(assigned(), _PER_TEXT)]


def failing(work: Callable[[str], object], characters: Characters) -> list[str]:
    """The characters whose text the work does not survive, each with the error; such as `U+0130: ValueError('no')`."""
    return [failure for some in packed(characters, _PER_TEXT) for failure in _among(work, some)]


def _among(work: Callable[[str], object], characters: Characters) -> list[str]:
    try:
        work(text_of(characters))
    except Exception as error:
        if len(characters) == 1:
            return [f"U+{ord(characters[0]):04X}: {error!r}"]
        middle = len(characters) // 2
        return _among(work, characters[:middle]) + _among(work, characters[middle:]) or [f"together: {error!r}"]
    return []


def _is_special(character: str) -> bool:
    return unicodedata.normalize("NFC", character) != character or any(len(case(character)) > 1 for case in _CASES)


def _kind(character: str) -> Hashable:
    return (
        unicodedata.category(character),
        unicodedata.bidirectional(character),
        unicodedata.east_asian_width(character),
        *(len(unicodedata.normalize(form, character)) for form in ("NFD", "NFKC")),
        *(is_one(character) for is_one in (str.isspace, str.isdecimal, str.isdigit, str.isnumeric, str.isidentifier)),
        unicodedata.combining(character) > 0,
        ord(character) > 0xFFFF,
    )
