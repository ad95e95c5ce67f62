"""A score card as rows for the bars: the poles of each trait, the side of the text, how sure it is, and why.

A bar runs from the middle of the axis towards the pole that the text is nearer to. A bar of moderate confidence is
pale. A score of low confidence claims no side: its bar is grey and hatched.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any

import pandas as pd

from traitbench.contract.metrics import Pole
from traitbench.contract.scores import Card, Comparison, Confidence, TraitScore
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.colours import NEGATIVE_SIGN, POSITIVE_SIGN, SIDES
from traitbench.display.pictures import ticks
from traitbench.display.sides import side_of
from traitbench.display.words import leaning, why, why_short

Names = Mapping[str, str]
Samples = Mapping[str, Mapping[Pole, Sequence[int]]]
Poles = Mapping[str, tuple[str, str]]
"""The labels of the negative and the positive pole, by trait key."""


# Drawn as text and boxes. A Plotly figure is rebuilt for every text, its type does not scale with the page, and a
# browser loads 4.7 MB before the first one.
@dataclass(frozen=True)
class ScoreRow:
    """One bar. `words` say which side the text is on, `note` why that is not sure.

    `colour` is that of the words, `fill` that of the bar.

    `ticks` are the samples of the trait by their scores, as HTML. With a score `before`, the row shows the change from
    there to `score`, and `words` say where it goes.
    """

    name: str
    negative: str
    positive: str
    score: int
    words: str
    note: str
    sign: str
    colour: str
    fill: str
    sure: Confidence
    before: int | None = None
    ticks: str = ""

    @property
    def data(self) -> dict[str, Any]:
        """The row for the browser."""
        return {**asdict(self), "alt": self.alt}

    @property
    def alt(self) -> str:
        """The row in words: `Warmth: clearly warm, 84 from 0, cold, to 100, warm`."""
        scores = f"{self.score}" if self.before is None else f"{self.before} to {self.score}"
        return f"{self.name}: {self.words}, {scores} from 0, {self.negative}, to 100, {self.positive}"


def poles_of(traits: Sequence[Trait]) -> Poles:
    """Return the labels of the poles, by trait key."""
    return {trait.key: (trait.negative_label, trait.positive_label) for trait in traits}


def ordered(keys: Sequence[str], main: str | None) -> list[str]:
    """Return the keys with the main trait first."""
    return sorted(keys, key=lambda key: key != main)


def score_counts(version: Version) -> Samples:
    """The samples of a version by the scores of a model that had not seen them, by trait key."""
    return {key: each.score_counts for key, each in version.metrics.traits.items() if each.score_counts}


def rows(
    card: Card,
    names: Names,
    poles: Poles,
    *,
    main: str | None = None,
    reasons: bool = True,
    samples: Samples = MappingProxyType({}),
) -> list[ScoreRow]:
    """One row per trait; without `reasons` no row says why it is not sure."""
    return [
        replace(
            _row(key, card.detail[key], names, poles, reason=reasons),
            ticks=ticks(samples[key]) if key in samples else "",
        )
        for key in ordered([*card.detail], main)
    ]


def pair_rows(comparison: Comparison, names: Names, poles: Poles, *, main: str | None = None) -> list[ScoreRow]:
    """One row per trait of two texts, from the first to the second: sure differences first, the largest first."""
    deltas = comparison.per_trait
    by_size = sorted(deltas, key=lambda key: (deltas[key].certain is False, -abs(deltas[key].delta)))
    return [_pair_row(key, comparison, names, poles) for key in ordered(by_size, main)]


def pair_table(comparison: Comparison, names: Names) -> pd.DataFrame:
    """The figures of two texts, one row per trait."""
    return pd.DataFrame(
        [
            {
                "Trait": names.get(key, key),
                "Text": each.a,
                "Second text": each.b,
                "Change": each.delta,
                "Sure": each.certain,
            }
            for key, each in comparison.per_trait.items()
        ]
    )


def signed(delta: int) -> str:
    """A change as text: `▲ +7`, `▼ −3` or `=`."""
    if delta == 0:
        return "="
    return f"{POSITIVE_SIGN} +{delta}" if delta > 0 else f"{NEGATIVE_SIGN} −{-delta}"


def table(detail: Mapping[str, TraitScore], names: Names) -> pd.DataFrame:
    """The figures of a card, one row per trait."""
    return pd.DataFrame(
        [
            {
                "Trait": names.get(key, key),
                "Score": trait.score,
                "Tier": trait.label,
                "Confidence": trait.confidence,
                "Why not high": why_short(trait) or None,
                "Band low": trait.band[0],
                "Band high": trait.band[1],
                "To next tier": trait.headroom,
                "Developing from": trait.breaks.developing,
                "Solid from": trait.breaks.solid,
                "Strong from": trait.breaks.strong,
                "Polarity": round(trait.native.polarity, 4),
            }
            for key, trait in detail.items()
        ]
    )


def _row(key: str, trait: TraitScore, names: Names, poles: Poles, *, reason: bool) -> ScoreRow:
    negative, positive = poles.get(key, ("negative", "positive"))
    side = side_of(trait, positive_label=positive, negative_label=negative)
    look = SIDES[side.positive]
    return ScoreRow(
        name=names.get(key, key),
        negative=negative,
        positive=positive,
        score=trait.score,
        words=side.words,
        note=why(trait) if reason else "",
        sign=look.sign,
        colour=look.words,
        fill=look.colour,
        sure=trait.confidence,
    )


def _pair_row(key: str, comparison: Comparison, names: Names, poles: Poles) -> ScoreRow:
    negative, positive = poles.get(key, ("negative", "positive"))
    each = comparison.per_trait[key]
    sure = each.certain is not False and each.delta != 0
    look = SIDES[each.delta > 0 if sure else None]
    return ScoreRow(
        name=names.get(key, key),
        negative=negative,
        positive=positive,
        score=each.b,
        words=leaning(each.delta, each.certain, positive_label=positive, negative_label=negative),
        note="It is not known if this difference is sure." if each.certain is None and each.delta else "",
        sign=look.sign,
        colour=look.words,
        fill=look.colour,
        sure="low" if not sure else "moderate" if each.certain is None else "high",
        before=each.a,
    )
