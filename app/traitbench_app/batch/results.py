"""The results of a batch: histograms that select, filters, groups, a table, one row in full, and downloads."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast, get_args

import pandas as pd
import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.scores import Confidence
from traitbench.contract.traits import Trait
from traitbench.display.charts import distributions
from traitbench.display.colours import PALETTE, SIDES
from traitbench.display.sides import side_at
from traitbench.display.text import count, plain
from traitbench.display.words import PROMISE, REASONS
from traitbench_app.batch.answer import draw_answer
from traitbench_app.batch.columns import (
    COMPOSITE,
    CONFIDENCE,
    ERROR,
    LINE,
    TEXT,
    Filter,
    arranged,
    as_csv,
    as_jsonl,
    as_parquet,
    frame_of,
    histograms,
    matching,
    other,
    score_of,
    sure_of,
    why_of,
)
from traitbench_app.batch.filters import BY, clear_filters, draw_filters, select_range
from traitbench_app.batch.groups import draw_groups
from traitbench_app.batch.row import draw_row
from traitbench_app.parts.chart import chart
from traitbench_app.parts.sample_table import ROW_HEIGHT, table_height
from traitbench_app.shell import session
from traitbench_app.workspace.batches import Batch
from traitbench_app.workspace.texts import hand_over

MOST_SHOWN = 5_000

_CUT = 300
_MIDDLE = 50
_CHARTS = "batch.charts"
_FEW_CHARTS = 6
_SHORT = {reason: words.short for reason, words in REASONS.items()}


def draw_results(model: Model, job: Batch, traits: list[Trait]) -> None:
    """Draw the shares of the sides, the histograms, the filters, the table with a row beside it, and the downloads."""
    names = {trait.key: trait.name for trait in traits}
    frame, bars = _computed(job, names)
    if trait := _asked_about(model, job, traits):
        draw_answer(frame, job, trait)
    if job.failed:
        st.warning(
            f"**{count(job.failed, 'row')} of {job.done:,} could not be scored.** To see why, show *Not scored* in the "
            "table.",
            icon=":material/error:",
        )
    if job.unlike:
        one = job.unlike == 1
        st.warning(
            f"**{job.unlike:,} of {count(job.done, 'text')} {'is' if one else 'are'} unlike the samples.** "
            f"{'Its score means' if one else 'Their scores mean'} little. To see {'it' if one else 'them'}, show "
            "*Unlike the samples* in the table.",
            icon=":material/warning:",
        )
    if job.failed < job.done:
        _draw_histograms(bars, job, {trait.key: trait for trait in traits})
    wanted, order, by = draw_filters(job, [trait for trait in traits if trait.key in job.traits], model.main_trait)
    column = COMPOSITE if by == COMPOSITE else score_of(by)
    matches = matching(frame, wanted)
    if job.other_columns:
        draw_groups(matches, job, by, names.get(by, by))
    _draw_table(model, frame, arranged(matches, order=order, by=column), job, traits, wanted, by)


def _asked_about(model: Model, job: Batch, traits: Sequence[Trait]) -> Trait | None:
    """The trait that the table is ordered by, else the main one, else the first."""
    scored = {trait.key: trait for trait in traits if trait.key in job.traits}
    wanted = (session.get(BY), model.main_trait, next(iter(scored), None))
    return next((scored[key] for key in wanted if key in scored), None)


def _computed(job: Batch, names: Mapping[str, str]) -> tuple[pd.DataFrame, Mapping[str, distributions.Histogram]]:
    """The table of the job and its histograms, computed once for each number of scored rows."""
    held = job.computed
    state = (job.done, job.changes, tuple(names.items()))
    if not held or held[0] != state:
        frame = frame_of(job)
        held = (state, frame, histograms(frame, job, names))
        job.computed = held
    return held[1], held[2]


# ---- histograms ----------------------------------------------------------------------------------------------------


def _draw_histograms(bars: Mapping[str, distributions.Histogram], job: Batch, traits: Mapping[str, Trait]) -> None:
    shown = [key for key in bars if key]
    if len(bars) > _FEW_CHARTS:
        chosen = st.multiselect(
            "Histograms of",
            list(job.traits),
            default=list(job.traits)[:_FEW_CHARTS],
            key=_CHARTS,
            format_func=lambda key: traits[key].name if key in traits else key,
            persist_state="session",
        )
        shown = chosen
    with st.grid(min(len(shown), 2) if len(shown) < 3 else 4 if len(shown) in (4, 7, 8) else 3, min_column_width=220):
        for key in shown:
            _draw_histogram(bars[key], key, job, traits.get(key))
    hatches = distributions.legend(bars[key] for key in shown)
    low = f" Hatched: no clear side ({hatches}); the table says why." if hatches else ""
    st.caption(f"Click a bar to see its texts.{low}")


def _draw_histogram(bars: distributions.Histogram, key: str, job: Batch, trait: Trait | None) -> None:
    with st.container(border=True, key=f"batch.histogram.{key}"):
        median = "" if bars.median is None else f" :gray[median {bars.median:g}]"
        st.markdown(f"**{plain(bars.name)}**{median}")
        if trait is not None:
            with st.container(horizontal=True, horizontal_alignment="distribute"):
                for side, pole in ((False, trait.negative_label), (True, trait.positive_label)):
                    sign = SIDES[side]
                    st.caption(f":{sign.badge}[{sign.sign} {plain(pole)}]", width="content")
        chart(
            distributions.figure(bars, PALETTE),
            alt=distributions.alt(bars),
            table=distributions.table(bars),
            key=f"batch.chart.{key}",
            file_name=f"{job.handle}-{key}-histogram",
            on_point=partial(_select_bar, key),
        )


def _select_bar(key: str, place: int) -> None:
    least = place * distributions.WIDTH
    select_range(key, least, 100 if least + distributions.WIDTH == 100 else least + distributions.WIDTH - 1)


# ---- table ---------------------------------------------------------------------------------------------------------


def _draw_table(
    model: Model, frame: pd.DataFrame, rows: pd.DataFrame, job: Batch, traits: list[Trait], wanted: Filter, by: str
) -> None:
    names = {trait.key: trait.name for trait in traits}
    if wanted.active:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{len(rows):,} of {count(job.done, 'row')}**", width="content")
            st.button("Clear filters", icon=":material/filter_alt_off:", type="tertiary", on_click=clear_filters)
    if rows.empty:
        st.info(
            "No rows match." if job.done else "No rows are scored yet.",
            icon=":material/filter_alt_off:",
        )
        return
    shown = rows.head(MOST_SHOWN)
    # The selection is a position, so other rows need another key.
    key = f"batch.table:{job.id}:{job.changes}:{by}:{hash(tuple(shown.index))}"
    table, beside = st.columns([2.1, 1], gap="small")
    with table, st.container(key="batch.grid"):
        event = st.dataframe(
            _on_screen(shown, job, traits, by),
            column_config=_columns(job, names),
            hide_index=True,
            height=table_height(len(shown), most=14),
            row_height=ROW_HEIGHT,
            on_select="rerun",
            selection_mode="single-row",
            key=key,
            alt="Scored rows",
        )
    with table:
        _below(rows, shown, job)
    picked = cast(Any, event).selection.rows
    hand_over(None)
    with beside:
        if picked and picked[0] < len(shown):
            draw_row(model, frame, int(shown.index[picked[0]]), job, traits)
        else:
            st.caption(":material/ads_click: Select a row to read it in full, see why, label it or fix its text.")


def _on_screen(shown: pd.DataFrame, job: Batch, traits: Sequence[Trait], by: str) -> pd.DataFrame:
    """The rows as the grid shows them: texts shortened, the chosen trait first and in full, the others in short."""
    columns: dict[str, Any] = {LINE: shown[LINE], TEXT: shown[TEXT].str.slice(0, _CUT)}
    if job.failed:
        columns[ERROR] = shown[ERROR]
    if by == COMPOSITE:
        columns[COMPOSITE], columns[CONFIDENCE] = shown[COMPOSITE], shown[CONFIDENCE].astype("object").fillna("")
    known = {trait.key: trait for trait in traits}
    for key in sorted(job.traits, key=lambda key: key != by):
        columns[score_of(key)] = shown[score_of(key)]
        columns[_side_of(key)] = _sides(shown, key, known.get(key))
        if key == by:
            columns[why_of(key)] = shown[why_of(key)].astype("object").map(_SHORT).fillna("")
    for name in job.other_columns:
        columns[other(name)] = shown[other(name)].str.slice(0, _CUT)
    return pd.DataFrame(columns)


def _side_of(key: str) -> str:
    return f"side of {key}"


def _sides(shown: pd.DataFrame, key: str, trait: Trait | None) -> list[str]:
    """Where each text is, in words such as `▲ clearly warm`; empty without a score."""
    positive, negative = (trait.positive_label, trait.negative_label) if trait else ("positive", "negative")
    words: dict[tuple[int, Confidence], str] = {}
    for polarity in (-1, 0, 1):
        for sure in get_args(Confidence):
            side = side_at(polarity, sure, positive_label=positive, negative_label=negative)
            words[polarity, sure] = f"{SIDES[side.positive].sign} {side.words}"
    pairs = zip(shown[score_of(key)].tolist(), shown[sure_of(key)].tolist(), strict=True)
    return ["" if score is pd.NA else words[(score > _MIDDLE) - (score < _MIDDLE), sure] for score, sure in pairs]


def _columns(job: Batch, names: Mapping[str, str]) -> dict[str, Any]:
    column = st.column_config
    score = partial(column.ProgressColumn, min_value=0, max_value=100, format="%d", width=110)
    columns: dict[str, Any] = {
        LINE: column.NumberColumn("Line", width=60, help="Line number in the file."),
        TEXT: column.TextColumn(job.column if job.column != "text" else "Text", width=260),
        COMPOSITE: score("Composite", color="primary"),
        CONFIDENCE: column.TextColumn("Confidence", width=90, help=PROMISE),
        ERROR: column.TextColumn("Why not scored", width=320),
    }
    for key in job.traits:
        columns[score_of(key)] = score(names.get(key, key))
        columns[_side_of(key)] = column.TextColumn("Side", width=160, help=PROMISE)
        columns[why_of(key)] = column.TextColumn(
            "Why not high", width=170, help=f"Why the confidence of {plain(names.get(key, key))} is not high."
        )
    return columns | {other(name): column.TextColumn(name, width=120) for name in job.other_columns}


def _below(rows: pd.DataFrame, shown: pd.DataFrame, job: Batch) -> None:
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


_FILES: Sequence[tuple[str, Callable[[pd.DataFrame, Batch], bytes], str]] = (
    ("CSV", as_csv, "text/csv"),
    ("JSONL", as_jsonl, "application/x-ndjson"),
    ("Parquet", as_parquet, "application/vnd.apache.parquet"),
)
