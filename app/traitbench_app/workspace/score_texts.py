"""Texts to try on a model: demo models have unseen examples, other models have their samples."""

from functools import cache
from itertools import islice

from traitbench.errors import TraitbenchError
from traitbench.sample_data import demo_models
from traitbench_app.shell import session
from traitbench_app.shell.service import client

_LOOKED_AT = 200


def examples(handle: str) -> list[str]:
    """Return texts that are not among the model's samples; empty unless it is a demo model."""
    return list(_of_demos().get(handle, ()))


def sample_texts(handle: str) -> list[str]:
    """Return the texts of the model's first samples, without duplicates; raise the service's errors."""
    samples = islice(client().samples.list(handle, limit=_LOOKED_AT), _LOOKED_AT)
    return list(dict.fromkeys(sample.text for sample in samples))


def texts_to_try(handle: str) -> list[str]:
    """Return examples or, failing that, samples of the model.

    If there are none, return an empty list and show the reason after the rerun.
    """
    try:
        texts = examples(handle) or sample_texts(handle)
    except TraitbenchError:
        session.flash("This workbench's API key cannot read the samples of this model.", "problem")
        return []
    if not texts:
        session.flash("This model has no samples yet.", "note")
    return texts


@cache
def _of_demos() -> dict[str, tuple[str, ...]]:
    return {model.handle: tuple(model.examples) for model in demo_models()}
