"""The texts that a training still has to read, for the estimate of its time."""

from collections.abc import Sequence
from itertools import islice

from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.local import preview
from traitbench.local.vectors import has_listener
from traitbench_app.shell.service import client
from traitbench_app.workspace.samples import all_samples

USUAL_LENGTH = 120
"""Characters of a text whose length is not known."""

_LOOKED_AT, _SOME = 2_000, 200


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


def _unread(samples: Sequence[Sample]) -> Sequence[Sample]:
    if not has_listener():
        return list({sample.content_sha256: sample for sample in samples}.values())
    try:
        return preview.unread(samples)
    except preview.PreviewUnavailable:
        return samples


def capitalised(words: str) -> str:
    """Return the words with a capital letter first."""
    return words[:1].upper() + words[1:]
