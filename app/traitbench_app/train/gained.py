"""The result of a training: what the search tried and gained for each trait, and what more samples would bring."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.metrics import TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.rounding import in_decimals
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.text import plain
from traitbench_app.parts.search_report import draw_search
from traitbench_app.parts.training_report import feed_in_words, in_short
from traitbench_app.parts.version_figures import label, names_of
from traitbench_app.shell.navigation import page_link

_MOST = 8


def draw_gained(model: Model, traits: Sequence[Trait], version: Version) -> None:
    """Draw the result of the active version; nothing if the version has no such figures."""
    by_trait, names = version.metrics.traits, names_of(traits)
    if any(each.search for each in by_trait.values()):
        draw_search(by_trait, names, key="train.search", file_name=f"{model.handle}-{label(version)}-search")
    lines = [line for trait in traits if (line := _outlook(trait, by_trait.get(trait.key)))]
    if lines:
        st.markdown("**Gain from more samples**")
        st.markdown("\n".join(lines[:_MOST]))
        more = f" of all {len(lines):,} traits" if len(lines) > _MOST else ""
        page_link("versions", f"Learning curves, calibration and tiers{more}", view="Details", version=label(version))


def _outlook(trait: Trait, figures: TraitMetrics | None) -> str:
    """The forecast of one trait as a markdown list item; empty if there is none."""
    if figures is None or (figures.forecast is None and figures.feed is None):
        return ""
    now = f", {in_decimals(figures.auroc)} now" if figures.auroc is not None else ""
    interval = figures.forecast.interval if figures.forecast else None
    between = f" (between {in_decimals(interval[0])} and {in_decimals(interval[1])})" if interval else ""
    forecast = f" {in_short(figures.forecast)}{between}{now}." if figures.forecast else ""
    feed = f" {feed_in_words(trait, figures.feed)}" if figures.feed else ""
    return f"- **{plain(trait.name)}:**{forecast}{feed}"
