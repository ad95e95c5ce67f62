"""What was pasted for the two sides of a trait: its texts, which of them are copies, and which are set aside."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from traitbench.as_read import read_hash
from traitbench.display.text import count
from traitbench.local.held_out import SHARE

ENOUGH = 10
"""Texts of a side that are enough to start."""


LeftOut = Literal["both", "copy", "known", "nearly"]
"""Why a text is left out: it is in both fields, a copy, a sample already, or nearly a copy."""

_COUNTED: Mapping[LeftOut, tuple[str, str]] = {
    "copy": ("copy", "copies"),
    "nearly": ("near copy", "near copies"),
    "known": ("sample already", "samples already"),
    "both": ("in both fields", "in both fields"),
}


@dataclass(frozen=True)
class PastedText:
    """A text of a field: its line, or its place if texts are divided by blank lines.

    `note` says why it is left out, such as `as line 3`; it is empty if the text is added.
    """

    number: int
    text: str
    note: str = ""
    left_out: LeftOut | None = None


def texts_in(typed: str, *, by_line: bool) -> list[tuple[int, str]]:
    """Return the texts with their numbers: a line each, or what is between blank lines."""
    if by_line:
        return [(number, text) for number, line in enumerate(typed.splitlines(), 1) if (text := line.strip())]
    texts, lines = list[str](), list[str]()
    for line in [*typed.splitlines(), ""]:
        if line.strip():
            lines.append(line.rstrip())
        elif lines:
            texts.append("\n".join(lines))
            lines = []
    return list(enumerate(texts, 1))


def pasted(
    sides: Sequence[Sequence[tuple[int, str]]], known: Collection[str], *, unit: str = "line"
) -> list[list[PastedText]]:
    """Return the texts of each side with what is left out: copies, and texts that are samples already.

    `known` has the `read_hash` of the samples of the trait. A text that is in both fields is left out of both, because
    it is not known which side is meant.
    """
    hashes = [[read_hash(text) for _, text in side] for side in sides]
    both = set.intersection(*map(set, hashes)) if hashes else set()
    result = []
    for side, own in zip(sides, hashes, strict=True):
        seen: dict[str, int] = {}
        nearly: dict[str, int] = {}
        texts = []
        for (number, text), read in zip(side, own, strict=True):
            letters = _letters(text)
            why: tuple[str, LeftOut | None]
            if read in both:
                why = "in both fields: which side?", "both"
            elif read in seen:
                why = f"as {unit} {seen[read]}", "copy"
            elif read in known:
                why = "a sample already", "known"
            elif letters and letters in nearly:
                why = f"almost {unit} {nearly[letters]}", "nearly"
            else:
                why = "", None
            seen.setdefault(read, number)
            nearly.setdefault(letters, number)
            texts.append(PastedText(number, text, *why))
        result.append(texts)
    return result


def counted(left_out: Iterable[PastedText]) -> str:
    """Return how many texts are left out by their reason: `1,200 samples already, 31 copies`, most first."""
    numbers = Counter(each.left_out for each in left_out)
    return ", ".join(count(number, *_COUNTED[why]) for why, number in numbers.most_common() if why is not None)


def set_aside(texts: Sequence[str], teaching: int) -> frozenset[str]:
    """Return which texts of a side only test: a share of them, as long as the side keeps enough to learn from.

    `teaching` samples of the side teach already. The same texts always give the same choice.
    """
    number = max(0, min(round(SHARE * len(texts)), teaching + len(texts) - ENOUGH))
    return frozenset(sorted(texts, key=lambda text: sha256(text.encode("utf-8", "surrogatepass")).digest())[:number])


def paste_title(words: Sequence[str], added: Sequence[int], left_out: int) -> str:
    """Return how many texts of each side there are, and how many are left out."""
    sides = " and ".join(f"{number:,} {word}" for number, word in zip(added, words, strict=True))
    texts = "text" if sum(added) == 1 else "texts"
    return f"{sides} {texts}" + (f", {left_out:,} left out" if left_out else "")


def enough_to_start(there: int, added: int) -> str:
    """Return how far a side is from what is enough to start."""
    missing = ENOUGH - there - added
    return f"{missing} more {'is' if missing == 1 else 'are'} enough to start" if missing > 0 else "enough to start"


def _letters(text: str) -> str:
    """The letters and digits of a text, in small letters; empty if it has hardly any."""
    letters = "".join(character for character in text.casefold() if character.isalnum())
    return letters if len(letters) > 3 else ""


def added_of(sides: Mapping[float, Sequence[PastedText]]) -> dict[float, list[str]]:
    """Return the texts that are added, by label."""
    return {quality: [each.text for each in own if not each.note] for quality, own in sides.items()}
