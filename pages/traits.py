"""Traits: what the model measures. Each trait is an axis between two poles, defined by samples or discovered."""

from contextlib import suppress
from functools import partial

import streamlit as st

from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain
from traitbench.errors import InternalError
from traitbench_app.parts.controls import ask, asked, confirm, draw_unreadable
from traitbench_app.parts.heading import chosen_model, heading
from traitbench_app.parts.next_step import editable
from traitbench_app.parts.sample_table import draw_undo
from traitbench_app.parts.strips import draw_opened, how_to_read, is_measured
from traitbench_app.shell import session
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import active_version, client
from traitbench_app.traits import discovery
from traitbench_app.traits.discovery import draw_outcome
from traitbench_app.traits.row import draw_name, draw_poles, draw_style
from traitbench_app.traits.suggestions import draw_details, draw_ends, draw_suggestions, flip
from traitbench_app.traits.trait_form import describe, trait_form
from traitbench_app.workspace import pool
from traitbench_app.workspace.changes import is_suggestion, remember, undo_of
from traitbench_app.workspace.samples import all_samples

DELETE = "traits.delete"


def delete(handle: str, trait: Trait, traits: list[Trait]) -> None:
    """Delete a trait with its samples so that it can be undone, and confirm it with a toast."""
    own = [sample for sample in all_samples(handle, traits) if sample.trait == trait.key]
    client().traits.delete(handle, trait.key)
    remember(undo_of(handle, trait, own))
    session.flash(f"Deleted {plain(trait.name)} and its {count(trait.stored_samples, 'sample')}.")


def consequences(trait: Trait) -> str:
    """What a deletion of this trait means, in markdown."""
    said = f"This deletes **{plain(trait.name)}** and its **{count(trait.stored_samples, 'sample')}**."
    if trait.kind == "intrinsic" and not is_suggestion(trait):
        return f"{said} You cannot undo this, because only a discovery can make it."
    return f"{said} You can undo this until you close the tab."


def draw_actions(handle: str, trait: Trait) -> None:
    """Draw what can be done with a trait, as signs."""
    flips = trait.kind == "intrinsic" and not trait.stored_samples
    for name, icon, hint, act, args in (
        *((("flip", "swap_horiz", "Exchange its poles", flip, (handle, trait)),) if flips else ()),
        ("edit", "edit", "Edit this trait", describe, (trait.key,)),
        ("delete", "delete", "Delete this trait and its samples", ask, (DELETE, trait.key)),
    ):
        st.button(
            "",
            icon=f":material/{icon}:",
            type="tertiary",
            key=f"traits.{name}.{trait.key}",
            help=hint,
            on_click=act,
            args=args,
        )


def draw_discover(hint: str) -> None:
    """Draw the button that opens the discovery of traits."""
    st.button(
        "Discover traits",
        icon=":material/explore:",
        key="traits.discover_button",
        on_click=discovery.start,
        help=hint,
    )


model = chosen_model()
traits = client().traits.list(model.handle)
heading("traits", model, traits)
version = None
with suppress(InternalError):
    version = active_version(model)
draw_unreadable(traits.unreadable, "trait", key="traits.unreadable")
can_edit = editable(model, "traits")
if can_edit:
    draw_outcome(model, traits)
    with st.container(horizontal=True, vertical_alignment="center"):
        draw_undo(model.handle)

# ---- none yet --------------------------------------------------------------------------------------------------------

if not traits and not traits.unreadable and not can_edit:
    st.stop()

elif not traits and not traits.unreadable:
    with st.container(border=True, key="traits.empty"):
        st.header("What should this model measure?", icon=":material/tune:", anchor=False)
        st.markdown(
            "A trait is a question with two answers: *Is this reply warm or cold?* Name the trait and its two poles, "
            "then add a few texts for each pole."
        )
        with st.container(horizontal=True):
            st.button(
                "Add the first trait", type="primary", icon=":material/add:", key="traits.first", on_click=describe
            )
            draw_discover("Bring texts without labels, and see what differs between them.")

# ---- the traits ------------------------------------------------------------------------------------------------------

else:
    suggestions = [trait for trait in traits if can_edit and is_suggestion(trait)]
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        samples = sum(trait.stored_samples for trait in traits)
        dots = f" {how_to_read(version, model)}" if any(is_measured(version, each) for each in traits) else ""
        st.caption(f"{count(len(traits), 'trait')}, {count(samples, 'sample')}.{dots}", width="content")
        if can_edit:
            with st.container(horizontal=True, horizontal_alignment="right", width="content"):
                draw_discover("Find differences between your texts that no trait covers yet.")
                st.button("New trait", icon=":material/add:", key="traits.new", on_click=describe)

    names = {trait.key: trait.name for trait in traits}
    texts = {}
    if not why_read_only(model) and any(trait.kind == "intrinsic" for trait in traits):
        own = all_samples(model.handle, traits) if samples else []
        texts = {**pool.texts(model.handle), **{sample.content_sha256: sample.text for sample in own}}
    if suggestions:
        draw_suggestions(model.handle, suggestions, names, texts, with_samples=samples > 0)
        if len(suggestions) < len(traits):
            st.header("Traits", icon=":material/tune:", anchor=False)
    draw_style(traits)
    for trait in (each for each in traits if each not in suggestions):
        with st.container(border=True, key=f"traits.card.{trait.key}"):
            about, poles, *actions = st.columns(
                [2.2, 6, *([1.4] if can_edit else [])], vertical_alignment="center", gap="medium"
            )
            with about:
                draw_name(trait)
            with poles, st.container(gap="small"):
                opened = draw_poles(model, version, trait, traits, can_edit=can_edit)
            for slot in actions:
                with slot, st.container(horizontal=True, horizontal_alignment="right", gap="small"):
                    draw_actions(model.handle, trait)
            if version is not None and opened:
                draw_opened(model, version, trait, *opened)
            if trait.kind == "intrinsic":
                with st.expander("What it measures", icon=":material/format_quote:", key=f"traits.ends.{trait.key}"):
                    draw_ends(trait, texts)
                    draw_details(trait, names)

# ---- dialogs ---------------------------------------------------------------------------------------------------------

if can_edit:
    trait_form(model.handle, traits)
    discovery.discovery(model, traits)

leaving = next((trait for trait in traits if trait.key == asked(DELETE)), None)
if can_edit and leaving:
    confirm(
        DELETE,
        title="Delete this trait?",
        body=consequences(leaving),
        yes="Delete",
        icon=":material/delete:",
        act=partial(delete, model.handle, leaving, traits),
    )
