"""The samples of a model, all of them or those that pass filters, by page; kept in the session.

A small request per run of the page refreshes them. A sample changes only by becoming a test sample or a training sample
again, and ids only rise. So reading the last page again shows all new samples. If the totals of each trait then equal
its sample counts, no older sample was deleted or changed; otherwise everything is read again. Call `forget_samples`
after a change that no count shows.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf

import streamlit as st

from traitbench.client.pages import Pages
from traitbench.contract.fields import Unreadable
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.samples import Pole, Sample, SampleQuery
from traitbench.contract.traits import Trait
from traitbench.errors import InvalidCursor
from traitbench_app.shell import session
from traitbench_app.shell.service import client

_SAMPLES, _UNREADABLE, _FACTS = "samples.held", "samples.unreadable", "samples.facts"
_SHOW_PROGRESS = 10_000


@dataclass(frozen=True)
class _ReadSamples:
    """All samples, their totals by trait, how many precede the last page, and the cursor of the last page.

    `samples` is the same list until a sample changes, so that what was computed from it can be kept.
    """

    address: tuple[str, str]
    samples: list[Sample]
    totals: Mapping[tuple[str, bool], int]
    before: int
    last_cursor: str | None


def all_samples(handle: str, traits: Sequence[Trait]) -> list[Sample]:
    """Return all samples, sorted by id; `traits` are the current traits of the model.

    The list must not be changed. It is the same object as long as the samples are the same.
    """
    address = (client().base_url, handle)
    read: _ReadSamples | None = session.get(_SAMPLES)
    if read is not None and read.address == address:
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


@dataclass(frozen=True)
class Facts:
    """What pages ask about all samples: their ids, those that were synthesized, test samples, and other origins."""

    ids: frozenset[int]
    synthesized: frozenset[int]
    tests: int
    all_authored: bool


def facts(samples: list[Sample]) -> Facts:
    """Return the facts about the samples that `all_samples` returned; they are computed once for each list."""
    read: tuple[list[Sample], Facts] | None = session.get(_FACTS)
    if read is None or read[0] is not samples:
        now = Facts(
            frozenset(sample.id for sample in samples),
            frozenset(sample.id for sample in samples if sample.provenance == "synthesized"),
            sum(sample.held_out for sample in samples),
            all(sample.provenance == "authored" for sample in samples),
        )
        read = (samples, now)
        session.store(_FACTS, read)
    return read[1]


def unreadable_samples() -> list[Unreadable]:
    """Return the rows that the service could not read when the samples were read last."""
    return list(session.get(_UNREADABLE, ()))


def forget_samples() -> None:
    """Read all samples again the next time."""
    session.store(_SAMPLES, None)


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
    now = _ReadSamples(read.address, samples, _totals(samples), before, cursor)
    session.store(_SAMPLES, now)
    return now


# Up to `MOST_LOADED` samples are held in the session and filtered here. Of more, the service searches, counts and sends
# only the rows of one page, so that a large model opens as quickly as a small one.

A_PAGE = 250
"""Rows of a page of the table."""

# Of a larger model, the page notices that someone else changed a sample only when it saves its own edit of it.
MOST_LOADED = 5_000
"""The largest number of samples that are all read for the table."""

_MATCHES, _AUTHORED = "samples.matches", "samples.all_authored"


@dataclass(frozen=True)
class TableFilters:
    """Which samples the table shows; no `ids` leave all that the query selects."""

    query: SampleQuery = field(default_factory=SampleQuery)
    ids: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return self != TableFilters()


@dataclass(frozen=True)
class Matches:
    """The samples that pass the filters: how many, a page of them with the newest first, and all by id."""

    count: int
    page: Callable[[int], list[Sample]]
    every: Callable[[], Iterable[Sample]]

    @property
    def pages(self) -> int:
        """The number of pages, at least 1."""
        return max(-(-self.count // A_PAGE), 1)


def sample_table(handle: str, traits: Sequence[Trait], *, whole: bool) -> "LoadedSamples | ServedSamples":
    """Return the table of a model's samples; with `whole`, all of them are read, however many they are."""
    return LoadedSamples(handle, traits) if whole or number_of(traits) <= MOST_LOADED else ServedSamples(handle, traits)


def number_of(traits: Sequence[Trait]) -> int:
    """Return the number of samples of all traits."""
    return sum(trait.stored_samples for trait in traits)


def pole_of(sample: Sample) -> Pole:
    """Return the pole that the label of a sample is nearer to."""
    return "positive" if sample.quality > 0.5 else "negative" if sample.quality < 0.5 else "between"


# ---- few samples -----------------------------------------------------------------------------------------------------


class LoadedSamples:
    """A table of samples that the session holds.

    `total` counts them, `tests` the test samples, and `all_authored` says whether people wrote them all.
    """

    def __init__(self, handle: str, traits: Sequence[Trait]) -> None:
        self.samples = all_samples(handle, traits)
        self.total = len(self.samples)
        self.tests = facts(self.samples).tests
        self.all_authored = facts(self.samples).all_authored

    def find(self, filters: TableFilters) -> Matches:
        """Return the samples that pass; they are searched again only if the samples or the filters change."""
        read: tuple[list[Sample], TableFilters, list[Sample]] | None = session.get(_MATCHES)
        if read is None or read[0] is not self.samples or read[1] != filters:
            read = (self.samples, filters, _passing(self.samples, filters))
            session.store(_MATCHES, read)
        matching = read[2]
        return Matches(len(matching), lambda page: _page_of(matching, page), lambda: matching)

    def synthesized(self) -> Sequence[Sample]:
        """Return all synthesized samples."""
        made = facts(self.samples).synthesized
        return [sample for sample in self.samples if sample.id in made] if made else ()

    def every(self) -> list[Sample]:
        """Return all samples by id."""
        return self.samples

    def unreadable(self) -> Sequence[Unreadable]:
        """Return the rows that the service could not read."""
        return unreadable_samples()

    def lost(self, ids: Iterable[int]) -> set[int]:
        """Return those of the ids whose samples are gone."""
        return set(ids) - facts(self.samples).ids


def _passing(samples: list[Sample], filters: TableFilters) -> list[Sample]:
    query, words = filters.query, [word.casefold() for word in filters.query.words]
    if not filters:
        return samples
    return [
        sample
        for sample in samples
        if (query.trait is None or sample.trait == query.trait)
        and (query.pole is None or pole_of(sample) == query.pole)
        and (query.provenance is None or sample.provenance == query.provenance)
        and (query.held_out is None or sample.held_out == query.held_out)
        and (not filters.ids or sample.id in filters.ids)
        and (not words or all(word in sample.text.casefold() for word in words))
    ]


def _page_of(samples: Sequence[Sample], page: int) -> list[Sample]:
    last = len(samples) - (page - 1) * A_PAGE
    return list(samples[max(last - A_PAGE, 0) : max(last, 0)])[::-1]


# ---- many samples ----------------------------------------------------------------------------------------------------


class ServedSamples:
    """A table of samples that stay in the service; it knows no ids but those of the rows on screen.

    It has the same counts as a table that is held.
    """

    def __init__(self, handle: str, traits: Sequence[Trait]) -> None:
        self.total = number_of(traits)
        self.tests = sum(trait.held_out_samples for trait in traits)
        self._handle, self._traits, self._service = handle, traits, client()
        self._unreadable: Sequence[Unreadable] = ()
        self._span: tuple[float, float] | None = None
        self._ids: frozenset[int] = frozenset()
        self.all_authored = self._all_authored()

    def find(self, filters: TableFilters) -> Matches:
        """Let the service search, count, and send pages; the first page of a search comes with the count."""
        listing = self._listing(filters)
        first = self._rows(listing(newest_first=True, limit=A_PAGE, count=True)) if filters else None

        def page(number: int) -> list[Sample]:
            if number == 1 and first is not None:
                return first.items
            rows = self._rows(listing(newest_first=True, limit=A_PAGE, offset=(number - 1) * A_PAGE))
            if not filters and not rows.unreadable:
                self._note_ids(number, [sample.id for sample in rows.items])
            return rows.items

        count = self.total if first is None or first.count is None else first.count
        return Matches(count, page, lambda: listing(limit=LARGEST_SAMPLE_PAGE))

    def synthesized(self) -> Sequence[Sample]:
        """Return all synthesized samples."""
        if self.all_authored:
            return ()
        return list(self._listing(TableFilters(SampleQuery(provenance="synthesized")))(limit=LARGEST_SAMPLE_PAGE))

    def every(self) -> list[Sample]:
        """Read all samples, and return them by id."""
        return all_samples(self._handle, self._traits)

    def unreadable(self) -> Sequence[Unreadable]:
        """Return the rows of the page on screen that the service could not read."""
        return self._unreadable

    def lost(self, ids: Iterable[int]) -> set[int]:
        """Return those of the ids that belong on the page on screen and are not there.

        Only a page without filters has all samples between its first and its last. Of the others, it shows when their
        edits are saved.
        """
        if self._span is None:
            return set()
        first, last = self._span
        return {each for each in ids if first <= each <= last} - self._ids

    def _note_ids(self, page: int, ids: Sequence[int]) -> None:
        """Note which samples a page has, and from which id to which it has all of them."""
        oldest = min(ids, default=0) if len(ids) == A_PAGE else 0
        self._span = oldest, inf if page == 1 else max(ids, default=0)
        self._ids = frozenset(ids)

    def _rows(self, rows: Pages[Sample]) -> Pages[Sample]:
        self._unreadable = rows.unreadable
        return rows

    def _listing(self, filters: TableFilters) -> Callable[..., Pages[Sample]]:
        """Return the client's call that lists the samples that pass."""
        return partial(self._service.samples.list, self._handle, **filters.query.parameters())

    def _all_authored(self) -> bool:
        """Whether all samples are authored; it is counted again only if the counts of the traits change."""
        counts = (self._service.base_url, self._handle, [(each.key, each.stored_samples) for each in self._traits])
        read = session.get(_AUTHORED)
        if read is None or read[0] != counts:
            authored = self._listing(TableFilters(SampleQuery(provenance="authored")))(limit=1, count=True).count
            read = (counts, authored == self.total)
            session.store(_AUTHORED, read)
        return bool(read[1])
