"""Exports of survey tools, labelling tools, ticket systems and chats: read right, or refused in a sentence."""

import io
import re
from collections.abc import Callable

import pytest

from tests.foreign_files.exports import EXPORTS, Export
from tests.tables.in_process import opened_here
from traitbench.tables.columns import read_columns
from traitbench.tables.rows import NotATable


@pytest.mark.parametrize("export", EXPORTS, ids=lambda each: each.__name__)
def test_an_export_is_read_right_or_refused_in_a_sentence(export: Callable[[], Export]) -> None:
    right = export()
    if right.refused:
        with pytest.raises(NotATable, match=right.refused):
            opened_here(right.name, io.BytesIO(right.content))
        return
    source = opened_here(right.name, io.BytesIO(right.content))
    reading = read_columns(source.whole)
    readings = {each.name: each.reading for each in reading.columns}
    assert (reading.column, reading.also, reading.turn) == (right.column, right.also, right.turn)
    assert (source.count, next(source.texts(reading.column or ""))) == (right.rows, right.first)
    assert {name: readings[name] for name in right.readings} == right.readings
    assert {*right.poles} <= {(each.negative, each.positive) for each in reading.traits}
    assert re.search(right.says, "\n".join(source.notes))
