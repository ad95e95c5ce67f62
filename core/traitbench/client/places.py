"""The listing of models over several places: the namespaces of the key, then the public catalog.

Its cursors name the place before the cursor of the service, so that they continue the whole listing.
"""

from collections.abc import Sequence

from traitbench.contract.page import ModelPage

PUBLIC = ""
"""The place of the public catalog, which comes last."""

NOBODYS = "-"
"""A namespace that no key can own, because it is no name."""

_MARK = "own:"


def is_of_places(cursor: str | None) -> bool:
    """Return whether a cursor is the beginning of such a listing, or one that it gave."""
    return cursor is None or cursor.startswith(_MARK)


def place_of(cursor: str | None, owned: Sequence[str]) -> tuple[str, str | None]:
    """Return the place to read and the cursor there; `owned` are the namespaces of the key, sorted."""
    if cursor is None:
        return _after(PUBLIC, owned), None
    place, _, there = cursor.removeprefix(_MARK).partition(":")
    return place, there or None


def joined(page: ModelPage, place: str, owned: Sequence[str]) -> ModelPage:
    """Return the page of a place as one of the whole listing: no model twice, and a cursor to what comes next."""
    if page.next_cursor is not None:
        following: str | None = f"{_MARK}{place}:{page.next_cursor}"
    else:
        following = None if place == PUBLIC else f"{_MARK}{_after(place, owned)}:"
    if place == PUBLIC:
        new = {
            "items": [model for model in page.items if _namespace(model.handle) not in owned],
            "unreadable": [row for row in page.unreadable if _namespace(row.item) not in owned],
        }
        page = page.model_copy(update=new)
    return page.model_copy(update={"next_cursor": following})


def _after(place: str, owned: Sequence[str]) -> str:
    return next((name for name in owned if name > place), PUBLIC)


def _namespace(handle: str) -> str:
    return handle.partition(".")[0]
