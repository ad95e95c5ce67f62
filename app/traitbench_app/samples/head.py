"""The title of the Samples page with the line below it, what its header says is next, and how its parts look."""

from collections.abc import Callable

import streamlit as st

from traitbench.contract.models import Model
from traitbench.display.text import count
from traitbench_app.parts.heading import is_open_draft
from traitbench_app.samples.browsing import SamplesOnPage
from traitbench_app.samples.checks import slot_of_step
from traitbench_app.samples.editing import (
    SavedEdit,
    conflict_in,
    last_edit,
    pick_sample,
    position_of_conflict,
    settle_conflict,
    undo_last,
)
from traitbench_app.samples.listed import Chosen
from traitbench_app.samples.narrowing import narrow
from traitbench_app.samples.views import go_to
from traitbench_app.samples.words import sentence_of, title_of

_STYLE = """
<style>
.stApp .st-key-samples-title { flex-wrap: wrap; gap: 12px 24px; align-items: flex-start; }
.stApp .st-key-samples-title > :has(> .st-key-samples-switch) { margin-left: auto; }
.stApp .st-key-samples-bar { gap: 8px; }
.stApp .st-key-samples-bar button[data-variant] {
  min-height: 24px; height: 24px; padding: 0 8px; border-radius: 999px; border: 1px solid var(--tb-line);
  color: var(--tb-ink-2) !important; background: var(--tb-surface);
}
.stApp .st-key-samples-bar button[data-variant] p { font-size: 12px; line-height: 16px; font-weight: 500; }
.stApp .st-key-samples-bar button[data-variant][aria-checked="true"] {
  color: var(--tb-surface) !important; background: var(--tb-ink); border-color: var(--tb-ink);
}
.stApp .st-key-samples-bar .st-key-find { width: 132px; flex: 0 1 132px; }
.stApp .st-key-samples-bar .st-key-samples-order { width: 146px; flex: 0 1 146px; }
.stApp .st-key-samples-bar .st-key-find label { position: absolute; clip-path: inset(50%); }
.stApp .st-key-samples-bar :is([data-baseweb="select"] > div, [data-testid="stTextInputRootElement"], [role="group"]) {
  min-height: 30px; height: 30px; border-color: transparent; background: none; font-size: 13px;
}
.stApp .st-key-samples-bar [data-testid="stTextInputRootElement"]:focus-within { border-color: var(--tb-accent); }
.stApp .st-key-samples-bar :is(input, [data-testid="stPopoverButton"]) { font-size: 13px; }
.stApp .st-key-samples-bar [data-testid="stPopoverButton"] { min-height: 30px; padding: 2px 10px; }
.stApp .st-key-card-samples { padding: 12px 0 0; overflow: hidden; }
.stApp .st-key-card-samples .st-key-samples-bar,
.stApp .st-key-card-samples .st-key-samples-nothing { padding: 0 16px 12px; }
.stApp .st-key-card-sample_panel { padding: 12px 20px 14px; }
.stApp .st-key-samples-place button { min-height: 24px; min-width: 24px; padding: 0 4px; }
.stApp .st-key-samples-close_panel { display: none; }
.stApp .st-key-samples-text { margin: 0 -9px; }
.stApp .st-key-samples-text textarea {
  padding: 6px 8px; font-size: 17px; line-height: 27px; letter-spacing: -0.003em; resize: none; color: var(--tb-ink);
  -webkit-text-fill-color: currentcolor;
}
.stApp .st-key-samples-text [data-testid="stTextAreaRootElement"] { background: transparent; }
.stApp .st-key-samples-text [data-testid="stTextAreaRootElement"]:not(:focus-within, :hover) {
  border-color: transparent;
}
.stApp .st-key-samples-text [data-testid="InputInstructions"] { display: none; }
.st-key-samples-text .until { margin: 0 9px; font-size: 12px; line-height: 16px; color: var(--tb-ink-2); }
.st-key-samples-text:not(:focus-within) .until { display: none; }
@supports (field-sizing: content) {
  .stApp .st-key-samples-text textarea { field-sizing: content; height: auto !important; max-height: 60vh; }
}
.stApp .st-key-samples-keys button { min-height: 34px; padding: 0 8px; border-color: var(--tb-line-strong); }
.stApp .st-key-samples-keys button p { font-size: 13px; color: var(--tb-ink-2); }
.stApp .st-key-samples-key-left-on button { border-color: var(--tb-left); background: var(--tb-left-soft); }
.stApp .st-key-samples-key-left-on button p { color: var(--tb-left-ink); font-weight: 600; }
.stApp .st-key-samples-key-right-on button { border-color: var(--tb-right); background: var(--tb-right-soft); }
.stApp .st-key-samples-key-right-on button p { color: var(--tb-right-ink); font-weight: 600; }
.stApp .st-key-samples-key-none-on button { border-color: var(--tb-ink); background: var(--tb-sunk); }
.stApp .st-key-samples-key-none-on button p { color: var(--tb-ink); font-weight: 600; }
.stApp .st-key-samples-uses { gap: 8px; }
.stApp .st-key-samples-uses [data-testid="stElementContainer"] > div:has(> [data-testid="stWidgetLabel"]) {
  display: grid; grid-template-columns: 76px minmax(0, 1fr); align-items: center; gap: 0 12px;
}
.stApp .st-key-samples-uses [data-testid="stCheckbox"] { display: block !important; margin-left: 88px; }
.stApp .st-key-samples-uses [data-testid="stWidgetLabel"] { margin: 0; min-height: 0; }
.stApp .st-key-samples-uses [data-testid="stWidgetLabel"] p { font-size: 13px; color: var(--tb-ink-3); }
.stApp .st-key-samples-uses button[data-variant] { min-height: 28px; padding: 2px 10px; }
.stApp .st-key-samples-uses button[data-variant] p { font-size: 13px; }
.stApp .st-key-samples-uses button[data-variant][aria-checked="true"] {
  color: var(--tb-ink) !important; background: var(--tb-sunk); border-color: var(--tb-line-strong); font-weight: 600;
}
.stApp .st-key-samples-uses [data-testid="stCaptionContainer"] { margin-left: 88px; }
.unseen { font-size: 13px; line-height: 20px; }
.unseen .line { display: flex; gap: 8px; align-items: baseline; margin-bottom: 6px; color: var(--tb-ink-3); }
.unseen .line b { margin-left: auto; font-size: 16px; font-weight: 600; color: var(--tb-ink); }
.unseen .ends { display: flex; justify-content: space-between; gap: 12px; margin-top: 6px; }
:is(.unseen, .hist, .like) .left { color: var(--tb-left-ink); }
:is(.unseen, .hist, .like) .right { color: var(--tb-right-ink); }
.stApp :is(.st-key-samples-history, .st-key-samples-alike, .st-key-samples-panel_end) {
  padding-top: 12px; border-top: 1px solid var(--tb-line);
}
.stApp :is(.st-key-samples-history, .st-key-samples-alike) [data-testid="stHtml"] h3 {
  margin: 0; padding: 0 0 4px; font-size: 13px; line-height: 20px;
}
.hist { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 2px 10px; font-size: 13px; line-height: 20px; }
.hist > :nth-child(even) { color: var(--tb-ink-3); text-align: right; white-space: nowrap; }
.like { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 4px 10px; font-size: 13px; line-height: 20px; }
.like b { font-weight: 600; max-width: 9ch; overflow: hidden; text-overflow: ellipsis; }
.like > :nth-child(even) {
  display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; color: var(--tb-ink-2);
  overflow-wrap: anywhere;
}
.stApp .st-key-samples-alike .m3 { margin: 4px 0 0; font-size: 12px; line-height: 16px; color: var(--tb-ink-3); }
@media (min-width: 721px) {
  .stApp .st-key-samples-panel { position: sticky; top: 72px; max-height: calc(100vh - 88px); overflow-y: auto; }
}
@media (max-width: 720px) {
  .stApp .st-key-samples-panel { display: none; }
  html[data-traitbench-sample] .stApp .st-key-samples-panel {
    display: flex; position: fixed; inset: auto 0 0; z-index: 1000; max-height: 85vh; overflow-y: auto;
    background: var(--tb-surface); border-top: 1px solid var(--tb-line-strong);
    box-shadow: 0 -8px 28px rgb(0 0 0 / 18%);
  }
  .stApp .st-key-samples-panel .st-key-card-sample_panel { border: 0; border-radius: 0; padding: 12px 16px 24px; }
  .stApp .st-key-samples-close_panel { display: block; }
  .stApp .st-key-samples-bar .st-key-find { width: 100%; }
}
</style>
"""


def draw_style() -> None:
    """Draw the style sheet of the page."""
    st.html(_STYLE)


def title_and_sentence(shown: SamplesOnPage) -> tuple[str, str]:
    """Return the title and the line below it: what was edited last, or what the samples are for."""
    listing, last = shown.listing, last_edit(shown.model.handle)
    title = title_of(listing.total, listing.wrong if listing.has_scores else None)
    if last is not None:
        return title, last.said
    return title, sentence_of(listing.total, listing.tests, scored=listing.has_scores)


def step_of(shown: SamplesOnPage) -> Callable[[], bool]:
    """Return what draws the step of the header: the undo of the last edit, or the labels that look wrong."""

    def draw() -> bool:
        if not shown.editable:
            return False
        if conflict_in(shown.model.handle) is not None:
            position, of = position_of_conflict()
            open_ones = of - position + 1
            left = "One change of yours is" if open_ones == 1 else f"{open_ones:,} changes of yours are"
            st.markdown(f"{left} not saved.", width="content")
            st.button("Keep mine", key="head.keep_mine", on_click=settle_conflict, args=(shown.model,), kwargs=_MINE)
            return True
        if (last := last_edit(shown.model.handle)) is not None:
            _draw_undo(last)
            return is_open_draft(shown.model)
        if not shown.listing.total:
            st.markdown("Add about 10 texts for each side.", width="content")
            st.button("Paste texts", type="primary", shortcut="V", key="head.paste", on_click=go_to, args=("paste",))
            return True
        if shown.chosen.chip != "wrong" and (looks := shown.looks_wrong()):
            st.markdown(f"{count(looks, 'label')} {'looks' if looks == 1 else 'look'} wrong.", width="content")
            kind, key = "Read it" if looks == 1 else "Read them", "head.read_wrong"
            st.button(kind, type="primary", shortcut="M", key=key, on_click=_read_wrong, args=(shown,))
            return True
        return False

    return draw


_MINE = {"keep_mine": True}


def step_of_check(model: Model) -> Callable[[], bool]:
    """Return what draws the step of the header beside the findings: the undo of the last edit, before the next step."""

    def draw() -> bool:
        if (last := last_edit(model.handle)) is not None:
            _draw_undo(last)
        return slot_of_step()

    return draw


def _draw_undo(last: SavedEdit) -> None:
    st.markdown("Saved.", width="content")
    st.button("Undo", shortcut="Z", key="samples.undo_button", help=last.said, on_click=undo_last)


def _read_wrong(shown: SamplesOnPage) -> None:
    narrow(shown.traits, Chosen(chip="wrong"))
    pick_sample(None)
