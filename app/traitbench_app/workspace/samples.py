"""The samples of a model, kept in the session.

A small request per run of the page refreshes them: the last page, which has all samples that are new, with the id of
the newest change. If anything but additions happened since, or if the totals of each trait then differ from its sample
counts, everything is read again.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

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
_FEW_CHANGES = 20


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
    newest_change: int | None = None


def all_samples(handle: str, traits: Sequence[Trait]) -> list[Sample]:
    """Return all samples, sorted by id; `traits` are the current traits of the model.

    The list must not be changed. It is the same object as long as the samples are the same.
    """
    address = (client().base_url, handle)
    read: _ReadSamples | None = session.get(_SAMPLES)
    if read is not None and read.address == address:
        before = read.newest_change
        try:
            read = _read(read)
        # The model was deleted and made again under its name.
        except InvalidCursor:
            read = None
        if read is not None and read.newest_change != before and not _is_only_added(handle, before):
            read = None
        if read is not None and read.totals == {
            (trait.key, flag): count for trait in traits for flag, count in _counts(trait) if count
        }:
            return read.samples
    stored = sum(trait.stored_samples for trait in traits)
    if stored < _SHOW_PROGRESS:
        return _read(_ReadSamples(address, [], {}, 0, None)).samples
    slot = st.empty()
    bar = slot.progress(0.0, text=f"Reading {stored:,} samples")
    try:
        return _read(
            _ReadSamples(address, [], {}, 0, None),
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


def _is_only_added(handle: str, since: int | None) -> bool:
    """Whether all changes since one only added new samples; then the last page has them."""
    page = client().samples.changes(handle, limit=_FEW_CHANGES)
    newer = [change for change in page.items if since is None or change.id > since]
    return len(newer) < _FEW_CHANGES and all(
        not change.updates and not change.deletes and change.undoes is None for change in newer
    )


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
        read = replace(read, newest_change=page.change_id)
        session.store(_SAMPLES, read)
        return read
    samples = read.samples[: read.before] + new
    now = _ReadSamples(read.address, samples, _totals(samples), before, cursor, page.change_id)
    session.store(_SAMPLES, now)
    return now


MOST_LOADED = 5_000
"""The largest number of samples that a page reads as a whole; of more, the service sends what is shown."""


def number_of(traits: Sequence[Trait]) -> int:
    """Return the number of samples of all traits."""
    return sum(trait.stored_samples for trait in traits)
