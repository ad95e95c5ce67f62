"""Model: its dashboard; and its card, its description, code to call it, and what is kept of it."""

import streamlit as st

from traitbench_app.model.attributes import draw_attributes
from traitbench_app.model.code import export_model, model_calls
from traitbench_app.model.dashboard import dashboard
from traitbench_app.model.description import edit_about, model_card
from traitbench_app.model.keeping import version_keeping
from traitbench_app.model.zero_retention import zero_retention
from traitbench_app.parts.controls import folded
from traitbench_app.parts.heading import chosen_model, heading
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import client

PARTS = {
    "overview": "Overview",
    "card": "Model card",
    "about": "Describe",
    "calls": "Call it",
    "kept": "What is kept",
}

model = chosen_model()
top = st.container()
part = st.segmented_control(
    "Part",
    list(PARTS),
    default="overview",
    required=True,
    format_func=lambda each: PARTS[each],
    key="part",
    bind="query-params",
    label_visibility="collapsed",
)

with top:
    heading("model", model, part=PARTS[part])

if part == "overview":
    dashboard(model)
    st.stop()

if part == "card":
    model_card(model)
    st.stop()

if part == "calls":
    called = model_calls(model)
    with folded("Attributes for clients of Perspective", icon=":material/sell:", key="attributes") as is_open:
        if is_open:
            draw_attributes(model, called, may_change=not why_read_only(model) and model.state != "archived")
    st.stop()

read_only = "This model was archived. Restore it to change it." if model.state == "archived" else ""
read_only = why_read_only(model) or read_only

if part == "about":
    if read_only:
        st.markdown(f":material/lock: **Read only.** {read_only} The card shows its description.")
    else:
        edit_about(model)
    st.stop()

# ---- export and retention --------------------------------------------------------------------------------------------

if why_read_only(model):
    st.markdown(f":material/lock: **Read only.** {why_read_only(model)}")
    st.stop()

traits = client().traits.list(model.handle)

with st.container(border=True, key="model.export_box"):
    st.header("Export", icon=":material/download:", anchor=False)
    export_model(model, samples=sum(trait.stored_samples for trait in traits))

if model.state == "archived":
    st.caption(read_only)
    st.stop()

with st.expander("Version retention", icon=":material/history:", key="model.versions_box"):
    version_keeping(model)

with st.expander("Zero data retention", icon=":material/shield:", key="model.retention_box"):
    zero_retention(model, traits)
