"""The arguments of the tools. The field descriptions are written for a language model."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from traitbench.contract.comparisons import PINNED
from traitbench.contract.extracts import is_url
from traitbench.contract.fields import WithoutNul
from traitbench.contract.samples import LONGEST_TEXT
from traitbench.names import HANDLE

MOST_TEXTS = 20
MOST_PROPOSED = 50

Handle = Annotated[str, Field(pattern=f"^{HANDLE.pattern}$", description="The model, such as acme.tone.")]
PinnedHandle = Annotated[
    str, Field(pattern=PINNED, description="The model, such as acme.tone, or one version of it, such as acme.tone@v3.")
]
Traits = Annotated[
    list[str] | None, Field(min_length=1, description="Keys of the traits to look at. Leave it out for all traits.")
]


def _no_address(text: str) -> str:
    if is_url(text):
        raise ValueError("this is an address; the tool does not fetch pages, so send the text itself")
    return text


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ListModels(_Arguments):
    """Arguments of `list_models`."""

    namespace: Annotated[
        str | None,
        Field(description="A namespace that the key owns. Leave it out for all models of the key and the public ones."),
    ] = None


class ModelStatus(_Arguments):
    """Arguments of `model_status`."""

    handle: Handle


class Score(_Arguments):
    """Arguments of `score`."""

    handle: PinnedHandle
    text: Annotated[str, Field(description="The text itself, not the address of a page.")]
    traits: Traits = None

    _text = field_validator("text")(_no_address)


class Explain(Score):
    """Arguments of `explain`."""


class CompareTexts(_Arguments):
    """Arguments of `compare_texts`."""

    handle: PinnedHandle
    a: Annotated[str, Field(description="The first text, such as the original.")]
    b: Annotated[str, Field(description="The second text, such as the revision.")]
    traits: Traits = None

    _texts = field_validator("a", "b")(_no_address)


class CompareVersions(_Arguments):
    """Arguments of `compare_versions`."""

    a: Annotated[str, Field(pattern=PINNED, description="The first version, such as acme.tone@v3.")]
    b: Annotated[str, Field(pattern=PINNED, description="The second version; a handle alone is the active version.")]
    texts: Annotated[
        list[str] | None,
        Field(min_length=1, max_length=MOST_TEXTS, description="Texts to score with both versions, if any."),
    ] = None


class Proposal(_Arguments):
    """One sample that an agent proposes."""

    trait: Annotated[str, Field(max_length=200, description="The key of the trait, from model_status."), WithoutNul]
    text: Annotated[
        str, Field(min_length=1, max_length=LONGEST_TEXT, description="The text of the sample."), WithoutNul
    ]
    quality: Annotated[
        float, Field(ge=0, le=1, description="1 is the positive pole of the trait, 0 the negative pole.")
    ]


class ProposeSamples(_Arguments):
    """Arguments of `propose_samples`."""

    handle: Handle
    samples: Annotated[list[Proposal], Field(min_length=1, max_length=MOST_PROPOSED)]
