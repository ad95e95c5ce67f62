"""What a model's author says of it, to be edited: description, readme, terms, sources, and how deep texts are taken.

What is typed waits in the session until it is saved or discarded. Only what was changed is sent, so two people who edit
different fields do not undo each other; and fields that nobody has touched here follow the model.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.app import session
from traitbench.app.foreign_markdown import shown
from traitbench.app.service import attempt, client
from traitbench.app.sources import CONVENTION, Cells, cleaned, columns, rows, sources
from traitbench.app.text import count, plain
from traitbench.app.widgets.chart import only_our_csv
from traitbench.contract.models import Model

_GRID = "model-sources"
_FORM, _BEGUN, _ROWS = "model.about", "model.about_begun", "model.about_rows"
_TITLES = {
    "description": "Description",
    "max_depth": "How texts are taken apart",
    "readme_markdown": "Readme",
    "additional_terms": "Additional terms",
    "upstream_sources": "Sources",
}
_DEPTHS = {
    1: ("Not at all", "The whole text has one place on every trait. Right for short texts."),
    2: ("Into paragraphs", "Every paragraph has a place of its own; each trait says how they become one score."),
    3: ("Into sentences", "The same by sentences: a single cold sentence in a warm letter can be made to count."),
}


def edit_about(model: Model) -> None:
    """Draw the fields, and save what was changed in them."""
    form = f"{session.round_key(_FORM)}.{model.handle}"
    now = _of(model)
    begun = session.kept(f"{_BEGUN}.{form}") or now
    if begun != now and not _touched(form, begun):
        _start_over()
        form, begun = f"{session.round_key(_FORM)}.{model.handle}", now
    session.keep(f"{_BEGUN}.{form}", begun)
    typed, slots = _fields(form, begun, model)
    changes = {name: value for name, value in typed.items() if value != begun[name]}
    _remark_what_others_changed(changes, begun, now)
    refusal = st.container()
    with st.container(horizontal=True, vertical_alignment="center", key="model.about_actions"):
        said = f"Save {count(len(changes), 'change')}" if changes else "Save changes"
        saving = st.button(said, type="primary", icon=":material/check:", disabled=not changes, key="model.save")
        st.button("Discard", icon=":material/close:", disabled=not changes, key="model.discard", on_click=_start_over)
        st.caption(", ".join(_TITLES[name] for name in changes))
    if saving:
        with refusal, attempt(slots) as acting:
            client().models.update(model.handle, **_sent(changes, model))
        if acting.done:
            _start_over()
            session.flash("Saved.")
            st.rerun()


def _of(model: Model) -> dict[str, Any]:
    """The fields as the widgets hold them."""
    return {
        "description": model.description,
        "max_depth": model.max_depth,
        "readme_markdown": model.readme_markdown or "",
        "additional_terms": model.additional_terms or "",
        "upstream_sources": rows(model.upstream_sources or []),
    }


def _sent(changes: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """The fields as the API takes them; what is empty goes back to its default."""
    sent = {name: value or None for name, value in changes.items()}
    if table := changes.get("upstream_sources"):
        sent["upstream_sources"] = sources(table, model.upstream_sources or [])
    return sent


def _touched(form: str, begun: Mapping[str, Any]) -> bool:
    typed = {name: session.kept(f"{form}.{name}", begun[name]) for name in begun if name != "upstream_sources"}
    typed["upstream_sources"] = session.kept(f"{_ROWS}.{form}", begun["upstream_sources"])
    return typed != begun


def _start_over() -> None:
    session.next_round(_FORM)


def _remark_what_others_changed(changes: Mapping[str, Any], begun: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    overtaken = [_TITLES[name] for name in changes if now[name] != begun[name]]
    if overtaken:
        st.warning(
            f"Somebody else has changed this meanwhile: {', '.join(overtaken)}. Saving puts what stands here in its "
            "place; discarding shows theirs.",
            icon=":material/group:",
        )


# ---- the fields ------------------------------------------------------------------------------------------------------


def _fields(form: str, begun: Mapping[str, Any], model: Model) -> tuple[dict[str, Any], dict[str, DeltaGenerator]]:
    """What stands in the fields, and an empty place below each."""
    typed: dict[str, Any] = {}
    slots: dict[str, DeltaGenerator] = {}
    for name, draw in (
        ("description", lambda: _text(form, "description", begun, height=88, hint="What it measures, in a sentence.")),
        ("max_depth", lambda: _depth(form, begun, model)),
        ("upstream_sources", lambda: _sources(form, begun, model)),
        (
            "additional_terms",
            lambda: _text(form, "additional_terms", begun, height=88, hint="Who may use it, and how."),
        ),
        ("readme_markdown", lambda: _readme(form, begun)),
    ):
        typed[name] = draw()
        slots[name] = st.empty()
    return typed, slots


def _text(form: str, name: str, begun: Mapping[str, Any], *, height: int, hint: str) -> str:
    return st.text_area(
        _TITLES[name],
        str(begun[name]),
        key=f"{form}.{name}",
        height=height,
        placeholder=hint,
        persist_state="session",
    )


def _readme(form: str, begun: Mapping[str, Any]) -> str:
    text = _text(form, "readme_markdown", begun, height=300, hint="# What it is for\n\nMarkdown, shown below the card.")
    with st.expander("Preview of the readme", icon=":material/visibility:", key=f"{form}.preview"):
        st.markdown(shown(text) if text.strip() else "*Nothing yet.*")
    return text


def _depth(form: str, begun: Mapping[str, Any], model: Model) -> int:
    when = "It takes effect at the next training."
    if model.version_no is not None:
        when = f"It takes effect with the next version; v{model.version_no} goes on as it was trained."
    depth = st.radio(
        _TITLES["max_depth"],
        list(_DEPTHS),
        index=int(begun["max_depth"]) - 1,
        format_func=lambda each: _DEPTHS[each][0],
        captions=[caption for _, caption in _DEPTHS.values()],
        key=f"{form}.max_depth",
        help=f"`max_depth` in the API. {when}",
        persist_state="session",
    )
    if depth != begun["max_depth"]:
        st.caption(when)
    return depth


def _sources(form: str, begun: Mapping[str, Any], model: Model) -> list[Cells]:
    """A table whose edits outlive a visit of another page: what it returned last is what it begins with again."""
    key, held = f"{form}.upstream_sources", f"{_ROWS}.{form}"
    if key not in st.session_state:
        session.keep(f"{held}.first", session.kept(held, begun["upstream_sources"]))
    names = columns(model.upstream_sources or [])
    first = pd.DataFrame(session.kept(f"{held}.first", []), columns=names, dtype="object")
    st.markdown(f":small[{_TITLES['upstream_sources']}]", help="What this model builds on, and on which terms.")
    with st.container(key=_GRID):
        only_our_csv(_GRID)
        edited = st.data_editor(
            first,
            column_config={name: st.column_config.TextColumn(_column(name)) for name in names},
            num_rows="dynamic",
            hide_index=True,
            placeholder="",
            key=key,
            alt="Sources of the model, to be edited",
        )
    found = cleaned({str(name): cell for name, cell in row.items()} for row in edited.to_dict("records"))
    session.keep(held, found)
    return found


def _column(name: str) -> str:
    return name.capitalize().replace("Url", "Address") if name in CONVENTION else plain(name)
