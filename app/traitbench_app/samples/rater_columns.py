"""The upload of a file with labels of several raters: its columns, and what the labels mean."""

import hashlib
import sys
from collections.abc import Mapping, Sequence

import streamlit as st

from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain
from traitbench.tables import sample_files
from traitbench.tables.rating_files import MOST_RATERS, Columns, Ratings, guess_raters, read_ratings
from traitbench.tables.sample_files import Table, table_of
from traitbench_app.parts.upload import pick_text_column, upload_table
from traitbench_app.samples.importing import draw_problems, pick_trait
from traitbench_app.samples.label_meanings import meanings, pick_meanings
from traitbench_app.shell import session

_FORM, _RATINGS = "samples.raters", "samples.raters.ratings"


def upload_ratings(traits: Sequence[Trait]) -> Ratings | None:
    """Draw the upload and the choice of columns; None until every row of the file can be read."""
    about = (
        "The file needs a column of texts and a column of labels for each rater: a language model, a colleague, "
        "yourself. A column of traits is optional."
    )
    upload = upload_table(_FORM, empty=lambda: st.caption(about), keep=sys.maxsize)
    if upload is None:
        return None
    table = table_of(upload.source)
    columns = _choose(upload.key, table, traits)
    if columns is None:
        return None
    ratings = _ratings(upload.key, table, columns, traits)
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


def _ratings(read: str, table: Table, columns: Columns, traits: Sequence[Trait]) -> Ratings:
    """The labels, which are read once for every choice of columns."""
    names = [(trait.key, trait.name) for trait in traits]
    chosen = (read, hashlib.sha256(repr((columns, names)).encode()).hexdigest())
    held = session.get(_RATINGS)
    if held is None or held[0] != chosen:
        with st.spinner("Reading the labels", show_time=True):
            held = (chosen, read_ratings(table, columns, traits))
        session.store(_RATINGS, held)
    ratings: Ratings = held[1]
    return ratings


def _choose(form: str, table: Table, traits: Sequence[Trait]) -> Columns | None:
    _, trait_guess, raters_guess = guess_raters(table, traits)
    columns = list(table.columns)
    with st.grid(3, min_column_width=240):
        text = pick_text_column(table, key=f"{form}.text")
        trait, default_trait = pick_trait(form, columns, trait_guess, traits)
        others = [column for column in columns if column not in (text, trait)]
        raters = st.multiselect(
            "Columns with the labels, one per rater",
            others,
            default=[column for column in raters_guess if column in others],
            max_selections=MOST_RATERS,
            placeholder="Choose columns",
            key=f"{form}.raters.{text}.{trait}",
        )
    if text is None:
        return None
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
        picked = pick_meanings(labels, guesses, meanings(traits), key=f"{form}.word.{rater}")
    if len(picked) < len(labels):
        st.info(f"Choose the meaning of every label in {plain(rater)}.", icon=":material/arrow_upward:")
        return None
    return picked
