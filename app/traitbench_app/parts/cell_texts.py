"""The texts of one cell of the table of tiers, and one of them with its highlights."""

import streamlit as st

from traitbench.contract.metrics import Pole
from traitbench.contract.models import Model
from traitbench.contract.scores import Tier
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.text import count, plain
from traitbench_app.parts.sample_table import ROW_HEIGHT, table_height
from traitbench_app.parts.scored_samples import draw_text, find, pole_in_words, side_in_words, table_of
from traitbench_app.parts.version_figures import label
from traitbench_app.shell.service import client


def draw_cell_texts(model: Model, version: Version, trait: Trait, pole: Pole, tier: Tier, *, key: str) -> None:
    """Draw the samples of a pole whose held-out score is in a tier, worst first."""
    with st.container(border=True, key=key):
        positive = pole == "positive"
        st.markdown(f"**{pole_in_words(positive, trait)} in tier {tier}**")
        scores = find(model, version, client().traits.list(model.handle), only=trait.key)
        if scores is None:
            return
        if trait.key in scores.changed:
            st.caption(
                f":material/info: The samples of {plain(trait.name)} changed since {label(version)} was trained, so "
                "these texts may not add up to the table."
            )
        own = [
            each
            for each in scores.by_trait[trait.key]
            if (each.positive, each.tier) == (positive, tier) and not each.first.held_out
        ]
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
            key=f"{key}.list:{pole}:{tier}:{trait.key}:{version.version_no}",
            alt=f"{count(len(own), 'text')} of this cell",
            column_config={"Text": st.column_config.TextColumn(width="large")},
        )
        rows = event.selection.rows if event else []
        picked = own[rows[0]] if rows and rows[0] < len(own) else own[0]
        st.markdown(f"Scored **{picked.points}**: {side_in_words(picked, trait)}.")
        draw_text(model, version, trait, picked)
