"""The samples behind a part of a picture, such as a cell of tiers, and one of them with its highlights."""

from collections.abc import Callable

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.text import count, plain
from traitbench.local.mistakes import HeldOutScore
from traitbench_app.parts.sample_table import ROW_HEIGHT, table_height
from traitbench_app.parts.scored_samples import draw_text, find, side_in_words, table_of
from traitbench_app.parts.version_figures import label
from traitbench_app.shell.service import client


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
