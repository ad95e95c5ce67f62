"""The editor of a trait, in place of its card: names and definitions are fields, and each is saved as it is made."""

from collections.abc import Mapping
from typing import get_args

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Aggregation, Trait
from traitbench.definitions import can_define
from traitbench.display.text import count, plain, shortened
from traitbench_app.parts.controls import ask
from traitbench_app.parts.heading import is_open_draft
from traitbench_app.shell import session
from traitbench_app.traits.editing import (
    Field,
    exchange,
    open_editor,
    problem_of,
    save,
    split_texts,
    value_of,
)

DELETE = "traits.delete"
"""The question whether a trait is deleted."""

_AGGREGATIONS: Mapping[Aggregation, str] = {
    "mean": "the mean of its parts",
    "max": "its highest part",
    "min": "its lowest part",
    "none": "a whole, never split",
}
_DEPTHS: Mapping[int, str] = {1: "whole texts only", 2: "its paragraphs", 3: "its sentences"}
_LONGEST, _MOST_EXCHANGED = 30, 5_000
_STYLE = """
<style>
.stApp [class*="st-key-card-edit"] { padding: 14px 20px 12px; gap: 12px; }
.stApp [class*="st-key-card-edit"] { border-color: var(--tb-line-strong); box-shadow: 0 8px 28px rgb(23 26 33 / 14%); }
.stApp [class*="st-key-traits-left"] input, .stApp [class*="st-key-traits-right"] input {
  font-size: 18px; line-height: 24px; font-weight: 600; height: 44px;
}
.stApp [class*="st-key-traits-left"] [data-testid="stTextInputRootElement"] {
  background: var(--tb-left-soft); border-color: transparent; box-shadow: 0 2px 0 0 var(--tb-left); height: 44px;
}
.stApp [class*="st-key-traits-right"] [data-testid="stTextInputRootElement"] {
  background: var(--tb-right-soft); border-color: transparent; box-shadow: 0 2px 0 0 var(--tb-right); height: 44px;
}
.stApp [class*="st-key-traits-left"] :is(input, [data-testid="stTextInputRootElement"]) {
  color: var(--tb-left-ink); -webkit-text-fill-color: currentcolor;
}
.stApp [class*="st-key-traits-right"] :is(input, [data-testid="stTextInputRootElement"]) {
  color: var(--tb-right-ink); -webkit-text-fill-color: currentcolor;
}
.stApp :is([class*="st-key-traits-left"], [class*="st-key-traits-right"]) input { background: transparent; }
.stApp [class*="st-key-card-edit"] [data-testid="InputInstructions"] { display: none; }
.stApp [class*="st-key-traits-named"] input { font-size: 16px; line-height: 24px; font-weight: 600; }
@media (min-width: 721px) { .stApp [class*="st-key-traits-exchange"] { padding-top: 28px; } }
</style>
"""


def draw_editor(model: Model, trait: Trait, *, also: str = "") -> None:
    """Draw the fields; `also` is what saving opens, such as a draft, in Markdown."""
    st.html(_STYLE)
    with st.container(border=True, key=f"card.edit.{trait.key}"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            with st.container(key=f"traits.named.{trait.key}", width=260):
                _field(model, trait, "name", "Name")
            st.button("Done", shortcut="Escape", key="traits.done", on_click=open_editor, args=(None,))
        _draw_poles(model, trait)
        st.caption(
            "Enter, in a definition Ctrl+Enter, or a click elsewhere saves. Until then, what you type is only in this "
            f"tab.{also}"
        )
        with st.expander("More", key=f"traits.more.{trait.key}"):
            _draw_more(model, trait)
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.caption("Training reads the names and the definitions.", width="content")
            samples = f" and its {count(trait.stored_samples, 'sample')}" if trait.stored_samples else ""
            st.button(
                f"Remove {plain(shortened(trait.name, _LONGEST))}{samples}",
                type="tertiary",
                key=f"traits.delete.{trait.key}",
                on_click=ask,
                args=(DELETE, trait.key),
            )


def _draw_poles(model: Model, trait: Trait) -> None:
    left, middle, right = st.columns([10, 1, 10], gap="small")
    # A label with a colon or a full stop cannot begin a definition, so such a description stays whole.
    splits = can_define(trait.negative_label) and can_define(trait.positive_label)
    with left, st.container(key=f"traits.left.{trait.key}"):
        _field(model, trait, "negative_label", "Left side")
        if splits:
            _area(model, trait, "negative", "What is on the left side", "What to look for.")
    with middle, st.container(key=f"traits.exchange.{trait.key}", horizontal_alignment="center"):
        st.button(
            "⇄",
            key=f"traits.flip.{trait.key}",
            help="Exchange the sides, with their samples."
            if trait.stored_samples <= _MOST_EXCHANGED
            else f"Sides with up to {_MOST_EXCHANGED:,} samples can be exchanged.",
            disabled=trait.stored_samples > _MOST_EXCHANGED,
            on_click=exchange,
            args=(model, trait),
        )
    with right, st.container(key=f"traits.right.{trait.key}"):
        _field(model, trait, "positive_label", "Right side")
        if splits:
            _area(model, trait, "positive", "What is on the right side", "What to look for.")
    if not splits or value_of(trait, "rest"):
        label = "Else in the description" if splits else "Description"
        _area(model, trait, "rest", label, "What to look for, and what to ignore.")


def _draw_more(model: Model, trait: Trait) -> None:
    name, long, parts = st.columns(3, gap="medium")
    with name:
        st.text_input(
            "Name in files and programs",
            trait.key,
            disabled=True,
            key=f"traits.key.{trait.key}",
            persist_state="page",
        )
        st.caption("Stays when the trait is renamed.")
    with long:
        key = _key(model, trait, "aggregation")
        _show(key, trait.aggregation)
        st.selectbox(
            "A long text scores as",
            get_args(Aggregation),
            format_func=lambda each: _AGGREGATIONS[each],
            key=key,
            persist_state="page",
            on_change=lambda: save(model, trait, "aggregation", str(session.get(key))),
        )
        st.caption("Matters only if texts are split.")
    with parts:
        key = f"traits.depth.{model.handle}"
        _show(key, model.max_depth)
        st.selectbox(
            "Parts of a text, for all traits",
            list(_DEPTHS),
            format_func=lambda each: _DEPTHS[each],
            key=key,
            persist_state="page",
            on_change=lambda: split_texts(model, int(str(session.get(key)))),
        )
        st.caption("In force from the next training.")


def _field(model: Model, trait: Trait, field: Field, label: str) -> None:
    key = _key(model, trait, field)
    _show(key, value_of(trait, field))
    st.text_input(
        label,
        key=key,
        persist_state="session",
        label_visibility="collapsed" if field == "name" else "visible",
        on_change=lambda: _save(model, trait, field, key),
    )
    _draw_problem(model, trait, field)


def _area(model: Model, trait: Trait, field: Field, label: str, hint: str) -> None:
    key = _key(model, trait, field)
    _show(key, value_of(trait, field))
    st.text_area(
        label,
        key=key,
        persist_state="session",
        label_visibility="visible" if field == "rest" else "collapsed",
        height=84,
        placeholder=hint,
        on_change=lambda: _save(model, trait, field, key),
    )
    _draw_problem(model, trait, field)


def _save(model: Model, trait: Trait, field: Field, key: str) -> None:
    save(model, trait, field, str(session.get(key, "")))


def _draw_problem(model: Model, trait: Trait, field: Field) -> None:
    problem = problem_of(trait, field)
    if problem is None:
        return
    st.markdown(f":small[:red[:material/error: {problem.why}]]")
    if problem.replaces:
        with st.container(horizontal=True):
            st.button(
                "Save mine",
                key=f"traits.mine.{field}",
                on_click=save,
                args=(model, trait, field, problem.value),
                kwargs={"over": True},
            )
            theirs = {_key(model, trait, field): value_of(trait, field)}
            st.button("Take theirs", type="tertiary", key=f"traits.theirs.{field}", on_click=_take, args=(theirs,))


def _take(values: Mapping[str, str]) -> None:
    session.put(values)
    session.store("traits.problem", None)


def _key(model: Model, trait: Trait, field: Field) -> str:
    # The draft that an edit opens has the same fields as its model, so that what is typed meanwhile stays.
    of = model.forked_from.handle if model.forked_from is not None and is_open_draft(model) else model.handle
    return f"traits.field.{of}.{trait.key}.{field}"


def _show(key: str, now: str | int) -> None:
    """Let a field have what the service has, except where a person typed something that is not saved."""
    shown = session.get(f"{key}.shown")
    if key not in st.session_state or session.get(key) == shown:
        session.put({key: now})
    session.store(f"{key}.shown", now)
