"""Two versions text by text: what changed sides, as a table, a matrix of tiers and a histogram, and files."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast, get_args

import pandas as pd
import streamlit as st

from traitbench.contract.traits import Trait
from traitbench.display.barchart import DOTS
from traitbench.display.charts import changes
from traitbench.display.colours import NO_TIER, PALETTE, TIERS, pole_sign
from traitbench.display.text import count, plain, span
from traitbench_app.parts.chart import chart, download_table
from traitbench_app.parts.confusion import counts_table
from traitbench_app.parts.progress import watch_work
from traitbench_app.parts.sample_table import ROW_HEIGHT, table_height
from traitbench_app.shell.service import explain_end
from traitbench_app.versions.comparison_results import (
    DELTA,
    ERROR,
    EXPECTED,
    KIND,
    MUST_PASS,
    SCORE_A,
    SCORE_B,
    SURE_A,
    SURE_B,
    TEXT,
    TIER_A,
    TIER_B,
    TIER_ORDER,
    UNCERTAIN,
    Show,
    as_csv,
    as_jsonl,
    change_bars,
    frame_of,
    shown,
    summary,
    tier_matrix,
)
from traitbench_app.versions.opened import draw_opened
from traitbench_app.versions.pair import Side
from traitbench_app.versions.text_comparison import Comparison
from traitbench_app.versions.texts import forget

MOST_SHOWN = 5_000

_CUT = 300
_KINDS = {"regression": "✗ Regression", "fixed": "✓ Fixed", "side changed": "⇄ Side changed", "": ""}
_GLYPHS = {UNCERTAIN: NO_TIER.glyph} | {str(tier): sign.glyph for tier, sign in TIERS.items()}


def draw_triage(
    job: Comparison, pair: tuple[Side, Side], key: str, names: Mapping[str, str], trait: Trait | None
) -> None:
    """Draw the results of one trait, or the progress while they are made."""
    if job.state == "running":
        watch_work(job, f"Scoring {plain(job.name)} with both versions", unit="text", key="versions.job")
        st.caption("This continues while you visit other pages. Keep this tab or its URL to find the results again.")
        return
    _draw_end(job, pair)
    if not job.done or key not in job.traits:
        return
    frame = _computed(job, key)
    name = plain(names.get(key, key))
    st.markdown(f"**{name}:** {summary(frame)}")
    stem = f"{job.a}-{job.b}-{key}".replace("@", "-")
    _draw_table(frame, job, pair, key, trait, stem)
    left, right = st.columns(2, gap="large")
    with left:
        _draw_tiers(frame, pair, stem)
    with right:
        _draw_changes(frame, names.get(key, key), stem)


def _draw_end(job: Comparison, pair: tuple[Side, Side]) -> None:
    of = f"{job.done:,} of {job.total:,} texts"
    if job.state == "failed" and job.error:
        st.error(
            f"**The comparison failed after {of}.** Finished texts are kept.\n\n{explain_end(job.error)}",
            icon=":material/error:",
        )
    elif job.state == "stopped":
        st.info(f"**Stopped after {of}.** Finished texts are kept.", icon=":material/pause_circle:")
    took = f" :gray[{span(job.seconds)}]" if job.seconds >= 1 else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"**{plain(job.name)}**: {count(job.done, 'text')} scored with both versions.{took}", width="stretch"
        )
        if job.state != "done" and st.button(
            "Resume", icon=":material/play_arrow:", type="primary", key="versions.job.go_on"
        ):
            job.start()
            st.rerun()
        st.button(
            "Discard",
            icon=":material/delete:",
            key="versions.job.discard",
            type="tertiary",
            help="Delete these texts and scores from memory.",
            on_click=forget,
            args=(pair,),
        )


def _computed(job: Comparison, key: str) -> pd.DataFrame:
    """The table of one trait, computed once for each number of scored texts."""
    known = job.computed.get(key)
    if known is None or known[0] != job.done:
        known = job.computed[key] = (job.done, frame_of(job, key))
    frame: pd.DataFrame = known[1]
    return frame


# ---- table ---------------------------------------------------------------------------------------------------------


def _draw_table(
    frame: pd.DataFrame, job: Comparison, pair: tuple[Side, Side], key: str, trait: Trait | None, stem: str
) -> None:
    options = get_args(Show)
    picked = st.segmented_control(
        "Show",
        options,
        default="All",
        required=True,
        key="texts",
        bind="query-params",
        width="content",
        label_visibility="collapsed",
    )
    show = cast(Show, picked or "All")
    rows = shown(frame, show)
    if rows.empty:
        st.info("No texts match.", icon=":material/filter_alt_off:")
        return
    top = rows.head(MOST_SHOWN)
    with st.container(key="versions.texts"):
        event = st.dataframe(
            _on_screen(top, trait),
            column_config=_columns(pair),
            hide_index=True,
            height=table_height(len(top), most=12),
            row_height=ROW_HEIGHT,
            placeholder="–",
            on_select="rerun",
            selection_mode="single-row",
            key=f"versions.table:{job.id}:{job.done}:{key}:{show}",
            alt="Texts scored by both versions",
        )
    _draw_below(rows, top, job, key, stem)
    selected = cast(Any, event).selection.rows
    if selected and selected[0] < len(top):
        draw_opened(top.iloc[selected[0]], pair, key, trait)
    else:
        st.caption(":material/ads_click: Select a row to read its full text and see why the scores differ.")


def _on_screen(rows: pd.DataFrame, trait: Trait | None) -> pd.DataFrame:
    columns: dict[str, Any] = {KIND: rows[KIND].map(_KINDS), TEXT: rows[TEXT].str.slice(0, _CUT)}
    if rows[EXPECTED].notna().any():
        columns[EXPECTED] = [expected_in_words(each, trait) for each in rows[EXPECTED]]
    columns |= {SCORE_A: rows[SCORE_A], SCORE_B: rows[SCORE_B], DELTA: rows[DELTA]}
    for tier, sure in ((TIER_A, SURE_A), (TIER_B, SURE_B)):
        columns[tier] = [
            f"{_GLYPHS[name]} {name} {DOTS[dots]}" if isinstance(name, str) else ""
            for name, dots in zip(rows[tier], rows[sure], strict=True)
        ]
    if rows[MUST_PASS].notna().any():
        columns[MUST_PASS] = rows[MUST_PASS].fillna("")
    if rows[ERROR].any():
        columns[ERROR] = rows[ERROR]
    return pd.DataFrame(columns)


def expected_in_words(quality: float, trait: Trait | None) -> str:
    """The pole on which a text should score; "" if that is not known."""
    if pd.isna(quality):
        return ""
    if quality == 0.5:
        return f"{pole_sign(0.5)} in between"
    labels = (trait.negative_label, trait.positive_label) if trait else ("negative", "positive")
    return f"{pole_sign(quality)} {labels[quality > 0.5]}"


def _columns(pair: tuple[Side, Side]) -> dict[str, Any]:
    a, b = (each.name for each in pair)
    column = st.column_config
    score = partial(column.ProgressColumn, min_value=0, max_value=100, format="%d", width=95)
    return {
        KIND: column.TextColumn(
            "Change of side",
            width=130,
            help="Regression: the score was on the right side and is not any more. Fixed: the reverse. Side changed: "
            "it is not known which side is right.",
        ),
        TEXT: column.TextColumn("Text", width=330),
        EXPECTED: column.TextColumn("Expected", width=100, help="The side of the label."),
        SCORE_A: score(a),
        SCORE_B: score(b, color="primary"),
        DELTA: column.NumberColumn("Change", format="%+d", width=70, help="Points."),
        TIER_A: column.TextColumn(f"Tier {a}", width=140),
        TIER_B: column.TextColumn(f"Tier {b}", width=140),
        MUST_PASS: column.TextColumn("Must pass", width=90),
        ERROR: column.TextColumn("Why not scored", width=300),
    }


def _draw_below(rows: pd.DataFrame, top: pd.DataFrame, job: Comparison, key: str, stem: str) -> None:
    """Draw the number of rows, and the downloads of all of them."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        said = count(len(rows), "text")
        if len(rows) > len(top):
            said = f"The first {len(top):,} of {said}. Downloads contain all of them."
        st.caption(said, width="content")
        with st.container(horizontal=True, width="content"):
            for name, make, mime in _FILES:
                st.download_button(
                    name,
                    partial(make, rows, job, key),
                    file_name=f"{stem}.{name.lower()}",
                    mime=mime,
                    icon=":material/download:",
                    key=f"versions.file.{name}",
                    on_click="ignore",
                    type="tertiary",
                )


_FILES: Sequence[tuple[str, Callable[[pd.DataFrame, Comparison, str], bytes], str]] = (
    ("CSV", as_csv, "text/csv"),
    ("JSONL", as_jsonl, "application/x-ndjson"),
)


# ---- tiers and changes ---------------------------------------------------------------------------------------------


def _draw_tiers(frame: pd.DataFrame, pair: tuple[Side, Side], stem: str) -> None:
    a, b = (each.name for each in pair)
    matrix = tier_matrix(frame)
    st.markdown("**Tier by tier**")
    heads = [f"{_GLYPHS[tier]} {tier}" for tier in TIER_ORDER]
    colours = {str(tier): sign.colour for tier, sign in TIERS.items()} | {UNCERTAIN: NO_TIER.colour}
    rows = [
        (head, counts, colours[tier])
        for head, tier, counts in zip(heads, TIER_ORDER, matrix.to_numpy(dtype=int).tolist(), strict=True)
    ]
    st.html(counts_table(heads, rows, label=f"Tiers of {a} by tiers of {b}"))
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(f"Rows: tier of {plain(a)}. Columns: tier of {plain(b)}. Shares are of the row.", width="stretch")
        table = matrix.rename_axis(index=None, columns=None).reset_index(names=f"{a} \\ {b}")
        download_table(table, key="versions.tiers", file_name=f"{stem}-tiers")


def _draw_changes(frame: pd.DataFrame, name: str, stem: str) -> None:
    st.markdown("**Size of the changes**")
    bars = change_bars(frame)
    if not bars:
        st.caption("No text was scored.")
        return
    chart(
        changes.figure(bars, PALETTE),
        alt=changes.alt(bars, name),
        table=changes.table(bars),
        key="versions.changes",
        file_name=f"{stem}-changes",
    )
