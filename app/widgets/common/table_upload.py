"""The upload of a table: the accepted file types, and whether the first row contains the column names."""

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

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
