"""The filters of a batch, in the address: trait, side, range of scores, words, a column of the file."""

from collections.abc import Mapping, Sequence
from typing import cast, get_args

import pandas as pd
import streamlit as st

from traitbench.as_read import is_blank
from traitbench.contract.traits import Trait
from traitbench.display.colours import SIDES
from traitbench.display.text import count, plain, shortened
from traitbench_app.batch.columns import Filter, Order, Show, groupable, other, shown_as
from traitbench_app.batch.options import from_link
from traitbench_app.shell import session
from traitbench_app.workspace.batches import Batch

ORDER, BY, SHOW, GROUP = "order", "batch.by", "batch.show", "group"
LEAST, MOST, WORDS = "least", "most", "words"
COLUMN, VALUES = "column", "batch.values"
NO_COLUMN = "Any"

_WHOLE = (0, 100)
_LONGEST = 30


def pick_trait(batch: Batch, traits: Sequence[Trait], main: str | None) -> Trait | None:
    """Draw the choice of the trait that the page is about, if there are several; None if the model has none of them."""
    known = sorted((trait for trait in traits if trait.key in batch.traits), key=lambda trait: trait.key != main)
    from_link(BY, "by", str)
    names = {trait.key: trait.name for trait in known}
    if session.get(BY) not in names:
        session.store(BY, None)
    picked = None
    if len(known) > 1:
        picked = st.pills(
            "Trait",
            list(names),
            default=known[0].key,
            required=True,
            key=BY,
            persist_state="session",
            format_func=lambda key: plain(names[key]),
            label_visibility="collapsed",
        )
    return next((trait for trait in known if trait.key == picked), next(iter(known), None))


def draw_filters(frame: pd.DataFrame, batch: Batch, trait: Trait) -> tuple[Filter, Order]:
    """Draw a chip for each side, the search and the order; return the filter and the order."""
    show = _pick_kind(frame, batch, trait)
    with st.container(horizontal=True, vertical_alignment="bottom", key="batch.filters"):
        words = st.text_input(
            "Find",
            key=WORDS,
            bind="query-params",
            placeholder="Search in texts",
            icon=":material/search:",
            width=260,
        )
        order = st.selectbox("Order", get_args(Order), key=ORDER, bind="query-params", width=160)
        more = st.popover("More filters", icon=":material/filter_list:", key="batch.more_filters")
    with more:
        least, most = _pick_range()
        values = _pick_values(batch)
    return Filter(trait.key, show, least, most, words.strip(), values), cast(Order, order)


def clear_filters() -> None:
    """Show all rows again; a button's callback."""
    session.put({WORDS: "", LEAST: 0, MOST: 100, COLUMN: NO_COLUMN})
    session.store(VALUES, None)
    session.store(SHOW, None)


def select_range(least: int, most: int) -> None:
    """Show the rows with scores in a range; for charts."""
    session.put({LEAST: least, MOST: most})


def select_value(column: str, value: str) -> None:
    """Show the rows of a group; for charts."""
    session.put({COLUMN: column, VALUES: [value]})


def in_link(keys: Sequence[str]) -> dict[str, str | None]:
    """Return the filters and the order, as query parameters."""
    by = session.get(BY) or st.query_params.get("by")
    show = session.get(SHOW) or st.query_params.get("show")
    values: Sequence[str] = session.get(VALUES) or []
    return {
        ORDER: session.on_screen(ORDER, get_args(Order)[0]),
        "by": by if by in keys else None,
        "show": show if show in get_args(Show)[1:] else None,
        WORDS: session.on_screen(WORDS, "") or None,
        LEAST: _bound_number(LEAST, 0),
        MOST: _bound_number(MOST, 100),
        COLUMN: None if (column := session.on_screen(COLUMN, NO_COLUMN)) == NO_COLUMN else column,
        GROUP: session.on_screen(GROUP, "") or None,
        "values": "\n".join(values) or None,
    }


def _bound_number(key: str, default: int) -> str | None:
    value = session.get(key, st.query_params.get(key))
    return None if value is None or str(value) == str(default) else str(value)


def _pick_kind(frame: pd.DataFrame, batch: Batch, trait: Trait) -> Show:
    """Draw a chip for each side and for the rows that are not scored, with their counts."""
    kinds = {show: int(shown_as(frame, trait.key, show).sum()) for show in get_args(Show)}
    poles = {True: shortened(trait.positive_label, _LONGEST), False: shortened(trait.negative_label, _LONGEST)}
    is_empty = all(is_blank(text) for text in (batch.texts[row] for row in batch.errors))
    words = {
        "all": f"All {batch.done:,}",
        "positive": f"{SIDES[True].sign} {plain(poles[True])} {kinds['positive']:,}",
        "open": f"no clear side {kinds['open']:,}",
        "negative": f"{SIDES[False].sign} {plain(poles[False])} {kinds['negative']:,}",
        "nothing": f"says nothing {kinds['nothing']:,}",
        "unlike": f"unlike the samples {kinds['unlike']:,}",
        "failed": f"{count(kinds['failed'], 'row')} {_have(kinds['failed'], is_empty=is_empty)}",
    }
    from_link(SHOW, "show", str)
    offered = [show for show in words if kinds[show] or show == "all"]
    if session.get(SHOW) not in offered:
        session.store(SHOW, None)
    picked = st.pills(
        "Show",
        offered,
        default="all",
        required=True,
        key=SHOW,
        persist_state="session",
        format_func=words.__getitem__,
        label_visibility="collapsed",
    )
    return cast(Show, picked or "all")


def _have(number: int, *, is_empty: bool) -> str:
    return ("has no text" if number == 1 else "have no text") if is_empty else "not scored"


def _pick_range() -> tuple[int, int]:
    with st.container(horizontal=True):
        least = st.number_input("Scores from", *_WHOLE, 0, key=LEAST, bind="query-params", width=120)
        most = st.number_input("to", *_WHOLE, 100, key=MOST, bind="query-params", width=120)
    return int(least), int(most)


def _pick_values(batch: Batch) -> Mapping[str, Sequence[str]]:
    columns = groupable(batch)
    if not columns:
        return {}
    if session.get(COLUMN) not in (None, NO_COLUMN, *columns):
        session.store(COLUMN, None)
    column = st.selectbox("Column of the file", [NO_COLUMN, *columns], key=COLUMN, bind="query-params")
    if column == NO_COLUMN:
        return {}
    position = batch.other_columns.index(column)
    options = sorted({cells[position] for cells in batch.others[: batch.done]})
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
