"""What the Samples page says: labels in words, titles with the line below them, and what differs between two texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain, shortened

_EXCERPT, _POLE = 28, 40
_ENOUGH = 10
_MOST_COMPARED = 250_000  # pairs of words


@dataclass(frozen=True)
class LabelWords:
    """A label in words: how much of a pole it is (`mostly`, `a little`, or empty), the pole's word, and its side.

    `side` is "left" for the negative pole, "right" for the positive one, and empty for neither.
    """

    how: str
    word: str
    side: str

    def __str__(self) -> str:
        return f"{self.how} {self.word}".strip()


def label_words(trait: Trait, quality: float) -> LabelWords:
    """Return the label of a sample in words: from 0.4 to 0.6 "a little", nearer to a pole "mostly", then the pole."""
    if quality == 0.5:
        return LabelWords("", "neither", "")
    word = trait.positive_label if quality > 0.5 else trait.negative_label
    away = abs(quality - 0.5)
    how = "" if away > 0.4 else "mostly" if away > 0.15 else "a little"
    return LabelWords(how, word, "right" if quality > 0.5 else "left")


def title_of(total: int, wrong: int | None) -> str:
    """Return the title: how many samples there are, and how many are on the wrong side if that is known."""
    samples = count(total, "sample")
    if wrong is None:
        return samples
    return f"{samples}, {wrong:,} on the wrong side" if wrong else f"{samples}, none on the wrong side"


def sentence_of(total: int, tests: int, *, scored: bool) -> str:
    """Return the line below the title."""
    teach = f"{total - tests:,} {'teaches' if total - tests == 1 else 'teach'}"
    test = f", {tests:,} only {'tests' if tests == 1 else 'test'}" if tests else ""
    none = "" if tests else " None is set aside for testing."
    if scored:
        return f"{teach}{test}.{none} Each is scored by a model that had not seen it."
    return f"{teach}{test}.{none} After training, each is scored by a model that had not seen it."


def excerpt(text: str) -> str:
    """Return the beginning of a text in quotes, as Markdown."""
    return f"“{plain(shortened(' '.join(text.split()), _EXCERPT))}”"


def empty_title(traits: Sequence[Trait]) -> str:
    """Return the title of a model without samples, as Markdown."""
    if len(traits) != 1:
        return f"No samples yet: {_ENOUGH} texts for each side are enough to start"
    negative, positive = (
        plain(shortened(each, _POLE)) for each in (traits[0].negative_label, traits[0].positive_label)
    )
    return f"No samples yet: {_ENOUGH} {negative} and {_ENOUGH} {positive} ones are enough to start"


def differing(before: str, after: str) -> Iterator[tuple[str, bool]]:
    """Split a text into stretches, each with whether its words differ from those of the text before.

    The stretches together are the text. Where words are not divided by spaces, characters are compared. Of long texts
    that differ in many places, all between the first and the last difference counts as one.
    """
    old, new = _words(before), _words(after)
    if len(new) == 1 and len(old) == 1:
        old, new = list(before), list(after)
    shortest = min(len(old), len(new))
    start = next((at for at in range(shortest) if old[at] != new[at]), shortest)
    end = next((at for at in range(shortest - start) if old[-1 - at] != new[-1 - at]), shortest - start)
    yield from _stretch(new[:start], False)
    middle = old[start : len(old) - end], new[start : len(new) - end]
    if len(middle[0]) * len(middle[1]) > _MOST_COMPARED:
        yield from _stretch(middle[1], True)
    else:
        for kind, _, _, first, last in SequenceMatcher(None, *middle, autojunk=False).get_opcodes():
            yield from _stretch(middle[1][first:last], kind != "equal")
    yield from _stretch(new[len(new) - end :], False)


def _stretch(pieces: Sequence[str], differs: bool) -> Iterator[tuple[str, bool]]:
    if pieces:
        yield "".join(pieces), differs


def _words(text: str) -> list[str]:
    """The words of a text, each with the space after it."""
    words, start, is_space = list[str](), 0, False
    for at, character in enumerate(text):
        if is_space and not character.isspace():
            words.append(text[start:at])
            start = at
        is_space = character.isspace()
    return [*words, text[start:]] if text else []
