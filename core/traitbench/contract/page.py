"""One page of a listing (core/docs/contract.md, "Pages")."""

from typing import Annotated, Generic, TypeVar

from pydantic import Field

from traitbench.contract.attributes import Attribute
from traitbench.contract.fields import Count, Returned, Unreadable, schema
from traitbench.contract.labelling import TextDecision, UnlabelledText
from traitbench.contract.models import Model
from traitbench.contract.proposed import ProposedLabel
from traitbench.contract.sample_changes import SampleChange
from traitbench.contract.samples import Sample
from traitbench.contract.versions import Activation, Version, VersionSample

LARGEST_PAGE = 250
LARGEST_SAMPLE_PAGE = 500
LARGEST_POSITION_PAGE = 5_000
"""Rows of numbers: those of 50,000 samples take ten requests."""
LARGEST_CHANGE_PAGE = 100

Item = TypeVar("Item")


class Page(Returned, Generic[Item]):
    """Items, the page size, and the cursor of the next page, which is null at the end.

    `unreadable` names the rows of this page that could not be read; absent if there are none.
    """

    items: list[Item]
    limit: Annotated[int, schema(minimum=1, maximum=LARGEST_SAMPLE_PAGE)]
    next_cursor: str | None
    unreadable: list[Unreadable] = Field(default=[], exclude_if=lambda value: not value)


class ModelPage(Page[Model]):
    """Models, sorted by handle."""


class SamplePage(Page[Sample]):
    """Samples, sorted by id.

    `count` is the number of all samples that pass the filters; absent unless it was asked for. `change_id` is the
    newest change of the model's samples: while it is the same, none was added, changed or deleted.
    """

    count: Count | None = Field(default=None, exclude_if=lambda value: value is None)
    change_id: int | None = Field(default=None, exclude_if=lambda value: value is None)


class VersionSamplePage(Page[VersionSample]):
    """The samples of a version, sorted by id."""

    limit: Annotated[int, schema(minimum=1, maximum=LARGEST_POSITION_PAGE)]


class VersionPage(Page[Version]):
    """Versions, newest first, without snapshots."""


class ActivationPage(Page[Activation]):
    """Activations, newest first. They are recorded since the release that introduced them."""


class SampleChangePage(Page[SampleChange]):
    """Changes of samples, newest first. They are recorded since the release that introduced them.

    With `sample_id`, `samples` of each has only that sample.
    """


class ProposedPage(Page[ProposedLabel]):
    """Proposed labels, newest first."""


class TextPage(Page[UnlabelledText]):
    """Texts without labels, sorted by id. `count` is the number of all that the model has."""

    limit: Annotated[int, schema(minimum=1, maximum=LARGEST_POSITION_PAGE)]
    count: Count


class DecisionPage(Page[TextDecision]):
    """Decisions about texts, sorted by id."""

    limit: Annotated[int, schema(minimum=1, maximum=LARGEST_POSITION_PAGE)]


class AttributePage(Page[Attribute]):
    """The aliases of a namespace, sorted by name."""
