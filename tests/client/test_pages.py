"""Pages that iterate: on hand-made pages of numbers."""

import pytest

from traitbench.client import Pages
from traitbench.contract.page import Page
from traitbench.errors import Unavailable

ALL = {None: Page[int](items=[1, 2], limit=2, next_cursor="b"), "b": Page[int](items=[3], limit=2, next_cursor=None)}


def test_iterating_fetches_on_to_the_end() -> None:
    assert list(Pages(ALL.__getitem__)) == [1, 2, 3]


def test_iterating_again_begins_again() -> None:
    pages = Pages(ALL.__getitem__)
    assert (list(pages), list(pages)) == ([1, 2, 3], [1, 2, 3])


def test_the_page_in_hand_can_be_looked_at_alone() -> None:
    first_only = iter([ALL[None]])
    pages = Pages(lambda _: next(first_only))
    assert (pages.items, pages.next_cursor, pages.first()) == ([1, 2], "b", 1)


def test_a_listing_can_begin_at_a_cursor() -> None:
    assert list(Pages(ALL.__getitem__, "b")) == [3]


def test_an_empty_listing_has_no_first() -> None:
    assert Pages(lambda _: Page[int](items=[], limit=2, next_cursor=None)).first() is None


def test_an_error_on_a_later_page_is_raised_there() -> None:
    def fetch(cursor: str | None) -> Page[int]:
        if cursor == "b":
            raise Unavailable("Overloaded.")
        return ALL[cursor]

    pages = iter(Pages(fetch))
    assert (next(pages), next(pages)) == (1, 2)
    with pytest.raises(Unavailable):
        next(pages)
