"""All samples of a model, cached in the session and refreshed with one small request per run of the page.

A sample changes only by becoming a test sample or a training sample again, and ids only rise. So reading the last page
again shows all new samples. If the totals of each trait then equal its sample counts, no older sample was deleted or
changed; otherwise everything is read again. Call `forget_samples` after a change that no count shows.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
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
        if _totals(samples) == {
            (trait.key, held): count for trait in traits for held, count in _counts(trait) if count
        }:
            return samples
    return _read(address, (), None)


def unreadable_samples() -> list[Unreadable]:
    """Return the rows that the service could not read when the samples were read last."""
    return list(session.get(_UNREADABLE, ()))


def forget_samples() -> None:
    """Read all samples again the next time."""
    session.store(_HELD, None)


def _totals(samples: Sequence[Sample]) -> Mapping[tuple[str, bool], int]:
    return Counter((sample.trait, sample.held_out) for sample in samples)


def _counts(trait: Trait) -> tuple[tuple[bool, int], ...]:
    return (False, trait.sample_count), (True, trait.held_out_samples)


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
