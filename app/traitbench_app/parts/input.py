"""The texts of a batch: from a file or pasted, and the column that holds them."""

from dataclasses import dataclass

import streamlit as st

from traitbench.display.text import count, plain, shortened
from traitbench.tables.rows import Problem
from traitbench.tables.sample_files import MOST_MEGABYTES, table_of
from traitbench.tables.source import Source, of_texts
from traitbench_app.parts.upload import pick_text_column, upload_table
from traitbench_app.shell import session
from traitbench_app.workspace.batches import MOST_ROWS

FILE, PASTED = "A file", "Pasted lines"

_FROM = "batch.from"
_FORM = "batch.input"


@dataclass(frozen=True)
class TextInput:
    """A source, the column to score, and the name of the source."""

    source: Source
    column: str
    name: str


def pick_texts(handle: str) -> TextInput | None:
    """Draw the input and return its texts; None while there is nothing to score."""
    picked = st.segmented_control(
        "Texts from", [FILE, PASTED], default=FILE, required=True, key=_FROM, persist_state="session"
    )
    command = f"traitbench score {handle} --batch FILE -o OUT"
    return pasted_texts(command) if picked == PASTED else texts_of_file(command)


def is_pasting() -> bool:
    """Whether the texts are pasted. What was typed last arrives only with the click on the button."""
    return bool(session.get(_FROM) == PASTED)


def texts_of_file(command: str, *, most: int = MOST_ROWS) -> TextInput | None:
    """Draw the upload of a file of at most `most` rows; larger files are for the `command`."""
    size = f"Up to {MOST_MEGABYTES} MB and {most:,} rows, one text per row. For larger files, run `{command}`."
    upload = upload_table(_FORM, empty=lambda: st.caption(size))
    if upload is None:
        return None
    source = upload.source
    if source.count > most:
        st.error(
            f"**The file has {source.count:,} rows; this page takes up to {most:,}.** Upload a smaller file, or "
            f"use the command line: `{command}`",
            icon=":material/error:",
        )
        return None
    column = pick_text_column(table_of(source), key=f"{upload.key}.column")
    if column is None:
        return None
    _preview(source, column)
    return TextInput(source, column, upload.name)


def pasted_texts(command: str, *, most: int = MOST_ROWS) -> TextInput | None:
    """Draw the field for at most `most` lines; more are for the `command`."""
    pasted = st.text_area(
        "Texts, one per line",
        key="batch.pasted",
        height=220,
        persist_state="session",
        placeholder="Paste texts here, one per line. Empty lines are skipped. A file is faster for many thousands.",
    )
    # Empty lines are counted but give no row.
    rows = [(number, line) for number, line in enumerate(pasted.splitlines(), start=1) if line.strip()]
    texts = len(rows)
    if not texts:
        return None
    if texts > most:
        st.error(
            f"**You pasted {texts:,} lines; this page takes up to {most:,}.** Paste fewer lines, or save them to "
            f"a file and use the command line: `{command}`",
            icon=":material/error:",
        )
        return None
    st.caption(count(texts, "text"))
    return TextInput(of_texts(rows), "text", "pasted lines")


def _preview(source: Source, column: str) -> None:
    """Draw the row count and the first text; warn if most of the first rows have no text in this column."""
    rows = [line.cells.get(column, "") for line in source.first if not isinstance(line, Problem)]
    empty = sum(not text.strip() for text in rows)
    first = next((shortened(text, 160) for text in rows if text.strip()), "")
    if first:
        st.caption(f"First text: {plain(first)}")
    if empty > len(rows) / 2:
        st.warning(
            f"{empty} of the first {count(len(rows), 'row')} have no text in this column. Is it the right column?",
            icon=":material/help:",
        )
