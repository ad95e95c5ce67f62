"""Bring texts without labels: from a file or pasted, into the pool."""

import streamlit as st

from traitbench.contract.models import Model
from traitbench.display.text import count, plain, shortened
from traitbench.tables.rows import Row
from traitbench.tables.sample_files import MOST_MEGABYTES, table_of
from traitbench_app.parts.upload import pick_text_column, upload_table
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt
from traitbench_app.workspace import pool
from traitbench_app.workspace.pool import MOST_TEXTS, NoPool

_FORM = "label.bring"
_FILE, _PASTED = "A file", "Pasted lines"
_SHOWN, _EXCERPT = 3, 140


def bring_texts(model: Model, *, to: str = "Label") -> None:
    """Draw the ways to bring texts, and the button that adds them to the pool. `to` is the verb on the button."""
    way = st.segmented_control(
        "Texts from", [_FILE, _PASTED], default=_FILE, required=True, key=f"{_FORM}.from", label_visibility="collapsed"
    )
    brought = _pasted() if way == _PASTED else _of_file()
    if brought is None:
        return
    texts, source = brought
    usable = list(dict.fromkeys(text for text in map(str.strip, texts) if text))
    for text in usable[:_SHOWN]:
        st.caption(f"“{plain(shortened(text, _EXCERPT))}”")
    if not st.button(
        f"{to} {count(len(usable), 'text')}" if usable else f"{to} texts",
        type="primary",
        icon=":material/label:",
        key=f"{_FORM}.add",
    ):
        return
    if usable:
        _add(model, texts, usable, source, to=to)
    else:
        st.warning("Paste a text first." if way == _PASTED else "This column has no texts. Choose another one.")


def _add(model: Model, texts: list[str], usable: list[str], source: str, *, to: str) -> None:
    with attempt() as adding, st.spinner(f"Adding {count(len(usable), 'text')}"):
        try:
            added = pool.add(model.handle, usable, source)
        except NoPool as reason:
            st.error(str(reason), icon=":material/error:")
            return
    if adding.done:
        session.next_round(_FORM)
        session.store("label.left", None)
        left = len(texts) - added
        why = f" {count(left, 'row')} left out: blank, repeated, too long, or labelled already." if left else ""
        what = "to label" if to == "Label" else "added"
        session.flash(f"{count(added, 'text')} {what}.{why}", "done" if added else "note")
        st.rerun()


def _of_file() -> tuple[list[str], str] | None:
    about = (
        f"One text per row; labels are not needed. Up to {MOST_MEGABYTES} MB and {MOST_TEXTS:,} texts. Texts stay "
        "in the home folder of this workbench until you discard them."
    )
    upload = upload_table(_FORM, empty=lambda: st.caption(about))
    if upload is None:
        return None
    column = pick_text_column(table_of(upload.source), key=f"{upload.key}.column")
    if column is None:
        return None
    texts = [row.cells.get(column, "") if isinstance(row, Row) else "" for row in upload.source.lines()]
    return texts, upload.name


def _pasted() -> tuple[list[str], str]:
    pasted = st.text_area(
        "Texts, one per line",
        key=f"{session.round_key(_FORM)}.pasted",
        height=200,
        persist_state="session",
        placeholder="Paste texts here, one per line. Labels are not needed.",
    )
    return [line for line in pasted.splitlines() if line.strip()], "pasted lines"
