"""What was found in a file: its columns with their readings, which a person can change."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape

import streamlit as st

from traitbench.display.text import count, plain, shortened
from traitbench.display.tokens import token
from traitbench.tables.columns import ColumnReading, FileReading, Reading, read_columns
from traitbench_app.parts.upload import UploadedTable, read_texts
from traitbench_app.shell import session

_READ = "from_file.read"
HEADER = 60
"""Characters of a header on the screen."""

_ROWS, _COLUMNS = 5, 6
_NOUNS = ("review", "comment", "message", "sentence", "answer", "sample")
_STYLE = """
<style>
.st-key-card-columns [data-testid="stHorizontalBlock"] { overflow-x: auto; }
.st-key-card-columns [data-testid="stColumn"] { min-width: 9.5rem; }
.st-key-card-columns [data-testid="stWidgetLabel"] p { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
</style>
"""


@dataclass(frozen=True)
class Layout:
    """A file with the readings of its columns as they are chosen now."""

    upload: UploadedTable
    reading: FileReading

    @property
    def columns(self) -> tuple[ColumnReading, ...]:
        """The columns with their readings."""
        return self.reading.columns

    @property
    def text(self) -> str | None:
        """The column of the texts."""
        return self.reading.column

    @property
    def makes_traits(self) -> bool:
        """Whether a column has labels."""
        return bool(self.reading.traits)


def found_in(upload: UploadedTable) -> Layout:
    """Return what a file has, with the readings that the person chose; each choice is read once."""
    with st.spinner("Looking at the columns"):
        given: dict[str, Reading] = session.get(_given_key(upload), {})
        column: str | None = session.get(_text_key(upload))
        as_answers: frozenset[str] = session.get(answers_key(upload), frozenset())
        about = (upload.key, upload.way, tuple(sorted(given.items())), column, as_answers)
        table = upload.source.whole
        turn = upload.source.turn
        reading = session.once(
            _READ,
            about,
            lambda: read_columns(table, given=given, column=column, turn=turn, as_answers=as_answers),
        )
    return Layout(upload, reading)


def with_clean_texts(upload: UploadedTable) -> UploadedTable:
    """Draw what the texts are like and how they are read, and return the file read so."""
    column: str | None = session.get(_text_key(upload)) or read_columns(upload.source.head).column
    if column is None:
        return upload
    source = read_texts(upload.source, column, key=upload.key)
    return upload if source is upload.source else replace(upload, source=source, way=source.way_to_read(column))


def _given_key(upload: UploadedTable) -> str:
    return f"{upload.key}.given"


def _text_key(upload: UploadedTable) -> str:
    return f"{upload.key}.text"


def answers_key(upload: UploadedTable) -> str:
    """Return the key of the words that are answers in a file."""
    return f"{upload.key}.kept"


# ---- the columns -----------------------------------------------------------------------------------------------------


def draw_columns(layout: Layout) -> None:
    """Draw the first rows below the reading of each column; of many columns, texts and labels come first."""
    _pick_text(layout)
    positions = list(range(len(layout.columns)))
    first = sorted(positions, key=lambda position: not is_used(layout.columns[position]))[:_COLUMNS]
    with st.container(border=True, key="card.columns"):
        st.html(_STYLE)
        # Few columns stay in the order of the file.
        shown = sorted(first) if len(positions) <= _COLUMNS else first
        widths = [4.0 if layout.columns[position].name == layout.text else 1.0 for position in shown]
        for position, column in zip(shown, st.columns(widths, wrap=False), strict=True):
            with column:
                _pick_reading(layout, position)
                st.html(_cells(layout, position))
        if rest := [position for position in positions if position not in first]:
            with st.expander(count(len(rest), "more column")), st.grid(4, min_column_width=180):
                for position in rest:
                    _pick_reading(layout, position)
        for each in layout.columns:
            if each.traits or each.reading in _OF_ROWS:
                also = _OF_ROWS.get(each.reading, "")
                st.caption(f"“{plain(shortened(each.name, HEADER))}”: {plain(each.said)} {also}".rstrip())


def _pick_text(layout: Layout) -> None:
    """Ask which of several columns of texts is used."""
    names = layout.reading.named("text")
    if len(names) > 1:
        key = f"{layout.upload.key}.which_text"
        session.put({key: layout.text})
        st.radio(
            "Which column has the texts?",
            names,
            format_func=lambda name: plain(shortened(name, HEADER)),
            key=key,
            on_change=lambda: session.store(_text_key(layout.upload), session.get(key)),
            persist_state="page",
        )


def is_used(column: ColumnReading) -> bool:
    """Whether a column has texts, makes traits, or says something of the rows."""
    return column.reading == "text" or column.reading in _OF_ROWS or bool(column.traits)


def _reading_key(upload: UploadedTable, position: int) -> str:
    return f"{upload.key}.reading.{position}"


_OF_ROWS: Mapping[Reading, str] = {
    "rows_together": "So they are learned or tested together. If its rows are independent, choose another reading.",
    "people": "",
    "test": "",
}
"""Readings of columns that say something of the rows, with what follows from it."""

_READ_AS: Mapping[Reading, str] = {
    "text": "Text",
    "labels": "Labels",
    "several_answers": "Several answers",
    "scale": "A scale",
    "verdicts": "Verdicts on one question",
    "people": "People who labelled",
    "messages": "Conversations",
    "rows_together": "Rows that belong together",
    "group": "A group to compare",
    "date": "Dates",
    "number": "Numbers",
    "identifier": "Identifiers",
    "test": "Test samples",
    "not_used": "Not used",
}


def _pick_reading(layout: Layout, position: int) -> None:
    column, key = layout.columns[position], _reading_key(layout.upload, position)
    session.put({key: column.reading})
    st.selectbox(
        plain(shortened(column.name, HEADER)),
        column.offered,
        format_func=lambda each: f"Labels: {len(column.answers.kinds)} kinds" if each == "labels" else _READ_AS[each],
        key=key,
        help=plain(column.said),
        on_change=_choose,
        args=(layout, position),
        persist_state="page",
    )


def _choose(layout: Layout, position: int) -> None:
    """Keep the reading that was chosen for a column; the column of the texts is another one then. A callback."""
    give(layout, position, session.get(_reading_key(layout.upload, position)))


def give(layout: Layout, position: int, reading: Reading) -> None:
    """Keep a reading for a column. A button callback."""
    upload, name = layout.upload, layout.columns[position].name
    given = {**session.get(_given_key(upload), {}), name: reading}
    if reading == "text":
        # One column has the texts; further ones are found again.
        given = {other: each for other, each in given.items() if each != "text"}
        if layout.text is not None:
            given[layout.text] = "not_used"
        session.store(_text_key(upload), name)
        given.pop(name, None)
    elif session.get(_text_key(upload)) == name:
        session.store(_text_key(upload), None)
    session.store(_given_key(upload), given)


def _cells(layout: Layout, position: int) -> str:
    """The first cells of a column as HTML, one line each."""
    column = layout.columns[position]
    missing = "no text" if column.reading == "text" else "no label" if column.traits else ""
    cells = []
    for row in layout.reading.table.rows[:_ROWS]:
        cell = shortened(row.cells.get(column.name, ""), 200)
        ink = token("ink-3" if not is_used(column) or not cell else "ink")
        cells.append(
            f'<div style="height:32px;line-height:32px;font-size:13px;white-space:nowrap;overflow:hidden;color:{ink};'
            f'text-overflow:ellipsis;border-top:1px solid {token("line")}">{escape(cell or missing)}&nbsp;</div>'
        )
    return "".join(cells)


# ---- the title -------------------------------------------------------------------------------------------------------


def title_of(layout: Layout, traits: int | None) -> str:
    """`2 traits found in 248 reviews`, in Markdown; `traits` is None while they cannot be made."""
    text = (layout.text or "").strip().lower()
    rows = count(layout.upload.source.count, text if text in _NOUNS else "text")
    if traits is None:
        return f"Labels found in {rows}" if layout.makes_traits else "No labels found"
    return f"{count(traits, 'trait')} found in {rows}"


def lead_of(layout: Layout) -> str:
    """`reviews.csv, 8 columns. Texts are in “comment”, labels in “mood” and “detail”.`, in Markdown."""
    start = f"{plain(layout.upload.name)}, {count(len(layout.columns), 'column')}."
    labels = [f"“{plain(shortened(each.name, HEADER))}”" for each in layout.columns if each.traits]
    if layout.text is None:
        return f"{start} No column is chosen for the texts."
    texts = f"{start} Texts are in “{plain(shortened(layout.text, HEADER))}”"
    if not labels:
        return f"{texts}, and no column has labels."
    return f"{texts}, labels in {' and '.join([', '.join(labels[:-1]), labels[-1]] if labels[1:] else labels)}."
