"""A whole model as one document, to be kept, checked and brought in elsewhere (ours, beside the specification).

`sha256` is over the canonical bytes of everything else in it: a document that was changed is refused.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from core.contract.fields import Integral, Received, Text, Time
from core.contract.models import ModelUpdate
from core.contract.samples import Provenance, SampleInput
from core.contract.traits import TraitInput
from core.contract.versions import TriggeredBy

FORMAT = "traitbench-bundle-1"


class BundledTrait(TraitInput):
    """A trait; `intrinsic` is what discovery found of it and null on one that a person gave."""

    intrinsic: dict[str, Any] | None


class BundledSample(SampleInput):
    """A sample."""

    provenance: Provenance


class BundledVersion(Received):
    """A version with its snapshot."""

    version_no: Annotated[int, Field(ge=1), Integral]
    triggered_by: TriggeredBy
    param_hash: Text
    sample_count: Annotated[int, Field(ge=0), Integral]
    created_at: Annotated[Time, Field(strict=False)]
    metrics: dict[str, Any]
    tags: list[Text]
    active: bool
    snapshot: dict[str, Any]


class Bundle(Received):
    """Answer of `GET /models/{handle}/export` and body of `POST /models/import`.

    `samples` is null when the model is under zero data retention.
    """

    format: Literal["traitbench-bundle-1"]
    sha256: Text
    handle: Text
    model: ModelUpdate
    traits: list[BundledTrait]
    samples: list[BundledSample] | None
    versions: list[BundledVersion]
