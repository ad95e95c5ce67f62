"""The samples of a list as a file."""

from collections.abc import Callable, Iterable
from functools import partial

import streamlit as st

from traitbench.contract.samples import Sample
from traitbench.tables.writing import csv_file, jsonl_file
from traitbench_app.parts.controls import download

_COLUMNS = (
    "text",
    "trait",
    "quality",
    "held_out",
    "must_pass",
    "provenance",
    "source_url",
    "group",
    "note",
    "created_at",
)
_FILES = (
    (
        "CSV",
        csv_file,
        "Download the samples of this list for a spreadsheet. A text that looks like a formula gets an apostrophe in "
        "front, so that no spreadsheet runs it.",
    ),
    (
        "JSONL",
        jsonl_file,
        "Download the samples of this list with unchanged texts. You can import this file again.",
    ),
)


def draw_download(handle: str, every: Callable[[], Iterable[Sample]]) -> None:
    """Draw the two files to download; the samples are read when one is pressed."""
    with st.popover("Download", icon=":material/download:", type="tertiary"):
        for name, write, hint in _FILES:
            download(
                name,
                partial(_content, write, every),
                f"{handle}-samples.{name.lower()}",
                key=f"samples.{name.lower()}",
                help=hint,
            )


def _content(write: Callable[..., bytes], every: Callable[[], Iterable[Sample]]) -> bytes:
    return write(_COLUMNS, map(_row, every()))


def _row(sample: Sample) -> tuple[object, ...]:
    return (*(getattr(sample, column) for column in _COLUMNS[:-1]), sample.created_at.isoformat())
