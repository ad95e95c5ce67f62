"""Scores by a column of the file, such as the stars of a review: a chart that selects, and a table."""

import pandas as pd
import streamlit as st

from traitbench.analysis.groups import FEWEST
from traitbench.display.charts import group_scores
from traitbench.display.colours import PALETTE
from traitbench_app.batch.columns import COMPOSITE, groupable, grouped, score_of
from traitbench_app.batch.filters import select_value
from traitbench_app.parts.chart import chart
from traitbench_app.shell import session
from traitbench_app.workspace.batches import Batch

GROUP = "group"
NOTHING = "Nothing"


def draw_groups(frame: pd.DataFrame, job: Batch, by: str, name: str) -> None:
    """Draw the choice of the column and, after it, the mean score of each of its values."""
    columns = groupable(job)
    if not columns:
        return
    if session.get(GROUP) not in (None, NOTHING, *columns):
        session.store(GROUP, None)
    column = st.selectbox("Group scores by", [NOTHING, *columns], key=GROUP, bind="query-params", width=260)
    if column == NOTHING:
        return
    table = grouped(frame, job, column, COMPOSITE if by == COMPOSITE else score_of(by))
    if table.empty:
        st.info("No rows match.", icon=":material/filter_alt_off:")
        return
    chart(
        group_scores.figure(table, PALETTE, fewest=FEWEST),
        alt=group_scores.alt(table, name, fewest=FEWEST),
        table=group_scores.table(table, fewest=FEWEST),
        key="batch.groups",
        file_name=f"{job.handle}-{column}",
        on_point=lambda place: select_value(column, _value(table, place)),
    )
    st.caption(group_scores.finding(table, fewest=FEWEST))


def _value(table: pd.DataFrame, place: int) -> str:
    value = str(table.iloc[place, 0])
    return "" if value == "(empty)" else value
