"""Home: a text that is scored already, three ways to a model of one's own, and all models that you have access to."""

import streamlit as st

from traitbench.display.colours import STATES
from traitbench_app.catalog.listing import ORDERS, STYLE, Order, draw_model, in_order
from traitbench_app.catalog.live_text import draw_live
from traitbench_app.catalog.start import draw_ways, import_model, open_import
from traitbench_app.from_file.drop import draw_drop
from traitbench_app.parts.controls import copy_link, draw_unreadable, find, page_of, pick
from traitbench_app.parts.model_actions import archive, new_model, offer_undo
from traitbench_app.shell import session
from traitbench_app.shell.navigation import entry
from traitbench_app.shell.permission import why_nowhere
from traitbench_app.shell.service import listing, namespaces

CARDS, MANY = 12, 7
FILTERS = ("q", "state", "namespace", "sort")

owned = namespaces()
nowhere = why_nowhere(owned)
with st.skeleton(320):
    listed, unreadable = listing()

with st.container(gap=None, key="home.title"):
    st.title(entry("catalog").help, anchor=False)
    st.markdown(
        "Show a few texts of two kinds, such as warm and cold. Traitbench learns the difference and scores any text "
        "from 0 to 100."
    )
draw_live(listed)
draw_ways(nowhere, draw_drop=draw_drop)

# ---- filters, all of them part of the URL ----------------------------------------------------------------------------

is_filtered = len(listed) >= MANY or any(name in st.query_params or session.get(name) for name in FILTERS)
offer_undo()
with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key="home.models"):
    number = st.empty()
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
        st.button(
            "Import a model",
            type="tertiary",
            key="catalog.import_button",
            on_click=open_import,
            disabled=nowhere is not None,
            help=nowhere or "From a file that was exported here or by another Traitbench.",
        )

text, state, namespace = "", None, None
sort: Order = "name"
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
            sort=None if sort == "name" else ORDERS[sort],
        )

# ---- the models ------------------------------------------------------------------------------------------------------

wanted = text.casefold().split()
shown = [
    model
    for model in listed
    if (namespace is None or model.handle.startswith(f"{namespace}."))
    and all(word in " ".join((model.handle, model.description, *model.traits)).casefold() for word in wanted)
]
shown = in_order(shown, sort)
number.subheader(f"Models :gray[{len(shown):,}]", anchor=False)

cards = page_of(shown, CARDS, key="catalog.page")
st.html(STYLE)
with st.grid(3, min_column_width=320, key="home.cards"):
    for model in cards:
        draw_model(model, owned=nowhere is None and model.handle.split(".")[0] in owned)
draw_unreadable(unreadable, "model", key="catalog.unreadable")

if not shown and (wanted or state or namespace):
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
