"""The files of the samples that the table shows."""

import streamlit as st

from traitbench.contract.samples import Sample
from traitbench.tables.writing import csv_file, jsonl_file
from traitbench_app.workspace.sample_table import Matches

_COLUMNS = ("text", "trait", "quality", "held_out", "must_pass", "provenance", "source_url", "created_at")


def draw_download(handle: str, matches: Matches) -> None:
    """Draw the two files to download; all samples that pass the filters are read when one is pressed."""
    with st.popover("Download", icon=":material/download:", type="tertiary"):
        st.download_button(
            "CSV",
            lambda: csv_file(_COLUMNS, map(_row, matches.every())),
            file_name=f"{handle}-samples.csv",
            mime="text/csv",
            icon=":material/download:",
            key="samples.csv",
            on_click="ignore",
            help="Download the filtered samples for a spreadsheet. A text that looks like a formula gets an apostrophe "
            "in front, so that no spreadsheet runs it.",
        )
        st.download_button(
            "JSONL",
            lambda: jsonl_file(_COLUMNS, map(_row, matches.every())),
            file_name=f"{handle}-samples.jsonl",
            mime="application/x-ndjson",
            icon=":material/download:",
            key="samples.jsonl",
            on_click="ignore",
            help="Download the filtered samples with unchanged texts. You can import this file again.",
        )


def _row(sample: Sample) -> tuple[object, ...]:
    return (*(getattr(sample, column) for column in _COLUMNS[:-1]), sample.created_at.isoformat())
