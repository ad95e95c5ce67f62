"""Reads files in the process of the test; `test_process` and the hostile files are about the process that reads."""

import io
from typing import IO

from traitbench.tables import process, reading
from traitbench.tables.rows import NotATable, Table
from traitbench.tables.scratch import Scratch
from traitbench.tables.source import Source


def opened_here(name: str, file: IO[bytes], *, header: bool | None = None) -> Source:
    """Do what `source.opened` does, without a process and its limits."""
    rows, typed = Scratch(0), Scratch(0)
    with rows.open("wb") as out, typed.open("wb") as columns:
        try:
            survey = reading.read(name, file, out, columns, header=header, sheet=None)
        except NotATable:
            raise
        except Exception as error:
            raise NotATable(process._NO_TABLE) from error
    return Source(survey, typed if survey.kind == "parquet" else None, rows)


def read(name: str, content: bytes, *, header: bool | None = None) -> Table:
    """Return the whole table in a file."""
    return opened_here(name, io.BytesIO(content), header=header).whole
