"""The texts of a batch: from a file or pasted, and the column that holds them."""

import io
import json
from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from traitbench.app.jobs.batches import MOST_MEGABYTES, MOST_ROWS
from traitbench.app.shell import session
from traitbench.app.shell.text import count, plain, shortened
from traitbench.app.widgets.common.table_upload import has_header, opened_once, table_upload
from traitbench.tables.rows import Problem
from traitbench.tables.sample_files import guess_columns, table_of
from traitbench.tables.source import Source, opened

FILE, PASTED = "A file", "Pasted lines"

_FROM, _OPENED = "batch.from", "batch.opened"
_FORM = "batch.input"


@dataclass(frozen=True)
class Texts:
    """A source, the column to score, and the name of the source."""

    source: Source
    column: str
    name: str


def pick_texts(handle: str) -> Texts | None:
    """Draw the input and return its texts; None while there is nothing to score."""
    picked = st.segmented_control(
        "Texts from", [FILE, PASTED], default=FILE, required=True, key=_FROM, persist_state="session"
    )
    command = f"traitbench score {handle} --batch FILE -o OUT"
    return pasted_texts(command) if picked == PASTED else texts_of_file(command)


def is_pasting() -> bool:
    """Whether the texts are pasted. What was typed last arrives only with the click on the button."""
    return bool(session.get(_FROM) == PASTED)


def texts_of_file(command: str, *, most: int = MOST_ROWS) -> Texts | None:
    """Draw the upload of a file of at most `most` rows; larger files are for the `command`."""
    form = session.round_key(_FORM)
    file = table_upload(form, most_megabytes=MOST_MEGABYTES)
    if file is None:
        session.store(_OPENED, None)
        st.caption(f"Up to {MOST_MEGABYTES} MB and {most:,} rows, one text per row. For larger files, run `{command}`.")
        return None
    return _of_file(file, form, command, most)


def _of_file(file: UploadedFile, form: str, command: str, most: int) -> Texts | None:
    header = has_header(file, form)
    source = opened_once(file, header=header, key=_OPENED)
    if isinstance(source, str):
        st.error(plain(source), icon=":material/error:")
        return None
    for note in source.notes:
        st.warning(note.replace("in the preview", "below"), icon=":material/translate:")
    if source.count > most:
        st.error(
            f"**The file has {source.count:,} rows; this page takes up to {most:,}.** Upload a smaller file, or "
            f"use the command line: `{command}`",
            icon=":material/error:",
        )
        return None
    guess = guess_columns(table_of(source), ())[0]
    column = st.selectbox(
        "Text column",
        list(source.columns),
        index=source.columns.index(guess),
        key=f"{form}.{file.file_id}.{header}.column",
    )
    _preview(source, column)
    return Texts(source, column, file.name)


def pasted_texts(command: str, *, most: int = MOST_ROWS) -> Texts | None:
    """Draw the field for at most `most` lines; more are for the `command`."""
    pasted = st.text_area(
        "Texts, one per line",
        key="batch.pasted",
        height=220,
        persist_state="session",
        placeholder="Paste texts here, one per line. Empty lines are skipped. A file is faster for many thousands.",
    )
    lines = pasted.splitlines()
    texts = sum(bool(line.strip()) for line in lines)
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
    return Texts(_source_of(lines), "text", "pasted lines")


def _source_of(lines: list[str]) -> Source:
    """The lines as a JSONL file, so that both inputs share one code path; empty lines are numbered but give no row."""
    content = "".join(f"{json.dumps({'text': line})}\n" if line.strip() else "\n" for line in lines)
    return opened("pasted.jsonl", io.BytesIO(content.encode()))


def _preview(source: Source, column: str) -> None:
    """Draw the row count and the first text; warn if most of the first rows have no text in this column."""
    rows = [line.cells.get(column, "") for line in source.first if not isinstance(line, Problem)]
    empty = sum(not text.strip() for text in rows)
    first = next((shortened(text, 160) for text in rows if text.strip()), "")
    st.caption(f"**{count(source.count, 'row')}**. First text: {plain(first)}" if first else count(source.count, "row"))
    if empty > len(rows) / 2:
        st.warning(
            f"{empty} of the first {count(len(rows), 'row')} have no text in this column. Is it the right column?",
            icon=":material/help:",
        )
