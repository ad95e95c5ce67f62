"""A listing to iterate over: it holds the first page and fetches the others as needed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from traitbench import notebook
from traitbench.contract.page import Page
from traitbench.contract.unreadable import Unreadable

Item = TypeVar("Item")


class Pages(Generic[Item]):
    """`items` and `next_cursor` belong to the first page; iterating yields the items of all pages."""

    def __init__(self, fetch: Callable[[str | None], Page[Item]], cursor: str | None = None) -> None:
        self._fetch = fetch
        self._page = fetch(cursor)
        self._unreadable = list(self._page.unreadable)

    @property
    def items(self) -> list[Item]:
        """The items of the first page."""
        return self._page.items

    @property
    def next_cursor(self) -> str | None:
        """The cursor of the next page; None at the end."""
        return self._page.next_cursor

    @property
    def unreadable(self) -> list[Unreadable]:
        """The rows that the service could not read, on the pages fetched so far. They are not among the items."""
        return list(self._unreadable)

    def first(self) -> Item | None:
        """Return the first item, or None if the listing is empty."""
        return next(iter(self), None)

    def __iter__(self) -> Iterator[Item]:
        page = self._page
        yield from page.items
        while page.next_cursor is not None:
            page = self._fetch(page.next_cursor)
            self._unreadable += [row for row in page.unreadable if row not in self._unreadable]
            yield from page.items

    def _repr_html_(self) -> str:
        return notebook.listing(self.items, more=self.next_cursor is not None)


class Listed(list[Item]):
    """A list that a notebook shows as a table; `unreadable` names the rows that the service could not read."""

    def __init__(self, items: Iterable[Item] = (), unreadable: Sequence[Unreadable] = ()) -> None:
        super().__init__(items)
        self.unreadable = list(unreadable)

    def _repr_html_(self) -> str:
        return notebook.listing(self)
