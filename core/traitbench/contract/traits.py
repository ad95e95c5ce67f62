"""Traits on the wire (core/docs/api.md, "Traits")."""

from typing import Annotated, Literal, TypedDict

from pydantic import AfterValidator, Field

from traitbench.contract.fields import (
    Count,
    Description,
    Integral,
    Label,
    Readable,
    Received,
    Returned,
    Unreadable,
    WithoutNul,
    schema,
)
from traitbench.contract.models import Effort
from traitbench.contract.samples import LONGEST_TEXT
from traitbench.names import is_key

Aggregation = Literal["mean", "max", "min", "none"]
Share = Annotated[float, schema(minimum=0, maximum=1)]
TraitKind = Literal["extrinsic", "intrinsic"]


def _grammatical(key: str) -> str:
    if not is_key(key):
        raise ValueError("Use 1-64 letters or digits of any script, '_' or '-'")
    return key


# In a schema's patterns \w is ASCII, and no class for letters and digits of all scripts works in every engine.
Key = Annotated[
    str, WithoutNul, AfterValidator(_grammatical), schema(pattern=r"^([A-Za-z0-9_-]|[^\u0000-\u007f]){1,64}$")
]


class TraitInput(Received):
    """A trait to add, or to change if its key exists."""

    name: Label
    key: Key | None = None
    description: Description = ""
    positive_label: Label = "positive"
    negative_label: Label = "negative"
    aggregation: Aggregation = "mean"


class TraitsCreate(Received):
    """Body of `POST /models/{handle}/traits`."""

    traits: Annotated[list[TraitInput], Field(min_length=1)]


class TraitUpdate(Received):
    """Body of `PATCH /models/{handle}/traits/{key}`: null means unchanged.

    `index` moves the trait among those of the model: 0 is the first, and a number beyond the last is the last. Scores
    of later versions are in that order.

    The last two are for intrinsic traits. `flip` exchanges the poles first; the other fields then apply to the result.
    `suggestion: false` keeps a suggestion; `true` makes an unchanged trait a suggestion again, also one that
    was deleted as a suggestion.
    """

    name: Label | None = None
    description: Description | None = None
    positive_label: Label | None = None
    negative_label: Label | None = None
    aggregation: Aggregation | None = None
    index: Annotated[int, Field(ge=0, le=2**31 - 1), Integral] | None = None
    flip: bool | None = None
    suggestion: bool | None = None


class TraitFields(TypedDict, total=False):
    """The fields of a `TraitUpdate` as keyword arguments; None means unchanged."""

    name: str | None
    description: str | None
    positive_label: str | None
    negative_label: str | None
    aggregation: Aggregation | None
    index: int | None
    flip: bool | None
    suggestion: bool | None


class AnchorSampleIds(Returned):
    """The samples that typify each pole of an intrinsic trait."""

    positive: list[int]
    negative: list[int]


class PoleTerms(Returned):
    """Phrases, or hashes of texts, of each pole; the most typical first."""

    positive: list[str]
    negative: list[str]


class Overlap(Returned):
    """How the scores of two traits go together: 1 the same, 0 not at all, -1 the opposite."""

    trait: str
    correlation: Annotated[float, schema(minimum=-1, maximum=1)]


class Discovered(Returned):
    """What discovery found out about an intrinsic trait.

    A `suggestion` has not been touched by anyone, and the next discovery replaces it. `typical` has the
    `content_sha256` of the most typical texts. `histogram` counts the texts in equal steps from 3 standard deviations
    below the middle to 3 above it. Zero data retention removes all that was taken from texts.
    """

    suggestion: bool
    texts: Count | None
    stability: Share | None
    phrases: PoleTerms
    typical: PoleTerms
    histogram: list[Count]
    overlaps: list[Overlap]


class Trait(Returned):
    """A trait with its sample counts; `discrimination` and the two after it are null on extrinsic traits.

    Training counts only the samples that it uses: `held_out_samples` are not among `sample_count`. `discovered` is
    there on intrinsic traits for keys that may read the samples.
    """

    key: str
    name: str
    positive_label: str
    negative_label: str
    sample_count: Count
    positive_samples: Count
    negative_samples: Count
    held_out_samples: Count
    description: str
    kind: TraitKind
    aggregation: Aggregation
    discrimination: Share | None
    explained_variance: Share | None
    anchor_sample_ids: AnchorSampleIds | None
    discovered: Discovered | None = Field(default=None, exclude_if=lambda value: value is None)

    @property
    def stored_samples(self) -> int:
        """All samples of the trait: those to train with and the test samples."""
        return self.sample_count + self.held_out_samples


class TraitList(Returned):
    """Traits, in order; `unreadable` names those that could not be read, and is absent when there are none."""

    traits: list[Trait]
    unreadable: list[Unreadable] = Field(default=[], exclude_if=lambda value: not value)


MOST_UNLABELLED = 2_000
"""Texts without labels in one request; a discovery analyses as many texts at most."""


class DiscoverRequest(Received):
    """Body of `POST /models/{handle}/traits/discover`; no body is `{}`. More effort considers more candidates.

    `texts` have no labels. They are analysed together with the samples and deleted when the run ends.

    `language_model`: whether the language model of the service names the traits, from their typical texts. Null asks it
    if there is one, and the model is not under zero retention.
    """

    effort: Effort | None = None
    texts: Annotated[list[Annotated[Readable, Field(max_length=LONGEST_TEXT)]], Field(max_length=MOST_UNLABELLED)] = (
        Field(default=[])
    )
    language_model: bool | None = None
