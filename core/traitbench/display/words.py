"""What confidence promises, why it is not high, and which text is higher, in words that every view shares."""

from collections.abc import Mapping
from dataclasses import dataclass

from traitbench.contract.scores import Card, Comparison, Confidence, ConfidenceReason, TraitScore
from traitbench.display.barchart import TOTAL

PROMISE = (
    "High: the side is right at least 9 times in 10. Moderate: at least 3 in 4. Low: not known."
    " This holds for texts that the trait makes sense for."
)
"""What each level promises about the side of the middle that a text is on."""


@dataclass(frozen=True)
class Words:
    """A reason: a few words for tables, a sentence about one text, and what to do if a whole trait is like this.

    `less_sure` is the sentence about a text that leans to a side.
    """

    short: str
    sentence: str
    trait: str = ""
    less_sure: str = ""


REASONS: Mapping[ConfidenceReason, Words] = {
    "few_samples": Words(
        "few samples near this score",
        "Few of your samples have a score near this one. Add some that are like this text.",
        "There are too few samples to be sure of any score. Add samples at both poles.",
        "Few samples have a score near this one: less sure.",
    ),
    "not_separable": Words(
        "no clear difference",
        "The samples do not show a clear difference between the poles.",
        "The samples do not show a clear difference between the poles. Check their labels, or choose clearer poles.",
    ),
    "overlap": Words("both kinds get this score", "Texts of both kinds get this score."),
    "unlike_samples": Words(
        "unlike the samples",
        "This text is unlike the samples in subject or length, so its side is less sure.",
        less_sure="A new subject for these samples: less sure.",
    ),
}


def why(trait: TraitScore) -> str:
    """Why the confidence of a score is not high, as a sentence; empty if it is high or the service gave no reason."""
    return REASONS[trait.confidence_reason].sentence if trait.confidence_reason else ""


def why_less_sure(trait: TraitScore) -> str:
    """Why a text only leans to a side, as a sentence; empty for reasons with which no text leans."""
    return REASONS[trait.confidence_reason].less_sure if trait.confidence_reason else ""


def why_not_high(card: Card) -> dict[tuple[Confidence, str], list[str]]:
    """The keys of the traits whose confidence is not high, by confidence and the sentence that says why."""
    traits: dict[tuple[Confidence, str], list[str]] = {}
    for key, trait in card.detail.items():
        if trait.confidence != "high":
            traits.setdefault((trait.confidence, why(trait)), []).append(key)
    return traits


def why_short(trait: TraitScore) -> str:
    """The same in a few words, for tables."""
    return REASONS[trait.confidence_reason].short if trait.confidence_reason else ""


# ---- differences of a comparison -------------------------------------------------------------------------------------

_SURE: Mapping[int, str] = {1: "{} is higher (sure)", -1: "{} is lower (sure)"}
_NO_SURE_DIFFERENCE = "no sure difference"
_NOT_KNOWN = "not known if the difference is sure"


def verdict(delta: int, certain: bool | None, *, second: str = "b") -> str:
    """`b is higher (sure)`, `no sure difference`, or that the version cannot judge it; `second` names the text."""
    if certain is None:
        return _NOT_KNOWN
    sign = (delta > 0) - (delta < 0)
    return _SURE[sign].format(second) if certain else _NO_SURE_DIFFERENCE


def leaning(delta: int, certain: bool | None, *, positive_label: str, negative_label: str) -> str:
    """`closer to warm`, or `no sure difference`: where the second text is compared with the first."""
    if certain is False or not delta:
        return _NO_SURE_DIFFERENCE
    return f"closer to {positive_label if delta > 0 else negative_label}"


def sentences(comparison: Comparison, names: Mapping[str, str], *, second: str = "b") -> list[str]:
    """One sentence for each verdict with the names of its traits, then one for the composite of several traits."""
    by_verdict: dict[str, list[str]] = {}
    for key, each in comparison.per_trait.items():
        by_verdict.setdefault(verdict(each.delta, each.certain, second=second), []).append(names.get(key, key))
    said = [f"{_capitalized(words)}: {', '.join(traits)}." for words, traits in by_verdict.items()]
    if len(comparison.per_trait) > 1:
        total = verdict(comparison.improvement, comparison.certain, second=second)
        said.append(f"{TOTAL}: {total}.")
    return said


def _capitalized(words: str) -> str:
    return words[:1].upper() + words[1:]
