"""Texts and models for benchmarks that measure time: no text comes twice, or its vector would be there already."""

from collections.abc import Iterator, Sequence
from itertools import count, islice

import numpy as np

from tests.contexts import AUTHOR, COLD, WARM
from traitbench.contract.models import ModelCreate
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.operations import models, samples, traits
from traitbench.operations.context import Context

_SENTENCE = (
    "the committee thanked everyone for a long and careful evening of questions about roads schools water trees "
    "money time music bread winter letters neighbours gardens bridges colours numbers stories doctors engines maps"
)
WORDS = _SENTENCE.split()


def texts_of(number: int, seed: int = 0) -> list[str]:
    """So many different texts of twenty words."""
    return list(islice(endless(seed), number))


def endless(seed: int) -> Iterator[str]:
    """Different texts of twenty words."""
    lot = np.random.default_rng(seed)
    for number in count():
        yield " ".join([*lot.choice(WORDS, 19), str(number)])


def make_draft(context: Context, handle: str, names: Sequence[str], *, times: int) -> None:
    """A draft of these traits, each with `times` times eight different samples."""
    models.create(context, AUTHOR, ModelCreate(handle=handle))
    traits.add(context, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name=name) for name in names]))
    numbers = count()
    sent = [
        SampleInput(trait=name, text=f"{text} {next(numbers)}", quality=quality)
        for name in names
        for _ in range(times)
        for quality, texts in ((1.0, WARM), (0.0, COLD))
        for text in texts
    ]
    for first in range(0, len(sent), 500):
        samples.add(context, AUTHOR, handle, SamplesCreate(samples=sent[first : first + 500]))
