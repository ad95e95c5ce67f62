"""Texts to try on a model: its own list, else the unseen examples of a demo model, else its samples."""

from functools import cache
from itertools import islice

from traitbench.contract.models import Model
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


def texts_of(model: Model) -> list[str]:
    """Return the texts to try; raise the service's errors."""
    return model.demo_texts or examples(model.handle) or sample_texts(model.handle)


def texts_to_try(model: Model) -> list[str]:
    """Return the texts to try. If there are none, return an empty list and show the reason after the rerun."""
    try:
        texts = texts_of(model)
    except TraitbenchError:
        session.flash("This workbench's API key cannot read the samples of this model.", "problem")
        return []
    if not texts:
        session.flash("This model has no samples yet.", "note")
    return texts


@cache
def _of_demos() -> dict[str, tuple[str, ...]]:
    return {model.handle: tuple(model.examples) for model in demo_models()}
