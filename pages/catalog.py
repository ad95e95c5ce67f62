"""Home: two words between which a text is scored, three ways to a model of one's own, and all models.

A person with models sees these first, and those that wait before the others.
"""

import streamlit as st

from traitbench.display.colours import STATES
from traitbench_app.catalog.listing import (
    ORDERS,
    STYLE,
    Order,
    draw_model,
    in_order,
    is_demo,
    lead_of,
    name_among,
    title_of,
    waiting_of,
)
from traitbench_app.catalog.live_text import draw_front_door, watch
from traitbench_app.catalog.paste import paste_texts
from traitbench_app.catalog.start import draw_ways, import_model, open_import
from traitbench_app.from_file.drop import draw_drop
from traitbench_app.parts.controls import copy_link, draw_title, draw_unreadable, find, page_of, pick
from traitbench_app.parts.model_actions import archive, ask_for_model, new_model, offer_undo
from traitbench_app.shell import session
from traitbench_app.shell.navigation import name_link
from traitbench_app.shell.permission import why_nowhere
from traitbench_app.shell.service import listing, namespaces

CARDS, MANY = 12, 7
FILTERS = ("q", "state", "namespace", "sort")

owned = namespaces()
nowhere = why_nowhere(owned)
with st.skeleton(320):
    listed, unreadable = listing()
every = listed
of_people = [model for model in listed if not is_demo(model)]

# ---- the front door, or the models that wait -------------------------------------------------------------------------

is_filtered = len(of_people) >= MANY or any(name in st.query_params or session.get(name) for name in FILTERS)
is_returning = bool(of_people) or is_filtered
waiting = waiting_of(of_people)
if is_returning:
    draw_title(title_of(of_people, waiting), lead_of(of_people, waiting))
else:
    draw_front_door(listed, nowhere, is_title=True)
    draw_ways(nowhere, draw_drop=draw_drop)

# ---- filters, all of them part of the URL ----------------------------------------------------------------------------

offer_undo()
with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key="home.models"):
    with st.container(horizontal=True, vertical_alignment="center", width="content"):
        st.header("Your models" if is_returning else "Demo models", anchor=False, width="content")
        number = st.container(width="content")
    with st.container(horizontal=True, horizontal_alignment="right", width="content"):
        link = st.container(width="content")
        if not is_filtered:
            st.button(
                "Archived models",
                type="tertiary",
                key="catalog.archived",
                on_click=session.put,
                args=({"state": "archived"},),
            )
        for label, key, act, about in (
            ("Empty model", "catalog.new_button", ask_for_model, "For several traits, or traits to discover."),
            ("Import a model", "catalog.import_button", open_import, "From a file that a Traitbench exported."),
        ):
            st.button(
                label, type="tertiary", key=key, on_click=act, disabled=nowhere is not None, help=nowhere or about
            )

text, state, namespace = "", None, None
sort: Order = "waits"
if is_filtered:
    with st.container(horizontal=True, vertical_alignment="bottom", key="catalog.filters"):
        text = find("q", "Name, description or trait")
        state = pick(
            "State", {each: sign.label for each, sign in STATES.items()}, key="state", every="All but archived"
        )
        listed, unreadable = listing(state=state)
        spaces = sorted({*owned, *(model.handle.split(".")[0] for model in listed)})
        namespace = pick("Namespace", dict(zip(spaces, spaces, strict=True)), key="namespace")
        sort = st.selectbox(
            "Sort by", list(ORDERS), key="sort", bind="query-params", format_func=ORDERS.__getitem__, width=190
        )
    with link:
        copy_link(
            "catalog",
            q=text,
            state=STATES[state].label if state else None,
            namespace=namespace,
            sort=None if sort == "waits" else ORDERS[sort],
        )

# ---- the models ------------------------------------------------------------------------------------------------------

wanted = text.casefold().split()
shown = [
    model
    for model in listed
    if (namespace is None or model.handle.startswith(f"{namespace}."))
    and all(word in " ".join((model.handle, model.description, *model.traits)).casefold() for word in wanted)
]
is_searched = bool(wanted or state or namespace)
if is_returning and not is_searched:
    shown = [model for model in shown if not is_demo(model)]
shown = in_order(shown, sort, waiting)
with number:
    st.caption(f"{len(shown):,}" if is_filtered else "Dots are texts, each scored by a model that had not seen it.")

cards = page_of(shown, CARDS, key="catalog.page")
st.html(STYLE)
with st.grid(3, min_column_width=320, key="home.cards"):
    for model in cards:
        may = nowhere is None and model.handle.split(".")[0] in owned
        draw_model(model, owned=may, name=name_among(listed, model))
draw_unreadable(unreadable, "model", key="catalog.unreadable")

if not shown and is_searched:
    with st.container(border=True, key="catalog.nothing"):
        st.markdown("**No models match.**")
        st.button(
            "Show all models",
            icon=":material/filter_alt_off:",
            key="catalog.clear",
            on_click=session.put,
            args=({"q": "", "state": None, "namespace": None},),
        )

# ---- a new question, for those who have models -----------------------------------------------------------------------

if is_returning:
    with st.container(key="home.new", gap="small"):
        st.header("A new question", anchor=False)
        draw_front_door(every, nowhere, is_title=False)
    draw_ways(nowhere, draw_drop=draw_drop)
    if demos := [model for model in in_order(every, "waits") if is_demo(model)]:
        with st.container(horizontal=True, vertical_alignment="center", key="home.demos"):
            st.caption("Demo models:", width="content")
            for model in demos[:CARDS]:
                name_link(model.handle, name_among(every, model))

# ---- dialogs ---------------------------------------------------------------------------------------------------------

watch(every)
new_model()
paste_texts(owned)
import_model(owned)
archive()
