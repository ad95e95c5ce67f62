"""All samples of a model, cached in the session and refreshed with one small request per run of the page.

Samples never change, and ids only rise. So reading the last page again shows all new samples. If the total then equals
the traits' sample counts, no older sample was deleted; otherwise everything is read again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from traitbench.app.shell import session
from traitbench.app.shell.service import client
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.contract.unreadable import Unreadable
from traitbench.errors import InvalidCursor

_HELD, _UNREADABLE = "samples.held", "samples.unreadable"


@dataclass(frozen=True)
class _Held:
    """The samples before the last page, and the cursor of the last page."""

    address: tuple[str, str]
    before: tuple[Sample, ...]
    last_cursor: str | None


def all_samples(handle: str, traits: Sequence[Trait]) -> list[Sample]:
    """Return all samples, sorted by id; `traits` are the current traits of the model."""
    address = (client().base_url, handle)
    held = session.get(_HELD)
    if isinstance(held, _Held) and held.address == address:
        try:
            samples = _read(address, held.before, held.last_cursor)
        except InvalidCursor:
            samples = []
        if len(samples) == sum(trait.sample_count for trait in traits):
            return samples
    return _read(address, (), None)


def unreadable_samples() -> list[Unreadable]:
    """Return the rows that the service could not read when the samples were read last."""
    return list(session.get(_UNREADABLE, ()))


def _read(address: tuple[str, str], before: Sequence[Sample], cursor: str | None) -> list[Sample]:
    """Read the samples from a cursor on, and append them to `before`."""
    samples, unreadable = list(before), list[Unreadable]()
    while True:
        page = client().samples.list(address[1], limit=LARGEST_SAMPLE_PAGE, cursor=cursor)
        unreadable += page.unreadable
        session.store(_UNREADABLE, tuple(unreadable))
        if page.next_cursor is None:
            session.store(_HELD, _Held(address, tuple(samples), cursor))
            return samples + page.items
        samples += page.items
        cursor = page.next_cursor
