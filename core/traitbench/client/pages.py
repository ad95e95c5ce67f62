"""Listings to iterate over: each holds the first page and fetches the others as needed."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from traitbench.contract.fields import Unreadable
from traitbench.contract.page import ModelPage, Page, SamplePage, TextPage
from traitbench.display import frames, notebook

Item = TypeVar("Item")


class _Listing(Generic[Item]):
    """The first page, and the rows that could not be read on any page fetched so far."""

    def __init__(self, page: Page[Item]) -> None:
        self._page = page
        self._unreadable = list(page.unreadable)

    @property
    def items(self) -> list[Item]:
        """The items of the first page."""
        return self._page.items

    @property
    def next_cursor(self) -> str | None:
        """The cursor of the next page; None at the end."""
        return self._page.next_cursor

    @property
    def count(self) -> int | None:
        """The number of items on all pages, of texts whatever `after` is; of samples only if it was asked for."""
        return self._page.count if isinstance(self._page, SamplePage | TextPage) else None

    @property
    def change_id(self) -> int | None:
        """The newest change of the model's samples when the first page was read; None of other listings."""
        return self._page.change_id if isinstance(self._page, SamplePage) else None

    @property
    def unreadable(self) -> list[Unreadable]:
        """The rows that the service could not read, on the pages fetched so far. They are not among the items."""
        return list(self._unreadable)

    def _seen(self, page: Page[Item]) -> Page[Item]:
        self._unreadable += [row for row in page.unreadable if row not in self._unreadable]
        return page

    def _repr_html_(self) -> str | None:
        return notebook.or_plain(notebook.listing, self.items, more=self.next_cursor is not None)


class Pages(_Listing[Item]):
    """`items` and `next_cursor` belong to the first page; iterating yields the items of all pages."""

    def __init__(self, fetch: Callable[[str | None], Page[Item]], cursor: str | None = None) -> None:
        super().__init__(fetch(cursor))
        self._fetch = fetch

    def first(self) -> Item | None:
        """Return the first item, or None if the listing is empty."""
        return next(iter(self), None)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the items of all pages as a data frame: `pandas`, `polars` or `pyarrow`."""
        return frames.frame(self, backend)

    def __iter__(self) -> Iterator[Item]:
        page = self._page
        yield from page.items
        while page.next_cursor is not None:
            page = self._seen(self._fetch(page.next_cursor))
            yield from page.items


class AsyncPages(_Listing[Item]):
    """`items` and `next_cursor` belong to the first page; `async for` yields the items of all pages."""

    def __init__(self, fetch: Callable[[str | None], Awaitable[Page[Item]]], page: Page[Item]) -> None:
        super().__init__(page)
        self._fetch = fetch

    @classmethod
    async def begin(
        cls, fetch: Callable[[str | None], Awaitable[Page[Item]]], cursor: str | None = None
    ) -> "AsyncPages[Item]":
        """Fetch the first page."""
        return cls(fetch, await fetch(cursor))

    async def first(self) -> Item | None:
        """Return the first item, or None if the listing is empty."""
        async for item in self:
            return item
        return None

    async def to_frame(self, backend: str = "pandas") -> Any:
        """Return the items of all pages as a data frame: `pandas`, `polars` or `pyarrow`."""
        return frames.frame([item async for item in self], backend)

    async def __aiter__(self) -> AsyncIterator[Item]:
        page = self._page
        for item in page.items:
            yield item
        while page.next_cursor is not None:
            page = self._seen(await self._fetch(page.next_cursor))
            for item in page.items:
                yield item


class ListedRows(list[Item]):
    """A list that a notebook shows as a table; `unreadable` names the rows that the service could not read."""

    def __init__(self, items: Iterable[Item] = (), unreadable: Sequence[Unreadable] = ()) -> None:
        super().__init__(items)
        self.unreadable = list(unreadable)

    def _repr_html_(self) -> str | None:
        return notebook.or_plain(notebook.listing, self)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the items as a data frame: `pandas`, `polars` or `pyarrow`."""
        return frames.frame(self, backend)


PUBLIC = ""
"""The place of the public catalog, which comes last."""

_MARK = "own:"


def is_of_listing(cursor: str | None) -> bool:
    """Return whether a cursor is the beginning of such a listing, or one that it gave."""
    return cursor is None or cursor.startswith(_MARK)


def namespace_of(cursor: str | None, owned: Sequence[str]) -> tuple[str, str | None]:
    """Return the place to read and the cursor there; `owned` are the namespaces of the key, sorted."""
    if cursor is None:
        return _after(PUBLIC, owned), None
    namespace, _, there = cursor.removeprefix(_MARK).partition(":")
    return namespace, there or None


def joined(page: ModelPage, namespace: str, owned: Sequence[str]) -> ModelPage:
    """Return the page of a place as one of the whole listing: no model twice, and a cursor to what comes next."""
    if page.next_cursor is not None:
        following: str | None = f"{_MARK}{namespace}:{page.next_cursor}"
    else:
        following = None if namespace == PUBLIC else f"{_MARK}{_after(namespace, owned)}:"
    if namespace == PUBLIC:
        new = {
            "items": [model for model in page.items if _namespace(model.handle) not in owned],
            "unreadable": [row for row in page.unreadable if _namespace(row.item) not in owned],
        }
        page = page.model_copy(update=new)
    return page.model_copy(update={"next_cursor": following})


def _after(namespace: str, owned: Sequence[str]) -> str:
    return next((name for name in owned if name > namespace), PUBLIC)


def _namespace(handle: str) -> str:
    return handle.partition(".")[0]
