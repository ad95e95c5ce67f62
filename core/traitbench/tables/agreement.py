"""The agreement of raters in sentences and tables, for pages and for the command line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from traitbench.analysis.agreement import (
    Agreement,
    Item,
    agreement,
    alpha,
    difference_interval,
    in_words,
    pairs,
    share_interval,
)
from traitbench.display.text import count
from traitbench.tables.rating_files import Ratings

COLUMNS = ("Trait", "Raters", "In words", "Same side", "Texts", "Kappa", "95 %")
"""The columns of `rows`."""

# Three steps of `WORDS`: across so many, a word would claim more than the texts show.
_TOO_WIDE = 0.6


@dataclass(frozen=True)
class Pair:
    """Two raters and their agreement on one trait."""

    trait: str
    first: str
    second: str
    agreement: Agreement


def all_pairs(ratings: Ratings) -> list[Pair]:
    """Compare every two raters, trait by trait."""
    names = ratings.raters
    return [
        Pair(trait, names[one], names[other], result)
        for trait in ratings.traits
        for one, other, result in pairs(ratings.of_trait(trait))
    ]


def with_yours(ratings: Ratings, rater: str, trait: str, yours: Mapping[Item, float]) -> Pair:
    """Compare a rater with your labels of a trait."""
    given = ratings.by_rater[rater]
    both = [(given[item], quality) for item, quality in yours.items() if item[0] == trait and item in given]
    own = np.array(both, np.float64).reshape(-1, 2)
    return Pair(trait, rater, "you", agreement(own[:, 0], own[:, 1]))


def alphas(ratings: Ratings) -> dict[str, float | None]:
    """Return the alpha of all raters by trait; empty if there are only two, because kappa says the same."""
    if len(ratings.raters) < 3:
        return {}
    return {trait: alpha(ratings.of_trait(trait)) for trait in ratings.traits}


def rows(compared: Sequence[Pair], names: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return the figures as text, with the columns of `COLUMNS`. `names` are the names of traits by key."""
    return [
        (
            names.get(pair.trait, pair.trait),
            f"{pair.first}, {pair.second}",
            meaning(pair.agreement) or ("only one label" if pair.agreement.texts else "no text in common"),
            "" if pair.agreement.share is None else percent(pair.agreement.share),
            f"{pair.agreement.texts:,}",
            "" if pair.agreement.kappa is None else _figure(pair.agreement.kappa),
            "" if pair.agreement.interval is None else span(pair.agreement.interval),
        )
        for pair in compared
    ]


def sentence(pair: Pair, *, first: str, second: str, trait: str = "") -> str:
    """Return the agreement as a sentence; `first` is its subject, such as "The labels in `gpt`"."""
    result = pair.agreement
    if not result.texts:
        return f"{first} and {second} have no text in common{trait}."
    text = (
        f"{first} agree with {second} on {result.agreed:,} of {count(result.texts, 'text')}"
        f" ({percent(result.agreed / result.texts)}){trait}"
    )
    if result.kappa is None or result.interval is None:
        return f"{text}. {result.why_not}"
    return f"{text}; kappa {_figure(result.kappa)}, 95 % interval {span(result.interval)}."


def meaning(result: Agreement) -> str | None:
    """Say what the kappa means, or that its interval is too wide to say; None without a kappa."""
    if result.kappa is None or result.interval is None:
        return None
    low, high = result.interval
    return "too few texts to tell" if high - low > _TOO_WIDE else in_words(result.kappa)


def figures(compared: Sequence[Pair]) -> list[dict[str, Any]]:
    """Return the figures as JSON values."""
    return [
        {
            "trait": pair.trait,
            "raters": [pair.first, pair.second],
            "texts": pair.agreement.texts,
            "agreed": pair.agreement.agreed,
            "share": pair.agreement.share,
            "kappa": pair.agreement.kappa,
            "kappa_interval": None if pair.agreement.interval is None else list(pair.agreement.interval),
            "in_words": meaning(pair.agreement),
            "why_not": pair.agreement.why_not,
        }
        for pair in compared
    ]


@dataclass(frozen=True)
class Right:
    """How often someone is on your side: on `number` of `of` texts."""

    number: int
    of: int

    def __str__(self) -> str:
        """Such as `34 of 40 (85 %, 71 to 93 %)`."""
        low, high = share_interval(self.number, self.of)
        return f"{self.number:,} of {self.of:,} ({percent(self.number / self.of)}, {100 * low:.0f} to {percent(high)})"


def lost(rater: Sequence[bool], model: Sequence[bool]) -> tuple[float, float, float]:
    """Return the share of texts that a model gets wrong more than its rater, with the 95 % interval, in points."""
    one, other = np.array(rater, bool), np.array(model, bool)
    low, high = difference_interval(one, other)
    return 100 * float(one.mean() - other.mean()), 100 * low, 100 * high


def percent(share: float) -> str:
    """Format a share; only what is all is 100 %, and only nothing is 0 %."""
    points = 100 * share
    shown = points if points in (0, 100) else min(99.0, max(1.0, points))
    return f"{shown:.0f} %"


def span(interval: tuple[float, float]) -> str:
    """Format an interval of kappa."""
    return " to ".join(map(_figure, interval))


def _figure(value: float) -> str:
    """Format a kappa; only perfect agreement is 1.00."""
    shown = value if value == 1 else min(value, 0.99)
    return f"{shown:.2f}".replace("-0.00", "0.00").replace("-", "−")
