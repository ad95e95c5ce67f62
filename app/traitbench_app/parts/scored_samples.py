"""Samples of a version with their held-out scores, and those behind a part of a picture, with their highlights."""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.colours import NEGATIVE_SIGN, POSITIVE_SIGN, SIDES
from traitbench.display.reasons import legend
from traitbench.display.sides import side_of
from traitbench.display.text import count, plain, shortened
from traitbench.local import preview
from traitbench.local.mistakes import HeldOutScore, HeldOutScores, held_out_scores, learned
from traitbench.local.preview import PreviewUnavailable
from traitbench.names import pin
from traitbench_app.parts.reasons import draw_highlighted
from traitbench_app.parts.sample_table import ROW_HEIGHT, table_height
from traitbench_app.parts.scorer import PageScorer
from traitbench_app.parts.version_figures import label
from traitbench_app.shell import session
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import client
from traitbench_app.shell.service import version as whole_version
from traitbench_app.workspace.samples import all_samples

_UNASKED = 1_000
_EXCERPT = 160


def find(model: Model, version: Version, traits: Sequence[Trait], *, only: str | None = None) -> HeldOutScores | None:
    """Return the held-out scores of a version; if they cannot be had, say why and return None.

    `traits` are all traits of the model; `only` is the key of the one that is wanted, all if it is None.
    """
    if model.zero_data_retention:
        st.info("Zero data retention is on: the samples were removed after training, so no texts can be shown.")
        return None
    if forbidden := why_read_only(model):
        st.info(f"{forbidden} Only people who may change the model see its samples.", icon=":material/lock:")
        return None
    try:
        return _scores(model, version, traits, only)
    except PreviewUnavailable as reason:
        st.info(f"The samples cannot be scored here. {plain(str(reason))}", icon=":material/info:")
        return None


def side_in_words(scored: HeldOutScore, trait: Trait) -> str:
    """`▼ clearly cold`: what the held-out score says, in Markdown."""
    side = side_of(scored.score, positive_label=trait.positive_label, negative_label=trait.negative_label)
    return f"{SIDES[side.positive].sign} {plain(side.words)}"


def pole_in_words(positive: bool, trait: Trait) -> str:
    """`▲ warm`, in Markdown."""
    pole = trait.positive_label if positive else trait.negative_label
    return f"{POSITIVE_SIGN if positive else NEGATIVE_SIGN} {plain(shortened(pole, 40))}"


def draw_text(model: Model, version: Version, trait: Trait, scored: HeldOutScore) -> None:
    """Draw the whole text with the highlights of the version."""
    st.html(legend(trait.negative_label, trait.positive_label))
    draw_highlighted(PageScorer(pin(model.handle, label(version))), trait.key, scored.first.text)


def table_of(scores: Sequence[HeldOutScore], trait: Trait) -> pd.DataFrame:
    """One row per text: the text, its label, its held-out score and what that says."""
    poles = {True: f"{POSITIVE_SIGN} {trait.positive_label}", False: f"{NEGATIVE_SIGN} {trait.negative_label}"}
    sides = [
        side_of(each.score, positive_label=trait.positive_label, negative_label=trait.negative_label) for each in scores
    ]
    return pd.DataFrame(
        {
            "Text": [shortened(each.first.text, _EXCERPT) for each in scores],
            "Label": [poles[each.positive] for each in scores],
            "Score": [each.points for each in scores],
            "Says": [f"{SIDES[side.positive].sign} {side.words}" for side in sides],
            "Measured": ["test sample" if each.first.held_out else "not seen" for each in scores],
        }
    )


def _scores(model: Model, version: Version, traits: Sequence[Trait], only: str | None) -> HeldOutScores | None:
    samples = learned(version, all_samples(model.handle, traits))
    unread = preview.unread(samples)
    agreed = f"held_out_texts.read:{model.handle}"
    if len(unread) > _UNASKED and session.get(agreed) is None:
        st.button(
            f"Read {count(len(unread), 'text')}",
            icon=":material/auto_stories:",
            key="held_out_texts.read",
            on_click=session.store,
            args=(agreed, True),
            help="Each text is read once. This may take a minute or more.",
        )
        return None
    slot = st.empty()
    with st.spinner("Checking each sample by a model that has not seen it", show_time=True):
        if len(unread) > 64:
            preview.read(unread, lambda done, of: slot.progress(done / of, text=f"Reading {done:,} of {of:,} texts"))
        wanted = [each for each in traits if only in (None, each.key)]
        scores = held_out_scores(whole_version(model.handle, version), wanted, samples)
    slot.empty()
    return scores


def draw_cell_texts(
    model: Model, version: Version, trait: Trait, which: Callable[[HeldOutScore], bool], *, title: str, key: str
) -> None:
    """Draw the samples of a trait that are `which`, worst first, and one of them as a whole. Test samples are not."""
    with st.container(border=True, key=key):
        st.markdown(title)
        scores = find(model, version, client().traits.list(model.handle), only=trait.key)
        if scores is None:
            return
        if trait.key in scores.changed:
            st.caption(
                f":material/info: The samples of {plain(trait.name)} changed since {label(version)} was trained, so "
                "these texts may not add up to the picture."
            )
        own = [each for each in scores.by_trait[trait.key] if which(each) and not each.first.held_out]
        own.sort(key=lambda each: (-each.distance, each.first.id))
        if not own:
            st.caption("These texts are no longer among the samples.")
            return
        event = st.dataframe(
            table_of(own, trait).drop(columns=["Label", "Measured"]),
            hide_index=True,
            width="stretch",
            height=table_height(len(own), most=8),
            row_height=ROW_HEIGHT,
            on_select="rerun",
            selection_mode="single-row",
            key=f"{key}.list:{title}:{trait.key}:{version.version_no}",
            alt=count(len(own), "text"),
            column_config={"Text": st.column_config.TextColumn(width="large")},
        )
        rows = event.selection.rows if event else []
        picked = own[rows[0]] if rows and rows[0] < len(own) else own[0]
        st.markdown(f"Scored **{picked.points}**: {side_in_words(picked, trait)}.")
        draw_text(model, version, trait, picked)
