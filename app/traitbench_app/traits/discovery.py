"""Discovered traits: the dialog that starts a discovery, and its outcome."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.display.text import ago, count, plain
from traitbench.errors import TraitbenchError
from traitbench.local.discovery_texts import FEWEST_TEXTS, MOST_TEXTS, DiscoveryTexts, texts_of
from traitbench_app.parts.model_actions import draft_of
from traitbench_app.parts.runs import begin, draw_failure, notes, pick_effort
from traitbench_app.parts.upload import bring_texts
from traitbench_app.shell import session
from traitbench_app.shell.service import client, explain
from traitbench_app.traits.editing import follow
from traitbench_app.workspace import pool
from traitbench_app.workspace.samples import all_samples

_OPEN = "traits.discover"


def start(model: Model) -> None:
    """Open the dialog, for a model in use in its draft. A button callback."""
    try:
        follow(model, draft_of(model))
    except TraitbenchError as error:
        session.flash(explain(error), "problem")
        return
    session.store(_OPEN, True)


def discovery(model: Model, traits: Sequence[Trait]) -> None:
    """Draw the dialog while it is open."""
    if session.get(_OPEN):
        st.dialog("Discover traits", icon=":material/explore:", width="medium", on_dismiss=_close)(_ask)(model, traits)


def _close() -> None:
    session.store(_OPEN, None)


def _ask(model: Model, traits: Sequence[Trait]) -> None:
    st.markdown(
        "Discovery looks for differences between your texts that no trait covers yet, and suggests them as traits. "
        "Keep those that you want to measure."
    )
    texts = texts_of(all_samples(model.handle, traits) if traits else [], pool.texts(model.handle))
    if len(texts) < FEWEST_TEXTS:
        st.warning(
            f"Discovery needs **{FEWEST_TEXTS} different texts**; there are {len(texts)}. They need no labels.",
            icon=":material/info:",
        )
        _bring(model)
        return
    with st.expander("Add texts without labels", icon=":material/upload_file:", key="discover.more"):
        _bring(model)
    if any(trait.kind == "intrinsic" for trait in traits):
        st.caption("New suggestions replace those that you have not changed. Traits that you changed stay.")
    effort = pick_effort(key="discover.effort")
    st.caption(_what_goes_in(texts))
    language_model = _draw_language_model(model)
    refusal = st.container()
    with st.container(horizontal=True, horizontal_alignment="right"):
        sent = st.button("Discover", type="primary", icon=":material/explore:", key="traits.discover_send")
    if sent:
        with refusal:
            started = begin(
                lambda: client().traits.discover(
                    model.handle, effort=effort, texts=texts.to_send(), language_model=language_model
                ),
                already="Discovery already ran on these texts with this effort, and its suggestions are in the "
                "list. Choose another effort, add texts, or dismiss a suggestion first.",
            )
        if started:
            _close()
            st.rerun()


def _bring(model: Model) -> None:
    """Draw the ways to bring texts without labels; they are also there on the Label page."""
    bring_texts(model, to="Add")
    if model.zero_data_retention:
        st.caption(":material/shield: Zero data retention is on: the texts are kept only until you close this tab.")


def _draw_language_model(model: Model) -> bool | None:
    """Draw whether the language model names the traits, and what it gets to see; None if none may be asked."""
    plan = client().samples.plan(model.handle)
    if plan.host is None:
        return None
    wanted = st.toggle(
        f"Names from the language model {plain(plan.generator)}", value=True, key="discover.model", persist_state="page"
    )
    st.caption(
        f"Typical texts and phrases of each new trait are sent to {plain(plan.host)}."
        if wanted
        else "Names are made of words of the texts. Nothing is sent to the language model."
    )
    return wanted


def _what_goes_in(texts: DiscoveryTexts) -> str:
    """Say how many texts go in, and what becomes of those without labels."""
    without = len(texts.unlabelled)
    kinds = f"{count(len(texts.labelled), 'sample text')} and {count(without, 'text')} without labels"
    what = kinds if without and texts.labelled else count(len(texts), "text")
    most = f"; {MOST_TEXTS:,} of them are used" if len(texts) > MOST_TEXTS else ""
    after = " The service forgets texts without labels afterwards." if without else ""
    nothing = f" {count(texts.nothing, 'text')} left out: they say nothing." if texts.nothing else ""
    return f"Reads {what}{most}.{nothing}{after}"


# ---- the outcome -----------------------------------------------------------------------------------------------------


def draw_outcome(model: Model, traits: Sequence[Trait]) -> None:
    """Draw the outcome of the last discovery, as long as no later operation replaced it."""
    last = model.last_operation
    if last is None or last.kind != "discover" or draw_failure(model, what="The discovery"):
        return
    if last.status == "succeeded":
        discovered = sum(trait.kind == "intrinsic" for trait in traits)
        summary = f"**Discovery ran {ago(last.started_at)}.** "
        summary += (
            f"The model has {count(discovered, 'discovered trait')}. Read the typical texts, then decide. "
            if discovered
            else "The model has no discovered traits. "
        )
        st.info(summary + notes(model), icon=":material/explore:")
