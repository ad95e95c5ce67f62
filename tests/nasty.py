"""Texts that nobody writes and anybody can send: families of them, each by its size in bytes."""

import random
from collections.abc import Callable, Mapping
from itertools import count, islice

PROSE = (
    "The ferry leaves the small harbour at nine, and comes back before the light is gone. "
    "Nobody on the island owns a clock; they say it is “late” when the lamps are lit. "
)
WORDS = PROSE.split()


def _filled(unit: str, size: int) -> str:
    """As much of a repeated unit as fits into so many bytes."""
    return unit * (size // len(unit.encode()))


def _drawn(letters: str, size: int) -> str:
    """Letters by chance, always the same."""
    some = "".join(random.Random(7).choices(letters, k=50_021))
    return _filled(some, size) or some[:size]


def _numbered(form: str, size: int) -> str:
    """Short pieces, each different from the others."""
    piece = len(form.format(size).encode())
    return "".join(islice((form.format(number) for number in count()), size // piece))


FAMILIES: Mapping[str, Callable[[int], str]] = {
    "words, then dots": lambda size: "word " * 100 + _filled(".", max(0, size - 500)),
    "dots": lambda size: _filled(".", size),
    "spaces": lambda size: "a" + _filled(" ", size - 2) + "b",
    "newlines": lambda size: "a" + _filled("\n", size - 2) + "b",
    "blank lines": lambda size: "a" + _filled(" \n", size - 2) + "b",
    "emoji": lambda size: _filled("😀", size),
    "mixed emoji": lambda size: _drawn("".join(map(chr, range(0x1F600, 0x1F640))), size),
    "combining marks": lambda size: "e" + _filled("\u0301", size - 1),
    "mixed marks": lambda size: "e" + _drawn("".join(map(chr, range(0x300, 0x340))), size - 1),
    "one word": lambda size: _filled("a", size),
    "letters": lambda size: _drawn("abcdefghijklmnopqrstuvwxyz", size),
    "digits": lambda size: _drawn("0123456789", size),
    "CJK": lambda size: _drawn("".join(map(chr, range(0x4E00, 0x5000))), size),
    "prose": lambda size: " ".join(random.Random(7).choices(WORDS, k=size // 6)),
    "short sentences": lambda size: _numbered("No{}. ", size),
    "dotted": lambda size: _filled("a.", size),
    "dots on lines": lambda size: _filled(".\n", size),
    "words of one letter": lambda size: _filled("a ", size),
    "full stops of CJK": lambda size: _drawn("".join(f"{chr(place)}。" for place in range(0x4E00, 0x4F00)), size),
    "punctuation": lambda size: _drawn("!?.,;:()[]{}<>'\"-", size),
    "angle brackets": lambda size: _filled("<", size),
    "brackets": lambda size: _filled("[", size),
    "backticks": lambda size: _filled("`", size),
    "invisible": lambda size: _filled("\u200b", size),
    "mixed": lambda size: _filled(
        PROSE[:50] + "." * (size // 4) + "\n" * (size // 4) + "😀" * 20 + "e\u0301\u0302" * 10, size
    ),
}
