"""The import of samples from a file: read it, map its columns, preview the samples, and import all rows or none."""

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from traitbench.app.files import importing
from traitbench.app.files.exporting import csv_file
from traitbench.app.files.importing import MOST_MEGABYTES, Checked, Choice, Table
from traitbench.app.files.tables import Problem, Unreadable
from traitbench.app.samples.sample_changes import UNDO, Undo
from traitbench.app.shell import session
from traitbench.app.shell.service import attempt, client
from traitbench.app.shell.text import count, plain
from traitbench.app.shell.theme import pole_sign
from traitbench.app.widgets.common.table_upload import has_header, table_upload
from traitbench.app.widgets.samples.label_meanings import MEANINGS, pick_meanings
from traitbench.app.widgets.samples.table import ROW_HEIGHT, table_height
from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.errors import TraitbenchError

VIEW = "samples.goto"
_FORM = "samples.import"
_PREVIEW = 50
_MOST_TO_UNDO = 1_000


def import_file(model: Model, traits: Sequence[Trait], samples: Sequence[Sample]) -> None:
    """Draw the steps in order, each one when the step before it is complete."""
    form = session.round_key(_FORM)
    file = table_upload(form, most_megabytes=MOST_MEGABYTES)
    if file is None:
        _first_help(traits)
        return
    header = has_header(file, form)
    try:
        table = importing.read(file.name, file.getvalue(), header=header)
    except Unreadable as problem:
        st.error(plain(str(problem)), icon=":material/error:")
        return
    for note in table.notes:
        st.warning(note, icon=":material/translate:")
    choice = _choose(f"{form}.{file.file_id}", table, traits)
    if choice.quality is None and choice.default_quality is None:
        st.info("Choose the column with the pole or quality, or one pole for all rows.", icon=":material/arrow_upward:")
        return
    checked = importing.check(table, choice, traits)
    _preview(checked, traits)
    _offer(model.handle, checked)


def _first_help(traits: Sequence[Trait]) -> None:
    st.caption(
        f"Up to {MOST_MEGABYTES} MB. The file needs a column of texts. Columns for trait, pole and test (yes or no) "
        "are optional. You see a preview before anything is imported."
    )
    rows = [("A text at the positive pole.", trait.name, 1) for trait in traits[:2]]
    rows += [("A text at the negative pole.", trait.name, 0) for trait in traits[:2]]
    st.download_button(
        "Download example file",
        partial(csv_file, ("text", "trait", "quality"), rows),
        file_name="samples-example.csv",
        mime="text/csv",
        icon=":material/download:",
        key="samples.example",
        on_click="ignore",
    )


# ---- the columns ---------------------------------------------------------------------------------------------------


def _choose(form: str, table: Table, traits: Sequence[Trait]) -> Choice:
    text_guess, trait_guess, quality_guess = importing.guess_columns(table, traits)
    names = {trait.key: trait.name for trait in traits}
    columns = list(table.columns)
    with st.grid(3, min_column_width=240):
        text = st.selectbox("Text column", columns, index=columns.index(text_guess), key=f"{form}.text")
        with st.container():
            trait = _column("Trait column", columns, trait_guess, "One trait for all rows", key=f"{form}.trait")
            default_trait = st.selectbox(
                "Trait for empty cells" if trait else "Trait for all rows",
                list(names),
                index=None if trait else 0,
                format_func=lambda key: names.get(key, key),
                placeholder="Report an error",
                key=f"{form}.default_trait.{bool(trait)}",
            )
        with st.container():
            quality = _column(
                "Pole or quality column", columns, quality_guess, "One pole for all rows", key=f"{form}.q"
            )
            default_quality = st.selectbox(
                "Pole for empty cells" if quality else "Pole for all rows",
                list(MEANINGS),
                index=None,
                format_func=lambda each: MEANINGS[each],
                placeholder="Report an error" if quality else "Choose a pole",
                key=f"{form}.default_quality.{bool(quality)}",
            )
        held_guess, must_guess = importing.guess_test_columns(table)
        held_out = _column("Test column", columns, held_guess, "No test samples", key=f"{form}.held_out")
        must_pass = None
        if held_out:
            must_pass = _column("Must-pass column", columns, must_guess, "None must pass", key=f"{form}.must_pass")
    words = _words(form, importing.words(table, quality), traits) if quality else {}
    return Choice(text, trait, default_trait, quality, default_quality, words, held_out, must_pass)


def _column(label: str, columns: list[str], guess: str | None, none: str, *, key: str) -> str | None:
    options = ["", *columns]
    chosen = st.selectbox(
        label,
        options,
        index=options.index(guess or ""),
        format_func=lambda column: column or none,
        key=key,
    )
    return chosen or None


def _words(form: str, labels: Mapping[str, int], traits: Sequence[Trait]) -> dict[str, float]:
    """The quality of each label in a column: guessed where possible, and shown for confirmation."""
    if not labels:
        return {}
    if len(labels) > importing.MOST_WORDS:
        st.warning(
            f"This column has {len(labels):,} different values that are not numbers from 0 to 1. Is it the right "
            "column?",
            icon=":material/help:",
        )
        return {}
    st.markdown("**Meaning of each label**")
    return pick_meanings(labels, importing.guess_words(labels, traits), key=f"{form}.word")


# ---- preview and import --------------------------------------------------------------------------------------------


def _preview(checked: Checked, traits: Sequence[Trait]) -> None:
    names = {trait.key: trait.name for trait in traits}
    if checked.problems:
        draw_problems(checked.problems, importing.known_traits(checked.problems, traits))
    if checked.samples:
        first = list(zip(checked.lines, checked.samples, strict=True))[:_PREVIEW]
        tests = sum(each.held_out for each in checked.samples)
        apart = f", {count(tests, 'test sample')} among them" if tests else ""
        st.markdown(f"**Preview: {count(len(checked.samples), 'sample')}{apart}**")
        st.dataframe(
            pd.DataFrame(
                [
                    (line, each.text, names[each.trait], f"{pole_sign(each.quality)} {each.quality:g}", each.held_out)
                    for line, each in first
                ],
                columns=["Line", "Text", "Trait", "Quality", "Test"],
            ),
            column_order=["Line", "Text", "Trait", "Quality", *(["Test"] if tests else [])],
            column_config={
                "Line": st.column_config.NumberColumn(width=60),
                "Text": st.column_config.TextColumn(width=600),
                "Trait": st.column_config.TextColumn(width=140),
                "Quality": st.column_config.TextColumn(width=80),
            },
            hide_index=True,
            height=table_height(len(first), most=10),
            row_height=ROW_HEIGHT,
            key="samples.preview",
            alt="The first samples of the file",
        )
        if len(checked.samples) > _PREVIEW:
            st.caption(f"The first {_PREVIEW} of {len(checked.samples):,}.")


def draw_problems(problems: Sequence[Problem], hint: str = "", *, nothing: str = "Nothing is imported") -> None:
    """Draw the rows of a file that have errors."""
    rows = len({problem.row for problem in problems})
    st.error(
        f"**{count(rows, 'row has', 'rows have')} errors.** {nothing} until every row is valid. Change the "
        f"choices above, or correct the file and upload it again. {plain(hint)}",
        icon=":material/error:",
    )
    columns = ("Line", "Column", "Error")
    cells = [(problem.row, problem.column, problem.reason) for problem in problems]
    st.dataframe(
        pd.DataFrame(cells[:200], columns=list(columns)),
        column_config={
            "Line": st.column_config.NumberColumn(width=60),
            "Column": st.column_config.TextColumn(width=140),
            "Error": st.column_config.TextColumn(width=700),
        },
        hide_index=True,
        height=table_height(len(cells), most=8),
        row_height=ROW_HEIGHT,
        key="samples.problems",
        alt="Rows of the file that cannot be imported",
    )
    st.download_button(
        f"Download {count(len(cells), 'error')} (CSV)",
        partial(csv_file, columns, cells),
        file_name="problems.csv",
        mime="text/csv",
        icon=":material/download:",
        key="samples.problems_file",
        on_click="ignore",
    )


def _offer(handle: str, checked: Checked) -> None:
    number = len(checked.samples)
    sent = st.button(
        f"Import {count(number, 'sample')}" if number else "Import",
        type="primary",
        icon=":material/upload:",
        disabled=bool(checked.problems) or not number,
        help="Correct the rows with errors first." if checked.problems else None,
        key="samples.import_button",
    )
    if not sent:
        return
    with attempt() as importation, st.spinner(f"Importing {count(number, 'sample')}", show_time=True):
        ids = client().samples.add(handle, checked.samples)
    if importation.done:
        session.next_round(_FORM)
        session.store(VIEW, "table")
        session.store(UNDO, Undo(handle, f"{number:,} imported", (), tuple(ids)) if number <= _MOST_TO_UNDO else None)
        session.flash(f"{count(number, 'sample')} imported.")
        st.rerun()
    elif importation.error:
        _problems_of(importation.error, checked)


def _problems_of(error: TraitbenchError, checked: Checked) -> None:
    """Draw the errors that the service returned, by line of the file."""
    problems = []
    for each in error.details.get("errors", ()):
        match each.get("loc"):
            case ["samples", int(index), *rest] if index < len(checked.lines):
                problems.append(Problem(checked.lines[index], str(rest[-1] if rest else ""), str(each.get("msg", ""))))
    if problems:
        draw_problems(problems)
