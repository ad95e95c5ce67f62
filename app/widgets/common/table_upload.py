"""The upload of a table: the accepted file types, whether the first row contains the column names, and reading it."""

import io

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from traitbench.app.shell import session
from traitbench.tables.rows import Unreadable
from traitbench.tables.source import Source, opened

_ROWS_OF_CELLS = ("csv", "tsv", "txt")
_KINDS = [*_ROWS_OF_CELLS, "jsonl", "ndjson", "json", "parquet", "pq", "xlsx"]


def table_upload(form: str, *, most_megabytes: int) -> UploadedFile | None:
    """Draw the uploader with this key; None while there is no file."""
    file: UploadedFile | None = st.file_uploader(
        "CSV, Excel, JSONL or Parquet file",
        type=_KINDS,
        key=form,
        max_upload_size=most_megabytes,
        help="CSV columns may be separated by commas, semicolons, tabs or pipes. JSONL has one object per line. Files "
        "should be UTF-8; Windows-1252 is recognised. Of an Excel file, the first sheet is read.",
    )
    return file


def has_header(file: UploadedFile, form: str) -> bool:
    """Whether the file has column names; asks only for CSV, text and Excel; JSON and Parquet always have them."""
    if not file.name.lower().endswith((*_ROWS_OF_CELLS, "xlsx")):
        return True
    return st.toggle("First row contains column names", value=True, key=f"{form}.header")


def opened_once(file: UploadedFile, *, header: bool, key: str) -> Source | str:
    """Return the scanned file, or the reason why it cannot be read; kept below `key` for each way of reading it."""
    held: tuple[str, bool, Source | str] | None = session.get(key)
    if held and held[:2] == (file.file_id, header):
        return held[2]
    try:
        with st.spinner("Reading the file"):
            result: Source | str = opened(file.name, io.BytesIO(file.getvalue()), header=header)
    except Unreadable as problem:
        result = str(problem)
    session.store(key, (file.file_id, header, result))
    return result
