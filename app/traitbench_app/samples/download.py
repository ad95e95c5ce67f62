"""The files of the samples that the table shows."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from traitbench.contract.samples import Sample
from traitbench.tables.writing import csv_file, jsonl_file
from traitbench_app.workspace.sample_table import Matches

_COLUMNS = ("text", "trait", "quality", "held_out", "must_pass", "provenance", "source_url", "created_at")
_FILES = (
    (
        "CSV",
        csv_file,
        "text/csv",
        "Download the filtered samples for a spreadsheet. A text that looks like a formula gets an apostrophe in "
        "front, so that no spreadsheet runs it.",
    ),
    (
        "JSONL",
        jsonl_file,
        "application/x-ndjson",
        "Download the filtered samples with unchanged texts. You can import this file again.",
    ),
)


def draw_download(handle: str, matches: Matches) -> None:
    """Draw the two files to download; all samples that pass the filters are read when one is pressed."""
    with st.popover("Download", icon=":material/download:", type="tertiary"):
        for name, write, mime, hint in _FILES:
            st.download_button(
                name,
                partial(_content, write, matches),
                file_name=f"{handle}-samples.{name.lower()}",
                mime=mime,
                icon=":material/download:",
                key=f"samples.{name.lower()}",
                on_click="ignore",
                help=hint,
            )


def _content(write: Callable[..., bytes], matches: Matches) -> bytes:
    return write(_COLUMNS, map(_row, matches.every()))


def _row(sample: Sample) -> tuple[object, ...]:
    return (*(getattr(sample, column) for column in _COLUMNS[:-1]), sample.created_at.isoformat())
