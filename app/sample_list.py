"""All samples of a model, held in the session and brought up to date with one small request a run.

A sample never changes and ids only rise. So the last page asked for again shows what is new, and when the traits count
as many samples as are then at hand, nothing older is gone; otherwise everything is read again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from traitbench.app import session
from traitbench.app.service import client
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.contract.unreadable import Unreadable
from traitbench.errors import InvalidCursor

_HELD, _UNREADABLE = "samples.held", "samples.unreadable"


@dataclass(frozen=True)
class _Held:
    """The pages before the last one, and how to ask for the last one again."""

    address: tuple[str, str]
    before: tuple[Sample, ...]
    last_cursor: str | None


def all_samples(handle: str, traits: Sequence[Trait]) -> list[Sample]:
    """The samples by id, ascending; `traits` are those of the model as they are now."""
    address = (client().base_url, handle)
    held = session.kept(_HELD)
    if isinstance(held, _Held) and held.address == address:
        try:
            found = _read(address, held.before, held.last_cursor)
        except InvalidCursor:
            found = []
        if len(found) == sum(trait.sample_count for trait in traits):
            return found
    return _read(address, (), None)


def unreadable_samples() -> list[Unreadable]:
    """Those among the samples read last that the service could not read."""
    return list(session.kept(_UNREADABLE, ()))


def _read(address: tuple[str, str], before: Sequence[Sample], cursor: str | None) -> list[Sample]:
    """The samples from a cursor on, behind those at hand."""
    found, unreadable = list(before), list[Unreadable]()
    while True:
        page = client().samples.list(address[1], limit=LARGEST_SAMPLE_PAGE, cursor=cursor)
        unreadable += page.unreadable
        session.keep(_UNREADABLE, tuple(unreadable))
        if page.next_cursor is None:
            session.keep(_HELD, _Held(address, tuple(found), cursor))
            return found + page.items
        found += page.items
        cursor = page.next_cursor
