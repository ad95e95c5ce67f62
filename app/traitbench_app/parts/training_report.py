"""What a training shows: what its search tried and gained, and what more samples would bring."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from traitbench.contract.metrics import Feed, Forecast, LabelUse, Search, TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.rounding import in_decimals
from traitbench.contract.traits import Trait
from traitbench.display.charts import curve as drawing
from traitbench.display.charts.curve import Curve, between
from traitbench.display.colours import NEGATIVE_SIGN, PALETTE, POSITIVE_SIGN
from traitbench.display.text import count, plain
from traitbench_app.parts.chart import chart, download_table
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


def draw_search(figures: Mapping[str, TraitMetrics], names: Mapping[str, str], *, key: str, file_name: str) -> None:
    """Draw one row per trait and how to read it; nothing for a version without search data."""
    if not any(each.search or each.labels for each in figures.values()):
        return
    st.markdown("**What was tried**")
    rows = table(figures, names)
    grid = f"{key}.table"
    st.dataframe(
        rows,
        hide_index=True,
        width="stretch",
        key=grid,
        placeholder="–",
        column_config={
            "Tried": st.column_config.NumberColumn(help="Number of settings compared on held-out samples."),
            "Gained": st.column_config.NumberColumn(
                format="%+.4f",
                help="Improvement in held-out cross-entropy over the next lower effort, in nats per sample. 0 means "
                "that the lower effort's choice was kept.",
            ),
            "Label weight": st.column_config.NumberColumn(
                format="percent", help="Share of the axis that comes from the names of the trait and its poles."
            ),
            "Label gain": st.column_config.NumberColumn(
                format="%+.4f", help="Improvement in held-out cross-entropy from using these names, in nats per sample."
            ),
        },
    )
    said = {key: each.names_say for key, each in figures.items() if each.names_say}
    if said:
        several = len(figures) > 1
        st.markdown(
            "\n".join(f"- {plain(names.get(key, key))}: {each}" if several else each for key, each in said.items())
        )
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(
            "A wider search replaces the choice of a narrower one only if that improves the scores of held-out "
            "samples.",
            width="stretch",
        )
        download_table(rows, key=key, file_name=file_name)


def draw_trait_search(figures: TraitMetrics) -> None:
    """Draw the search of one trait in words, with a table of its levels."""
    if figures.search:
        st.markdown(search_in_words(figures.search))
        if figures.search.levels:
            _draw_levels(figures.search)
    if figures.labels:
        st.markdown(" ".join(filter(None, (labels_in_words(figures.labels), figures.names_say))))


def search_in_words(search: Search) -> str:
    """`**54 settings tried.** ... This improved held-out cross-entropy by 0.0041.`, in markdown."""
    tried = f"**{search.tried:,} settings tried.** " if search.tried and search.tried > 1 else ""
    says = f"{plain(search.says[:1].upper() + search.says[1:])}." if search.says else ""
    chosen = plain(_chosen(search))
    chose = f" Chosen: {chosen}." if chosen else ""
    return f"{tried}{says}{chose}{_gained(search)}"


def labels_in_words(labels: LabelUse) -> str:
    """The weight of the labels and the reason for it, in markdown."""
    why = f" {plain(labels.why[:1].upper() + labels.why[1:].rstrip('.'))}." if labels.why else ""
    if not labels.used:
        return f"**Labels not used.**{why}"
    weigh = f"**Label weight: {labels.share:.0%}.**" if labels.share is not None else "**Labels used.**"
    return f"{weigh}{why}"


def table(figures: Mapping[str, TraitMetrics], names: Mapping[str, str]) -> pd.DataFrame:
    """One row per trait."""
    return pd.DataFrame(
        [
            {
                "Trait": names.get(key, key),
                "Tried": each.search.tried if each.search else None,
                "Effort chosen": _chosen_level(each.search),
                "Gained": each.search.gained if each.search else None,
                "Chosen": _chosen(each.search) if each.search else None,
                "Label weight": each.labels.share if each.labels else None,
                "Label gain": each.labels.gain if each.labels else None,
                "Why": each.labels.why if each.labels else None,
            }
            for key, each in figures.items()
        ]
    )


def _draw_levels(search: Search) -> None:
    rows = [
        {
            "Effort": level.level,
            "Tried": level.tried,
            "Held-out cross-entropy": level.cross_entropy,
            "Chosen": "✓" if level.chosen else "",
        }
        for level in search.levels
    ]
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width=440,
        column_config={
            "Held-out cross-entropy": st.column_config.NumberColumn(format="%.4f", help="Smaller is better.")
        },
    )


def _gained(search: Search) -> str:
    names = [plain(level.level) for level in search.levels]
    level = _chosen_level(search)
    chosen = None if level is None else plain(level)
    wider = names[names.index(chosen) + 1 :] if chosen else []
    if wider:
        return f" The wider search ({' and '.join(wider)}) found nothing better, so the choice of {chosen} was kept."
    if search.gained is None or len(names) < 2:
        return ""
    return f" This improved held-out cross-entropy by {search.gained:.4f} over the next lower effort."


def _chosen_level(search: Search | None) -> str | None:
    return next((level.level for level in search.levels if level.chosen), None) if search else None


def _chosen(search: Search) -> str:
    return "; ".join(f"{name}: {_value(each)}" for name, each in search.chosen.items())


def _value(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
