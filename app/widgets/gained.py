"""What a training gave besides its figures: what it tried and gained for each trait, and what would come next."""

from collections.abc import Sequence

import streamlit as st

from traitbench.app.figures import label, names_of
from traitbench.app.navigation import page_link
from traitbench.app.text import plain
from traitbench.app.widgets.learning_curve import feed_in_words, in_short
from traitbench.app.widgets.search_report import draw_search
from traitbench.contract.metrics import TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version

_MOST = 8


def draw_gained(model: Model, traits: Sequence[Trait], version: Version) -> None:
    """Draw it for the version that scores; nothing for one of before there was such a thing."""
    told, names = version.metrics.traits, names_of(traits)
    if any(each.search for each in told.values()):
        st.markdown("**What the search tried, chose and gained**")
        draw_search(told, names, key="train.search", file_name=f"{model.handle}-{label(version)}-search")
    lines = [line for trait in traits if (line := _outlook(trait, told.get(trait.key)))]
    if lines:
        st.markdown("**What more samples would bring**")
        st.markdown("\n".join(lines[:_MOST]))
        more = f" of all {len(lines):,} traits" if len(lines) > _MOST else ""
        page_link("versions", f"Learning curves, calibration and tiers{more}", view="Details", version=label(version))


def _outlook(trait: Trait, figures: TraitMetrics | None) -> str:
    """A point of a list; empty where nothing can be foretold."""
    if figures is None or (figures.forecast is None and figures.feed is None):
        return ""
    now = f", {figures.auroc:.2f} now" if figures.auroc is not None else ""
    interval = figures.forecast.interval if figures.forecast else None
    between = f" (between {interval[0]:.2f} and {interval[1]:.2f})" if interval else ""
    foretold = f" {in_short(figures.forecast)}{between}{now}." if figures.forecast else ""
    feed = f" {feed_in_words(trait, figures.feed)}" if figures.feed else ""
    return f"- **{plain(trait.name)}:**{foretold}{feed}"
