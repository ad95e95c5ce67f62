"""Paste texts: a field for each side of a trait. They are counted while they are typed, and saved when added."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from traitbench.as_read import read_hash
from traitbench.contract.models import Model
from traitbench.contract.samples import LONGEST_GROUP, Sample, SampleInput
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain, shortened
from traitbench_app.parts.controls import draw_title
from traitbench_app.parts.scored_text import read_while_typing
from traitbench_app.samples.editing import add
from traitbench_app.samples.pasted import (
    PastedText,
    added_of,
    counted,
    enough_to_start,
    paste_title,
    pasted,
    set_aside,
    texts_in,
)
from traitbench_app.samples.views import go_to
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt

TRAIT = "samples.add_trait"
"""The key of the choice of the trait, which other views set."""

_FORM, _RESTORED, _LINES = "samples.add", "samples.add_restored", "samples.by_line"
_QUALITIES = (0.0, 1.0)
_MOST_NOTES, _WORD = 6, 40

_STYLE = """
<style>
.stApp .st-key-card-paste_left { border-top: 3px solid var(--tb-left); }
.stApp .st-key-card-paste_right { border-top: 3px solid var(--tb-right); }
.tb-side { display: flex; flex-wrap: wrap; gap: 4px 10px; align-items: baseline; font-size: 13px; line-height: 24px; }
.tb-side bdi { font-size: 16px; font-weight: 600; }
.tb-side .left { color: var(--tb-left-ink); }
.tb-side .right { color: var(--tb-right-ink); }
.tb-side b { font-weight: 600; }
.tb-side span:last-child { margin-left: auto; color: var(--tb-ink-3); }
.tb-copies { margin: 0; padding: 0; list-style: none; font-size: 13px; line-height: 22px; color: var(--tb-ink-3); }
.tb-copies li { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.tb-copies b {
  margin-right: 8px; padding: 0 7px; border: 1px solid var(--tb-ink); border-radius: 99px; font-size: 12px;
  font-weight: 500; color: var(--tb-ink);
}
</style>
"""


def restore_link(traits: Sequence[Trait]) -> None:
    """Set the trait of a link, once."""
    linked = st.query_params.get("trait", "")
    if not linked or session.get(_RESTORED) == linked:
        return
    session.store(_RESTORED, linked)
    trait = next((each for each in traits if linked in (each.name, each.key)), None)
    if trait is not None:
        session.put({TRAIT: trait.key})


def link_values(traits: Sequence[Trait]) -> dict[str, str]:
    """The trait as a query parameter, once it is on screen."""
    trait = next((each for each in traits if each.key == session.get(TRAIT)), None)
    return {"trait": trait.name} if trait else {}


def draw_paste(model: Model, traits: Sequence[Trait], samples: Sequence[Sample]) -> None:
    """Draw both fields, and add what is in them."""
    st.html(_STYLE)
    form = session.round_key(_FORM)
    top, fields, below = st.container(), st.columns(2), st.container(border=True, key="card.paste_below")
    with below, st.container(horizontal=True, vertical_alignment="center"):
        trait = _pick_trait(traits)
        by_line = _pick_lines()
        group = _type_group(form)
    words = (trait.negative_label, trait.positive_label)
    known = {read_hash(sample.text) for sample in samples if sample.trait == trait.key}
    slots = []
    for column, side, word in zip(fields, ("left", "right"), words, strict=True):
        with column, st.container(border=True, key=f"card.paste_{side}"):
            slots.append((st.container(), _type_texts(form, side, word, by_line=by_line), st.container()))
    unit = "line" if by_line else "text"
    sides = pasted([texts_in(typed, by_line=by_line) for _, typed, _ in slots], known, unit=unit)
    there = (trait.negative_samples, trait.positive_samples)
    for (head, _, notes), own, word, side, number in zip(slots, sides, words, ("left", "right"), there, strict=True):
        _draw_side(head, notes, own, word, side, number)
    by_label = added_of(dict(zip(_QUALITIES, sides, strict=True)))
    with top:
        left_out = sum(bool(each.note) for own in sides for each in own)
        title = paste_title([plain(shortened(word, _WORD)) for word in words], [*map(len, by_label.values())], left_out)
        counted = "One text a line." if by_line else "A blank line between two texts."
        draw_title(title, f"{counted} Counted as you type; nothing is saved before you add them.", is_first=False)
    aside: Mapping[float, frozenset[str]] = {
        quality: set_aside(texts, number) if not group else frozenset[str]()
        for (quality, texts), number in zip(by_label.items(), there, strict=True)
    }
    with below:
        aside = _draw_aside(trait, aside, group)
        _draw_add(model, trait, by_label, aside, group)
    read_while_typing(f"{form}.left", f"{form}.right")


def _pick_trait(traits: Sequence[Trait]) -> Trait:
    by_key = {trait.key: trait for trait in traits}
    if len(traits) == 1:
        return traits[0]
    key = st.selectbox(
        "They teach",
        list(by_key),
        format_func=lambda each: by_key[each].name if each in by_key else each,
        key=TRAIT,
        persist_state="session",
        width=240,
    )
    return by_key[str(key)]


def _pick_lines() -> bool:
    each, blank = "Each line a text", "Blank line between"
    chosen = st.segmented_control(
        "Texts", [each, blank], default=each, required=True, key=_LINES, persist_state="session"
    )
    return chosen == each


def _type_group(form: str) -> str:
    typed = st.text_input(
        "What they belong to",
        key=f"{form}.group",
        max_chars=LONGEST_GROUP,
        placeholder="Optional: a conversation, author or document",
        help="Texts that belong together are not independent. No figure divides them.",
        persist_state="session",
    )
    return typed.strip()


def _type_texts(form: str, side: str, word: str, *, by_line: bool) -> str:
    return st.text_area(
        plain(word),
        key=f"{form}.{side}",
        height=300,
        placeholder="Paste texts here, one per line."
        if by_line
        else "Paste texts here, with a blank line between two.",
        label_visibility="collapsed",
        persist_state="session",
    )


def _draw_side(head: Any, notes: Any, texts: Sequence[PastedText], word: str, side: str, there: int) -> None:
    added = [each for each in texts if not each.note]
    also = f" ({there:,} so far)" if there else ""
    head.html(
        f'<div class="tb-side"><bdi class="{side}">{escape(shortened(word, _WORD))}</bdi>'
        f"<span><b>{len(added):,}</b> {'text' if len(added) == 1 else 'texts'}{also}</span>"
        f"<span>{enough_to_start(there, len(added))}</span></div>"
    )
    left_out = [each for each in texts if each.note]
    lines = "".join(
        f"<li>{each.number} <b>{escape(each.note)}</b>{escape(shortened(each.text, 80))}</li>"
        for each in left_out[:_MOST_NOTES]
    )
    rest = left_out[_MOST_NOTES:]
    more = f"<li>and {len(rest):,} more: {counted(rest)}</li>" if rest else ""
    if lines:
        notes.html(f'<ul class="tb-copies">{lines}{more}</ul>')


def _draw_aside(trait: Trait, aside: Mapping[float, frozenset[str]], group: str) -> Mapping[float, frozenset[str]]:
    number = sum(map(len, aside.values()))
    about = f"They teach **{plain(trait.name)}**."
    if not number:
        none = "each side keeps 10 to learn from first" if not group else "texts of one group stay together"
        st.markdown(f":small[{about} None is set aside for testing: {none}.]")
        return aside
    st.markdown(f":small[{about}]")
    wanted = st.toggle(
        f"Set {count(number, 'text')} aside for testing",
        value=True,
        key="samples.paste_aside",
        help="What only tests is never learned, and every version is checked on it.",
        persist_state="session",
    )
    return aside if wanted else {}


def _draw_add(
    model: Model,
    trait: Trait,
    by_label: Mapping[float, Sequence[str]],
    aside: Mapping[float, frozenset[str]],
    group: str,
) -> None:
    number = sum(map(len, by_label.values()))
    inputs = [
        _input(trait.key, text, quality, group, is_test=text in aside.get(quality, ()))
        for quality, texts in by_label.items()
        for text in texts
    ]
    slot = st.empty()
    with st.container(horizontal=True, vertical_alignment="center"):
        label = f"Add {count(number, 'sample')}" if number else "Add samples"
        sent = st.button(label, type="primary", key="samples.add_button", shortcut="ctrl+enter")
        st.button("Swap the sides", type="tertiary", key="samples.swap", on_click=_swap)
        st.button("From a file instead", type="tertiary", key="samples.file_instead", on_click=go_to, args=("import",))
    if sent and not inputs:
        slot.markdown(":small[:red[:material/error: Type or paste a text first.]]")
    elif sent:
        with attempt({"text": slot}) as adding:
            add(model, f"{count(number, 'text')} added to {plain(trait.name)}.", inputs)
        if adding.done:
            session.next_round(_FORM)
            go_to("samples")
            st.rerun()


def _input(trait: str, text: str, quality: float, group: str, *, is_test: bool) -> SampleInput:
    """A sample that is not validated here: the service refuses what is wrong, and its reason stands below."""
    marks: dict[str, Any] = {"held_out": True} if is_test else {}
    belonging: dict[str, Any] = {"group": group} if group else {}
    return SampleInput.model_construct(trait=trait, text=text, quality=quality, **marks, **belonging)


def _swap() -> None:
    """Put the texts of each field into the other one. A button callback."""
    form = session.round_key(_FORM)
    left, right = (str(session.get(f"{form}.{side}", "")) for side in ("left", "right"))
    session.put({f"{form}.left": right, f"{form}.right": left})
