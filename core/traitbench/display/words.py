"""What confidence promises, and why it is not high, in words for people. Every view takes its words from here."""

from collections.abc import Mapping
from dataclasses import dataclass

from traitbench.contract.scores import Card, Confidence, ConfidenceReason, TraitScore

PROMISE = (
    "High: the side is right at least 9 times in 10. Moderate: at least 3 in 4. Low: not known."
    " This holds for texts that the trait makes sense for."
)
"""What each level promises about the side of the middle that a text is on."""


@dataclass(frozen=True)
class Words:
    """A reason: a few words for tables, a sentence about one text, and what to do if a whole trait is like this."""

    short: str
    sentence: str
    trait: str = ""


REASONS: Mapping[ConfidenceReason, Words] = {
    "few_samples": Words(
        "few samples near this score",
        "Few of your samples have a score near this one. Add some that are like this text.",
        "There are too few samples to be sure of any score. Add samples at both poles.",
    ),
    "not_separable": Words(
        "no clear difference",
        "The samples do not show a clear difference between the poles.",
        "The samples do not show a clear difference between the poles. Check their labels, or choose clearer poles.",
    ),
    "overlap": Words("both kinds get this score", "Texts of both kinds get this score."),
    "unlike_samples": Words(
        "unlike the samples", "This text is unlike the samples in subject or length, so the score means little."
    ),
}


def why(trait: TraitScore) -> str:
    """Why the confidence of a score is not high, as a sentence; empty if it is high or the service gave no reason."""
    return REASONS[trait.confidence_reason].sentence if trait.confidence_reason else ""


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
