"""Which pole a text is on, in words that every view shares: `clearly warm`, `probably cold`, `no clear side`."""

from collections.abc import Mapping
from dataclasses import dataclass

from traitbench.contract.scores import Confidence, ConfidenceReason, TraitScore
from traitbench.contract.traits import Trait

UNCLEAR = "no clear side"
"""Said of a score with low confidence, and of a score exactly in the middle."""

_HOW_SURE: Mapping[Confidence, str] = {"high": "clearly", "moderate": "probably", "low": ""}


COLOURS: Mapping[bool | None, str] = {True: "#C27708", False: "#6370DC", None: "#808080"}
"""The colours of the sides, by `Side.positive`: mid-tones with a contrast of at least 3:1 on light and dark pages."""

SIGNS: Mapping[bool | None, str] = {True: "▲", False: "▼", None: "■"}
"""The signs of the sides, because colour is never the only sign."""


@dataclass(frozen=True)
class Side:
    """The pole that a text is on. `positive` is None and `pole` is empty if no side is claimed.

    `how` is how sure that is, "clearly" or "probably", "leans to" for a lean, and empty without a side.
    """

    positive: bool | None
    how: str
    pole: str

    @property
    def words(self) -> str:
        """`clearly warm`, or `no clear side`."""
        return f"{self.how} {self.pole}" if self.positive is not None else UNCLEAR


def side_of(score: TraitScore, *, positive_label: str, negative_label: str) -> Side:
    """Return the side that a score claims; poles are named as the trait names them.

    Confidence promises how often the side is right, so a score with low confidence claims none.
    """
    return side_at(
        score.native.polarity, score.confidence, positive_label=positive_label, negative_label=negative_label
    )


def side_at(polarity: float, confidence: Confidence, *, positive_label: str, negative_label: str) -> Side:
    """Return the side that a score with this polarity (above 0 is the positive pole) and confidence claims."""
    if confidence == "low" or polarity == 0:
        return Side(None, "", "")
    positive = polarity > 0
    return Side(positive, _HOW_SURE[confidence], positive_label if positive else negative_label)


LEANS_TO = "leans to"

_LEANING: frozenset[ConfidenceReason | None] = frozenset({"few_samples", "unlike_samples"})


def lean_of(score: TraitScore, *, positive_label: str, negative_label: str) -> Side | None:
    """Return the side that a score without one leans to; None if it has a side, or if both poles get such scores.

    A lean promises nothing, so it is shown beside a text that somebody is editing, never in shares, tables or files.
    """
    polarity = score.native.polarity
    if score.confidence != "low" or score.confidence_reason not in _LEANING or score.score == 50:
        return None
    return Side(polarity > 0, LEANS_TO, positive_label if polarity > 0 else negative_label)


def label_of(trait: Trait, quality: float) -> str:
    """Return the label of a sample: `▲ warm`, `▼ cold`, `■ in between`; of others `▲ rather warm (0.75)`."""
    if quality == 0.5:
        return f"{SIGNS[None]} in between"
    pole = trait.positive_label if quality > 0.5 else trait.negative_label
    words = pole if quality in (0, 1) else f"rather {pole} ({quality:.4g})"
    return f"{SIGNS[quality > 0.5]} {words}"
