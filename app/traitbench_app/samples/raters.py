"""Compare labels: a file of several raters, their agreement with each other and with you, and samples of both.

The steps are drawn in order, each one when the step before it is complete.
"""

import hashlib
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain
from traitbench.tables import sample_files
from traitbench.tables.agreement import COLUMNS, all_pairs, alphas, rows, sentence
from traitbench.tables.columns import read_columns
from traitbench.tables.rating_files import MOST_RATERS, OWN, Ratings, guess_raters, labels_of_people, read_ratings
from traitbench.tables.rows import Table
from traitbench.tables.sample_files import FileLayout, LabelColumn
from traitbench_app.parts.chart import figures_table
from traitbench_app.parts.upload import pick_text_column, read_texts, upload_table
from traitbench_app.samples.blind import draw_sheet, pick_number, sheets, your_labels
from traitbench_app.samples.importing import draw_problems, pick_trait, pick_words
from traitbench_app.samples.your_judgment import draw_adding, draw_loss, draw_yours
from traitbench_app.shell import session

_KAPPA = "Agreement beyond chance: 0 is what chance would give, 1 is perfect."


def compare_labels(model: Model, traits: Sequence[Trait], samples: Sequence[Sample], *, can_edit: bool) -> None:
    """Draw the steps, each one when the step before it is complete."""
    st.caption(
        "Compare the labels of a language model, or of people, with each other and with your own. Then train a model "
        "to take their place."
    )
    ratings = upload_ratings(traits)
    if ratings is None:
        return
    names = {trait.key: trait.name for trait in traits}
    _draw_pairs(ratings, names, file_name=f"{model.handle}-agreement")
    _draw_rest(model, traits, samples, ratings, can_edit)


def _draw_pairs(ratings: Ratings, names: Mapping[str, str], *, file_name: str) -> None:
    st.header("Do the raters agree?", anchor=False)
    if len(ratings.raters) < 2:
        (rater,) = ratings.raters
        st.markdown(
            f"The file has one rater, {_name(rater)}, with labels for {count(len(ratings.by_rater[rater]), 'text')}. "
            "Label some of them yourself to see how far it agrees with you."
        )
        return
    compared = all_pairs(ratings)
    measured = [pair for pair in compared if pair.agreement.kappa is not None]
    first = min(measured, key=lambda pair: pair.agreement.kappa or 0.0) if measured else compared[0]
    lowest = "Lowest agreement: the" if len(compared) > 1 else "The"
    st.markdown(
        sentence(
            first,
            first=f"{lowest} labels in {_name(first.first)}",
            second=f"those in {_name(first.second)}",
            trait=_of_trait(first.trait, names, ratings),
        )
    )
    figures_table(
        pd.DataFrame(rows(compared, names), columns=list(COLUMNS)),
        key="samples.raters.pairs",
        file_name=file_name,
        alt="Agreement of raters",
        columns={
            "Same side": st.column_config.TextColumn(help="The share of texts that both put on the same side."),
            "Kappa": st.column_config.TextColumn(help=_KAPPA),
            "95 %": st.column_config.TextColumn(help="The 95 % interval of kappa: the fewer texts, the wider."),
        },
    )
    for trait, value in alphas(ratings).items():
        shown = "undefined, because all labels are the same" if value is None else f"{value:.2f}"
        st.caption(
            f"All {len(ratings.raters)} raters on {plain(names[trait])}: Krippendorff's alpha {shown}.",
            help="Like kappa, for any number of raters with missing labels.",
        )


# A fragment, so that each label runs only what depends on it.
@st.fragment
def _draw_rest(
    model: Model, traits: Sequence[Trait], samples: Sequence[Sample], ratings: Ratings, can_edit: bool
) -> None:
    names = {trait.key: trait.name for trait in traits}
    by_key = {trait.key: trait for trait in traits}
    st.header("Do they agree with you?", anchor=False)
    st.caption("Label some texts yourself. You see each text without its labels, so they cannot influence you.")
    with st.container(horizontal=True, vertical_alignment="bottom", key="samples.raters.sheet"):
        trait = by_key[_pick_trait(ratings, names)]
        column = _pick_column(ratings)
        judged = [rater for rater in ratings.raters if rater != column]
        all_sheets = sheets(model.handle, ratings, judged[0], column)
        sheet = all_sheets[trait.key]
        pick_number(sheet)
    draw_sheet(sheet, trait, ratings, file_name=f"{model.handle}-labels")
    yours = {item: quality for each in all_sheets.values() for item, quality in your_labels(each).items()}
    draw_yours(ratings, judged, yours, names, file_name=f"{model.handle}-agreement-with-you")
    draw_loss(model, trait, ratings, judged, yours, file_name=f"{model.handle}-loss")
    draw_adding(model, samples, ratings, judged, yours, can_edit=can_edit)


def _pick_trait(ratings: Ratings, names: Mapping[str, str]) -> str:
    if len(ratings.traits) == 1:
        return ratings.traits[0]
    return st.selectbox(
        "Trait to label",
        ratings.traits,
        format_func=lambda key: names.get(key, key),
        key="samples.raters.trait",
        width=220,
        persist_state="page",
    )


def _pick_column(ratings: Ratings) -> str | None:
    """The column with your own labels, if the file has one beside those of a rater."""
    if len(ratings.raters) < 2:
        return None
    own = next((rater for rater in ratings.raters if rater == OWN), "")
    options = ["", *ratings.raters]
    chosen = st.selectbox(
        "Labels that you trust",
        options,
        index=options.index(own),
        format_func=lambda rater: f"Those in {rater}" if rater else "Mine, given below",
        key=f"samples.raters.trusted.{own}",
        width=240,
        help="Raters and models are measured on these labels. You can label the texts here, or choose a column, such "
        "as your labels from an earlier download.",
        persist_state="page",
    )
    return chosen or None


def _of_trait(trait: str, names: Mapping[str, str], ratings: Ratings) -> str:
    return f" for {plain(names.get(trait, trait))}" if len(ratings.traits) > 1 else ""


def _name(rater: str) -> str:
    return f"**{plain(rater)}**"


_FORM, _RATINGS, _PEOPLE = "samples.raters", "samples.raters.ratings", "samples.raters.people"


def upload_ratings(traits: Sequence[Trait]) -> Ratings | None:
    """Draw the upload and the choice of columns; None until every row of the file can be read."""
    about = (
        "The file needs a column of texts and a column of labels for each rater: a language model, a colleague, "
        "yourself. Or it has a row for each text and person. A column of traits is optional."
    )
    upload = upload_table(_FORM, empty=lambda: st.caption(about))
    if upload is None:
        return None
    table, way = upload.source.whole, ""
    own = session.once(_PEOPLE, upload.key, lambda: labels_of_people(read_columns(table)))
    layout = _choose(upload.key, own.table if own else table, traits, people=own.people if own else ())
    if layout is None:
        return None
    if own is None:
        source = read_texts(upload.source, layout.text, key=upload.key)
        table, way = source.whole, source.way_to_read(layout.text)
    else:
        table = own.table
        unclear = f" {count(own.unclear, 'row')} with several labels left out." if own.unclear else ""
        st.caption(f"{count(len(own.people), 'person', 'people')} labelled {count(len(table.rows), 'text')}.{unclear}")
    ratings = _ratings(f"{upload.key}.{way}", table, layout, traits)
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


def _ratings(read: str, table: Table, layout: FileLayout, traits: Sequence[Trait]) -> Ratings:
    """The labels, which are read once for every choice of columns."""
    # Only what the labels depend on: the counts of the traits change with every sample.
    names = [(trait.key, trait.name) for trait in traits]
    chosen = (read, hashlib.sha256(repr((layout, names)).encode()).hexdigest())
    with st.spinner("Reading the labels", show_time=True):
        return session.once(_RATINGS, chosen, lambda: read_ratings(table, layout, traits))


def _choose(form: str, table: Table, traits: Sequence[Trait], *, people: Sequence[str]) -> FileLayout | None:
    _, trait_guess, guessed = guess_raters(table, traits)
    raters_guess = list(people[:MOST_RATERS]) or guessed
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
            persist_state="page",
        )
    if text is None:
        return None
    if not raters:
        st.info("Choose at least one column with labels.", icon=":material/arrow_upward:")
        return None
    words = {rater: _words(form, table, rater, traits) for rater in raters}
    if any(each is None for each in words.values()):
        return None
    labels = (LabelColumn(rater, default_trait, {"": None} | (words[rater] or {})) for rater in raters)
    return FileLayout(text, tuple(labels), trait)


def _words(form: str, table: Table, rater: str, traits: Sequence[Trait]) -> dict[str, float | None] | None:
    """The quality of each label of a rater; None while one is open."""
    picked = pick_words(table, rater, traits, folded=True, key=f"{form}.word.{rater}")
    if picked is not None and {*sample_files.words(table, rater)} - {*picked}:
        st.info(f"Choose the meaning of every label in {plain(rater)}.", icon=":material/arrow_upward:")
        return None
    return picked
