"""Whether the language model of the service may be asked for a model.

It is not asked for a model under zero retention, unless that is switched on for the model.
"""

from typing import Literal

from traitbench.errors import FeatureUnavailable
from traitbench.settings import Settings
from traitbench.store.models import ModelRow
from traitbench.synthesis.language_model import Endpoint, endpoint

Refusal = Literal["zero_retention", "not_wanted"]


def permitted(
    settings: Settings, *, sends_nothing: bool, wanted: bool | None
) -> tuple[Endpoint | None, Refusal | None]:
    """The language model to ask, or None and why the one of the settings is not asked; both None if there is none."""
    model = endpoint(settings)
    if model is None:
        return None, None
    if sends_nothing:
        return None, "zero_retention"
    return (None, "not_wanted") if wanted is False else (model, None)


def language_model(settings: Settings, model: ModelRow, *, wanted: bool | None) -> dict[str, str]:
    """The name of the language model to ask, as an option of the run; empty if none is asked.

    Raise `FeatureUnavailable` if one is demanded that cannot be asked.
    """
    asked, refusal = permitted(settings, sends_nothing=sends_nothing(model), wanted=wanted)
    if asked is None and wanted:
        raise FeatureUnavailable(
            f"{model.handle} is under zero data retention, so no language model is asked. Leave language_model out, or"
            " set language_model_allowed for the model."
            if refusal
            else "This service has no language model (TRAITBENCH_LLM_URL is not set). Leave language_model out.",
            details={"field": "language_model", "reason": refusal or "no_language_model"},
        )
    return {"language_model": asked.model} if asked else {}


def sends_nothing(model: ModelRow) -> bool:
    """Whether nothing of a model may be sent to a language model."""
    return model.zero_data_retention and not model.language_model_allowed
