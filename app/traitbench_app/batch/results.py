"""The results of a batch: the answer, two pictures that select, a table with one row in full, and downloads."""

from collections.abc import Sequence
from functools import partial
from typing import Any, cast, get_args

import pandas as pd
import streamlit as st

from traitbench.analysis.condition import cut_by_spreadsheets
from traitbench.analysis.groups import FEWEST
from traitbench.as_read import is_blank
from traitbench.contract.models import Model
from traitbench.contract.scores import Confidence
from traitbench.contract.traits import Trait
from traitbench.display.charts import distributions, group_scores
from traitbench.display.colours import PALETTE, SIDES
from traitbench.display.pictures import shares, small_bar
from traitbench.display.scored_rows import Poles, poles_of
from traitbench.display.sides import side_at
from traitbench.display.text import count, isolated, plain, shortened
from traitbench.display.tokens import COLOURS
from traitbench.display.words import PROMISE, REASONS
from traitbench_app.batch.columns import (
    ERROR,
    LINE,
    NOTHING,
    TEXT,
    Filter,
    arranged,
    as_csv,
    as_jsonl,
    as_parquet,
    counting_all,
    frame_of,
    groupable,
    grouped,
    histogram,
    matching,
    opinions,
    other,
    score_of,
    side_of,
    sure_of,
    why_of,
)
from traitbench_app.batch.filters import GROUP, clear_filters, draw_filters, pick_trait, select_range, select_value
from traitbench_app.batch.row import draw_row
from traitbench_app.parts.chart import chart, draw_downloads
from traitbench_app.parts.sample_table import ROW_HEIGHT, table_height
from traitbench_app.shell import session
from traitbench_app.workspace.batches import Batch
from traitbench_app.workspace.texts import hand_over

MOST_SHOWN = 5_000
NOTHING_COUNTS = "batch.nothing"
"""The key of the choice whether texts that say nothing count."""

_CUT = 300
_ROW = "batch.row.at"
_SHORT = {reason: words.short for reason, words in REASONS.items()}
_FILES = {"CSV": as_csv, "JSONL": as_jsonl, "Parquet": as_parquet}


def draw_results(model: Model, batch: Batch, traits: list[Trait]) -> None:
    """Draw the shares of the sides, the pictures, the filters, the table with a row beside it, and the downloads."""
    trait = pick_trait(batch, traits, model.main_trait)
    if trait is None:
        st.info("The traits of this batch were deleted from the model.", icon=":material/info:")
        return
    frame = frame_so_far(batch)
    draw_pictures(frame, batch, trait)
    if unlike := batch.unlike(trait.key):
        of = count(batch.done - batch.failed, "text")
        verb, whose = ("is", "its side is") if unlike == 1 else ("are", "their sides are")
        st.warning(
            f"**{unlike:,} of {of} {verb} unlike the samples**, so {whose} less sure.", icon=":material/warning:"
        )
    if session.get(NOTHING_COUNTS) or len(opinions(frame)) == len(frame):
        frame = counting_all(frame)
    wanted, order = draw_filters(frame, batch, trait)
    rows = arranged(matching(frame, wanted), order=order, by=score_of(trait.key))
    _draw_table(model, frame, rows, batch, traits, wanted, trait)


def frame_so_far(batch: Batch, *, at_least: float = 1.0) -> pd.DataFrame:
    """Return the table of the batch, computed again only if the one before has fewer than this share of its rows."""
    if not batch.computed or batch.computed[0] != batch.changes or len(batch.computed[1]) < at_least * batch.done:
        batch.computed = (batch.changes, frame_of(batch))
    return cast(pd.DataFrame, batch.computed[1])


# ---- pictures ------------------------------------------------------------------------------------------------------


def draw_pictures(frame: pd.DataFrame, batch: Batch, trait: Trait) -> None:
    """Draw the answer, how the scores are spread and whether groups differ; nothing if no text was scored."""
    if frame[score_of(trait.key)].isna().all():
        return
    frame = _with_something_to_say(frame, batch)
    draw_answer(frame, batch, trait)
    columns = groupable(batch)
    spread, groups = st.columns(2) if columns else (st.container(), None)
    with spread, st.container(border=True, key="batch.spread"):
        _draw_spread(frame, batch, trait)
    if groups is not None:
        with groups, st.container(border=True, key="batch.groups_card"):
            _draw_groups(frame, batch, trait, columns)


def _with_something_to_say(frame: pd.DataFrame, batch: Batch) -> pd.DataFrame:
    """Draw how many texts say nothing and whether they count too; return the rows that count."""
    rest = opinions(frame)
    nothing = len(frame) - len(rest)
    if not nothing:
        return frame
    with st.container(horizontal=True, vertical_alignment="center"):
        verb = "says" if nothing == 1 else "say"
        st.caption(
            f"{nothing:,} of {count(len(frame), 'text')} {verb} nothing, such as “n/a” or “no comment”. Shares, means "
            f"and groups leave {'it' if nothing == 1 else 'them'} out.",
            width="stretch",
        )
        if batch.state == "running":
            return rest
        return frame if st.toggle("Count them too", key=NOTHING_COUNTS, persist_state="session") else rest


def _draw_spread(frame: pd.DataFrame, batch: Batch, trait: Trait) -> None:
    bars = histogram(frame, trait.key, negative=trait.negative_label, positive=trait.positive_label)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown("**How are the scores spread?**", width="content")
        hatched = "; hatched: no clear side" if any(bars.counts[0]) else ""
        st.caption(f"{count(sum(bars.totals), 'text')}{hatched}", width="content")
    chart(
        distributions.figure(bars, PALETTE),
        alt=distributions.alt(bars),
        table=distributions.table(bars),
        key=f"batch.chart.{trait.key}",
        file_name=f"{batch.handle}-{trait.key}-histogram",
        on_point=lambda position: select_range(*distributions.range_of(position)),
    )


def _draw_groups(frame: pd.DataFrame, batch: Batch, trait: Trait, columns: Sequence[str]) -> None:
    # While a file is being scored, a column may get too many values. The browser would go on showing its name.
    if session.get(GROUP) not in (None, *columns):
        session.store(GROUP, columns[0])
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Do groups differ?**", width="content")
        column = st.selectbox(
            "Group scores by", columns, key=GROUP, bind="query-params", width=160, label_visibility="collapsed"
        )
        table = grouped(frame, column, trait.key)
        st.caption(group_scores.finding(table, fewest=FEWEST), width="stretch")
    scores = frame[score_of(trait.key)].dropna()
    chart(
        group_scores.figure(table, PALETTE, ink=COLOURS["ink"][st.context.theme.type == "dark"], mean=scores.mean()),
        alt=group_scores.alt(table, trait.name, fewest=FEWEST),
        table=group_scores.table(table, fewest=FEWEST),
        key="batch.groups",
        file_name=f"{batch.handle}-{column}",
        on_point=lambda position: select_value(column, _value(table, position)),
    )


def _value(table: pd.DataFrame, position: int) -> str:
    value = str(table.iloc[position, 0])
    return "" if value == "(empty)" else value


# ---- table ---------------------------------------------------------------------------------------------------------


def _draw_table(
    model: Model,
    frame: pd.DataFrame,
    rows: pd.DataFrame,
    batch: Batch,
    traits: list[Trait],
    wanted: Filter,
    trait: Trait,
) -> None:
    if wanted.active:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{len(rows):,} of {count(batch.done, 'row')}**", width="content")
            st.button("Clear filters", icon=":material/filter_alt_off:", type="tertiary", on_click=clear_filters)
    if rows.empty:
        st.info("No rows match." if batch.done else "No rows are scored yet.", icon=":material/filter_alt_off:")
        return
    shown = rows.head(MOST_SHOWN)
    # The selection is a position, so other rows need another key.
    key = f"batch.table:{batch.id}:{batch.changes}:{trait.key}:{hash(tuple(shown.index))}"
    table, beside = st.columns([2.1, 1], gap="small")
    with table:
        with st.container(key="batch.grid"):
            st.dataframe(
                _on_screen(shown, batch, traits, trait),
                column_config=_columns(batch, traits),
                hide_index=True,
                height=table_height(len(shown), most=14),
                row_height=ROW_HEIGHT,
                on_select=partial(_choose, key),
                selection_mode="single-cell",
                placeholder="",
                key=key,
                alt="Scored rows",
            )
        _below(rows, shown, batch, poles_of(traits))
    # The row of an earlier run must not open on the Score page.
    hand_over(None)
    table_key, at = session.get(_ROW) or ("", 0)
    with beside:
        if table_key != key or at >= len(shown):
            st.caption(":material/ads_click: Select a row to read it in full, see why, label it or fix its text.")
            return
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.markdown(f"**Line {shown[LINE].iloc[at]:,}** ({at + 1:,} of {len(shown):,})", width="stretch")
            for key_name, label, to in (("Up", "Previous", at - 1), ("Down", "Next", at + 1)):
                st.button(
                    label,
                    key=f"batch.row.{key_name}",
                    shortcut=key_name,
                    disabled=not 0 <= to < len(shown),
                    on_click=session.store,
                    args=(_ROW, (key, to)),
                )
        draw_row(model, frame, int(shown.index[at]), batch, traits, trait)


def _choose(key: str) -> None:
    """Remember the row of the cell that was selected."""
    cells = st.session_state[key].selection.cells
    if cells:
        session.store(_ROW, (key, int(cells[0][0])))


def _on_screen(shown: pd.DataFrame, batch: Batch, traits: Sequence[Trait], trait: Trait) -> pd.DataFrame:
    """Return the rows as the grid shows them: texts shortened, the trait in full, and only the bars of the others."""
    columns: dict[str, Any] = {LINE: shown[LINE], TEXT: shown[TEXT].str.slice(0, _CUT)}
    if shown[score_of(trait.key)].isna().all():
        columns[ERROR] = shown[ERROR].mask(shown[TEXT].map(is_blank).astype(bool), "no text")
    else:
        columns[_bar_of(trait.key)] = _bars(shown, trait.key)
        columns[score_of(trait.key)] = shown[score_of(trait.key)]
        columns[_words_of(trait.key)] = _sides(shown, trait)
        for each in traits:
            if each.key in batch.traits and each.key != trait.key:
                columns[_bar_of(each.key)] = _bars(shown, each.key)
    for name in batch.other_columns:
        columns[other(name)] = shown[other(name)].str.slice(0, _CUT)
    columns[why_of(trait.key)] = shown[why_of(trait.key)].astype("object").map(_SHORT).fillna("")
    return pd.DataFrame(columns).loc[:, lambda table: (table != "").any()]


def _bar_of(key: str) -> str:
    return f"bar of {key}"


def _words_of(key: str) -> str:
    return f"side of {key}"


def _bars(shown: pd.DataFrame, key: str) -> list[str | None]:
    drawn: dict[tuple[int, Confidence], str] = {}
    pairs = zip(shown[score_of(key)].tolist(), shown[sure_of(key)].tolist(), strict=True)
    return [
        None if score is pd.NA else drawn.get((score, sure)) or drawn.setdefault((score, sure), small_bar(score, sure))
        for score, sure in pairs
    ]


def _sides(shown: pd.DataFrame, trait: Trait) -> list[str]:
    """Return where each text is, in words such as `clearly warm`."""
    words: dict[tuple[int, Confidence], str] = {}
    for polarity in (-1, 0, 1):
        for sure in get_args(Confidence):
            side = side_at(polarity, sure, positive_label=trait.positive_label, negative_label=trait.negative_label)
            words[polarity, sure] = side.words
    names = (score_of(trait.key), side_of(trait.key), sure_of(trait.key), NOTHING)
    rows = zip(*(shown[name].tolist() for name in names), strict=True)
    return [
        "not scored" if score is pd.NA else NOTHING if nothing else words[side, sure]
        for score, side, sure, nothing in rows
    ]


def _columns(batch: Batch, traits: Sequence[Trait]) -> dict[str, Any]:
    column = st.column_config
    columns: dict[str, Any] = {
        LINE: column.NumberColumn("Line", help="Line number in the file."),
        TEXT: column.TextColumn(_short(batch.column) if batch.column != "text" else "Text", width=220),
        ERROR: column.TextColumn("Why not scored"),
    }
    for trait in traits:
        poles = [shortened(each, 14) for each in (trait.negative_label, trait.positive_label)]
        columns[_bar_of(trait.key)] = column.ImageColumn(
            " – ".join(map(isolated, poles)), width=130, help=plain(trait.name)
        )
        columns[score_of(trait.key)] = column.NumberColumn("Score")
        columns[_words_of(trait.key)] = column.TextColumn("Side", width=80 + 7 * max(map(len, poles)), help=PROMISE)
        columns[why_of(trait.key)] = column.TextColumn("Why not clear", help="Why the side is not clear.")
    return columns | {other(name): column.TextColumn(_short(name)) for name in batch.other_columns}


def _short(name: str) -> str:
    """Return the name of a column on one line: those of forms are whole questions with line breaks."""
    return shortened(" ".join(name.split()), 60)


def _below(rows: pd.DataFrame, shown: pd.DataFrame, batch: Batch, poles: Poles) -> None:
    """Draw the number of rows, and the downloads of all of them."""
    summary = count(len(rows), "row")
    if len(rows) > len(shown):
        summary = f"The first {len(shown):,} of {summary}. Downloads contain all of them."
    stem = f"{batch.handle}-{batch.version}-batch"
    draw_downloads(_FILES, rows, batch, poles, key="batch.file", stem=stem, summary=summary)
    if warning := cut_by_spreadsheets(rows[TEXT]):
        st.caption(f":material/warning: {warning}")


# ---- the answer ------------------------------------------------------------------------------------------------------

_LONGEST = 40


def sides_of(frame: pd.DataFrame, key: str) -> tuple[int, int, int]:
    """Return how many scored texts are at the negative pole, have no clear side, and are at the positive pole."""
    sides = frame[side_of(key)][frame[score_of(key)].notna()]
    negative, neither, positive = (int((sides == side).sum()) for side in (-1, 0, 1))
    return negative, neither, positive


def draw_answer(frame: pd.DataFrame, batch: Batch, trait: Trait) -> None:
    """Draw the shares as the title, what they are of, and the bar; nothing if no text was scored."""
    negative, neither, positive = sides_of(frame, trait.key)
    of = negative + neither + positive
    if not of:
        return
    left, right = (plain(shortened(each, _LONGEST)) for each in (trait.negative_label, trait.positive_label))
    # While the batch runs, its title says how far it is.
    with st.container(gap=None, key="batch.shares" if batch.state == "running" else "answer"):
        st.header(
            f"{_percent(positive, of)} :{SIDES[True].badge}[{right}], "
            f"{_percent(negative, of)} :{SIDES[False].badge}[{left}], "
            f"{_percent(neither, of)} no clear side",
            anchor=False,
        )
    name = f" about {plain(shortened(trait.name, _LONGEST))}" if len(batch.traits) > 1 else ""
    st.markdown(
        f"Of {count(of, 'text')} in {plain(batch.name)}{name}. Scores can be wrong: **What share?** gives an interval."
    )
    st.html(shares(negative, neither, positive, negative=trait.negative_label, positive=trait.positive_label))


def _percent(part: int, of: int) -> str:
    share = 100 * part / of
    return f"{share:.1f} %" if 0 < share < 1 or 99 < share < 100 else f"{share:.0f} %"
