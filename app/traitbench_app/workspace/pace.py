"""The work of a training with the encoder of this workbench, in the seconds of the reference machine of `cost`.

`cost` was measured with the default encoder. How much slower or faster another one is, is measured once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from traitbench.encoders import Encoder, EncoderUnavailable
from traitbench.encoders.full import ID as REFERENCE
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.vocabulary import words_to_encode
from traitbench.fitting import work as cost
from traitbench.fitting.fit import feature_blocks
from traitbench.fitting.speed import speed_now
from traitbench.synthesis.label_axis import WORDS

_TEXTS = tuple(f"The {thing} arrived late, but the people who brought it were kind." for thing in ("box", "tea", "cat"))
_ROUNDS = 5

_measured: dict[str, float] = {}


@dataclass(frozen=True)
class Work:
    """The work of encoding texts and, for the first label axes, words; and of all the rest."""

    reading: float
    searching: float


def work(
    setting: str | None, effort: str, per_trait: Sequence[int], lengths: Sequence[int], *, cache: Path, cold: bool
) -> Work:
    """The work of a training with the encoder of a TRAITBENCH_ENCODER setting, if texts of these lengths are new.

    `per_trait` are the numbers of samples. With `cold`, the words of the vocabulary count if `cache` lacks them.
    """
    try:
        encoder = load_encoder(setting, cache=cache)
    except EncoderUnavailable:
        return Work(cost.reading(lengths), cost.searching(effort, per_trait))
    words = words_to_encode(encoder, cache=cache, size=WORDS) if cold and per_trait else 0
    reading = (cost.reading(lengths) + cost.vocabulary(words)) * relative(encoder)
    widths = [mode.stop - mode.start for mode in encoder.modes.values()]
    blocks = len(feature_blocks(encoder.modes, encoder.dimension))
    searching = cost.searching(effort, per_trait, dimension=encoder.dimension, modes=widths, blocks=blocks)
    return Work(reading, searching + (cost.FIRST if words else 0.0))


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
        expected = cost.reading(map(len, _TEXTS), processors=1) * speed_now().fastest
        _measured[encoder.digest] = min(taken) / expected
    return _measured[encoder.digest]
