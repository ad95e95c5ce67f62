"""A listing that one can just iterate: it begins with the page in hand and fetches the others as they are needed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from traitbench import notebook
from traitbench.contract.page import Page
from traitbench.contract.unreadable import Unreadable

Item = TypeVar("Item")


class Pages(Generic[Item]):
    """`items` and `next_cursor` are those of the first page; iterating goes through all of them."""

    def __init__(self, fetch: Callable[[str | None], Page[Item]], cursor: str | None = None) -> None:
        self._fetch = fetch
        self._page = fetch(cursor)
        self._unreadable = list(self._page.unreadable)

    @property
    def items(self) -> list[Item]:
        """The items of the page in hand."""
        return self._page.items

    @property
    def next_cursor(self) -> str | None:
        """Where the next page begins; None at the end."""
        return self._page.next_cursor

    @property
    def unreadable(self) -> list[Unreadable]:
        """The rows that the service could not read, on the pages fetched so far; they are no items."""
        return list(self._unreadable)

    def first(self) -> Item | None:
        """The first item; None when there is none."""
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
    """A plain list that a notebook shows as a table; `unreadable` are the rows that the service could not read."""

    def __init__(self, items: Iterable[Item] = (), unreadable: Sequence[Unreadable] = ()) -> None:
        super().__init__(items)
        self.unreadable = list(unreadable)

    def _repr_html_(self) -> str:
        return notebook.listing(self)
