"""What texts are like: how many words they have, and in which languages they are."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from traitbench.analysis.languages import count_languages
from traitbench.display.languages import main_languages, name_of
from traitbench.scoring.words import words

_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
_MOST_BARS = 14
_LONG = 60  # words


@dataclass(frozen=True)
class Texts:
    """The number of words of each text, and how many are in each language, by its code."""

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
        """The names of the languages of at least one in twenty texts in a clear language, the most frequent first."""
        return [*map(name_of, main_languages(self.languages))]

    def histogram(self) -> tuple[int, list[int]]:
        """The width of a step in words, and how many texts are in each step from 0 on."""
        width = next((each for each in _STEPS if self.longest < each * _MOST_BARS), self.longest // _MOST_BARS + 1)
        steps = Counter(each // width for each in self.words)
        return width, [steps[index] for index in range(self.longest // width + 1)]


def word_count(text: str) -> int:
    """Return the number of words of a text."""
    return len(words(text))


def is_long(text: str) -> bool:
    """Whether a text is easier to read by its sentences than by its words."""
    return word_count(text) >= _LONG


def describe(texts: Iterable[str]) -> Texts | None:
    """Return what the texts are like; None without any."""
    every = list(texts)
    return Texts([len(words(text)) for text in every], count_languages(every)[0]) if every else None
