"""The upload of a file with labels of several raters: its columns, and what the labels mean."""

import hashlib
from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from traitbench.app.shell import session
from traitbench.app.shell.text import count, plain
from traitbench.app.widgets.common.table_upload import has_header, table_upload
from traitbench.app.widgets.samples.importing import draw_problems, pick_trait
from traitbench.app.widgets.samples.label_meanings import pick_meanings
from traitbench.contract.traits import Trait
from traitbench.tables import sample_files
from traitbench.tables.rating_files import MOST_RATERS, Columns, Ratings, guess_raters, read_ratings
from traitbench.tables.rows import Unreadable
from traitbench.tables.sample_files import MOST_MEGABYTES, Table

_FORM, _TABLE, _RATINGS = "samples.raters", "samples.raters.table", "samples.raters.ratings"


def upload_ratings(traits: Sequence[Trait]) -> Ratings | None:
    """Draw the upload and the choice of columns; None until every row of the file can be read."""
    form = session.round_key(_FORM)
    file = table_upload(form, most_megabytes=MOST_MEGABYTES)
    if file is None:
        st.caption(
            f"Up to {MOST_MEGABYTES} MB. The file needs a column of texts and a column of labels for each rater: a "
            "language model, a colleague, yourself. A column of traits is optional."
        )
        return None
    try:
        table = _read(file, form)
    except Unreadable as problem:
        st.error(plain(str(problem)), icon=":material/error:")
        return None
    for note in table.notes:
        st.warning(note, icon=":material/translate:")
    columns = _choose(f"{form}.{file.file_id}", table, traits)
    if columns is None:
        return None
    ratings = _ratings(table, columns, traits)
    if ratings.problems:
        hint = sample_files.known_traits(ratings.problems, traits)
        draw_problems(ratings.problems, hint, nothing="Nothing is compared")
        return None
    if not ratings.items:
        st.error("The chosen columns have no labels. Choose other columns.", icon=":material/error:")
        return None
    for rater, number in ratings.contradictions.items():
        st.warning(
            f"**{plain(rater)}** labels {count(number, 'text')} in two ways. These labels are left out.",
            icon=":material/call_split:",
        )
    return ratings


def _read(file: UploadedFile, form: str) -> Table:
    """The table, which is read once for all runs of the page."""
    header = has_header(file, form)
    held = session.get(_TABLE)
    if held is None or held[0] != (file.file_id, header):
        held = ((file.file_id, header), sample_files.read(file.name, file.getvalue(), header=header))
        session.store(_TABLE, held)
    table: Table = held[1]
    return table


def _ratings(table: Table, columns: Columns, traits: Sequence[Trait]) -> Ratings:
    """The labels, which are read once for every choice of columns."""
    names = [(trait.key, trait.name) for trait in traits]
    chosen = (session.get(_TABLE)[0], hashlib.sha256(repr((columns, names)).encode()).hexdigest())
    held = session.get(_RATINGS)
    if held is None or held[0] != chosen:
        with st.spinner("Reading the labels", show_time=True):
            held = (chosen, read_ratings(table, columns, traits))
        session.store(_RATINGS, held)
    ratings: Ratings = held[1]
    return ratings


def _choose(form: str, table: Table, traits: Sequence[Trait]) -> Columns | None:
    text_guess, trait_guess, raters_guess = guess_raters(table, traits)
    columns = list(table.columns)
    with st.grid(3, min_column_width=240):
        text = st.selectbox("Text column", columns, index=columns.index(text_guess), key=f"{form}.text")
        trait, default_trait = pick_trait(form, columns, trait_guess, traits)
        others = [column for column in columns if column not in (text, trait)]
        raters = st.multiselect(
            "Label columns, one per rater",
            others,
            default=[column for column in raters_guess if column in others],
            max_selections=MOST_RATERS,
            placeholder="Choose columns",
            key=f"{form}.raters.{text}.{trait}",
        )
    if not raters:
        st.info("Choose at least one column with labels.", icon=":material/arrow_upward:")
        return None
    words = {rater: _words(form, table, rater, traits) for rater in raters}
    if any(meanings is None for meanings in words.values()):
        return None
    return Columns(text, trait or None, default_trait, {rater: each or {} for rater, each in words.items()})


def _words(form: str, table: Table, rater: str, traits: Sequence[Trait]) -> Mapping[str, float] | None:
    """The quality of each label of a rater; None while one is open."""
    labels = sample_files.words(table, rater)
    if not labels:
        return {}
    if len(labels) > sample_files.MOST_WORDS:
        st.warning(
            f"The column **{plain(rater)}** has {len(labels):,} different values that are not numbers from 0 to 1. Is "
            "it a column of labels?",
            icon=":material/help:",
        )
        return None
    guesses = sample_files.guess_words(labels, traits)
    unknown = any(meaning is None for meaning in guesses.values())
    with st.expander(
        f"Meaning of the labels in {plain(rater)}", expanded=unknown, icon=":material/help:" if unknown else None
    ):
        meanings = pick_meanings(labels, guesses, key=f"{form}.word.{rater}")
    if len(meanings) < len(labels):
        st.info(f"Choose the meaning of every label in {plain(rater)}.", icon=":material/arrow_upward:")
        return None
    return meanings
