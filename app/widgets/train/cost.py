"""The estimated time of a training before it starts, split into reading and searching."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from traitbench.app.shell.text import count
from traitbench.contract.models import TrainEffort
from traitbench.contract.traits import Trait
from traitbench.scoring.cost import estimate

_LONG = 90


@dataclass(frozen=True)
class Cost:
    """Estimated seconds for reading `texts` and for searching `traits`."""

    reading: float
    searching: float
    texts: int
    traits: int

    @property
    def in_short(self) -> str:
        """`about 4 s`."""
        return duration(self.reading + self.searching)


def costs_of(efforts: Sequence[TrainEffort], traits: Sequence[Trait], to_read: int) -> dict[TrainEffort, Cost]:
    """The cost of each effort if `to_read` texts are not encoded yet."""
    per_trait = [trait.sample_count for trait in traits if trait.kind == "extrinsic"]

    def cost_of(effort: TrainEffort) -> Cost:
        searching = estimate(effort, samples_per_trait=per_trait, to_encode=0)
        whole = estimate(effort, samples_per_trait=per_trait, to_encode=to_read)
        return Cost(max(whole - searching, 0.0), searching, to_read, len(per_trait))

    return {effort: cost_of(effort) for effort in efforts}


def captions(descriptions: Mapping[TrainEffort, str], costs: Mapping[TrainEffort, Cost]) -> list[str]:
    """One caption per effort: what it searches and how long it takes."""
    return [f"{text} {costs[effort].in_short.capitalize()}." for effort, text in descriptions.items()]


def draw_basis(cost: Cost) -> None:
    """Draw the parts of the estimated time, with its assumptions in the tooltip."""
    reading = f"{duration(cost.reading)} to read {count(cost.texts, 'text')}" if cost.texts else "no texts to read"
    searching = f"{duration(cost.searching)} to fit {count(cost.traits, 'trait')}"
    st.caption(
        f":material/timer: {cost.in_short.capitalize()}: {reading}, {searching}.",
        help="An estimate for short texts on a machine with two processors. Long texts and a busy machine take longer. "
        "Texts that were read before are not read again.",
    )


def duration(seconds: float) -> str:
    """`less than a second`, `about 4 s`, `about 3 min`."""
    if seconds < 1:
        return "less than a second"
    return f"about {round(seconds)} s" if seconds < _LONG else f"about {round(seconds / 60)} min"
