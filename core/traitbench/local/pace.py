"""The estimated time of a training before it starts, split into reading and searching.

The work is known: the texts, the traits and the effort. How fast this machine does it now is measured. On a busy
machine it can only be said to lie between two times. `fitting.work` was measured with the default encoder; how much
slower or faster another one is, is measured once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from traitbench.contract.models import TrainEffort
from traitbench.contract.traits import Trait
from traitbench.encoders import Encoder, EncoderUnavailable
from traitbench.encoders.multilingual import ID as REFERENCE
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.vocabulary import words_to_encode
from traitbench.fitting import work as reference
from traitbench.fitting.fit import feature_blocks
from traitbench.fitting.search import EFFORTS
from traitbench.fitting.speed import Speed, speed_now
from traitbench.local.vectors import has_listener
from traitbench.settings import read_settings
from traitbench.synthesis.label_axis import WORDS

_TEXTS = tuple(f"The {thing} arrived late, but the people who brought it were kind." for thing in ("box", "tea", "cat"))
_ROUNDS = 5
_BLOCKS = 3  # the blocks of features that the search scales: early layer, static vectors and the rest

_measured: dict[str, float] = {}
_LONG, _MINUTE = 90, 60
_UNSURE = 1.6


@dataclass(frozen=True)
class Work:
    """The work of encoding texts and, for the first label axes, words; and of all the rest."""

    reading: float
    searching: float


def most_settings(effort: TrainEffort) -> int:
    """The most settings that an effort tries for a trait; fewer if the label axis is off or there are many samples."""
    return len(EFFORTS[effort].levels[-1].candidates(blocks=_BLOCKS, labels=True))


def work(
    setting: str | None, effort: str, per_trait: Sequence[int], lengths: Sequence[int], *, cache: Path, cold: bool
) -> Work:
    """The work of a training with the encoder of a TRAITBENCH_ENCODER setting, if texts of these lengths are new.

    `per_trait` are the numbers of samples. With `cold`, the words of the vocabulary count if `cache` lacks them.
    """
    try:
        encoder = load_encoder(setting, cache=cache)
    except EncoderUnavailable:
        return Work(reference.reading(lengths), reference.searching(effort, per_trait))
    words = words_to_encode(encoder, cache=cache, size=WORDS) if cold and per_trait else 0
    reading = (reference.reading(lengths) + reference.vocabulary(words)) * relative(encoder)
    widths = [mode.stop - mode.start for mode in encoder.modes.values()]
    blocks = len(feature_blocks(encoder.modes, encoder.dimension))
    searching = reference.searching(effort, per_trait, dimension=encoder.dimension, modes=widths, blocks=blocks)
    return Work(reading, searching + (reference.FIRST if words else 0.0))


def relative(encoder: Encoder) -> float:
    """How many times as long as the default encoder it takes to encode a text. Measured once for each encoder."""
    if encoder.id == REFERENCE:
        return 1.0
    if encoder.digest not in _measured:
        taken = []
        for _ in range(_ROUNDS):
            start = perf_counter()
            encoder.encode(_TEXTS)
            taken.append(perf_counter() - start)
        expected = reference.reading(map(len, _TEXTS), processors=1) * speed_now().fastest
        _measured[encoder.digest] = min(taken) / expected
    return _measured[encoder.digest]


@dataclass(frozen=True)
class Cost:
    """The work of reading the texts and of searching, in reference seconds, and the speed of this machine."""

    reading: float
    searching: float
    speed: Speed

    @property
    def seconds(self) -> float:
        """The likely seconds."""
        return (self.reading + self.searching) * self.speed.likely

    @property
    def in_short(self) -> str:
        """`about 4 s`, or `4 to 15 s` on a busy machine."""
        work = self.reading + self.searching
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
        cold = has_listener()
        needed = work(settings.encoder, effort, per_trait, lengths, cache=settings.cache, cold=cold)
        costs[effort] = Cost(needed.reading, needed.searching, speed)
    return costs


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


def _number(seconds: float) -> int:
    return round(seconds) if seconds < _LONG else round(seconds / _MINUTE)


def _unit(seconds: float) -> str:
    return "s" if seconds < _LONG else "min"
