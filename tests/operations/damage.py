"""Statements run directly in the SQLite file of a context, past every check of the values."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from tests.patience import PATIENCE_S
from traitbench.operations.context import Context
from traitbench.store.database import sqlite_file


@dataclass(frozen=True)
class Result:
    """The rows that a statement returned, and how many it changed."""

    rows: list[Any]
    changed: int


def in_file(context: Context, statement: str, *values: Any, **named: Any) -> Result:
    """Run a statement, with values by position or by name, and commit it."""
    file = sqlite_file(context.settings.database_url)
    assert file is not None
    with closing(sqlite3.connect(file, timeout=PATIENCE_S)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        answer = connection.execute(statement, named or values)
        return Result(answer.fetchall(), answer.rowcount)
