"""Texts that a person brings: a table with its column of texts, or pasted lines; for a batch or for labelling."""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.typing import UploadedFile

from traitbench.analysis.condition import Cleaning
from traitbench.contract.models import Model
from traitbench.display.text import count, plain, shortened
from traitbench.tables.columns import read_columns
from traitbench.tables.conversations import Turn
from traitbench.tables.rows import NotATable, Table
from traitbench.tables.sample_files import MOST_MEGABYTES
from traitbench.tables.source import Source, of_texts, opened
from traitbench_app.shell import session
from traitbench_app.shell.leaving import end_soon_after_tab
from traitbench_app.shell.service import attempt
from traitbench_app.workspace import pool
from traitbench_app.workspace.batches import MOST_ROWS
from traitbench_app.workspace.pool import MOST_TEXTS, NoPool

_ROWS_OF_CELLS = ("csv", "tsv", "txt")
_KINDS = [*_ROWS_OF_CELLS, "jsonl", "ndjson", "json", "parquet", "pq", "xlsx"]


_STACKED, _CONDITION, _AS_READ = "upload.stacked", "upload.condition", "upload.as_read"
_WHOSE: Mapping[Turn, str] = {"user": "User", "assistant": "Assistant", "all": "All"}
_CLEAN = {"html": "Read HTML as text", "encoding": "Repair texts that were decoded twice"}


@dataclass(frozen=True)
class UploadedTable:
    """An uploaded table. `key` begins the keys of all choices about it, and is another one for another reading.

    `way` is how its texts are read, if they are cleaned or another side of a conversation.
    """

    name: str
    key: str
    source: Source
    way: str = ""


def upload_table(name: str, *, empty: Callable[[], object]) -> UploadedTable | None:
    """Draw the uploader of the form `name` and read its file; None without a table.

    `empty` draws what to say while there is no file.
    """
    file = pick_file(session.round_key(name))
    if file is None:
        for key in (_stored_key(name), _STACKED, _CONDITION, _AS_READ):
            session.store(key, None)
        empty()
        return None
    return read_upload(name, file)


def pick_file(key: str) -> UploadedFile | None:
    """Draw the uploader of a table."""
    file: UploadedFile | None = st.file_uploader(
        "CSV, Excel, JSONL or Parquet file",
        type=_KINDS,
        key=key,
        max_upload_size=MOST_MEGABYTES,
        help="CSV columns may be separated by commas, semicolons, tabs or pipes. JSONL has one object per line. Files "
        "should be UTF-8; UTF-16 and Windows-1252 are recognised. Of an Excel file, you choose the sheet.",
    )
    if file is None and session.get(key) is not None:
        # The tab was away, and came back to another session.
        st.info("The file is not in this session any more. Drop it again.", icon=":material/info:")
    return file


def read_upload(name: str, file: UploadedFile) -> UploadedTable | None:
    """Draw how the file of the form `name` is read, and read it; None if it has no table, which is said."""
    end_soon_after_tab()
    form, stored = session.round_key(name), _stored_key(name)
    slot = st.container()
    sheet = _pick_sheet(file, form)
    header: bool | None = session.get(_header_key(file, form))
    source = _opened_once(file, header=header, sheet=sheet, key=stored)
    _pick_header(slot, file, form, value=isinstance(source, str) or source.survey.header)
    if isinstance(source, str):
        st.error(plain(source), icon=":material/error:")
        return None
    if len(source.survey.sheets) > 1 and sheet is None:
        session.store(_sheets_key(file, form), (source.survey.sheets, source.survey.sheet))
        sheet = _pick_sheet(file, form)
    _say(source)
    return UploadedTable(file.name, f"{form}.{file.file_id}.{source.survey.header}.{sheet or ''}", source)


def pick_text_column(table: Table, *, key: str) -> str | None:
    """Draw the choice of the column with the texts; None while no column looks like texts and none is chosen."""
    guess = read_columns(table).column
    columns = list(table.columns)
    column = st.selectbox(
        "Column with the texts",
        columns,
        index=None if guess is None else columns.index(guess),
        placeholder="Choose a column",
        format_func=lambda name: shortened(" ".join(name.split()), 80),
        key=key,
        persist_state="page",
    )
    if column is None:
        st.info("No column looks like texts: all have only numbers, dates or nothing.", icon=":material/help:")
    return column


def pick_texts_in(upload: UploadedTable) -> tuple[Source, str] | None:
    """Draw which column has the texts and how they are read; return the file as it is read and the column.

    Several columns of texts may be used one after the other. None while no column is chosen.
    """
    source = upload.source
    column = pick_text_column(source.head, key=f"{upload.key}.column")
    if column is None:
        return None
    if others := read_columns(source.head, column=column).also:
        named = ", ".join(f"“{plain(shortened(name, 60))}”" for name in others)
        st.caption(f"{named} {'has' if len(others) == 1 else 'have'} texts too.")
        if st.toggle(
            f"Use the texts of all {len(others) + 1} columns, one after the other",
            key=f"{upload.key}.all_texts",
            persist_state="page",
        ):
            columns = [name for name in source.columns if name in (column, *others)]
            about = (upload.key, *columns)
            source = session.once(_STACKED, about, lambda: upload.source.stacked(columns))
            column = source.columns[-1]
    return read_texts(source, column, key=f"{upload.key}.{column}"), column


def read_texts(source: Source, column: str, *, key: str) -> Source:
    """Draw whose words of conversations are the texts, what texts are like and how to clean them; return them so."""
    turn: Turn = "user"
    if column in source.survey.conversations:
        turn = st.segmented_control(
            "Whose words are the text",
            list(_WHOSE),
            default="user",
            required=True,
            format_func=lambda each: _WHOSE[each],
            key=f"{key}.turn",
            persist_state="page",
        )
    about = (key, column, turn, source.survey.digest)
    condition = session.once(_CONDITION, about, lambda: source.with_turn(turn).condition(column))
    if notes := condition.notes():
        said = "\n".join(f"- {plain(note)}" for note in notes)
        st.warning(plain(notes[0]) if len(notes) == 1 else said, icon=":material/rule:")
    ways: list[Cleaning] = []
    for way, some in (("html", condition.markup), ("encoding", condition.twice)):
        if some and st.toggle(_CLEAN[way], key=f"{key}.clean.{way}", persist_state="page"):
            ways.append(cast(Cleaning, way))
    if turn == "user" and not ways:
        return source
    return session.once(_AS_READ, (*about, *ways), lambda: source.with_turn(turn).with_clean([column], ways))


def _stored_key(name: str) -> str:
    return f"{name}.opened"


def _header_key(file: UploadedFile, form: str) -> str:
    return f"{form}.{file.file_id}.header"


def _pick_header(slot: DeltaGenerator, file: UploadedFile, form: str, *, value: bool) -> None:
    """Draw whether a CSV, text or Excel file has column names; at first, it is as the file was read."""
    if file.name.lower().endswith((*_ROWS_OF_CELLS, "xlsx")):
        slot.toggle("First row contains column names", value=value, key=_header_key(file, form), persist_state="page")


def _sheets_key(file: UploadedFile, form: str) -> str:
    return f"{form}.{file.file_id}.sheets"


def _pick_sheet(file: UploadedFile, form: str) -> str | None:
    """Draw the choice of the sheet if it is known that there are several; at first, it is the one that was read."""
    stored: tuple[tuple[str, ...], str] | None = session.get(_sheets_key(file, form))
    if stored is None:
        return None
    sheets, read = stored
    return st.selectbox(
        "Sheet", sheets, index=sheets.index(read), key=f"{form}.{file.file_id}.sheet", persist_state="page"
    )


def _say(source: Source) -> None:
    """Draw how much was read, and what to know about it."""
    st.caption(plain(source.survey.summary))
    notes = [plain(note.replace("in the preview", "below")) for note in source.notes]
    if notes:
        st.warning(notes[0] if len(notes) == 1 else "\n".join(f"- {note}" for note in notes), icon=":material/rule:")


def _opened_once(file: UploadedFile, *, header: bool | None, sheet: str | None, key: str) -> Source | str:
    """Return the table, or the reason why it cannot be read; kept below `key` for each way of reading it."""
    way = (file.file_id, header, sheet)
    stored: tuple[Any, Source | str] | None = session.get(key)
    if stored and (stored[0] == way or _is_the_same(stored, way)):
        return stored[1]
    slot = st.empty()

    def waits(before: int) -> None:
        slot.caption(f"{count(before, 'file is', 'files are')} read before this one.")

    try:
        with st.spinner("Reading the file"):
            content = io.BytesIO(file.getvalue())
            result: Source | str = opened(file.name, content, header=header, sheet=sheet, waits=waits)
    except NotATable as problem:
        result = str(problem)
    slot.empty()
    session.store(key, (way, result))
    return result


def _is_the_same(stored: tuple[Any, Source | str], way: tuple[str, bool | None, str | None]) -> bool:
    """Whether the sheet and the header that are asked for are those that were read without asking."""
    (file_id, header, sheet), source = stored
    if file_id != way[0] or not isinstance(source, Source):
        return False
    survey = source.survey
    return way[1] == (survey.header if header is None else header) and way[2] in (sheet, survey.sheet)


FILE, PASTED = "A file", "Pasted lines"

_FROM = "batch.from"
_FORM = "batch.input"


@dataclass(frozen=True)
class BatchTexts:
    """A source, the column to score, and the name of the source."""

    source: Source
    column: str
    name: str


def pick_texts(handle: str) -> BatchTexts | None:
    """Draw the input and return its texts; None while there is nothing to score."""
    picked = st.segmented_control(
        "Texts from", [FILE, PASTED], default=FILE, required=True, key=_FROM, persist_state="session"
    )
    command = f"traitbench score {handle} --batch FILE -o OUT"
    return pasted_texts(command) if picked == PASTED else texts_of_file(command)


def is_pasting() -> bool:
    """Whether the texts are pasted. What was typed last arrives only with the click on the button."""
    return bool(session.get(_FROM) == PASTED)


def texts_of_file(command: str, *, most: int = MOST_ROWS) -> BatchTexts | None:
    """Draw the upload of a file of at most `most` rows; larger files are for the `command`."""
    size = f"Up to {MOST_MEGABYTES} MB and {most:,} rows, one text per row. For larger files, run `{command}`."
    upload = upload_table(_FORM, empty=lambda: st.caption(size))
    if upload is None:
        return None
    source = upload.source
    if source.count > most:
        st.error(
            f"**The file has {source.count:,} rows; this page takes up to {most:,}.** Upload a smaller file, or "
            f"use the command line: `{command}`",
            icon=":material/error:",
        )
        return None
    texts = pick_texts_in(upload)
    if texts is None:
        return None
    _preview(*texts)
    return BatchTexts(*texts, upload.name)


def pasted_texts(command: str, *, most: int = MOST_ROWS) -> BatchTexts | None:
    """Draw the field for at most `most` lines; more are for the `command`."""
    pasted = st.text_area(
        "Texts, one per line",
        key="batch.pasted",
        height=220,
        persist_state="session",
        placeholder="Paste texts here, one per line. Empty lines are skipped. A file is faster for many thousands.",
    )
    # Empty lines are counted but give no row.
    rows = [(number, line) for number, line in enumerate(pasted.splitlines(), start=1) if line.strip()]
    texts = len(rows)
    if not texts:
        return None
    if texts > most:
        st.error(
            f"**You pasted {texts:,} lines; this page takes up to {most:,}.** Paste fewer lines, or save them to "
            f"a file and use the command line: `{command}`",
            icon=":material/error:",
        )
        return None
    st.caption(count(texts, "text"))
    return BatchTexts(of_texts(rows), "text", "pasted lines")


def _preview(source: Source, column: str) -> None:
    """Draw the row count and the first text; warn if most of the first rows have no text in this column."""
    rows = [row.cells.get(column, "") for row in source.head.rows]
    empty = sum(not text.strip() for text in rows)
    first = next((shortened(text, 160) for text in rows if text.strip()), "")
    if first:
        st.caption(f"First text: {plain(first)}")
    if empty > len(rows) / 2:
        st.warning(
            f"{empty} of the first {count(len(rows), 'row')} have no text in this column. Is it the right column?",
            icon=":material/help:",
        )


_BRING = "label.bring"
_SHOWN, _EXCERPT = 3, 140


def bring_texts(model: Model, *, to: str = "Label") -> None:
    """Draw the ways to bring texts, and the button that adds them to the pool. `to` is the verb on the button."""
    way = st.segmented_control(
        "Texts from",
        [FILE, PASTED],
        default=FILE,
        required=True,
        key=f"{_BRING}.from",
        label_visibility="collapsed",
        persist_state="page",
    )
    brought = _pasted() if way == PASTED else _of_file()
    if brought is None:
        return
    texts, source = brought
    usable = list(dict.fromkeys(text for text in map(str.strip, texts) if text))
    for text in usable[:_SHOWN]:
        st.caption(f"“{plain(shortened(text, _EXCERPT))}”")
    if not st.button(
        f"{to} {count(len(usable), 'text')}" if usable else f"{to} texts",
        type="primary",
        icon=":material/label:",
        key=f"{_BRING}.add",
    ):
        return
    if usable:
        _add(model, texts, usable, source, to=to)
    else:
        st.warning("Paste a text first." if way == PASTED else "This column has no texts. Choose another one.")


def _add(model: Model, texts: list[str], usable: list[str], source: str, *, to: str) -> None:
    with attempt() as adding, st.spinner(f"Adding {count(len(usable), 'text')}"):
        try:
            added = pool.add(model.handle, usable, source)
        except NoPool as reason:
            st.error(str(reason), icon=":material/error:")
            return
    if adding.done:
        session.next_round(_BRING)
        session.store("label.left", None)
        left = len(texts) - added
        why = f" {count(left, 'row')} left out: blank, repeated, too long, or labelled already." if left else ""
        what = "to label" if to == "Label" else "added"
        session.flash(f"{count(added, 'text')} {what}.{why}", "done" if added else "note")
        st.rerun()


def _of_file() -> tuple[list[str], str] | None:
    about = (
        f"One text per row; labels are not needed. Up to {MOST_MEGABYTES} MB and {MOST_TEXTS:,} texts. Texts stay "
        "with the model, for everyone who may change it, until somebody discards them."
    )
    upload = upload_table(_BRING, empty=lambda: st.caption(about))
    if upload is None:
        return None
    picked = pick_texts_in(upload)
    if picked is None:
        return None
    source, column = picked
    return list(source.texts(column)), upload.name


def _pasted() -> tuple[list[str], str]:
    pasted = st.text_area(
        "Texts, one per line",
        key=f"{session.round_key(_BRING)}.pasted",
        height=200,
        persist_state="session",
        placeholder="Paste texts here, one per line. Labels are not needed.",
    )
    return [line for line in pasted.splitlines() if line.strip()], "pasted lines"
