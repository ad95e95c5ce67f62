"""A table on its way in: which files are taken, and whether the first row names the columns."""

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

_ROWS_OF_CELLS = ("csv", "tsv", "txt")
_KINDS = [*_ROWS_OF_CELLS, "jsonl", "ndjson", "json", "parquet", "pq"]


def table_upload(form: str, *, most_megabytes: int) -> UploadedFile | None:
    """Draw the uploader of this key; None as long as there is no file."""
    file: UploadedFile | None = st.file_uploader(
        "A CSV, JSONL or Parquet file",
        type=_KINDS,
        key=form,
        max_upload_size=most_megabytes,
        help="CSV may be separated by commas, semicolons, tabs or bars. JSONL has one object a line.",
    )
    return file


def has_header(file: UploadedFile, form: str) -> bool:
    """Draw the question where the file leaves it open; JSON and Parquet name their columns."""
    if not file.name.lower().endswith(_ROWS_OF_CELLS):
        return True
    return st.toggle("The first row names the columns", value=True, key=f"{form}.header")
