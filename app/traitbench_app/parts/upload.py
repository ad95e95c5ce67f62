"""The upload of a table: how it is read, and what to know about it."""

import io
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from traitbench.display.text import plain
from traitbench.tables.rows import NotATable
from traitbench.tables.sample_files import MOST_MEGABYTES, Table, guess_text_column
from traitbench.tables.source import KEPT, Source, opened
from traitbench_app.shell import session

_ROWS_OF_CELLS = ("csv", "tsv", "txt")
_KINDS = [*_ROWS_OF_CELLS, "jsonl", "ndjson", "json", "parquet", "pq", "xlsx"]


@dataclass(frozen=True)
class UploadedTable:
    """An uploaded table. `key` begins the keys of all choices about it, and is another one for another reading."""

    name: str
    key: str
    source: Source


def upload_table(name: str, *, empty: Callable[[], object], keep: int = KEPT) -> UploadedTable | None:
    """Draw the uploader of the form `name` and read its file; None without a table.

    `empty` draws what to say while there is no file. `keep` is the number of rows in `Source.first`.
    """
    file = pick_file(session.round_key(name))
    if file is None:
        session.store(_held(name), None)
        empty()
        return None
    return read_upload(name, file, keep=keep)


def pick_file(key: str) -> UploadedFile | None:
    """Draw the uploader of a table."""
    file: UploadedFile | None = st.file_uploader(
        "CSV, Excel, JSONL or Parquet file",
        type=_KINDS,
        key=key,
        max_upload_size=MOST_MEGABYTES,
        help="CSV columns may be separated by commas, semicolons, tabs or pipes. JSONL has one object per line. Files "
        "should be UTF-8; UTF-16 and Windows-1252 are recognised. Of an Excel file, you choose the sheet.",
    )
    return file


def read_upload(name: str, file: UploadedFile, *, keep: int = KEPT) -> UploadedTable | None:
    """Draw how the file of the form `name` is read, and read it; None if it has no table, which is said."""
    form, held = session.round_key(name), _held(name)
    header = _has_header(file, form)
    sheet = _pick_sheet(file, form)
    source = _opened_once(file, header=header, sheet=sheet, keep=keep, key=held)
    if isinstance(source, str):
        st.error(plain(source), icon=":material/error:")
        return None
    if len(source.survey.sheets) > 1 and sheet is None:
        session.store(_sheets_key(file, form), (source.survey.sheets, source.survey.sheet))
        sheet = _pick_sheet(file, form)
    _say(source)
    return UploadedTable(file.name, f"{form}.{file.file_id}.{header}.{sheet or ''}", source)


def pick_text_column(table: Table, *, key: str) -> str | None:
    """Draw the choice of the column with the texts; None while no column looks like texts and none is chosen."""
    guess = guess_text_column(table)
    columns = list(table.columns)
    column = st.selectbox(
        "Column with the texts",
        columns,
        index=None if guess is None else columns.index(guess),
        placeholder="Choose a column",
        key=key,
    )
    if column is None:
        st.info("No column looks like texts: all have only numbers, dates or nothing.", icon=":material/help:")
    return column


def _held(name: str) -> str:
    return f"{name}.opened"


def _has_header(file: UploadedFile, form: str) -> bool:
    """Whether the file has column names; asks only for CSV, text and Excel; JSON and Parquet always have them."""
    if not file.name.lower().endswith((*_ROWS_OF_CELLS, "xlsx")):
        return True
    return st.toggle("First row contains column names", value=True, key=f"{form}.header")


def _sheets_key(file: UploadedFile, form: str) -> str:
    return f"{form}.{file.file_id}.sheets"


def _pick_sheet(file: UploadedFile, form: str) -> str | None:
    """Draw the choice of the sheet if it is known that there are several; at first, it is the one that was read."""
    held: tuple[tuple[str, ...], str] | None = session.get(_sheets_key(file, form))
    if held is None:
        return None
    sheets, read = held
    return st.selectbox("Sheet", sheets, index=sheets.index(read), key=f"{form}.{file.file_id}.sheet")


def _say(source: Source) -> None:
    """Draw how much was read, and what to know about it."""
    st.caption(plain(source.survey.summary))
    notes = [plain(note.replace("in the preview", "below")) for note in source.notes]
    if notes:
        st.warning(notes[0] if len(notes) == 1 else "\n".join(f"- {note}" for note in notes), icon=":material/rule:")


def _opened_once(file: UploadedFile, *, header: bool, sheet: str | None, keep: int, key: str) -> Source | str:
    """Return the table, or the reason why it cannot be read; kept below `key` for each way of reading it."""
    way = (file.file_id, header, sheet)
    held: tuple[object, Source | str] | None = session.get(key)
    if held and (held[0] == way or _is_the_same(held, way)):
        return held[1]
    try:
        with st.spinner("Reading the file"):
            content = io.BytesIO(file.getvalue())
            result: Source | str = opened(file.name, content, header=header, sheet=sheet, keep=keep)
    except NotATable as problem:
        result = str(problem)
    session.store(key, (way, result))
    return result


def _is_the_same(held: tuple[object, Source | str], way: tuple[str, bool, str | None]) -> bool:
    """Whether the sheet that is asked for by name is the one that was read without a name."""
    before, source = held
    return before == (*way[:2], None) and isinstance(source, Source) and source.survey.sheet == way[2]
