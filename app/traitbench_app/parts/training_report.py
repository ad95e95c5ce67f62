"""What more samples would bring: the learning curve of a trait, its forecast, and the pole that needs samples."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.metrics import Feed, Forecast, TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.rounding import in_decimals
from traitbench.contract.traits import Trait
from traitbench.display.charts import curve as drawing
from traitbench.display.charts.curve import Curve, between
from traitbench.display.colours import NEGATIVE_SIGN, PALETTE, POSITIVE_SIGN
from traitbench.display.text import count, plain
from traitbench_app.parts.chart import chart
from traitbench_app.shell.navigation import page_link


def draw_curves(curves: Sequence[Curve], *, key: str, file_name: str) -> None:
    """Draw the curves of one or two versions in one chart; nothing if no version has a curve."""
    drawn = [curve for curve in curves if curve.points]
    if not drawn:
        return
    chart(
        drawing.figure(drawn, PALETTE),
        alt=drawing.alt(drawn),
        table=drawing.table(drawn),
        key=key,
        file_name=file_name,
    )
    star = " Star: forecast." if any(curve.forecast for curve in drawn) else ""
    st.caption(f"AUROC by number of samples. Band: 95 % interval. Dotted line: chance.{star}")


def curve_of(label: str, figures: TraitMetrics | None) -> Curve:
    """The curve of one version; empty if the version does not have the trait."""
    return Curve(label, figures.curve or (), figures.forecast) if figures else Curve(label, ())


def draw_outlook(model: Model, trait: Trait, figures: TraitMetrics) -> None:
    """Draw the forecast in words, the pole that needs samples with the reason, and links to add them."""
    lines = [forecast_in_words(figures)] if figures.curve or figures.forecast else []
    if figures.feed:
        lines.append(feed_in_words(trait, figures.feed))
    if lines:
        st.markdown("\n\n".join(lines))
    if figures.feed:
        draw_way(model, trait, figures.feed)


def forecast_in_words(figures: TraitMetrics) -> str:
    """`**20 more samples: AUROC 0.86**, between 0.80 and 0.90`, in markdown, compared with the current figure."""
    forecast = figures.forecast
    if forecast is None:
        return "No forecast: there are too few samples."
    return f"**{in_short(forecast)}**{between(forecast.interval)}. {_against_now(figures, forecast)}"


def in_short(forecast: Forecast) -> str:
    """`20 more samples: AUROC 0.86`."""
    return f"{count(forecast.more, 'more sample')}: AUROC {in_decimals(forecast.auroc)}"


def feed_in_words(trait: Trait, feed: Feed) -> str:
    """Which pole needs samples, by sign and label, and why; in markdown."""
    sign = POSITIVE_SIGN if feed.pole == "positive" else NEGATIVE_SIGN
    why = f" {plain(_sentence(feed.why))}" if feed.why else ""
    return f"**Add samples at {sign} {plain(_label(trait, feed))} first.**{why}"


def draw_way(model: Model, trait: Trait, feed: Feed) -> None:
    """Draw links to add samples at that pole: by hand in a draft, by feedback once there is a version."""
    label = _label(trait, feed)
    with st.container(horizontal=True, vertical_alignment="center"):
        if model.state in ("draft", "failed"):
            page_link("samples", f"Add samples: {plain(label)}", task="Add by hand", trait=trait.name, pole=feed.pole)
        elif not model.zero_data_retention:
            page_link("samples", f"View samples: {plain(label)}", trait=trait.name, pole=feed.pole)
            page_link("score", "Give feedback on a score")


def _against_now(figures: TraitMetrics, forecast: Forecast) -> str:
    if figures.auroc is None:
        return ""
    gain = forecast.auroc - figures.auroc
    if forecast.interval and forecast.interval[0] <= figures.auroc <= forecast.interval[1]:
        return f"It is {in_decimals(figures.auroc)} now, inside that range, so more samples may not help."
    return f"It is {in_decimals(figures.auroc)} now: {'an improvement' if gain > 0 else 'a decline'} beyond chance."


def _label(trait: Trait, feed: Feed) -> str:
    return trait.positive_label if feed.pole == "positive" else trait.negative_label


def _sentence(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
