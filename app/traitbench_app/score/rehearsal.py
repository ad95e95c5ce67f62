"""A rehearsal: how a draft would score after training. A small draft is fitted at once, a large one on request."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain
from traitbench.local import preview
from traitbench.local.version import LocalVersion
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
    kept = session.get(key)
    label = f"Read {count(samples, 'sample')}" + (" again" if kept else "")
    if st.button(label, icon=":material/model_training:", key="score.rehearse", help="This may take a minute."):
        kept = _read(model, traits)
        session.store(key, kept)
    if kept is None:
        st.caption("To preview scores of this large draft, read its samples first, or train the model.")
    return kept if isinstance(kept, LocalVersion) else None


def _read(model: Model, traits: Sequence[Trait]) -> LocalVersion:
    samples = list(client().samples.list(model.handle, held_out=False, limit=LARGEST_SAMPLE_PAGE))
    with st.spinner(f"Reading {count(len(samples), 'sample')}", show_time=True):
        return preview.rehearse(model, traits, samples)
