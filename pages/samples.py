"""Samples: the labelled texts of a model, those first that are farthest from their label. Edit, add and check them."""

import streamlit as st

from traitbench_app.parts.controls import draw_title, draw_unreadable
from traitbench_app.parts.heading import OWN_CHANGES, chosen_model, heading
from traitbench_app.parts.next_step import editable
from traitbench_app.parts.samples_switch import draw_samples_switch
from traitbench_app.samples.browsing import SamplesOnPage, draw_end, draw_samples
from traitbench_app.samples.checks import draw_check
from traitbench_app.samples.conflicts import conflict_title, draw_conflict
from traitbench_app.samples.editing import can_edit_now, conflict_in, draw_to_draft
from traitbench_app.samples.head import draw_style, step_of, step_of_check, title_and_sentence
from traitbench_app.samples.importing import draw_left_out, import_file
from traitbench_app.samples.listing import listing_of
from traitbench_app.samples.narrowing import FIND, chosen_in, query_of
from traitbench_app.samples.paste import draw_paste, link_values, restore_link
from traitbench_app.samples.raters import compare_labels
from traitbench_app.samples.review import draw_review
from traitbench_app.samples.starting import draw_starting
from traitbench_app.samples.synthesis import draw_outcome, synthesize
from traitbench_app.samples.unseen import draw_why_not
from traitbench_app.samples.views import VIEWS, go_to, view_in_address
from traitbench_app.samples.waiting import draw_waiting_feedback
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import client, namespaces
from traitbench_app.workspace.samples import all_samples, unreadable_samples

model = chosen_model()
traits = client().traits.list(model.handle)
draw_style()
view = view_in_address()
is_outside = model.handle.split(".")[0] not in namespaces()
forbidden = why_read_only(model)
can_edit = not forbidden and can_edit_now(model)

# ---- nothing to show -------------------------------------------------------------------------------------------------

if not traits or is_outside or forbidden:
    heading("samples", model, traits)
    draw_unreadable(traits.unreadable, "trait", key="samples.unreadable_traits")
    if not traits:
        st.markdown("Each sample is a labelled text for one trait.")
        if can_edit:
            page_link("traits", "Add a trait first")
    elif is_outside:
        st.caption("Only owners of the model's namespace can see its samples.")
    else:
        st.markdown(f":material/lock: **Read only.** {forbidden}")
    st.stop()

# ---- the other views -------------------------------------------------------------------------------------------------

if view != "samples":
    samples = all_samples(model.handle, traits)
    if view == "paste":
        restore_link(traits)
    own_step = step_of_check(model) if view == "check" else None
    in_link = link_values(traits) if view == "paste" else {}
    heading("samples", model, traits, None, own_step, task=VIEWS[view], **in_link)
    draw_unreadable(unreadable_samples(), "sample", key="samples.unreadable")
    if view == "check":
        draw_check(model, traits, samples, can_edit=can_edit)
        st.stop()
    with st.container(horizontal=True):
        st.button(
            "All samples",
            icon=":material/arrow_back:",
            type="tertiary",
            key="samples.back",
            on_click=go_to,
            args=("samples",),
        )
    if view == "raters":
        compare_labels(model, traits, samples, can_edit=can_edit)
    elif not can_edit:
        editable(model, "samples")
    elif view == "paste":
        draw_paste(model, traits, samples)
    elif model.state == "ready":
        draw_to_draft(model)
    elif view == "synthesize":
        synthesize(model, traits, samples)
    else:
        import_file(model, traits, samples)
    st.stop()

# ---- the samples -----------------------------------------------------------------------------------------------------

scores, listing = listing_of(model, traits)
chosen = chosen_in({**st.query_params.to_dict(), FIND: session.on_screen(FIND, "")}, traits)
shown = SamplesOnPage(model, traits, listing, scores, chosen, can_edit)
session.store(OWN_CHANGES, None if scores.changed is None else (model.handle, len(scores.changed)))
heading("samples", model, traits, None, step_of(shown), **query_of(chosen, traits), find=chosen.words)
draw_unreadable(traits.unreadable, "trait", key="samples.unreadable_traits")
draw_unreadable(unreadable_samples(), "sample", key="samples.unreadable")
if not can_edit:
    editable(model, "samples")
if not listing.total:
    draw_waiting_feedback(model, traits, may_change=model.state != "archived")
    draw_starting(model, traits, can_edit=can_edit)
    st.stop()

conflict = conflict_in(model.handle)
with st.container(horizontal=True, horizontal_alignment="distribute", key="samples-title"):
    with st.container(width="content"):
        draw_title(*(conflict_title(conflict) if conflict else title_and_sentence(shown)), is_first=False)
    draw_samples_switch("samples")
draw_why_not(scores)
draw_waiting_feedback(model, traits, may_change=model.state != "archived")
if conflict is not None:
    draw_conflict(model, traits, conflict)
if can_edit:
    made = listing.synthesized()
    draw_outcome(model, len(made))
    draw_review(model, traits, made)
    draw_left_out(model)
draw_samples(shown)
draw_end(shown)
