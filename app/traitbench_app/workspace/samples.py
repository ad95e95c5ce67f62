"""The samples of a model, kept in the session.

Two small requests per run of the page refresh them. The first asks for the newest change: if it is another one,
everything is read again. The second reads the last page again, which shows samples that no change names, such as
feedback: ids only rise. If the totals of each trait then differ from its sample counts, everything is read again too.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from traitbench.contract.fields import Unreadable
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.errors import InvalidCursor
from traitbench_app.shell import session
from traitbench_app.shell.service import client

_SAMPLES, _UNREADABLE = "samples.held", "samples.unreadable"
_SHOW_PROGRESS = 10_000


@dataclass(frozen=True)
class _ReadSamples:
    """All samples, their totals by trait, how many precede the last page, its cursor, and the newest change's id.

    `samples` is the same list until a sample changes, so that what was computed from it can be kept.
    """

    address: tuple[str, str]
    samples: list[Sample]
    totals: Mapping[tuple[str, bool], int]
    before: int
    last_cursor: str | None
    newest_change: int


def all_samples(handle: str, traits: Sequence[Trait]) -> list[Sample]:
    """Return all samples, sorted by id; `traits` are the current traits of the model.

    The list must not be changed. It is the same object as long as the samples are the same.
    """
    address, newest = (client().base_url, handle), _newest_change(handle)
    read: _ReadSamples | None = session.get(_SAMPLES)
    if read is not None and (read.address, read.newest_change) == (address, newest):
        try:
            read = _read(read)
        # The model was deleted and made again under its name.
        except InvalidCursor:
            read = None
        if read is not None and read.totals == {
            (trait.key, flag): count for trait in traits for flag, count in _counts(trait) if count
        }:
            return read.samples
    stored = sum(trait.stored_samples for trait in traits)
    if stored < _SHOW_PROGRESS:
        return _read(_ReadSamples(address, [], {}, 0, None, newest)).samples
    slot = st.empty()
    bar = slot.progress(0.0, text=f"Reading {stored:,} samples")
    try:
        return _read(
            _ReadSamples(address, [], {}, 0, None, newest),
            lambda done: bar.progress(min(done / stored, 1.0), text=f"Reading {done:,} of {stored:,} samples"),
        ).samples
    finally:
        slot.empty()


def unreadable_samples() -> list[Unreadable]:
    """Return the rows that the service could not read when the samples were read last."""
    return list(session.get(_UNREADABLE, ()))


def forget_samples() -> None:
    """Read all samples again the next time."""
    session.store(_SAMPLES, None)


def _newest_change(handle: str) -> int:
    """The id of the newest change of the model's samples; 0 if there is none."""
    return next((change.id for change in client().samples.changes(handle, limit=1).items), 0)


def _totals(samples: Sequence[Sample]) -> Mapping[tuple[str, bool], int]:
    return Counter((sample.trait, sample.held_out) for sample in samples)


def _counts(trait: Trait) -> tuple[tuple[bool, int], ...]:
    return (False, trait.sample_count), (True, trait.held_out_samples)


def _read(read: _ReadSamples, progress: Callable[[int], object] = lambda _done: None) -> _ReadSamples:
    """Read the samples from the last page on and store them; return `read` itself if nothing is new."""
    unreadable, cursor, before = list[Unreadable](), read.last_cursor, read.before
    new: list[Sample] = []
    while True:
        page = client().samples.list(read.address[1], limit=LARGEST_SAMPLE_PAGE, cursor=cursor)
        unreadable += page.unreadable
        session.store(_UNREADABLE, tuple(unreadable))
        if page.next_cursor is None:
            break
        new += page.items
        progress(before + len(page.items))
        before += len(page.items)
        cursor = page.next_cursor
    new += page.items
    # The same object, because what was computed from the list is kept by its identity.
    if read.samples and new == read.samples[read.before :]:
        return read
    samples = read.samples[: read.before] + new
    now = _ReadSamples(read.address, samples, _totals(samples), before, cursor, read.newest_change)
    session.store(_SAMPLES, now)
    return now


MOST_LOADED = 5_000
"""The largest number of samples that a page reads as a whole; of more, the service sends what is shown."""


def number_of(traits: Sequence[Trait]) -> int:
    """Return the number of samples of all traits."""
    return sum(trait.stored_samples for trait in traits)
