"""Label: go through unlabelled texts with the keyboard, one at a time. They become samples, or feedback if trained."""

from functools import partial

import streamlit as st

from traitbench.display.text import count, plain
from traitbench_app.label.view import LEFT, QUEUES, View, draw_summary, draw_view, look_afresh, next_of
from traitbench_app.parts.controls import ask, asked, confirm, draw_title, draw_unreadable
from traitbench_app.parts.heading import chosen_model, heading
from traitbench_app.parts.upload import bring_texts
from traitbench_app.shell import session
from traitbench_app.shell.service import client
from traitbench_app.workspace import pool
from traitbench_app.workspace.pool import MOST_TEXTS

EVERY = "*"
DISCARD = "label.discard"

model = chosen_model()
traits = client().traits.list(model.handle)
labelled = [trait for trait in traits if trait.kind == "extrinsic"]
draw_unreadable(traits.unreadable, "trait", key="label.unreadable_traits")

# ---- may labels be given now? ----------------------------------------------------------------------------------------

reason = pool.why_not(model)
if not reason and model.zero_data_retention and model.version_no is not None:
    reason = "Zero data retention is on, so this trained model takes no feedback."
if reason:
    heading("label", model, traits)
    with st.container(border=True, key="label.closed"):
        st.markdown(f":material/lock: **You cannot label texts here.** {reason}")
    st.stop()

texts = pool.texts(model.handle)
if model.state == "busy" and model.version_no is None:
    heading("label", model, traits)
    st.caption("You can label again when the run is done. Your texts are kept.")
    st.stop()

if not texts:
    heading("label", model, traits)
    with st.container(border=True, key="label.empty"):
        draw_title(
            "Add texts to label",
            "Then label them one by one with the keyboard: ← and → for the poles, ↓ to skip.",
            is_first=False,
        )
        bring_texts(model)
        if not labelled:
            st.markdown("Add a trait before you label, or let the Traits page discover some in these texts.")
    if model.zero_data_retention:
        st.caption(":material/shield: Zero data retention is on: the texts are kept only until you close this tab.")
    st.stop()

if not labelled:
    heading("label", model, traits)
    st.markdown(f"{count(len(texts), 'text')} to label. A trait says what to label them for.")
    st.caption("No name yet for what differs? The Traits page can discover traits in these texts.")
    st.stop()

# ---- what to label, in which order -----------------------------------------------------------------------------------

top = st.container()
with st.container(horizontal=True, vertical_alignment="bottom", key="label.choices"):
    names = {trait.key: trait.name for trait in labelled} | ({EVERY: "All traits"} if len(labelled) > 1 else {})
    trait = next(iter(names))
    if len(names) > 1:
        trait = st.selectbox(
            "Trait",
            list(names),
            key="trait",
            bind="query-params",
            format_func=lambda key: names.get(key, key),
            width=220,
            help="With all traits, you label each text for one trait after another.",
        )
    queue = st.selectbox(
        "Order",
        list(QUEUES),
        key="queue",
        bind="query-params",
        format_func=lambda each: QUEUES[each],
        width=220,
        help="Random: every text is equally likely to come next, so the figures below are representative. Most "
        "informative: typical texts come first, then those that the draft is least sure about. On five real datasets, "
        "this needed about a third fewer labels on average; on one of them, it saved none. Ranks up to 10,000 texts.",
    )
    blind = st.toggle(
        "Hide scores",
        key="blind",
        bind="query-params",
        help="Judge blind: the score of a text and its highlights do not influence you.",
    )
    with st.popover("Texts", icon=":material/inventory_2:", key="label.texts"):
        st.markdown(
            f"**{count(len(texts), 'text')}** from " + ", ".join(plain(each) for each, _ in pool.sources(model))
        )
        st.caption(
            "Kept only until you close this tab, because zero data retention is on."
            if model.zero_data_retention
            else f"Everyone who may change the model sees these texts and labels them; up to {MOST_TEXTS:,}."
        )
        st.button(
            "Discard texts",
            icon=":material/delete:",
            key=DISCARD + ".button",
            on_click=ask,
            args=(DISCARD, model.handle),
        )
        st.markdown("**Add more**")
        bring_texts(model)

view = View([each for each in labelled if trait in (each.key, EVERY)], labelled, queue or next(iter(QUEUES)), blind)
with top:
    shown = {"trait": names.get(str(trait)), "queue": QUEUES.get(queue), "blind": "true" if blind else None}
    heading("label", model, traits, partial(next_of, view), **shown)

if asked(DISCARD) == model.handle:
    confirm(
        DISCARD,
        title="Discard these texts?",
        body=f"{count(len(texts), 'text')} and what everyone decided about them are deleted. Saved samples stay.",
        yes="Discard",
        icon=":material/delete:",
        act=lambda: pool.discard(model.handle),
    )

look_afresh()
if session.get(LEFT):
    draw_summary(model, view)
else:
    draw_view(model, view)
