"""The top of every page: the model and its picker, its state, and what is next."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.display.colours import STATES
from traitbench.display.text import count, plain
from traitbench.errors import ModelNotFound, NamespaceForbidden
from traitbench_app.parts.controls import ask, copy_link, primary_link
from traitbench_app.parts.model_actions import (
    ARCHIVE,
    archive,
    copy_model_button,
    improve,
    improve_button,
    new_model,
    restore_button,
)
from traitbench_app.parts.next_step import NextStep, StepFacts, facts_of, next_step
from traitbench_app.shell import session
from traitbench_app.shell.navigation import PageName, entry, page, page_link
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import client, guarded, offered_models
from traitbench_app.workspace import kept_texts

Query = Mapping[str, str | int | None]
NextOf = Callable[[Model], NextStep]
_OWN = frozenset(
    (
        *("Describe", "What is kept", "Details", "Compare", "Encoders", "Mistakes", "Check", "Compare labels"),
        *("Add by hand", "Import a file", "Synthesize"),
    )
)
"""The views that have a primary button of their own, as links name them."""


def heading(
    name: PageName,
    model: Model | None = None,
    traits: Sequence[Trait] | None = None,
    next_of: NextOf | None = None,
    draw_own: Callable[[], bool] | None = None,
    /,
    **query: str | int | None,
) -> None:
    """Draw the heading; `query` holds the query parameters of the page besides the model.

    The traits of the model are read if the page has not read them. `next_of` says what is next on a page where that
    changes while a person works: it is asked every two seconds. `draw_own` draws the page's own step instead, and
    returns whether it has one.
    """
    row = entry(name)
    if model is not None:
        known = client().traits.list(model.handle) if traits is None else traits
        _draw_line(name, model, known, query, next_of, draw_own)
        return
    with st.container(gap=None, key="heading"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.title(row.title, anchor=False, width="content")
            copy_link(name, **query)
        st.caption(row.help)


def _draw_line(
    name: PageName,
    model: Model,
    traits: Sequence[Trait],
    query: Query,
    next_of: NextOf | None,
    draw_own: Callable[[], bool] | None,
) -> None:
    left, right = session.get(_LINE)
    with left:
        st.title(entry(name).title, anchor=False, width="content")
        if is_open_draft(model):
            draft_badges(model)
        else:
            state_badge(model)
        if model.version_no is not None and model.state != "ready":
            st.badge(f"v{model.version_no}", icon=":material/commit:", color="gray", help="The version in use.")
        retention_badge(model)
    with right:
        if not _draws_own(model, draw_own):
            _draw_step(name, model, traits, query, next_of)
        with st.popover("More", icon=":material/more_horiz:", type="tertiary", key="head.more"):
            _draw_more(name, model, query)
    improve(model)
    new_model()
    archive()


def _draws_own(model: Model, draw_own: Callable[[], bool] | None) -> bool:
    """Draw the page's own step, if it has one now; a run is followed on every page."""
    if draw_own is None or model.state == "busy":
        return False
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content", key="head.own_line"):
        return draw_own()


def _draw_step(name: PageName, model: Model, traits: Sequence[Trait], query: Query, next_of: NextOf | None) -> None:
    """Draw what is next. The line follows a run, and the page is drawn again when it has ended."""

    def draw(now: Model) -> None:
        facts = facts_of(now, traits, is_followed=model.state == "busy")
        step = next_step(facts) if next_of is None else next_of(now)
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", width="content", key="head.step_line"
        ):
            st.markdown(step.sentence, width="content")
            # The page where a step is done shows how, so its header has no button for it, except to change a choice.
            here = step.page == name
            if step.page is not None and (not here or (next_of is not None and step.query)):
                primary = step.primary and (next_of is not None or not _has_primary(name, facts, step, query))
                kind: Literal["primary", "secondary"] = "primary" if primary else "secondary"
                put = partial(session.put, step.query) if here else None
                if st.button(step.label, type=kind, shortcut=step.key, key="head.step", on_click=put):
                    if here:
                        st.rerun()
                    st.switch_page(page(step.page), query_params=dict(step.query))
            restore_button(now, key="shell.restore", primary=True)

    @st.fragment(run_every=1.0)
    def follow() -> None:
        with guarded():
            now = client().models.get(model.handle)
        if now.state != "busy":
            st.rerun()
        draw(now)

    @st.fragment(run_every=2.0)
    def look_again() -> None:
        with guarded():
            draw(client().models.get(model.handle))

    if model.state == "busy":
        follow()
    elif next_of is not None:
        look_again()
    else:
        draw(model)


def _has_primary(name: PageName, facts: StepFacts, step: NextStep, query: Query) -> bool:
    """Whether the page has a primary button of its own: then the one in its header is plain."""
    edits = facts.state in ("draft", "failed") and facts.traits > 0
    own = {
        "batch": bool(facts.version),
        "label": True,
        "train": step.page == "train" or (bool(facts.origin) and bool(facts.version)),
        "traits": edits and facts.suggestions > 0,
    }
    return own.get(name, False) or not _OWN.isdisjoint(query.values())


def _draw_more(name: PageName, model: Model, query: Query) -> None:
    """Draw what is rarely needed: where the model comes from, the link of the view, and actions."""
    for tag in model.version_tags:
        st.badge(plain(tag), icon=":material/sell:", color="gray", help="A tag of the version in use.")
    descent_badge(model)
    copy_link(name, model=model.handle, **query)
    improve_button(model)
    copy_model_button(model)
    if model.state != "archived" and not why_read_only(model):
        st.button(
            "Archive this model",
            icon=":material/inventory_2:",
            type="tertiary",
            key="shell.archive",
            on_click=ask,
            args=(ARCHIVE, model.handle),
        )


def state_badge(model: Model) -> None:
    """The state of a model as a badge that explains itself; a trained fork is a draft until its origin uses it."""
    sign = STATES[model.state]
    if model.state == "ready":
        sign = replace(sign, label=f"v{model.version_no} in use")
    if model.state == "ready" and model.forked_from is not None:
        origin = plain(model.forked_from.handle)
        sign = replace(STATES["draft"], hint=f"Trained, and not in use in {origin} yet. Traits and samples are frozen.")
    st.badge(sign.label, icon=sign.icon, color=sign.colour, help=sign.hint)


OWN_CHANGES = "shell.own_changes"
"""The session key of the number of changes in the draft on screen, with its handle; the Samples page counts them."""


def is_open_draft(model: Model) -> bool:
    """Whether a model is a draft of another one's version that is not trained yet, so that edits go into it."""
    origin = model.forked_from
    return origin is not None and origin.version_no is not None and model.state in ("draft", "failed")


def draft_badges(model: Model) -> None:
    """What is in use, and beside it the draft that edits go into."""
    origin = session.get(session.KNOWN_MODELS, ())
    handle = model.forked_from.handle if model.forked_from else ""
    in_use = next((each.version_no for each in origin if each.handle == handle), None)
    if in_use is not None:
        st.badge(f"v{in_use} in use", icon=STATES["ready"].icon, color="gray", help=f"In {plain(handle)}.")
    of, changes = session.get(OWN_CHANGES, ("", 0))
    number = f", {count(changes, 'change')}" if of == model.handle else ""
    hint = f"Your edits are saved here. {plain(handle)} scores as before until this draft is trained and put in use."
    st.badge(f"your draft{number}", icon=STATES[model.state].icon, color="gray", help=hint)


def descent_badge(model: Model) -> None:
    """A badge for models that were made to improve another one."""
    if model.forked_from is not None:
        handle, version_no = plain(model.forked_from.handle), model.forked_from.version_no
        of = handle if version_no is None else f"{handle} v{version_no}"
        hint = "Made to improve that model. The Train page compares the two and puts this one in use."
        st.badge(f"Improves {of}", icon=":material/upgrade:", color="blue", help=hint)


def retention_badge(model: Model) -> None:
    """A badge for models under zero data retention."""
    if model.zero_data_retention:
        hint = "Zero data retention: samples are removed after training, and scored texts are not stored."
        st.badge("Zero retention", icon=":material/shield:", color="violet", help=hint)


def say_if_gone(chosen: str, offered: Collection[str]) -> None:
    """Say that the version of a link does not exist, so that nobody takes the scores of the active one for its own.

    The picker forgets an unknown version at once; then this says nothing more.
    """
    if chosen and offered and chosen not in offered:
        session.flash(f"{plain(chosen)} does not exist. The version in use scores instead.", "problem")
        session.show_flashes()


_THIS_RUN, _PAGE, _LINE = "shell.model", "shell.page", "shell.line"
_OFFERED = 8


def pick(page: PageName) -> None:
    """Draw the header line with the picker, for a page that is about a model; `heading` draws the rest of the line."""
    session.take_next_model()
    session.store(_PAGE, page)
    known = {model.handle: model for model in offered_models()}
    wanted = session.chosen_handle() or st.query_params.get(session.MODEL)
    if wanted:
        known = _with_current(known, wanted)
    if session.chosen_handle() not in known:
        st.session_state.pop(session.MODEL, None)
    aligned: Mapping[str, Any] = {"horizontal": True, "vertical_alignment": "center", "gap": "small"}
    with st.container(horizontal_alignment="distribute", key="head", **aligned):
        left = st.container(width="content", key="head.model", **aligned)
        right = st.container(width="content", key="head.next", **aligned)
    session.store(_LINE, (left, right))
    handle = left.selectbox(
        "Model",
        list(known),
        index=None,
        key=session.MODEL,
        bind="query-params",
        placeholder="Choose a model" if known else "No models yet",
        disabled=not known,
        label_visibility="collapsed",
    )
    model = known.get(handle) if handle else None
    if model is not None:
        kept_texts.opened(model)
    session.store(_THIS_RUN, model)
    session.store(session.KNOWN_MODELS, tuple(known.values()))


def last_model() -> Model | None:
    """The model that this page is about, or the last page that was about one."""
    model = session.get(_THIS_RUN)
    return model if isinstance(model, Model) else None


def chosen_model() -> Model:
    """The chosen model. Without one, offer models to choose from and end the page."""
    if model := last_model():
        return model
    heading(session.get(_PAGE))
    with st.container(border=True, key="no_model"):
        known = session.get(session.KNOWN_MODELS, ())
        title = "Choose a model first" if known else "No models yet"
        st.header(title, icon=":material/arrow_selector_tool:", anchor=False)
        if known:
            _offer(known)
            page_link("catalog", "See all models")
        else:
            st.markdown("Create your first model on Home.")
            primary_link("catalog", "Open Home")
    st.stop()


def _offer(known: Sequence[Model]) -> None:
    """Draw a button for each of the first models."""
    with st.container(horizontal=True):
        for model in known[:_OFFERED]:
            sign = STATES[model.state]
            st.button(
                plain(model.handle),
                icon=sign.icon,
                help=f"{sign.label}. {plain(model.description)}",
                key=f"shell.choose.{model.handle}",
                on_click=session.next_model,
                args=(model.handle,),
            )


def _with_current(known: Mapping[str, Model], handle: str) -> dict[str, Model]:
    """The models with one of them as it is now; it may be new, or archived and therefore not in the listing."""
    try:
        return {**known, handle: client().models.get(handle)}
    except (ModelNotFound, NamespaceForbidden):
        session.flash(f"Model {plain(handle)} does not exist, or this workbench cannot read it.", "problem")
        return {each: model for each, model in known.items() if each != handle}
