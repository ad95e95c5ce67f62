"""One page of a listing (CONTRACT 1, "Pages")."""

from typing import Generic, TypeVar

from core.contract.fields import Returned
from core.contract.models import Model
from core.contract.samples import Sample
from core.contract.versions import Version

Item = TypeVar("Item")


class Page(Returned, Generic[Item]):
    """Items, the page size used, and where the next page begins; null at the end."""

    items: list[Item]
    limit: int
    next_cursor: str | None


class ModelPage(Page[Model]):
    """Models by handle."""


class SamplePage(Page[Sample]):
    """Samples by id, ascending."""


class VersionPage(Page[Version]):
    """Versions, newest first, without snapshots."""
