"""Catalog: all models you have access to, and the actions to create, import, archive and restore models."""

import streamlit as st

from traitbench.display.colours import STATES
from traitbench.display.text import count
from traitbench_app.catalog import bundle_import
from traitbench_app.catalog.bundle_import import import_model
from traitbench_app.catalog.listing import NAME_STYLE, model_row
from traitbench_app.catalog.sorting import ORDERS, Order, in_order
from traitbench_app.catalog.start import first_contact, is_first_contact
from traitbench_app.parts.heading import heading
from traitbench_app.parts.model_actions import archive, offer_undo
from traitbench_app.parts.new_model import new_model, start
from traitbench_app.parts.unreadable import draw_unreadable
from traitbench_app.shell import session
from traitbench_app.shell.permission import why_nowhere
from traitbench_app.shell.service import listing, namespaces

ROWS = 25


owned = namespaces()
nowhere = why_nowhere(owned)
top = st.container()
offer_undo()
first, bar = st.container(), st.container()

# ---- filters, all of them part of the URL ----------------------------------------------------------------------------

text, state, namespace = "", None, None
sort: Order = "name"
listed, unreadable = listing()
empty = not (listed or unreadable or any(listing(state="archived")))
if not empty:
    with st.container(horizontal=True, vertical_alignment="bottom", key="catalog.filters"):
        text = st.text_input(
            "Find",
            key="q",
            bind="query-params",
            type="search",
            icon=":material/search:",
            placeholder="Name, description or trait",
            live="300ms",
            width=320,
        )
        state = st.selectbox(
            "State",
            list(STATES),
            index=None,
            key="state",
            bind="query-params",
            format_func=lambda each: STATES[each].label,
            placeholder="All except archived",
            width=190,
        )
        listed, unreadable = listing(state=state)
        namespace = st.selectbox(
            "Namespace",
            sorted({*owned, *(model.handle.split(".")[0] for model in listed)}),
            index=None,
            key="namespace",
            bind="query-params",
            placeholder="All",
            width=190,
        )
        sort = st.selectbox(
            "Sort by", list(ORDERS), key="sort", bind="query-params", format_func=ORDERS.__getitem__, width=190
        )

with top:
    heading(
        "catalog",
        q=text,
        state=STATES[state].label if state else None,
        namespace=namespace,
        sort=None if sort == "name" else ORDERS[sort],
    )
newcomer = not nowhere and not (text or state or namespace) and is_first_contact(listed, owned)
if newcomer:
    with first:
        first_contact(listed)

wanted = text.casefold().split()
shown = [
    model
    for model in listed
    if (namespace is None or model.handle.startswith(f"{namespace}."))
    and all(word in " ".join((model.handle, model.description, *model.traits)).casefold() for word in wanted)
]
shown = in_order(shown, sort)

with bar, st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    ready = sum(model.state == "ready" for model in shown)
    st.caption("" if empty else f"{count(len(shown), 'model')}, {ready} ready to score", width="content")
    with st.container(horizontal=True, horizontal_alignment="right", width="content"):
        if not newcomer:
            st.button(
                "New model",
                type="primary",
                icon=":material/add:",
                key="catalog.new_button",
                on_click=start,
                disabled=nowhere is not None,
                help=nowhere,
            )
        st.button(
            "Import a model",
            icon=":material/upload:",
            key="catalog.import_button",
            on_click=bundle_import.start,
            disabled=nowhere is not None,
            help=nowhere or "From a file that was exported here or by another Traitbench.",
        )

# ---- the models ------------------------------------------------------------------------------------------------------

page = 1
if len(shown) > ROWS:
    page = st.pagination(-(-len(shown) // ROWS), key="catalog.page")
st.html(f"<style>{NAME_STYLE}</style>")
for model in shown[(page - 1) * ROWS : page * ROWS]:
    model_row(model, owned=nowhere is None and model.handle.split(".")[0] in owned)
draw_unreadable(unreadable, "model", key="catalog.unreadable")

if listed and not shown:
    with st.container(border=True, key="catalog.nothing"):
        st.markdown("**No models match.**")
        st.button(
            "Show all models",
            icon=":material/filter_alt_off:",
            key="catalog.clear",
            on_click=session.put,
            args=({"q": "", "state": None, "namespace": None},),
        )

# ---- dialogs ---------------------------------------------------------------------------------------------------------

new_model()

import_model(owned)
archive()
