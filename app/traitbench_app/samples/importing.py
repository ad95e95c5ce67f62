"""The import of samples from a file: read it, map its columns, compare it with what is there, preview and import it.

Rows with errors are left out if the person agrees, and offered as a file to mend. All samples of an import are added
or none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import pandas as pd
import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.display.colours import NEGATIVE_SIGN, NEUTRAL_SIGN, POSITIVE_SIGN
from traitbench.display.sides import label_of
from traitbench.display.text import count, plain
from traitbench.errors import TraitbenchError
from traitbench.tables import sample_files
from traitbench.tables.rows import Problem, Table
from traitbench.tables.rows_together import rows_together
from traitbench.tables.sample_files import Checked, Compared, FileLayout, LabelColumn
from traitbench.tables.writing import csv_file
from traitbench_app.parts.controls import download
from traitbench_app.parts.sample_table import ROW_HEIGHT, table_height
from traitbench_app.parts.upload import pick_text_column, read_texts, upload_table
from traitbench_app.samples.editing import SavedEdit, add, last_edit
from traitbench_app.samples.narrowing import pole_words
from traitbench_app.samples.views import go_to
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import attempt
from traitbench_app.workspace import pool
from traitbench_app.workspace.pool import NoPool

LEAVE_OUT = -1.0
"""The choice of a label whose rows are left out."""

_FORM = "samples.import"
_TOGETHER, _IMPORTED = "samples.import.together", "samples.imported"
_PREVIEW = 50

Repeated = Literal["skip", "keep", "replace"]
_REPEATED: Mapping[Repeated, str] = {"skip": "Skip", "keep": "Keep both", "replace": "Replace"}


def import_file(model: Model, traits: Sequence[Trait], samples: Sequence[Sample]) -> None:
    """Draw the steps in order, each one when the step before it is complete."""
    upload = upload_table(_FORM, empty=lambda: _first_help(traits))
    if upload is None:
        return
    table = upload.source.whole
    layout = _choose(upload.key, table, traits)
    if layout is None:
        return
    table = read_texts(upload.source, layout.text, key=upload.key).whole
    if not layout.labels:
        st.info(
            "Choose the column with the labels, or one label for all rows. Or label the texts yourself, one by one.",
            icon=":material/arrow_upward:",
        )
        offer_labelling(model.handle, sample_files.unlabelled(table, layout), upload.name, primary=True)
        return
    checked = sample_files.check(table, layout, traits)
    against = sample_files.compared(checked, samples)
    repeated = _pick_repeated(upload.key, checked, against)
    _preview(table, checked, traits)
    _offer(model, traits, table, checked, against, repeated)
    if all(each.words.get("") is None for each in layout.labels):
        offer_labelling(model.handle, sample_files.unlabelled(table, layout), upload.name, primary=False)


def _first_help(traits: Sequence[Trait]) -> None:
    st.caption(
        "The file needs a column of texts, and a column of labels or one for each trait. You see a preview before "
        "anything is imported."
    )
    poles = [(trait.name, pole) for trait in traits[:2] for pole in (trait.negative_label, trait.positive_label)]
    rows = [(f"A text that is {pole}.", name, pole) for name, pole in poles]
    download(
        "Download example file",
        partial(csv_file, ("text", "trait", "label"), rows),
        "samples-example.csv",
        key="samples.example",
    )


# ---- the columns ---------------------------------------------------------------------------------------------------


def _choose(form: str, table: Table, traits: Sequence[Trait]) -> FileLayout | None:
    """Draw the choice of the columns and of the meaning of labels; None while the column of texts is not chosen."""
    _, trait_guess, quality_guess = sample_files.guess_columns(table, traits)
    named = sample_files.guess_wide(table, traits)
    columns = list(table.columns)
    trait, wide = None, False
    if named:
        wide = (
            st.segmented_control(
                "Labels are in",
                ["wide", "long"],
                default="wide" if trait_guess is None and quality_guess in (None, *named) else "long",
                required=True,
                format_func={"wide": "a column for each trait", "long": "one column"}.__getitem__,
                key=f"{form}.shape",
                persist_state="page",
            )
            == "wide"
        )
    held_guess, must_guess = sample_files.guess_test_columns(table)
    with st.grid(3, min_column_width=240):
        text = pick_text_column(table, key=f"{form}.text")
        if not wide:
            trait, default_trait = pick_trait(form, columns, trait_guess, traits)
            own = [each for each in traits if trait or each.key == default_trait] or traits
            quality, blank = _pick_quality(form, columns, quality_guess, own)
        held_out = _column("Column that marks test texts", columns, held_guess, "No test texts", key=f"{form}.held_out")
        must_pass = None
        if held_out:
            must_pass = _column(
                "Column that marks texts to never get wrong", columns, must_guess, "None", key=f"{form}.must_pass"
            )
    if text is None:
        return None
    if wide:
        labels = _pick_wide(form, table, named, traits)
    else:
        words = (pick_words(table, quality, own, leave_out=True, key=f"{form}.word") or {}) if quality else {}
        words |= {} if blank is None else {"": _meant(blank)}
        labels = (LabelColumn(quality, default_trait, words),) if quality or words else ()
    note = sample_files.guess_note_column(table)
    layout = FileLayout(text, labels, trait, held_out, must_pass, note=note)
    return _with_group(form, table, layout, traits)


def _with_group(form: str, table: Table, layout: FileLayout, traits: Sequence[Trait]) -> FileLayout:
    """Draw the choice of what rows belong to; a column that repeats and predicts the labels is chosen, and said."""
    own = sample_files.guess_group_column(table)
    match = None
    if layout.labels and not own:
        # Looked for once, because a large file takes seconds.
        about = form, layout, tuple((each.key, each.negative_label, each.positive_label) for each in traits)
        match = session.once(_TOGETHER, about, lambda: rows_together(table, layout, traits))
    guess = match[0] if match else own
    # Another guess is another question, so that it is not answered by the answer to the one before.
    key = f"{form}.group.{guess or ''}"
    group = _column("Rows that belong together have the same", list(table.columns), guess, "Nothing", key=key)
    if match and group == match[0]:
        st.info(
            f"{plain(match[1])} They are kept together, so that no figure divides them. If they have nothing to do with"
            " one another, choose *Nothing*.",
            icon=":material/link:",
        )
    return replace(layout, group=group)


def pick_trait(
    form: str, columns: list[str], guess: str | None, traits: Sequence[Trait]
) -> tuple[str | None, str | None]:
    """Draw the choice of the trait column and of the trait of empty cells; none if there is only one trait."""
    if len(traits) == 1 and guess is None:
        return None, traits[0].key
    names = {trait.key: trait.name for trait in traits}
    with st.container():
        trait = _column("Column with the traits", columns, guess, "One trait for all rows", key=f"{form}.trait")
        default_trait = st.selectbox(
            "Trait for empty cells" if trait else "Trait for all rows",
            list(names),
            index=None if trait else 0,
            format_func=lambda key: names.get(key, key),
            placeholder="Report an error",
            key=f"{form}.default_trait.{bool(trait)}",
            persist_state="page",
        )
    return trait, default_trait


def _pick_quality(
    form: str, columns: list[str], guess: str | None, traits: Sequence[Trait]
) -> tuple[str | None, float | None]:
    """Draw the choice of the label column and of the label of empty cells, which may be `LEAVE_OUT`."""
    with st.container():
        quality = _column("Column with the labels", columns, guess, "One label for all rows", key=f"{form}.q")
        words = meanings(traits, leave_out=quality is not None)
        default_quality = st.selectbox(
            "Label for empty cells" if quality else "Label for all rows",
            list(words),
            index=None,
            format_func=lambda meaning: words.get(meaning, str(meaning)),
            placeholder="Report an error" if quality else "Choose a label",
            key=f"{form}.default_quality.{bool(quality)}",
            persist_state="page",
        )
    return quality, default_quality


def _pick_wide(form: str, table: Table, named: Mapping[str, str], traits: Sequence[Trait]) -> tuple[LabelColumn, ...]:
    """Draw the columns of labels, one for each trait, and the meaning of their words."""
    by_key = {trait.key: trait for trait in traits}
    chosen = st.multiselect(
        "Columns with the labels", list(named), default=list(named), key=f"{form}.wide", persist_state="page"
    )
    labels = []
    for column in chosen:
        own, key = [by_key[named[column]]], f"{form}.word.{column}"
        words = pick_words(table, column, own, leave_out=True, folded=True, key=key) or {}
        labels.append(LabelColumn(column, named[column], {**words, "": None}))
    st.caption("An empty cell gives no sample for that trait.")
    return tuple(labels)


def _column(label: str, columns: list[str], guess: str | None, none: str, *, key: str) -> str | None:
    options = ["", *columns]
    chosen = st.selectbox(
        label,
        options,
        index=options.index(guess or ""),
        format_func=lambda column: column or none,
        key=key,
        persist_state="page",
    )
    return chosen or None


def meanings(traits: Sequence[Trait], *, leave_out: bool = False) -> dict[float, str]:
    """Each quality that a label can mean, in the words of the traits; with `leave_out`, `LEAVE_OUT` too."""
    words = pole_words(traits)
    said = {
        1.0: f"{POSITIVE_SIGN} {words['positive']}",
        0.5: f"{NEUTRAL_SIGN} {words['between']}",
        0.0: f"{NEGATIVE_SIGN} {words['negative']}",
    }
    return said | ({LEAVE_OUT: "Leave out"} if leave_out else {})


def pick_words(
    table: Table, column: str, traits: Sequence[Trait], *, leave_out: bool = False, folded: bool = False, key: str
) -> dict[str, float | None] | None:
    """Draw the meaning of each word in a column of labels; return those that are chosen, None for too many words.

    Meanings are guessed where possible. One of several columns is `folded`, unless a word of it is unknown.
    """
    labels = sample_files.words(table, column)
    if not labels:
        return {}
    if len(labels) > sample_files.MOST_WORDS:
        st.warning(
            f"The column **{plain(column)}** has {len(labels):,} different values, too many for labels. Is it the "
            "right column? Numbers are read as labels only if all are from 0 to 1.",
            icon=":material/help:",
        )
        return None
    guesses, offered = sample_files.guess_words(labels, traits), meanings(traits, leave_out=leave_out)
    if not folded:
        st.markdown("**Meaning of each label**")
        return _pick_meanings(labels, guesses, offered, key=key)
    is_open = None in guesses.values()
    icon = ":material/help:" if is_open else None
    with st.expander(f"Meaning of the labels in {plain(column)}", expanded=is_open, icon=icon):
        return _pick_meanings(labels, guesses, offered, key=key)


def _pick_meanings(
    labels: Mapping[str, int], guesses: Mapping[str, float | None], words: Mapping[float, str], *, key: str
) -> dict[str, float | None]:
    """Draw a choice among `words` for each label with its number of rows; return those that are made, by label."""
    order = list(words)
    chosen: dict[str, float | None] = {}
    with st.grid(4, min_column_width=200):
        for label, times in labels.items():
            meaning = st.selectbox(
                f"{plain(label)} ({count(times, 'row')})",
                order,
                index=next((order.index(each) for each in order if each == guesses[label]), None),
                format_func=words.__getitem__,
                placeholder="Choose",
                key=f"{key}.{label}",
                persist_state="page",
            )
            if meaning is not None:
                chosen[label] = _meant(meaning)
    return chosen


def _meant(meaning: float) -> float | None:
    return None if meaning == LEAVE_OUT else float(meaning)


# ---- preview and import --------------------------------------------------------------------------------------------


def _pick_repeated(form: str, checked: Checked, against: Compared) -> Repeated:
    """Draw how many texts are there already, and the choice of what to do with them."""
    if not against.same and not against.other:
        return "skip"
    parts = []
    if against.same:
        parts.append(f"{count(len(against.same), 'text')} with the same label")
    if against.other:
        parts.append(f"{count(len(against.other), 'text')} with another label")
    return st.radio(
        f"Already there or repeated: {' and '.join(parts)}",
        list(_REPEATED),
        format_func=lambda each: _REPEATED[each],
        captions=[
            f"Import only the {count(len(against.new), 'new text')}.",
            f"Import all {len(checked.samples):,}. Copies count once in training; contradicting labels cancel out.",
            f"Import the new texts, and give {count(len(against.other), 'text')} the label of the file.",
        ],
        horizontal=True,
        key=f"{form}.repeated",
        persist_state="page",
    )


def _preview(table: Table, checked: Checked, traits: Sequence[Trait]) -> None:
    by_key = {trait.key: trait for trait in traits}
    if checked.left_out:
        st.caption(f"{count(checked.left_out, 'row')} left out: no answer, or as chosen above.")
    if checked.problems:
        draw_problems(
            checked.problems,
            sample_files.known_traits(checked.problems, traits),
            mend=sample_files.to_mend(table, checked.problems),
            nothing="They are left out" if checked.samples else "Nothing is imported",
        )
    if checked.samples:
        first = list(zip(checked.lines, checked.samples, strict=True))[:_PREVIEW]
        tests = sum(each.held_out for each in checked.samples)
        groups = len({each.group for each in checked.samples} - {None})
        apart = f", {count(tests, 'test sample')} among them" if tests else ""
        apart += f", in {count(groups, 'group')}" if groups else ""
        st.markdown(f"**Preview: {count(len(checked.samples), 'sample')}{apart}**")
        st.dataframe(
            pd.DataFrame(
                [
                    (line, each.text, trait.name, label_of(trait, each.quality), each.held_out, each.group or "")
                    for line, each, trait in ((line, each, by_key[each.trait]) for line, each in first)
                ],
                columns=["Line", "Text", "Trait", "Label", "Test", "Group"],
            ),
            column_order=[
                "Line",
                "Text",
                "Trait",
                "Label",
                *(["Test"] if tests else []),
                *(["Group"] if groups else []),
            ],
            column_config={"Line": st.column_config.NumberColumn(width=60), "Text": st.column_config.Column(width=530)},
            hide_index=True,
            height=table_height(len(first), most=10),
            row_height=ROW_HEIGHT,
            key="samples.preview",
            alt="The first samples of the file",
        )
        if len(checked.samples) > _PREVIEW:
            st.caption(f"The first {_PREVIEW} of {len(checked.samples):,}.")


def draw_problems(
    problems: Sequence[Problem],
    hint: str = "",
    *,
    nothing: str = "Nothing is imported",
    mend: tuple[list[str], list[list[str]]] | None = None,
) -> None:
    """Draw the rows of a file that have errors; `mend` is the header and the rows of a file to correct."""
    rows = len({problem.row for problem in problems})
    st.error(
        f"**{count(rows, 'row has', 'rows have')} errors.** {nothing}{'' if mend else ' until every row is valid'}. "
        f"Change the choices above, or correct {'them' if mend else 'the file'} and upload "
        f"{'them' if mend else 'it'} again. {plain(hint)}",
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
    download(
        f"Download {count(rows, 'row')} to correct (CSV)" if mend else f"Download {count(len(cells), 'error')} (CSV)",
        partial(csv_file, *(mend or (columns, cells))),
        "rows-to-correct.csv" if mend else "problems.csv",
        key="samples.problems_file",
    )


def _offer(
    model: Model, traits: Sequence[Trait], table: Table, checked: Checked, against: Compared, repeated: Repeated
) -> None:
    positions = [*against.new, *(against.other if repeated == "replace" else ())]
    chosen = range(len(checked.samples)) if repeated == "keep" else sorted(positions)
    adding = [checked.samples[position] for position in chosen]
    # By id, because several rows can replace the same sample.
    replacing = {each.id: each for old in against.other.values() for each in old} if repeated == "replace" else {}
    bad = len(checked.bad_rows)
    label = f"Import {len(adding):,}, leave out {bad:,}" if bad else f"Import {count(len(adding), 'sample')}"
    sent = st.button(
        label if adding else "Import",
        type="primary",
        icon=":material/upload:",
        disabled=not adding,
        key="samples.import_button",
        help=None if adding else "No row can be imported.",
    )
    if not sent:
        return
    known = len(checked.samples) - len(adding)
    also = ((len(replacing), "replaced"), (known, "already there"), (bad + checked.left_out, "left out"))
    into = " and ".join(each.name for each in traits if each.key in {sample.trait for sample in adding})
    what = ", ".join(
        [
            f"{count(len(adding), 'sample')} imported into {into}",
            *(f"{number:,} {done}" for number, done in also if number),
        ]
    )
    with attempt() as importation, st.spinner(f"Importing {count(len(adding), 'sample')}", show_time=True):
        edit = add(model, f"{plain(what)}.", adding, replacing=[*replacing.values()])
        session.store(_IMPORTED, (edit, *sample_files.to_mend(table, checked.problems)))
    if importation.done:
        session.next_round(_FORM)
        go_to("samples")
        st.rerun()
    elif importation.error:
        _problems_of(importation.error, [checked.lines[position] for position in chosen])


def draw_left_out(model: Model) -> None:
    """Draw the download of the rows of a file that an import left out, while the import is the last edit."""
    edit: SavedEdit | None
    edit, header, rows = session.get(_IMPORTED, (None, (), ()))
    if edit is None or edit != last_edit(model.handle):
        return
    st.html(f'<i hidden data-top="{edit.change_ids[0]}"></i>')  # the page goes to its top, in shell.js
    if rows:
        download(
            f"Download {count(len(rows), 'row')} to correct",
            partial(csv_file, header, rows),
            "rows-to-correct.csv",
            key="samples.left_out_file",
            type="tertiary",
        )


def _problems_of(error: TraitbenchError, lines: Sequence[int]) -> None:
    """Draw the errors that the service returned, by line of the file."""
    problems = []
    for each in error.details.get("errors", ()):
        match each.get("loc"):
            case ["adds", int(index), *rest] if index < len(lines):
                problems.append(Problem(lines[index], str(rest[-1] if rest else ""), str(each.get("msg", ""))))
    if problems:
        draw_problems(problems)


# ---- rows without labels ---------------------------------------------------------------------------------------------

_SENT = "samples.import.to_label"


def offer_labelling(handle: str, texts: Sequence[str], source: str, *, primary: bool) -> None:
    """Draw the button that takes texts without labels to the Label page; `source` names their file."""
    if not texts:
        return
    about = (handle, source, len(texts))
    with st.container(horizontal=True, vertical_alignment="center", key="samples.to_label"):
        if session.get(_SENT) == about:
            st.caption(f"{count(len(texts), 'text')} added to the Label page.", width="content")
            page_link("label", "Start labelling")
        elif st.button(
            f"Label {'this text' if len(texts) == 1 else f'these {len(texts):,} texts'}",
            type="primary" if primary else "secondary",
            icon=":material/label:",
            key="samples.label_button",
            help="Adds the texts without a label to the Label page, where you label them one by one.",
        ):
            _send(about, texts)


def _send(about: tuple[str, str, int], texts: Sequence[str]) -> None:
    handle, source, _ = about
    with attempt() as sending:
        try:
            added = pool.add(handle, texts, source)
        except NoPool as reason:
            st.error(str(reason), icon=":material/error:")
            return
    if sending.done:
        session.store(_SENT, about)
        known = len(texts) - added
        also = f" {known:,} left out: already added or labelled." if known else ""
        session.flash(f"{count(added, 'text')} added to the Label page.{also}")
        st.rerun()
