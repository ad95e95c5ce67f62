"""Fit a draft or a taught trait in memory: how it would score after training. Nothing is stored.

A taught trait is fitted with the settings of the version on screen, so the scores change by the texts taught alone.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.samples import Sample, text_hash
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.text import count, plain
from traitbench.local import preview
from traitbench.local.training import effort_of
from traitbench.local.version import LocalVersion
from traitbench_app.parts.card import ordered
from traitbench_app.parts.scorer import PageScorer
from traitbench_app.shell import session
from traitbench_app.shell.service import client

AT_ONCE = 2_000
"""The most samples that are fitted again whenever the text changes; larger drafts are fitted on request."""


def rehearsed(model: Model, traits: Sequence[Trait]) -> LocalVersion | None:
    """The draft, fitted in memory; None while a large draft waits for the button."""
    samples = sum(trait.sample_count for trait in traits)
    rehearsal = _read(model, traits) if samples <= AT_ONCE else _on_request(model, traits, samples)
    scored = {each.key for each in rehearsal.traits} if rehearsal else {each.key for each in traits}
    left_out = [each for each in traits if each.key not in scored]
    if names := ", ".join(plain(each.name) for each in left_out if each.kind == "extrinsic"):
        st.caption(f"Not scored, because a pole has no samples: {names}.")
    if names := ", ".join(plain(each.name) for each in left_out if each.kind != "extrinsic"):
        st.caption(f"Discovered traits are scored once the model is trained: {names}.")
    return rehearsal


def _on_request(model: Model, traits: Sequence[Trait], samples: int) -> LocalVersion | None:
    key = f"score.rehearsal:{model.handle}"
    stored = session.get(key)
    label = f"Read {count(samples, 'sample')}" + (" again" if stored else "")
    if st.button(label, icon=":material/model_training:", key="score.rehearse", help="This may take a minute."):
        stored = _read(model, traits)
        session.store(key, stored)
    if stored is None:
        st.caption("To preview scores of this large draft, read its samples first, or train the model.")
    return stored if isinstance(stored, LocalVersion) else None


def _read(model: Model, traits: Sequence[Trait]) -> LocalVersion:
    samples = list(client().samples.list(model.handle, held_out=False, limit=LARGEST_SAMPLE_PAGE))
    with st.spinner(f"Reading {count(len(samples), 'sample')}", show_time=True):
        return preview.rehearse(model, traits, samples)


_TAUGHT, _SAMPLES = "present.taught", "present.samples"


@dataclass(frozen=True)
class Taught:
    """A text that was put on a pole of a trait."""

    trait: str
    text: str
    positive: bool


def texts_taught(handle: str) -> tuple[Taught, ...]:
    """What this tab was taught about a model, in order."""
    taught: tuple[Taught, ...] = session.get(f"{_TAUGHT}:{handle}", ())
    return taught


def teach(handle: str, taught: Taught, *, alone: bool = False) -> None:
    """Put a text on a pole, instead of where it was put before; `alone` takes all other texts back."""
    before = () if alone else texts_taught(handle)
    others = [each for each in before if (each.trait, each.text) != (taught.trait, taught.text)]
    session.store(f"{_TAUGHT}:{handle}", (*others, taught))


def undo(handle: str, *, everything: bool = False) -> None:
    """Take back the last text, or all of them."""
    session.store(f"{_TAUGHT}:{handle}", None if everything else texts_taught(handle)[:-1] or None)
    if everything:
        session.store(f"{_SAMPLES}:{handle}", None)


@dataclass(frozen=True)
class Teacher:
    """Fits the traits of a model again, with the effort and the settings of a version or a draft."""

    model: Model
    traits: Mapping[str, Trait]
    effort: str
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, model: Model, traits: Sequence[Trait], by: Version | LocalVersion) -> "Teacher":
        """The teacher of what scores."""
        metrics = by.metrics if isinstance(by, LocalVersion) else by.metrics.model_dump()
        chosen = {
            key: {name: each[name] for name in ("shares", "parameters")} for key, each in metrics["traits"].items()
        }
        return cls(model, {trait.key: trait for trait in traits}, effort_of(metrics["effort"]), chosen)

    def can_teach(self, key: str) -> bool:
        """Whether a trait can be fitted here at once."""
        trait = self.traits[key]
        both = trait.positive_samples and trait.negative_samples
        return key in self.settings and trait.kind == "extrinsic" and bool(both) and trait.sample_count <= AT_ONCE

    def prepare(self, *only: str) -> None:
        """Fit all traits in the background, once, or `only` some: then the first text is learned quickly."""
        if session.get(f"{_SAMPLES}:{self.model.handle}") is None:
            samples = self._samples()
            keys = only or ordered([*filter(self.can_teach, self.traits)], self.model.main_trait)
            # What is fitted is kept by `preview`, so the thread has nothing to return.
            threading.Thread(target=lambda: [self._fit(key, samples) for key in keys], daemon=True).start()

    def scorer(self, key: str, taught: Sequence[Taught]) -> PageScorer:
        """What scores the trait after these texts, of which those for other traits do not count."""
        latest = {each.text: each for each in taught if each.trait == key}
        samples = [each for each in self._samples() if each.trait != key or each.text not in latest]
        # Negative, because no sample of the service has such an id.
        samples += [_sample(-index, each) for index, each in enumerate(latest.values(), start=1)]
        return PageScorer(by=self._fit(key, samples))

    def _fit(self, key: str, samples: Sequence[Sample]) -> LocalVersion:
        own = [each for each in samples if each.trait == key]
        settings = {name: self.settings[key][name] for name in ("shares", "parameters")}
        return preview.rehearse(self.model, [self.traits[key]], own, effort=self.effort, fixed={key: settings})

    def _samples(self) -> list[Sample]:
        """The samples that were learned from, read once. Corrections that wait are not among them."""
        key = f"{_SAMPLES}:{self.model.handle}"
        if session.get(key) is None:
            listed = client().samples.list(self.model.handle, held_out=False, limit=LARGEST_SAMPLE_PAGE)
            session.store(key, [each for each in listed if not each.pending])
        samples: list[Sample] = session.get(key)
        return samples


def _sample(number: int, taught: Taught) -> Sample:
    return Sample(
        id=number,
        trait=taught.trait,
        text=taught.text,
        quality=1.0 if taught.positive else 0.0,
        provenance="authored",
        source_url=None,
        content_sha256=text_hash(taught.text),
        created_at=datetime.now(UTC),
        seed_sample_id=None,
        generator=None,
        held_out=False,
        must_pass=False,
        pending=False,
        score_then=None,
    )
