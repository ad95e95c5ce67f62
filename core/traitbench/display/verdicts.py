"""Verdicts in words: whether one version or encoder is better than another.

Programs read `better`, `worse`, `no_difference` and `unknown`; people read the words of this module, everywhere.
"""

from collections.abc import Mapping, Sequence

from traitbench.contract.comparisons import VersionVerdict
from traitbench.display.text import count

VERDICTS: Mapping[VersionVerdict, str] = {
    "worse": "worse",
    "better": "better",
    "no_difference": "no difference shown",
    "unknown": "not known",
}
"""The words of each verdict, from the one that decides first to the one that decides last."""


def title(verdict: VersionVerdict) -> str:
    """The words of a verdict as the start of a sentence."""
    return _sentence(VERDICTS[verdict])


def heading(verdict: VersionVerdict, other: str) -> str:
    """The verdict as a heading; `other` names what was compared with: `Better than acme.tone v3`."""
    headings: Mapping[VersionVerdict, str] = {
        "better": f"Better than {other}",
        "worse": f"Worse than {other}",
        "no_difference": f"No difference from {other} shown",
        "unknown": f"Cannot be compared with {other} yet",
    }
    return headings[verdict]


def overall(verdicts: Sequence[VersionVerdict]) -> VersionVerdict:
    """The verdict on all traits, by the verdicts on each: worse if one is worse, else better if one is better."""
    return next((each for each in VERDICTS if each in verdicts), "unknown")


def counted(verdicts: Sequence[VersionVerdict]) -> str:
    """How many traits have each verdict, such as `worse on 1 of 3 traits; better on 2`."""
    numbers = [(words, verdicts.count(each)) for each, words in VERDICTS.items() if each in verdicts]
    if not numbers:
        return VERDICTS["unknown"]
    (first, number), *others = numbers
    if len(verdicts) == 1:
        return first
    if not others:
        return f"{first} on {'both' if number == 2 else f'all {number:,}'} traits"
    return "; ".join([f"{first} on {number} of {count(len(verdicts), 'trait')}", *(f"{w} on {n}" for w, n in others)])


def reason(verdicts: Sequence[VersionVerdict]) -> str:
    """`counted` as a sentence."""
    return f"{_sentence(counted(verdicts))}."


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"
