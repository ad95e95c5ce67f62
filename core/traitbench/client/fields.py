"""The named arguments of methods of the client, for the type checker."""

from typing import Any, Literal, TypedDict

from traitbench.contract.models import VersionRetentionPolicy

SynthType = Literal["from_traits", "diversify"]


class CreateFields(TypedDict, total=False):
    """The optional fields of a new model."""

    description: str
    scoring_method: str
    max_depth: int
    kind: str
    additional_terms: str | None
    upstream_sources: list[dict[str, Any]] | None
    readme_markdown: str | None
    zero_data_retention: bool


class UpdateFields(TypedDict, total=False):
    """The fields that can be changed. A field left out stays; None resets it to its default."""

    description: str | None
    scoring_method: str | None
    max_depth: int | None
    additional_terms: str | None
    upstream_sources: list[dict[str, Any]] | None
    readme_markdown: str | None
    zero_data_retention: bool | None
    version_retention_policy: VersionRetentionPolicy | None
    hold_if_worse: bool | None
    language_model_allowed: bool | None
    main_trait: str | None
    demo_texts: list[str] | None
