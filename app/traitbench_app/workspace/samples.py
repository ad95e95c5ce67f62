"""All samples of a model, cached in the session and refreshed with one small request per run of the page.

A sample changes only by becoming a test sample or a training sample again, and ids only rise. So reading the last page
again shows all new samples. If the totals of each trait then equal its sample counts, no older sample was deleted or
changed; otherwise everything is read again. Call `forget_samples` after a change that no count shows.
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

_HELD, _UNREADABLE, _FACTS = "samples.held", "samples.unreadable", "samples.facts"
_SHOW_PROGRESS = 10_000


@dataclass(frozen=True)
class _Held:
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
    held: _Held | None = session.get(_HELD)
    if held is not None and held.address == address:
        try:
            held = _read(held)
        except InvalidCursor:
            held = None
        if held is not None and held.totals == {
            (trait.key, flag): count for trait in traits for flag, count in _counts(trait) if count
        }:
            return held.samples
    stored = sum(trait.stored_samples for trait in traits)
    if stored < _SHOW_PROGRESS:
        return _read(_Held(address, [], {}, 0, None)).samples
    place = st.empty()
    bar = place.progress(0.0, text=f"Reading {stored:,} samples")
    try:
        return _read(
            _Held(address, [], {}, 0, None),
            lambda done: bar.progress(min(done / stored, 1.0), text=f"Reading {done:,} of {stored:,} samples"),
        ).samples
    finally:
        place.empty()


@dataclass(frozen=True)
class Facts:
    """What pages ask about all samples: their ids, those that were synthesized, test samples, and other origins."""

    ids: frozenset[int]
    synthesized: frozenset[int]
    tests: int
    all_authored: bool


def facts(samples: list[Sample]) -> Facts:
    """Return the facts about the samples that `all_samples` returned; they are computed once for each list."""
    held: tuple[list[Sample], Facts] | None = session.get(_FACTS)
    if held is None or held[0] is not samples:
        now = Facts(
            frozenset(sample.id for sample in samples),
            frozenset(sample.id for sample in samples if sample.provenance == "synthesized"),
            sum(sample.held_out for sample in samples),
            all(sample.provenance == "authored" for sample in samples),
        )
        held = (samples, now)
        session.store(_FACTS, held)
    return held[1]


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


def _read(held: _Held, progress: Callable[[int], object] = lambda _done: None) -> _Held:
    """Read the samples from the last page on and hold them; return `held` itself if nothing is new."""
    unreadable, cursor, before = list[Unreadable](), held.last_cursor, held.before
    new: list[Sample] = []
    while True:
        page = client().samples.list(held.address[1], limit=LARGEST_SAMPLE_PAGE, cursor=cursor)
        unreadable += page.unreadable
        session.store(_UNREADABLE, tuple(unreadable))
        if page.next_cursor is None:
            break
        new += page.items
        progress(before + len(page.items))
        before += len(page.items)
        cursor = page.next_cursor
    new += page.items
    if held.samples and new == held.samples[held.before :]:
        return held
    samples = held.samples[: held.before] + new
    now = _Held(held.address, samples, _totals(samples), before, cursor)
    session.store(_HELD, now)
    return now
