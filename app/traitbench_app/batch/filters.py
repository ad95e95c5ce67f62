"""The filters of a batch, in the address: side, confidence, range of scores, words, a column of the file."""

from collections.abc import Mapping, Sequence
from typing import cast, get_args

import streamlit as st

from traitbench.contract.traits import Trait
from traitbench.display.colours import SIDES
from traitbench_app.batch.columns import COMPOSITE, Filter, Order, Show, groupable, other, score_of
from traitbench_app.batch.options import from_link
from traitbench_app.shell import session
from traitbench_app.workspace.batches import Batch

ORDER, BY, SHOW = "order", "batch.by", "show"
SIDE, LEAST, MOST, WORDS = "side", "least", "most", "words"
COLUMN, VALUES = "column", "batch.values"
NO_COLUMN = "Any"

_WHOLE = (0, 100)
_ANY_SIDE = "Either side"


def draw_filters(job: Batch, traits: Sequence[Trait], main: str | None) -> tuple[Filter, Order, str]:
    """Draw the filters, and return them with the order and the trait that they are about."""
    by = _pick_trait(job, traits, main)
    key = COMPOSITE if by == COMPOSITE else score_of(by)
    trait = next((trait for trait in traits if trait.key == by), None)
    with st.container(horizontal=True, vertical_alignment="bottom", key="batch.filters"):
        words = st.text_input(
            "Words",
            key=WORDS,
            bind="query-params",
            placeholder="Find words in the texts",
            icon=":material/search:",
            width=260,
        )
        side = _pick_side(trait)
        order = st.selectbox("Order", get_args(Order), key=ORDER, bind="query-params", width=160)
        more = st.popover("More filters", icon=":material/filter_list:", key="batch.more_filters")
    with more:
        show = st.segmented_control(
            "Show", get_args(Show), default="All", required=True, key=SHOW, bind="query-params", width="content"
        )
        least, most = _pick_range()
        values = _pick_values(job)
    chosen = Filter(cast(Show, show or "All"), key, least, most, side, words.strip(), values)
    return chosen, cast(Order, order), by


def clear_filters() -> None:
    """Show all rows again; a button's callback."""
    session.put({WORDS: "", SIDE: _ANY_SIDE, SHOW: "All", LEAST: 0, MOST: 100, COLUMN: NO_COLUMN})
    session.store(VALUES, None)


def select_range(key: str, least: int, most: int) -> None:
    """Show the rows with scores in a range of a trait, or of the composite; for charts."""
    session.put({BY: key or COMPOSITE, LEAST: least, MOST: most})


def select_value(column: str, value: str) -> None:
    """Show the rows of a group; for charts."""
    session.put({COLUMN: column, VALUES: [value]})


def in_link(keys: Sequence[str]) -> dict[str, str | None]:
    """The filters and the order, as query parameters."""
    by = session.get(BY) or st.query_params.get("by")
    values: Sequence[str] = session.get(VALUES) or []
    return {
        ORDER: session.on_screen(ORDER, get_args(Order)[0]),
        "by": by if by in (*keys, COMPOSITE) else None,
        SHOW: session.on_screen(SHOW, get_args(Show)[0]),
        SIDE: None if (side := session.on_screen(SIDE, _ANY_SIDE)) == _ANY_SIDE else side,
        WORDS: session.on_screen(WORDS, "") or None,
        LEAST: _bound_number(LEAST, 0),
        MOST: _bound_number(MOST, 100),
        COLUMN: None if (column := session.on_screen(COLUMN, NO_COLUMN)) == NO_COLUMN else column,
        "values": "\n".join(values) or None,
    }


def _bound_number(key: str, default: int) -> str | None:
    value = session.get(key, st.query_params.get(key))
    return None if value is None or str(value) == str(default) else str(value)


def _pick_trait(job: Batch, traits: Sequence[Trait], main: str | None) -> str:
    names: Mapping[str, str] = {trait.key: trait.name for trait in traits}
    keys = sorted(job.traits, key=lambda key: key != main)
    options = [*keys, COMPOSITE] if len(keys) > 1 else keys
    from_link(BY, "by", str)
    if session.get(BY) not in options:
        session.store(BY, None)
    if len(options) == 1:
        return options[0]
    picked = st.segmented_control(
        "Scores of",
        options,
        default=options[0],
        required=True,
        key=BY,
        persist_state="session",
        format_func=lambda key: "Composite" if key == COMPOSITE else names.get(key, key),
    )
    return picked or options[0]


def _pick_side(trait: Trait | None) -> bool | None:
    if trait is None:
        return None
    options = {
        _ANY_SIDE: None,
        f"{SIDES[True].sign} {trait.positive_label}": True,
        f"{SIDES[False].sign} {trait.negative_label}": False,
    }
    if session.get(SIDE) not in (None, *options):
        session.store(SIDE, None)
    return options[st.selectbox("Side", list(options), key=SIDE, bind="query-params", width=190)]


def _pick_range() -> tuple[int, int]:
    with st.container(horizontal=True):
        least = st.number_input("Scores from", *_WHOLE, 0, key=LEAST, bind="query-params", width=120)
        most = st.number_input("to", *_WHOLE, 100, key=MOST, bind="query-params", width=120)
    return int(least), int(most)


def _pick_values(job: Batch) -> Mapping[str, Sequence[str]]:
    columns = groupable(job)
    if not columns:
        return {}
    if session.get(COLUMN) not in (None, NO_COLUMN, *columns):
        session.store(COLUMN, None)
    column = st.selectbox("Column of the file", [NO_COLUMN, *columns], key=COLUMN, bind="query-params")
    if column == NO_COLUMN:
        return {}
    place = job.other_columns.index(column)
    options = sorted({cells[place] for cells in job.others[: job.done]})
    from_link(VALUES, "values", lambda linked: [value for value in linked.split("\n") if value in options])
    if set(session.get(VALUES) or ()) - set(options):
        session.store(VALUES, None)
    chosen = st.multiselect(
        "Values",
        options,
        key=VALUES,
        persist_state="session",
        format_func=lambda value: value or "(empty)",
        placeholder="All values",
    )
    return {other(column): chosen} if chosen else {}
