"""The results of a batch: histograms, a sortable table, one row in full, and downloads."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast, get_args

import pandas as pd
import streamlit as st

from traitbench.app.charts import histogram
from traitbench.app.jobs.batch_results import (
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
    why_of,
)
from traitbench.app.jobs.batches import Job
from traitbench.app.shell import session
from traitbench.app.shell.navigation import page_link
from traitbench.app.shell.text import count, plain
from traitbench.app.shell.theme import NO_TIER, PALETTE, TIERS
from traitbench.app.widgets.batch.order import from_link
from traitbench.app.widgets.common.chart import chart
from traitbench.app.widgets.samples.table import ROW_HEIGHT, table_height
from traitbench.app.widgets.score.texts import hand_over
from traitbench.barchart import DOTS
from traitbench.contract.confidence import PROMISE, REASONS

ORDER, BY, SHOW = "order", "batch.by", "show"
MOST_SHOWN = 5_000

_CUT = 300
_CHARTS = "batch.charts"
_FEW_CHARTS = 6
_SHORT = {reason: words.short for reason, words in REASONS.items()}


def draw_results(job: Job, names: Mapping[str, str]) -> None:
    """Draw the histograms, the table and the downloads."""
    frame, bars = _computed(job, names)
    if job.failed:
        st.warning(
            f"**{count(job.failed, 'row')} of {job.done:,} could not be scored.** To see why, show *Not scored* in the "
            "table.",
            icon=":material/error:",
        )
    if job.unlike:
        st.warning(
            f"**{job.unlike:,} of {count(job.done, 'text')} {'is' if job.unlike == 1 else 'are'} unlike the samples.** "
            "Their scores mean little. To see them, show *Unlike the samples* in the table.",
            icon=":material/warning:",
        )
    if job.failed < job.done:
        _draw_histograms(bars, job, names)
    _draw_table(frame, job, names)


def in_link(keys: Sequence[str]) -> dict[str, str | None]:
    """The filter and order of the table, as query parameters."""
    by = session.get(BY) or st.query_params.get("by")
    return {
        ORDER: session.on_screen(ORDER, get_args(Order)[0]),
        "by": by if by in keys else None,
        SHOW: session.on_screen(SHOW, get_args(Show)[0]),
    }


def _computed(job: Job, names: Mapping[str, str]) -> tuple[pd.DataFrame, Mapping[str, histogram.Histogram]]:
    """The table of the job and its histograms, computed once for each number of scored rows."""
    held = job.computed
    if not held or held[0] != (job.done, tuple(names.items())):
        frame = frame_of(job)
        held = ((len(frame), tuple(names.items())), frame, histograms(frame, job, names))
        job.computed = held
    return held[1], held[2]


# ---- histograms ----------------------------------------------------------------------------------------------------


def _draw_histograms(bars: Mapping[str, histogram.Histogram], job: Job, names: Mapping[str, str]) -> None:
    shown = list(bars)
    if len(bars) > _FEW_CHARTS:
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
            _draw_histogram(bars[key], key or COMPOSITE, job)
    signs = " · ".join(f"{sign.glyph} {tier}" for tier, sign in reversed(list(TIERS.items())))
    hatches = histogram.legend(bars[key] for key in shown)
    low = f" Hatched: low confidence, so no tier ({hatches}); the table says why." if hatches else ""
    st.caption(f"{signs}. Dotted lines mark where each tier begins.{low}")


def _draw_histogram(bars: histogram.Histogram, key: str, job: Job) -> None:
    with st.container(border=True, key=f"batch.histogram.{key}"):
        median = "" if bars.median is None else f" :gray[median {bars.median:g}]"
        st.markdown(f"**{plain(bars.name)}**{median}")
        chart(
            histogram.figure(bars, PALETTE),
            alt=histogram.alt(bars),
            table=histogram.table(bars),
            key=f"batch.chart.{key}",
            file_name=f"{job.handle}-{key}-histogram",
        )


# ---- table ---------------------------------------------------------------------------------------------------------


def _draw_table(frame: pd.DataFrame, job: Job, names: Mapping[str, str]) -> None:
    show, order, by = _pick_arrangement(job, names)
    rows = arranged(frame, show=show, order=order, by=COMPOSITE if by == COMPOSITE else score_of(by))
    if rows.empty:
        st.info(
            "No rows match." if job.done else "No rows are scored yet.",
            icon=":material/filter_alt_off:",
        )
        return
    shown = rows.head(MOST_SHOWN)
    key = f"batch.table:{job.id}:{job.done}:{order}:{by}:{show}"
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
    _below(rows, shown, job)
    picked = cast(Any, event).selection.rows
    hand_over(None)
    if picked and picked[0] < len(shown):
        _draw_row(frame, int(shown.index[picked[0]]), job, names)
    else:
        st.caption(":material/ads_click: Select a row to read its full text and open it on the Score page.")


def _pick_arrangement(job: Job, names: Mapping[str, str]) -> tuple[Show, Order, str]:
    from_link(BY, "by", str)
    if session.get(BY) not in (COMPOSITE, *job.traits):
        session.store(BY, None)
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
    """The rows as the grid shows them: texts shortened, each tier with its sign and confidence."""
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
        columns[why_of(key)] = shown[why_of(key)].astype("object").map(_SHORT).fillna("")
    for name in job.other_columns:
        columns[other(name)] = shown[other(name)].str.slice(0, _CUT)
    return pd.DataFrame(columns)


def _columns(job: Job, names: Mapping[str, str]) -> dict[str, Any]:
    column = st.column_config
    score = partial(column.ProgressColumn, min_value=0, max_value=100, format="%d", width=110)
    columns: dict[str, Any] = {
        LINE: column.NumberColumn("Line", width=60, help="Line number in the file."),
        TEXT: column.TextColumn(job.column if job.column != "text" else "Text", width=380),
        COMPOSITE: score("Composite", color="primary"),
        CONFIDENCE: column.TextColumn("Confidence", width=90, help=PROMISE),
        ERROR: column.TextColumn("Why not scored", width=320),
    }
    for key in job.traits:
        columns[score_of(key)] = score(names.get(key, key))
        columns[tier_of(key)] = column.TextColumn(
            "Tier", width=150, help=f"Tier and confidence of {plain(names.get(key, key))}. {PROMISE}"
        )
        columns[why_of(key)] = column.TextColumn(
            "Why not high", width=170, help=f"Why the confidence of {plain(names.get(key, key))} is not high."
        )
    return columns | {other(name): column.TextColumn(name, width=120) for name in job.other_columns}


def _below(rows: pd.DataFrame, shown: pd.DataFrame, job: Job) -> None:
    """Draw the number of rows, and the downloads of all of them."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        if len(rows) > len(shown):
            summary = f"The first {len(shown):,} of {count(len(rows), 'row')}. Downloads contain all of them."
        else:
            summary = count(len(rows), "row")
        st.caption(summary, width="content")
        with st.container(horizontal=True, width="content"):
            for label, make, mime in _FILES:
                st.download_button(
                    label,
                    partial(make, rows, job),
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
        scores = [f"{plain(names.get(key, key))} **{row[score_of(key)]}**" for key in job.traits]
        st.markdown(f"Composite **{row[COMPOSITE]}** · " + " · ".join(scores))
        if job.asked.mode != "full":
            st.caption("The Score page uses full mode, so its scores may differ.")
        hand_over(text, job.version)
        page_link("score", "Open on the Score page")
