"""What texts are like: how many words they have, and in which languages they are."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from traitbench.analysis.nuisance import language
from traitbench.scoring.words import words

_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
_MOST_BARS = 14
_CLEARLY = 0.1
_LONG = 60  # words


@dataclass(frozen=True)
class Texts:
    """The number of words of each text, and how many are in each language that could be told."""

    words: Sequence[int]
    languages: Mapping[str, int]

    @property
    def median(self) -> int:
        """Half of the texts have at least so many words."""
        return int(median(self.words))

    @property
    def longest(self) -> int:
        """The number of words of the longest text."""
        return max(self.words)

    @property
    def main_languages(self) -> list[str]:
        """The languages of at least a tenth of the texts whose language is known, the most frequent first."""
        ranked = sorted(self.languages.items(), key=lambda each: (-each[1], each[0]))
        return [name for name, texts in ranked if texts >= _CLEARLY * sum(self.languages.values())]

    def histogram(self) -> tuple[int, list[int]]:
        """The width of a step in words, and how many texts are in each step from 0 on."""
        width = next((each for each in _STEPS if self.longest < each * _MOST_BARS), self.longest // _MOST_BARS + 1)
        steps = Counter(each // width for each in self.words)
        return width, [steps[place] for place in range(self.longest // width + 1)]


def is_long(text: str) -> bool:
    """Whether a text is easier to read by its sentences than by its words."""
    return len(words(text)) >= _LONG


def describe(texts: Iterable[str]) -> Texts | None:
    """Return what the texts are like; None without any."""
    every = list(texts)
    known = Counter(name for name in map(language, every) if name is not None)
    return Texts([len(words(text)) for text in every], known) if every else None
