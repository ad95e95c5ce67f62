"""The estimated time of a training before it starts, split into reading and searching.

The work is known: the texts, the traits and the effort. How fast this machine does it now is measured. On a busy
machine it can only be said to lie between two times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import streamlit as st

from traitbench.contract.models import Model, TrainEffort
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.display.text import count
from traitbench.fitting.speed import Speed, speed_now
from traitbench.local import handover
from traitbench.settings import read_settings
from traitbench_app.shell.service import client
from traitbench_app.workspace import pace, preview
from traitbench_app.workspace.samples import all_samples

USUAL_LENGTH = 120
"""Characters of a text whose length is not known."""

_LONG, _MINUTE = 90, 60
_UNSURE = 1.6
_LOOKED_AT, _SOME = 2_000, 200


@dataclass(frozen=True)
class Cost:
    """The work of reading `texts` and of searching `traits`, in reference seconds, and the speed of this machine."""

    reading: float
    searching: float
    texts: int
    traits: int
    speed: Speed

    @property
    def in_short(self) -> str:
        """`about 4 s`, or `4 to 15 s` on a busy machine."""
        return self._duration(self.reading + self.searching)

    @property
    def parts(self) -> str:
        """`3 to 12 s to read 1,000 texts, about 2 s to fit 1 trait`."""
        read = (
            f"{self._duration(self.reading)} to read {count(self.texts, 'text')}" if self.texts else "no texts to read"
        )
        return f"{read}, {self._duration(self.searching)} to fit {count(self.traits, 'trait')}"

    def _duration(self, work: float) -> str:
        return duration(work * self.speed.least, work * self.speed.most, work * self.speed.likely)


def costs_of(
    efforts: Sequence[TrainEffort], traits: Sequence[Trait], lengths: Sequence[int]
) -> dict[TrainEffort, Cost]:
    """The cost of each effort if texts of these numbers of characters are not encoded yet."""
    per_trait = [trait.sample_count for trait in traits if trait.kind == "extrinsic"]
    speed, settings = speed_now(), read_settings()
    costs = {}
    for effort in efforts:
        # Only the cache of a service in this process is known here.
        cold = handover.is_connected()
        work = pace.work(settings.encoder, effort, per_trait, lengths, cache=settings.cache, cold=cold)
        costs[effort] = Cost(work.reading, work.searching, len(lengths), len(per_trait), speed)
    return costs


def unread_lengths(model: Model, traits: Sequence[Trait]) -> list[int]:
    """The numbers of characters of the texts that a training of the draft still has to encode.

    Texts that a check in this process has read are not encoded again. Of many samples, some are looked at.
    """
    total = sum(trait.stored_samples for trait in traits)
    if total <= _LOOKED_AT:
        samples = all_samples(model.handle, traits)
    else:
        samples = list(islice(client().samples.list(model.handle, limit=_SOME), _SOME))
    lengths = [len(sample.text) for sample in _unread(samples)]
    if len(samples) >= total or not samples:
        return lengths
    unread = round(total * len(lengths) / len(samples))
    return [lengths[at % len(lengths)] for at in range(unread)]


def captions(descriptions: Mapping[TrainEffort, str], costs: Mapping[TrainEffort, Cost]) -> list[str]:
    """One caption per effort: what it searches and how long it takes."""
    return [f"{text} {_capitalised(costs[effort].in_short)}." for effort, text in descriptions.items()]


def draw_basis(cost: Cost) -> None:
    """Draw the parts of the estimated time, with its assumptions in the tooltip."""
    st.caption(
        f":material/timer: {_capitalised(cost.in_short)}: {cost.parts}.",
        help="An estimate from the length of the texts and the speed of this machine now. The range is wider when the "
        "machine is busy. Texts that a check has already read are not read again. The first training with an encoder "
        "also reads the words of its vocabulary.",
    )


def duration(least: float, most: float, likely: float) -> str:
    """`less than a second`, `about 4 s`, `4 to 15 s`, `40 s to 3 min`, `about 3 min`."""
    if most < 1:
        return "less than a second"
    if most <= _UNSURE * max(least, 1.0):
        middle = max(likely, 1.0)
        return f"about {_number(middle)} {_unit(middle)}"
    low, high = (_number(least), _unit(least)), (_number(most), _unit(most))
    if least < 1:
        return f"up to {high[0]} {high[1]}"
    return f"{low[0]} to {high[0]} {high[1]}" if low[1] == high[1] else f"{low[0]} {low[1]} to {high[0]} {high[1]}"


def _unread(samples: Sequence[Sample]) -> Sequence[Sample]:
    if not handover.is_connected():
        return list({sample.content_sha256: sample for sample in samples}.values())
    try:
        return preview.unread(samples)
    except preview.PreviewUnavailable:
        return samples


def _number(seconds: float) -> int:
    return round(seconds) if seconds < _LONG else round(seconds / _MINUTE)


def _unit(seconds: float) -> str:
    return "s" if seconds < _LONG else "min"


def _capitalised(words: str) -> str:
    return words[:1].upper() + words[1:]
