"""Waiting feedback: what was said about which text, withdraw it, undo that, or train a version with it now.

It is drawn above the samples of a model that has a version. A version that feedback made worse is shown here until
someone decides.
"""

from collections.abc import Mapping, Sequence
from itertools import islice

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain, shortened
from traitbench_app.parts.feedback import hold_switch
from traitbench_app.parts.version_figures import label
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import attempt, client

_LOOKED_THROUGH, _MOST_SHOWN, _TEXT = 5_000, 20, 160
_KEY = "samples.feedback"
_WITHDRAWN = f"{_KEY}.withdrawn"


def draw_waiting_feedback(model: Model, traits: Sequence[Trait], *, may_change: bool) -> None:
    """Draw the feedback that waits; nothing if the model has no version, or stores no feedback."""
    if model.version_no is None or model.zero_data_retention or model.state == "archived":
        return
    waiting = list(
        islice(client().samples.list(model.handle, limit=LARGEST_SAMPLE_PAGE, pending=True), _LOOKED_THROUGH)
    )
    withdrawn = _withdrawn(model)
    if not waiting and model.held_version_no is None and withdrawn is None:
        return
    with st.container(border=True, key=_KEY):
        st.header(f"Waiting feedback ({len(waiting):,})", icon=":material/inbox:", anchor=False)
        if model.held_version_no is not None:
            _draw_hold(model, may_change=may_change)
        _draw_actions(model, waiting, may_change=may_change)
        by_key = {trait.key: trait for trait in traits}
        for sample in waiting[:_MOST_SHOWN]:
            _draw_sample(model, sample, by_key, may_change=may_change)
        if len(waiting) > _MOST_SHOWN:
            st.caption(f"The oldest {_MOST_SHOWN} of {len(waiting):,} are shown.")
        if withdrawn is not None and may_change:
            _draw_undo(model, withdrawn)


def _withdrawn(model: Model) -> Sample | None:
    """Return the feedback that was withdrawn last in this tab, if it was about this model."""
    held: tuple[str, Sample] | None = session.get(_WITHDRAWN)
    return held[1] if held and held[0] == model.handle else None


def _draw_undo(model: Model, sample: Sample) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Withdrawn: “{plain(shortened(sample.text, _TEXT))}”", width="content")
        if st.button(
            "Undo", icon=":material/undo:", type="tertiary", disabled=model.state != "ready", key=f"{_KEY}.undo"
        ):
            with attempt() as sending:
                client().scores.score(model.handle, sample.text, feedback={sample.trait: sample.quality})
            if sending.done:
                session.store(_WITHDRAWN, None)
                session.flash("Feedback sent again.")
                st.rerun()


def _draw_hold(model: Model, *, may_change: bool) -> None:
    held = client().versions.get(model.handle, f"v{model.held_version_no}")
    reason = held.metrics.held.because if held.metrics.held else ""
    st.warning(
        f"**{label(held)} is on hold.** {plain(reason)} v{model.version_no} still scores.", icon=":material/pause:"
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        for number, words in ((model.held_version_no, "Activate"), (model.version_no, "Keep")):
            if may_change and st.button(f"{words} v{number}", key=f"{_KEY}.{words}"):
                with attempt() as deciding:
                    client().versions.activate(model.handle, version=f"v{number}")
                if deciding.done:
                    session.flash(f"v{number} scores.")
                    st.rerun()
        page_link("versions", "Compare them", view="Compare", a=f"v{model.version_no}", b=f"v{model.held_version_no}")


def _draw_actions(model: Model, waiting: Sequence[Sample], *, may_change: bool) -> None:
    if not may_change:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        ready = model.state == "ready" and bool(waiting)
        if st.button("Retrain now", icon=":material/school:", disabled=not ready, key=f"{_KEY}.retrain"):
            with attempt() as retraining:
                client().models.retrain(model.handle)
            if retraining.done:
                session.flash(f"Retraining with {count(len(waiting), 'new sample')}.")
                st.rerun()
        hold_switch(model, key=f"{_KEY}.hold")


def _draw_sample(model: Model, sample: Sample, traits: Mapping[str, Trait], *, may_change: bool) -> None:
    trait = traits.get(sample.trait)
    name = plain(trait.name if trait else sample.trait)
    then = "unknown score" if sample.score_then is None else f"scored {sample.score_then}"
    with st.container(horizontal=True, vertical_alignment="center", key=f"{_KEY}.row:{sample.id}"):
        with st.container(gap=None):
            st.markdown(plain(shortened(sample.text, _TEXT)))
            st.caption(
                f"{name}: {then}, should be {round(100 * sample.quality)}. {sample.created_at:%Y-%m-%d %H:%M} UTC"
            )
        if may_change and st.button(
            "Withdraw",
            icon=":material/delete:",
            type="tertiary",
            disabled=model.state != "ready",
            key=f"{_KEY}.withdraw:{sample.id}",
        ):
            with attempt() as withdrawing:
                client().samples.delete(model.handle, sample.id)
            if withdrawing.done:
                session.store(_WITHDRAWN, (model.handle, sample))
                session.flash("Feedback withdrawn.")
                st.rerun()
