"""The results of a batch: histograms, a table in any order, one row of it at a time, and all of it as a file."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast, get_args

import pandas as pd
import streamlit as st

from traitbench.app import session
from traitbench.app.batch_results import (
    COMPOSITE,
    CONFIDENCE,
    ERROR,
    LINE,
    TEXT,
    Order,
    Show,
    arranged,
    as_csv,
    as_jsonl,
    as_parquet,
    frame_of,
    histograms,
    other,
    score_of,
    sure_of,
    tier_of,
)
from traitbench.app.batches import Job
from traitbench.app.charts import histogram
from traitbench.app.navigation import page_link
from traitbench.app.text import count, plain
from traitbench.app.theme import NO_TIER, PALETTE, TIERS
from traitbench.app.widgets.batch_order import from_link
from traitbench.app.widgets.chart import chart, only_our_csv
from traitbench.app.widgets.sample_table import ROW_HEIGHT, table_height
from traitbench.app.widgets.texts import hand_over
from traitbench.barchart import DOTS

ORDER, BY, SHOW = "order", "batch.by", "show"
MOST_SHOWN = 5_000

_CUT = 300
_CHARTS = "batch.charts"
_FEW_CHARTS = 6


def draw_results(job: Job, names: Mapping[str, str]) -> None:
    """Draw all of it."""
    frame, bars = _computed(job, names)
    if job.failed:
        st.warning(
            f"**{count(job.failed, 'row')} of {job.done:,} could not be scored.** The reasons stand in the table: "
            "choose *Not scored* to see these rows alone.",
            icon=":material/error:",
        )
    if job.failed < job.done:
        _draw_histograms(bars, job, names)
    _draw_table(frame, job, names)


def in_link(keys: Sequence[str]) -> dict[str, str | None]:
    """How the table is arranged, as part of a link."""
    by = session.kept(BY) or st.query_params.get("by")
    return {
        ORDER: session.on_screen(ORDER, get_args(Order)[0]),
        "by": by if by in keys else None,
        SHOW: session.on_screen(SHOW, get_args(Show)[0]),
    }


def _computed(job: Job, names: Mapping[str, str]) -> tuple[pd.DataFrame, Mapping[str, histogram.Histogram]]:
    """The table of the job and its histograms, made once for each number of rows."""
    held = job.computed
    if not held or held[0] != (job.done, tuple(names.items())):
        frame = frame_of(job)
        held = ((len(frame), tuple(names.items())), frame, histograms(frame, job, names))
        job.computed = held
    return held[1], held[2]


# ---- histograms ----------------------------------------------------------------------------------------------------


def _draw_histograms(found: Mapping[str, histogram.Histogram], job: Job, names: Mapping[str, str]) -> None:
    shown = list(found)
    if len(found) > _FEW_CHARTS:
        chosen = st.multiselect(
            "Histograms of",
            list(job.traits),
            default=list(job.traits)[: _FEW_CHARTS - 1],
            key=_CHARTS,
            format_func=lambda key: names.get(key, key),
            persist_state="session",
        )
        shown = ["", *chosen]
    with st.grid(2 if len(shown) == 2 else 4 if len(shown) in (4, 7, 8) else 3, min_column_width=220):
        for key in shown:
            _draw_histogram(found[key], key or COMPOSITE, job)
    signs = " · ".join(f"{sign.glyph} {tier}" for tier, sign in reversed(list(TIERS.items())))
    st.caption(f"{signs}, each from its dotted line on. Hatched: uncertain, for the confidence is low.")


def _draw_histogram(found: histogram.Histogram, key: str, job: Job) -> None:
    with st.container(border=True, key=f"batch.histogram.{key}"):
        median = "" if found.median is None else f" :gray[median {found.median:g}]"
        st.markdown(f"**{plain(found.name)}**{median}")
        chart(
            histogram.figure(found, PALETTE),
            alt=histogram.alt(found),
            table=histogram.table(found),
            key=f"batch.chart.{key}",
            file_name=f"{job.handle}-{key}-histogram",
        )


# ---- table ---------------------------------------------------------------------------------------------------------


def _draw_table(frame: pd.DataFrame, job: Job, names: Mapping[str, str]) -> None:
    show, order, by = _pick_arrangement(job, names)
    found = arranged(frame, show=show, order=order, by=COMPOSITE if by == COMPOSITE else score_of(by))
    if found.empty:
        st.info(
            "No row is of this kind." if job.done else "Nothing is scored yet.",
            icon=":material/filter_alt_off:",
        )
        return
    shown = found.head(MOST_SHOWN)
    key = f"batch.table:{job.id}:{job.done}:{order}:{by}:{show}"
    only_our_csv("batch.grid")
    with st.container(key="batch.grid"):
        event = st.dataframe(
            _on_screen(shown, job),
            column_config=_columns(job, names),
            hide_index=True,
            height=table_height(len(shown), most=14),
            row_height=ROW_HEIGHT,
            on_select="rerun",
            selection_mode="single-row",
            key=key,
            alt="Scored rows",
        )
    _below(found, shown, job)
    picked = cast(Any, event).selection.rows
    hand_over(None)
    if picked and picked[0] < len(shown):
        _draw_row(frame, int(shown.index[picked[0]]), job, names)
    else:
        st.caption(":material/ads_click: Choose a row, at its left, to read its whole text and open it on Score.")


def _pick_arrangement(job: Job, names: Mapping[str, str]) -> tuple[Show, Order, str]:
    from_link(BY, "by", str)
    if session.kept(BY) not in (COMPOSITE, *job.traits):
        session.keep(BY, None)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        show = st.segmented_control(
            "Show", get_args(Show), default="All", required=True, key=SHOW, bind="query-params", width="content"
        )
        order = st.selectbox("Order", get_args(Order), key=ORDER, bind="query-params", width=180)
        by = st.selectbox(
            "By",
            [COMPOSITE, *job.traits],
            key=BY,
            persist_state="session",
            width=200,
            format_func=lambda key: "Composite" if key == COMPOSITE else names.get(key, key),
            disabled=order == get_args(Order)[0],
        )
    return cast(Show, show or "All"), cast(Order, order), by


def _on_screen(shown: pd.DataFrame, job: Job) -> pd.DataFrame:
    """The rows as the grid has them: texts cut, a tier with its sign and how sure it is."""
    columns: dict[str, Any] = {LINE: shown[LINE], TEXT: shown[TEXT].str.slice(0, _CUT)}
    if job.failed:
        columns[ERROR] = shown[ERROR]
    columns[COMPOSITE], columns[CONFIDENCE] = shown[COMPOSITE], shown[CONFIDENCE].astype("object").fillna("")
    glyphs = {"uncertain": NO_TIER.glyph} | {tier: sign.glyph for tier, sign in TIERS.items()}
    for key in job.traits:
        tiers, sure = shown[tier_of(key)], shown[sure_of(key)]
        columns[score_of(key)] = shown[score_of(key)]
        columns[tier_of(key)] = [
            f"{glyphs[tier]} {tier} {DOTS[dots]}" if isinstance(tier, str) else ""
            for tier, dots in zip(tiers, sure, strict=True)
        ]
    for name in job.other_columns:
        columns[other(name)] = shown[other(name)].str.slice(0, _CUT)
    return pd.DataFrame(columns)


def _columns(job: Job, names: Mapping[str, str]) -> dict[str, Any]:
    column = st.column_config
    score = partial(column.ProgressColumn, min_value=0, max_value=100, format="%d", width=110)
    found: dict[str, Any] = {
        LINE: column.NumberColumn("Line", width=60, help="Where it stands in the file."),
        TEXT: column.TextColumn(job.column if job.column != "text" else "Text", width=380),
        COMPOSITE: score("Composite", color="primary"),
        CONFIDENCE: column.TextColumn("Confidence", width=90),
        ERROR: column.TextColumn("Why not scored", width=320),
    }
    for key in job.traits:
        found[score_of(key)] = score(names.get(key, key))
        found[tier_of(key)] = column.TextColumn(
            "Tier", width=150, help=f"Tier and confidence of {plain(names.get(key, key))}"
        )
    return found | {other(name): column.TextColumn(name, width=120) for name in job.other_columns}


def _below(found: pd.DataFrame, shown: pd.DataFrame, job: Job) -> None:
    """How many there are, and all of them as files."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        if len(found) > len(shown):
            told = f"The first {len(shown):,} of {count(len(found), 'row')} in this order; a file has all of them."
        else:
            told = count(len(found), "row")
        st.caption(told, width="content")
        with st.container(horizontal=True, width="content"):
            for label, make, mime in _FILES:
                st.download_button(
                    label,
                    partial(make, found, job),
                    file_name=f"{job.handle}-{job.version}-batch.{label.lower()}",
                    mime=mime,
                    icon=":material/download:",
                    key=f"batch.file.{label}",
                    on_click="ignore",
                    type="tertiary",
                )


_FILES: Sequence[tuple[str, Callable[[pd.DataFrame, Job], bytes], str]] = (
    ("CSV", as_csv, "text/csv"),
    ("JSONL", as_jsonl, "application/x-ndjson"),
    ("Parquet", as_parquet, "application/vnd.apache.parquet"),
)


# ---- one row -------------------------------------------------------------------------------------------------------


def _draw_row(frame: pd.DataFrame, at: int, job: Job, names: Mapping[str, str]) -> None:
    row = frame.loc[at]
    text = str(row[TEXT])
    with st.container(border=True, key="batch.row"):
        st.markdown(f"**Line {row[LINE]:,}**")
        st.text(text if len(text) <= 2_000 else f"{text[:2_000]}…")
        if row[ERROR]:
            st.error(plain(str(row[ERROR])), icon=":material/error:")
            return
        told = [f"{plain(names.get(key, key))} **{row[score_of(key)]}**" for key in job.traits]
        st.markdown(f"Composite **{row[COMPOSITE]}** · " + " · ".join(told))
        if job.asked.mode != "full":
            st.caption("The Score page scores in full: its figures may differ from these.")
        # Not in the address of the link: there the version is bound to the widget of this page.
        hand_over(text, job.version)
        page_link("score", "Open on the Score page")
