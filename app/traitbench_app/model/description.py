"""What a model says about itself: the form for its description, main trait, demo texts, readme and so on; its card.

Edits wait in the session until they are saved or discarded. Only changed fields are sent, so two people who edit
different fields do not overwrite each other. Unchanged fields follow the model.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.contract.models import Model
from traitbench.display.text import count, plain
from traitbench_app.model.foreign_markdown import shown
from traitbench_app.parts.controls import download
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client

CONVENTION = ("name", "license", "citation", "url")

Source = Mapping[str, Any]
Cells = dict[str, str]

_GRID = "model-sources"
_DEMOS = "model-demos"
_FORM, _INITIAL, _ROWS = "model.about", "model.about_begun", "model.about_rows"
_TABLES = ("upstream_sources", "demo_texts")
_MOST_DEMOS, _LONGEST_DEMO = 50, 2_000
_TITLES = {
    "description": "Description",
    "main_trait": "Main trait",
    "demo_texts": "Demo texts",
    "max_depth": "Split texts",
    "readme_markdown": "Readme",
    "additional_terms": "Additional terms",
    "upstream_sources": "Sources",
}
_DEPTHS = {
    1: ("Not at all", "Scores the text as a whole. Best for short texts."),
    2: ("Into paragraphs", "Scores each paragraph. Each trait combines them into one score."),
    3: ("Into sentences", "Scores each sentence, so that a single cold sentence in a warm letter can count."),
}


def edit_about(model: Model) -> None:
    """Draw the fields and save the changes."""
    form = f"{session.round_key(_FORM)}.{model.handle}"
    now = _of(model)
    initial = session.get(f"{_INITIAL}.{form}") or now
    # Somebody else saved, and nothing is typed here: show what there is now.
    if initial != now and not _touched(form, initial):
        _start_over()
        form, initial = f"{session.round_key(_FORM)}.{model.handle}", now
    session.store(f"{_INITIAL}.{form}", initial)
    typed, slots = _fields(form, initial, model)
    changes = {name: value for name, value in typed.items() if value != initial[name]}
    _warn_of_conflicts(changes, initial, now)
    refusal = st.container()
    with st.container(horizontal=True, vertical_alignment="center", key="model.about_actions"):
        label = f"Save {count(len(changes), 'change')}" if changes else "Save changes"
        saving = st.button(label, type="primary", icon=":material/check:", disabled=not changes, key="model.save")
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
        "main_trait": model.main_trait,
        "demo_texts": list(model.demo_texts),
        "max_depth": model.max_depth,
        "readme_markdown": model.readme_markdown or "",
        "additional_terms": model.additional_terms or "",
        "upstream_sources": source_rows(model.upstream_sources or []),
    }


def _sent(changes: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """The changes as the API takes them; an empty field is reset to its default."""
    sent = {name: value or None for name, value in changes.items()}
    if table := changes.get("upstream_sources"):
        sent["upstream_sources"] = sources_of(table, model.upstream_sources or [])
    return sent


def _touched(form: str, initial: Mapping[str, Any]) -> bool:
    typed = {name: session.get(f"{form}.{name}", initial[name]) for name in initial if name not in _TABLES}
    typed |= {name: session.get(f"{_ROWS}.{form}.{name}", initial[name]) for name in _TABLES}
    return typed != initial


def _start_over() -> None:
    session.next_round(_FORM)


def _warn_of_conflicts(changes: Mapping[str, Any], initial: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    conflicts = [_TITLES[name] for name in changes if now[name] != initial[name]]
    if conflicts:
        st.warning(
            f"Someone else changed these fields: {', '.join(conflicts)}. Save to overwrite their changes, or discard "
            "yours to see them.",
            icon=":material/group:",
        )


# ---- the fields ------------------------------------------------------------------------------------------------------


def _fields(form: str, initial: Mapping[str, Any], model: Model) -> tuple[dict[str, Any], dict[str, DeltaGenerator]]:
    """Draw the fields; return their values, and an empty slot below each field for its error."""
    typed: dict[str, Any] = {}
    slots: dict[str, DeltaGenerator] = {}

    def draw(name: str, field: Callable[[], Any]) -> None:
        typed[name] = field()
        slots[name] = st.empty()

    draw("description", lambda: _text(form, "description", initial, height=88, hint="What it measures, in a sentence."))
    draw("main_trait", lambda: _main_trait(form, initial, model))
    draw("demo_texts", lambda: _demo_texts(form, initial, model))
    with st.expander("Text splitting, sources, terms and readme", icon=":material/tune:", key=f"{form}.rest"):
        draw("max_depth", lambda: _depth(form, initial, model))
        draw("upstream_sources", lambda: _sources(form, initial, model))
        hint = "Who may use it, and how."
        draw("additional_terms", lambda: _text(form, "additional_terms", initial, height=88, hint=hint))
        draw("readme_markdown", lambda: _readme(form, initial))
    return typed, slots


def _text(form: str, name: str, initial: Mapping[str, Any], *, height: int, hint: str) -> str:
    return st.text_area(
        _TITLES[name],
        str(initial[name]),
        key=f"{form}.{name}",
        height=height,
        placeholder=hint,
        persist_state="session",
    )


def _readme(form: str, initial: Mapping[str, Any]) -> str:
    text = _text(
        form, "readme_markdown", initial, height=300, hint="# What it is for\n\nMarkdown, shown below the card."
    )
    if st.toggle("Preview of the readme", key=f"{form}.preview", persist_state="page"):
        with st.container(border=True):
            st.markdown(shown(text) if text.strip() else "*Nothing yet.*")
    return text


def _depth(form: str, initial: Mapping[str, Any], model: Model) -> int:
    when = "Takes effect at the next training."
    if model.version_no is not None:
        when = f"Takes effect with the next version; v{model.version_no} does not change."
    depth = st.radio(
        _TITLES["max_depth"],
        list(_DEPTHS),
        index=int(initial["max_depth"]) - 1,
        format_func=lambda each: _DEPTHS[each][0],
        captions=[caption for _, caption in _DEPTHS.values()],
        key=f"{form}.max_depth",
        help=f"`max_depth` in the API. {when}",
        persist_state="session",
    )
    if depth != initial["max_depth"]:
        st.caption(when)
    return depth


def _main_trait(form: str, initial: Mapping[str, Any], model: Model) -> str | None:
    """The key of the trait that is shown first; None for no such trait."""
    names = {trait.key: trait.name for trait in client().traits.list(model.handle)}
    return st.selectbox(
        _TITLES["main_trait"],
        list(names),
        index=list(names).index(initial["main_trait"]) if initial["main_trait"] in names else None,
        format_func=lambda key: plain(names.get(key) or str(key)),
        key=f"{form}.main_trait",
        placeholder="None" if names else "The model has no traits yet",
        help="The trait that this model is for. It is shown first.",
        persist_state="session",
        disabled=not names,
    )


def _demo_texts(form: str, initial: Mapping[str, Any], model: Model) -> list[str]:
    """The table of demo texts, which keeps its edits like that of the sources."""
    title = f":small[{_TITLES['demo_texts']}]"
    if model.zero_data_retention:
        st.markdown(title)
        st.caption("Under zero data retention a model keeps no demo texts.")
        return []
    key, stored = f"{form}.demo_texts", f"{_ROWS}.{form}.demo_texts"
    if key not in st.session_state:
        session.store(f"{stored}.first", session.get(stored, initial["demo_texts"]))
    st.markdown(title, help=f"Texts to show the model with, in this order: at most {_MOST_DEMOS}, one in each row.")
    with st.container(key=_DEMOS):
        edited = st.data_editor(
            pd.DataFrame({"Text": session.get(f"{stored}.first", [])}, dtype="object"),
            column_config={"Text": st.column_config.TextColumn(width="large", max_chars=_LONGEST_DEMO)},
            num_rows="dynamic",
            hide_index=True,
            placeholder="",
            key=key,
            alt="Demo texts of the model, to be edited",
        )
    texts = [text for text in edited["Text"] if isinstance(text, str) and text.strip()]
    session.store(stored, texts)
    return texts


def _sources(form: str, initial: Mapping[str, Any], model: Model) -> list[Cells]:
    """The table of sources.

    It keeps its edits while the user visits other pages, because it starts with the rows that it returned last.
    """
    key, stored = f"{form}.upstream_sources", f"{_ROWS}.{form}.upstream_sources"
    if key not in st.session_state:
        session.store(f"{stored}.first", session.get(stored, initial["upstream_sources"]))
    names = source_columns(model.upstream_sources or [])
    first = pd.DataFrame(session.get(f"{stored}.first", []), columns=names, dtype="object")
    st.markdown(f":small[{_TITLES['upstream_sources']}]", help="What this model builds on, and under which terms.")
    with st.container(key=_GRID):
        edited = st.data_editor(
            first,
            column_config={name: st.column_config.TextColumn(_column(name)) for name in names},
            num_rows="dynamic",
            hide_index=True,
            placeholder="",
            key=key,
            alt="Sources of the model, to be edited",
        )
    cells = cleaned({str(name): cell for name, cell in row.items()} for row in edited.to_dict("records"))
    session.store(stored, cells)
    return cells


def _column(name: str) -> str:
    return name.capitalize().replace("Url", "Address") if name in CONVENTION else plain(name)


# ---- the table of sources --------------------------------------------------------------------------------------------


def source_columns(given: Iterable[Source]) -> list[str]:
    """Return the columns of the table."""
    return list(dict.fromkeys([*CONVENTION, *(name for source in given for name in source)]))


def source_rows(given: Iterable[Source]) -> list[Cells]:
    """Return one row per source, without empty cells."""
    return cleaned({name: None if value is None else _cell(value) for name, value in each.items()} for each in given)


def cleaned(table: Iterable[Mapping[str, Any]]) -> list[Cells]:
    """Remove empty cells and rows from the rows of a table editor."""
    result = [
        {name: cell.strip() for name, cell in row.items() if isinstance(cell, str) and cell.strip()} for row in table
    ]
    return [row for row in result if row]


def sources_of(table: Sequence[Cells], before: Sequence[Source]) -> list[dict[str, Any]]:
    """Convert a table back to sources; `before` are those that the table was made from."""
    # Cells are text, so values of other types are found again by their text.
    values = {
        (name, _cell(value)): value for source in before for name, value in source.items() if not isinstance(value, str)
    }
    return [{name: values.get((name, cell), cell) for name, cell in row.items()} for row in table]


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# ---- the card --------------------------------------------------------------------------------------------------------

_WIDE_TABLES = (
    ".st-key-model-card table { display: block; overflow-x: auto; border: none; }"
    ".st-key-model-card td:last-child { min-width: 14rem; }"
)
"""On a narrow screen, a wide table scrolls inside the page instead of widening it."""


def model_card(model: Model) -> None:
    """Draw the card and its download."""
    card = client().models.card(model.handle)
    with st.container(border=True, key="model.card"):
        st.markdown(shown(card))
        st.html(f"<style>{_WIDE_TABLES}</style>")
    with st.container(horizontal=True, vertical_alignment="center"):
        download("Download card (Markdown)", card, f"{model.handle}-card.md", key="model.card_file")
        if "![" in card:
            st.caption("Images in the readme are shown as links, so that no external content is loaded.")
