"""What more samples would bring: the learning curve of a trait with its forecast, and the pole to feed."""

from collections.abc import Sequence

import streamlit as st

from traitbench.app.charts import curve as drawing
from traitbench.app.charts.curve import Curve, between
from traitbench.app.navigation import page_link
from traitbench.app.text import count, plain
from traitbench.app.theme import NEGATIVE_SIGN, PALETTE, POSITIVE_SIGN
from traitbench.app.widgets.chart import chart
from traitbench.contract.metrics import Feed, Forecast, TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait


def draw_curves(curves: Sequence[Curve], *, key: str, file_name: str) -> None:
    """One version, or two over each other; nothing where no version has a curve."""
    there = [curve for curve in curves if curve.points]
    if not there:
        return
    chart(
        drawing.figure(there, PALETTE),
        alt=drawing.alt(there),
        table=drawing.table(there),
        key=key,
        file_name=file_name,
    )
    foretold = " The star is a forecast." if any(curve.forecast for curve in there) else ""
    st.caption(
        "Each mark is what a part of the samples teaches, the larger parts holding the smaller ones; the band is the "
        f"95 % interval, the dotted line chance.{foretold}"
    )


def curve_of(label: str, figures: TraitMetrics | None) -> Curve:
    """The curve of a version that may not know the trait."""
    return Curve(label, figures.curve or (), figures.forecast) if figures else Curve(label, ())


def draw_outlook(model: Model, trait: Trait, figures: TraitMetrics) -> None:
    """The forecast in words, the pole to feed with the reason, and where that is done."""
    lines = [forecast_in_words(figures)] if figures.curve or figures.forecast else []
    if figures.feed:
        lines.append(feed_in_words(trait, figures.feed))
    if lines:
        st.markdown("\n\n".join(lines))
    if figures.feed:
        draw_way(model, trait, figures.feed)


def forecast_in_words(figures: TraitMetrics) -> str:
    """`**20 more samples: 0.86**, between 0.80 and 0.90`, in markdown, and what that is against now."""
    foretold = figures.forecast
    if foretold is None:
        return "No forecast: there are too few samples for one."
    return f"**{in_short(foretold)}**{between(foretold.interval)}. {_against_now(figures, foretold)}"


def in_short(foretold: Forecast) -> str:
    """`20 more samples: 0.86`."""
    return f"{count(foretold.more, 'more sample')}: {foretold.auroc:.2f}"


def feed_in_words(trait: Trait, feed: Feed) -> str:
    """The pole, under its sign and label, and why, in markdown."""
    sign = POSITIVE_SIGN if feed.pole == "positive" else NEGATIVE_SIGN
    why = f" {plain(_sentence(feed.why))}" if feed.why else ""
    return f"**Feed {sign} {plain(_label(trait, feed))} first.**{why}"


def draw_way(model: Model, trait: Trait, feed: Feed) -> None:
    """To the samples of that pole, where it is fed: by hand in a draft, by feedback once there is a version."""
    label = _label(trait, feed)
    with st.container(horizontal=True, vertical_alignment="center"):
        if model.state in ("draft", "failed"):
            page_link("samples", f"Add samples: {plain(label)}", task="Add by hand", trait=trait.name, pole=feed.pole)
        elif not model.zero_data_retention:
            page_link("samples", f"See the samples: {plain(label)}", trait=trait.name, pole=feed.pole)
            page_link("score", "Give feedback on such texts")


def _against_now(figures: TraitMetrics, foretold: Forecast) -> str:
    if figures.auroc is None:
        return ""
    gain = foretold.auroc - figures.auroc
    if foretold.interval and foretold.interval[0] <= figures.auroc <= foretold.interval[1]:
        return f"It is {figures.auroc:.2f} now, which lies in that range: it may change nothing."
    return f"It is {figures.auroc:.2f} now: {'better' if gain > 0 else 'worse'} beyond what chance explains."


def _label(trait: Trait, feed: Feed) -> str:
    return trait.positive_label if feed.pole == "positive" else trait.negative_label


def _sentence(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
