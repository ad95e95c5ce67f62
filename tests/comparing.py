"""Texts for comparisons of versions: what versions are trained with, and test samples apart from these."""

from collections.abc import Sequence
from typing import Any

from tests.conftest import COLD, WARM, train
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput

Pairs = Sequence[tuple[str, float]]

WARM_TESTS = (
    "You made my whole week, thank you for everything.",
    "We are so happy that you could join us tonight.",
    "Please rest, I will look after the children with pleasure.",
    "Your letter was a delight, and I read it to my mother.",
    "It means a lot to me that you stayed.",
    "Come in from the rain, my friend, the soup is ready.",
)
COLD_TESTS = (
    "Your complaint was rejected and the case is closed.",
    "Get out of my office and take your papers with you.",
    "You failed again, and I expected nothing else.",
    "Nobody here has time for you.",
    "Pay by Friday or we will cut off the supply.",
    "Do not call this number again.",
)
TESTS: Pairs = [*((text, 1.0) for text in WARM_TESTS), *((text, 0.0) for text in COLD_TESTS)]
LEARNED: Pairs = [*((text, 1.0) for text in WARM), *((text, 0.0) for text in COLD)]
FLIPPED: Pairs = [(text, 1.0 - quality) for text, quality in LEARNED]


def inputs(pairs: Pairs, trait: str = "warmth", **fields: Any) -> list[SampleInput]:
    """Samples of these texts and qualities."""
    return [SampleInput(trait=trait, text=text, quality=quality, **fields) for text, quality in pairs]


def trained_model(client: Traitbench, handle: str, samples: Sequence[SampleInput]) -> str:
    """The handle of a new model with the trait `warmth`, trained on these samples."""
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth")])
    client.samples.add(handle, list(samples))
    train(client, handle)
    return handle
