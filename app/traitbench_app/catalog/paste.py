"""The dialog of *Paste texts*: a field for the texts of each side, which become the samples of a draft."""

from collections.abc import Sequence

import streamlit as st

from traitbench.as_read import is_blank
from traitbench.contract.samples import LONGEST_TEXT, SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.display.colours import SIDES
from traitbench.display.text import count, plain
from traitbench.names import slug
from traitbench.tables.file_model import FileModel, fill
from traitbench_app.parts.controls import focus_first_field
from traitbench_app.parts.door import Poles, problem_of, said
from traitbench_app.parts.model_actions import free_name
from traitbench_app.shell import session
from traitbench_app.shell.navigation import open_page
from traitbench_app.shell.service import attempt, client

_OPEN, _FORM, _DRAFT = "home.paste", "home.paste_form", "home.paste_draft"
_HEIGHT = 220
_SIDES = (("negative", "A text is either", False), ("positive", "or", True))


def ask_for_texts() -> None:
    """Open the dialog; its sides are those of the sentence on Home. A button callback."""
    form, poles = session.round_key(_FORM), said()
    session.put({f"{form}.{side}": pole for (side, _, _), pole in zip(_SIDES, poles, strict=True)})
    session.store(_OPEN, True)


def paste_texts(owned: Sequence[str]) -> None:
    """Draw the dialog while it is open."""
    if session.get(_OPEN):
        st.dialog("Paste texts", icon=":material/playlist_add:", width="large", on_dismiss=_close)(_ask)(owned)


def _close() -> None:
    session.store(_OPEN, None)


def _ask(owned: Sequence[str]) -> None:
    form = session.round_key(_FORM)
    st.caption("Paste about ten texts for each side, one on each line. You can add more later.")
    poles, lines = list[str](), list[list[str]]()
    for column, (side, label, is_positive) in zip(st.columns(2), _SIDES, strict=True):
        with column:
            pole = st.text_input(
                label, key=f"{form}.{side}", max_chars=80, live="300ms", persist_state="session"
            ).strip()
            pasted = st.text_area(
                f"{SIDES[is_positive].sign} {plain(pole) or 'this side'}: one text on each line",
                key=f"{form}.{side}_texts",
                height=_HEIGHT,
                persist_state="session",
            )
        poles.append(pole)
        lines.append([*dict.fromkeys(filter(None, map(str.strip, pasted.splitlines())))])
    refusal = st.container()
    with st.container(horizontal=True, horizontal_alignment="right"):
        sent = st.button("Create model", type="primary", icon=":material/add:", key="home.paste_create")
    focus_first_field(f"{form}.focus")
    if not sent:
        return
    problem = problem_of((poles[0], poles[1])) or _problem_of_texts(poles, lines)
    if problem:
        refusal.error(problem)
        return
    with refusal:
        _create(owned[0], (poles[0], poles[1]), lines)


def _problem_of_texts(poles: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """What the texts lack, in Markdown; empty if nothing."""
    if both := set(lines[0]) & set(lines[1]):
        return f"{count(len(both), 'text is', 'texts are')} on both sides. Leave each on one."
    if (longest := max((len(text) for own in lines for text in own), default=0)) > LONGEST_TEXT:
        return f"A text has {longest:,} characters. A sample can have at most {LONGEST_TEXT:,}."
    if any(is_blank(text) or "\x00" in text for own in lines for text in own):
        return "A text has nothing that is seen, or a character that no text has (U+0000). Remove it."
    if not any(lines):
        return f"Paste at least one text that is *{plain(poles[0])}* or *{plain(poles[1])}*."
    return ""


def _create(namespace: str, poles: Poles, lines: Sequence[Sequence[str]]) -> None:
    trait = TraitInput(name=f"{poles[0]} or {poles[1]}"[:80], positive_label=poles[1], negative_label=poles[0])
    samples = [
        SampleInput(trait="0", text=text, quality=quality)
        for own, quality in zip(lines, (0.0, 1.0), strict=True)
        for text in own
    ]
    with attempt() as making, st.spinner("Creating the model"):
        # After a failure, a second click completes the model that is there.
        handle, of = session.get(_DRAFT, ("", None))
        if of != poles:
            wanted = f"{namespace}.{free_name(namespace, slug(trait.name) or 'texts', end='')}"
            handle = client().models.create(wanted).handle
            session.store(_DRAFT, (handle, poles))
        fill(client(), FileModel(handle, (trait,), tuple(samples), source="", example="", said=""))
    if making.done:
        _close()
        session.store(_DRAFT, None)
        session.next_round(_FORM)
        session.flash(f"{plain(handle)} was created with {count(len(samples), 'sample')}.")
        open_page("samples", model=handle)
