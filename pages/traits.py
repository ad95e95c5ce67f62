"""Traits: what the model measures, what the two words of each trait mean, and how well its sides are separated."""

from contextlib import suppress
from functools import partial

import streamlit as st

from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain, shortened
from traitbench.errors import InternalError
from traitbench_app.parts.controls import asked, confirm, draw_title, draw_unreadable
from traitbench_app.parts.heading import chosen_model, heading
from traitbench_app.parts.next_step import editable
from traitbench_app.parts.samples_switch import draw_samples_switch
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import client
from traitbench_app.traits import discovery
from traitbench_app.traits.discovery import draw_outcome
from traitbench_app.traits.editing import consequences_of, last_change, opened, remove_trait, undo_last
from traitbench_app.traits.editor import DELETE, draw_editor
from traitbench_app.traits.listing import draw_list, open_row, opened_row
from traitbench_app.traits.measured import MANY, measured, source_of, title_of
from traitbench_app.traits.new_trait import (
    close_sentence,
    draw_add_button,
    draw_answer,
    draw_naming,
    draw_sentence,
    draw_suggested,
    found_in_words,
    is_adding,
    open_sentence,
    own_texts,
)
from traitbench_app.traits.suggestions import draw_details, draw_ends, draw_suggestions
from traitbench_app.traits.trait_card import draw_card, draw_style, draw_wrong_step
from traitbench_app.workspace import pool
from traitbench_app.workspace.changes import is_suggestion
from traitbench_app.workspace.samples import all_samples

_STYLE = """
<style>
.stApp .st-key-traits-title { gap: 12px 24px; align-items: flex-start; }
@media (max-width: 720px) { .stApp .st-key-traits-title { flex-direction: column-reverse; } }
.stApp .st-key-card-more { padding: 14px 20px; background: none; border-style: dashed; box-shadow: none; }
.stApp .st-key-card-more h2 { padding: 0; }
.stApp .st-key-card-list { padding: 0; gap: 0; overflow: hidden; }
.stApp .st-key-card-list .st-key-traits-bar { padding: 12px 16px; }
</style>
"""

model = chosen_model()
traits = client().traits.list(model.handle)
may_change = not why_read_only(model)
can_edit = may_change and model.state in ("draft", "failed", "ready")
adding = can_edit and (is_adding() or not (traits or traits.unreadable))
suggestions = [each for each in traits if can_edit and is_suggestion(each)]
source = None
with suppress(InternalError):
    source = source_of(model)
before = client().traits.list(source[0].handle) if source and source[0].handle != model.handle else ()
every = [each for each in measured(traits, source[1] if source else None, before) if each.trait not in suggestions]


def draw_own() -> bool:
    """Draw what is next in the header: to add the trait of the sentence, or to undo the last edit."""
    if adding and traits:
        return draw_add_button(model, traits)
    undo = last_change(model.handle) if can_edit else None
    if undo is not None:
        st.markdown("Saved.", width="content")
        said = plain(undo.what)
        st.button("Undo", shortcut="Z", key="samples.undo_button", help=said, on_click=undo_last, args=(undo,))
        return True
    if adding:
        return draw_add_button(model, traits)
    return model.state == "ready" and may_change and draw_wrong_step(every)


heading("traits", model, traits, None, draw_own)
st.html(_STYLE)
draw_unreadable(traits.unreadable, "trait", key="traits.unreadable")
if not can_edit:
    editable(model, "traits")
elif model.state != "ready":
    draw_outcome(model, traits)

texts = {}
if may_change and any(each.kind == "intrinsic" for each in traits):
    own = all_samples(model.handle, traits) if any(each.stored_samples for each in traits) else []
    texts = {**pool.texts(model.handle), **{sample.content_sha256: sample.text for sample in own}}

# ---- a new trait -----------------------------------------------------------------------------------------------------

if adding:
    with st.container(horizontal=True, horizontal_alignment="distribute", key="traits.title"):
        with st.container(width="stretch"):
            words = draw_sentence()
        with st.container(width="content"):
            draw_samples_switch("traits")
    draw_answer(words, own_texts(model, sum(each.stored_samples for each in traits)))
    draw_naming(traits, words)
    draw_suggested(model, suggestions, texts)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Find differences in your texts",
            icon=":material/explore:",
            key="traits.discover_button",
            on_click=discovery.start,
            args=(model,),
            help="Discovery suggests traits from texts without labels.",
        )
        if sentence := found_in_words(suggestions):
            st.caption(sentence, width="content")
        if traits:
            st.button("Not now", shortcut="Escape", type="tertiary", key="traits.not_now", on_click=close_sentence)
    discovery.discovery(model, traits)
    st.stop()

if not traits:
    st.stop()

# ---- the traits ------------------------------------------------------------------------------------------------------

edited = next((each for each in traits if can_edit and each.key == opened()), None)
title, lead = title_of(every) if every else (count(len(suggestions), "suggested trait"), "")
scores = f"v{source[1].version_no} scores as before until you train." if source else ""
if edited is not None:
    where = ", in your draft" if source and source[0].handle != model.handle else ""
    title = f"{plain(shortened(edited.name, 40))} is being changed{where}"
    lead = f"{scores} Two names, two definitions: the names explain every score.".strip()
elif source and source[0].handle != model.handle:
    lead = f"{lead} {scores}"
with st.container(horizontal=True, horizontal_alignment="distribute", key="traits.title"):
    with st.container(width="stretch"):
        draw_title(title, lead, is_first=False)
    with st.container(width="content"):
        draw_samples_switch("traits")

names = {each.key: each.name for each in traits}
if suggestions:
    with_samples = any(each.stored_samples for each in traits)
    shown = [each for each in suggestions if edited is None or each.key != edited.key]
    draw_suggestions(model.handle, shown, names, texts, with_samples=with_samples)
if source is None and model.version_no is not None:
    st.error(f"v{model.version_no} cannot be read, so its figures are missing here. Nothing else is affected.")
draw_style(traits)
opens = " The first change opens your draft." if model.state == "ready" else ""


def draw_one(trait: Trait) -> None:
    """Draw a trait as a card, or as the fields of its editor."""
    if edited is not None and edited.key == trait.key:
        draw_editor(model, trait, also=opens)
        return
    each = next(each for each in every if each.trait.key == trait.key)
    beside = every if len(every) <= MANY else [each]
    at = every.index(each)
    before, after = (traits.index(some[0].trait) if some else None for some in (every[:at][-1:], every[at + 1 :]))
    draw_card(model, source, each, beside, traits.index(trait), can_edit=can_edit, neighbours=(before, after))
    if trait.kind == "intrinsic" and trait.discovered is not None:
        with st.expander("What it measures", icon=":material/format_quote:", key=f"traits.ends.{trait.key}"):
            draw_ends(trait, texts)
            draw_details(trait, names)


if len(every) > MANY:
    row = next((each.trait for each in every if each.trait.key == opened_row()), None)
    if edited is not None and (row is None or row.key != edited.key):
        draw_one(edited)
    if row is not None:
        draw_one(row)
        st.button(
            "Close", type="tertiary", icon=":material/close:", key="traits.close", on_click=open_row, args=(None,)
        )
    with st.container(border=True, key="card.list"):
        draw_list(every)
else:
    if edited in suggestions:
        draw_one(edited)
    for each in every:
        draw_one(each.trait)

if can_edit:
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="card.more"):
        st.header("Two more opposites?", anchor=False, width="content")
        st.caption("Two words are enough to try.", width="content")
        st.space("stretch")
        st.button(
            "Find differences in your texts",
            icon=":material/explore:",
            type="tertiary",
            key="traits.discover_button",
            on_click=discovery.start,
            args=(model,),
            help="Discovery suggests traits that no trait covers yet.",
        )
        st.button("Add a trait", shortcut="N", key="traits.new", on_click=open_sentence)

# ---- dialogs ---------------------------------------------------------------------------------------------------------

if can_edit:
    discovery.discovery(model, traits)

leaving = next((each for each in traits if each.key == asked(DELETE)), None)
if can_edit and leaving:
    confirm(
        DELETE,
        title="Delete this trait?",
        body=consequences_of(leaving),
        yes="Delete",
        icon=":material/delete:",
        act=partial(remove_trait, model, leaving, traits),
    )
