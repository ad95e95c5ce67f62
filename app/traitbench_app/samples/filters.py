"""The filters of the samples table, which are part of its link."""

import re
from collections.abc import Mapping, Sequence

import streamlit as st

from traitbench.contract.samples import LONGEST_SEARCH, Pole, SampleQuery
from traitbench.contract.traits import Trait
from traitbench_app.parts.controls import find, pick
from traitbench_app.parts.sample_table import ORIGINS
from traitbench_app.samples.add import pole_words
from traitbench_app.shell import session
from traitbench_app.workspace.samples import LoadedSamples, ServedSamples, TableFilters

NO_FILTERS = {"find": "", "trait": None, "pole": None, "origin": None, "use": None, "rows": ""}
"""The values of the widgets that show all samples."""

_USES = {"test": "Test samples", "training": "Training samples"}


def draw_filters(
    table: LoadedSamples | ServedSamples, traits: Sequence[Trait]
) -> tuple[TableFilters, Mapping[str, str | None]]:
    """Draw the filters; return what is chosen, and the same as query parameters."""
    if not table.total:
        return TableFilters(), {}
    names = {each.key: each.name for each in traits}
    trait, origin, use = None, None, None
    with st.container(horizontal=True, vertical_alignment="bottom", key="samples.filters"):
        text = find("find", "Search in texts", most=LONGEST_SEARCH)
        if len(traits) > 1 or session.on_screen("trait", ""):
            trait = pick("Trait", names, key="trait")
        poles = pole_words([each for each in traits if trait in (None, each.key)])
        _restore_pole(poles)
        pole = pick("Label", poles, key="pole", every="Any")
        if not table.all_authored or session.on_screen("origin", ""):
            origin = pick("Origin", ORIGINS, key="origin", every="Any")
        if table.tests or session.on_screen("use", ""):
            use = pick("Use", _USES, key="use", every="Any")
        rows = pick_rows()
    held_out = None if use is None else use == "test"
    query = SampleQuery(trait, held_out, provenance=origin, pole=pole, text=text or None)
    chosen = TableFilters(query, ids_of(rows))
    return chosen, {
        "find": text,
        "trait": names.get(str(trait)),
        "pole": poles[pole] if pole else None,
        "origin": ORIGINS[origin] if origin else None,
        "use": _USES[use] if use else None,
        "rows": rows,
    }


def _restore_pole(poles: Mapping[Pole, str]) -> None:
    """Choose the pole of a link that names it positive or negative instead of by its word."""
    linked = st.query_params.get("pole", "")
    if "pole" not in st.session_state and linked in poles and linked not in poles.values():
        session.put({"pole": linked})


def draw_no_match() -> None:
    """Say that no sample passes, with a button that removes the filters."""
    with st.container(border=True, key="samples.nothing"):
        st.markdown("**No samples match.**")
        st.button(
            "Show all samples",
            icon=":material/filter_alt_off:",
            key="samples.clear",
            on_click=session.put,
            args=(NO_FILTERS,),
        )


def page_in_link(pages: int) -> int:
    """Return the page of the table in the link or on screen, at most `pages`."""
    wanted = str(st.session_state.get("page", st.query_params.get("page", "1")))
    # Anybody can edit a link, and int() refuses thousands of digits.
    page = min(max(int(wanted), 1), pages) if wanted.isdecimal() and len(wanted) < 7 else 1
    if "page" in st.session_state and st.session_state["page"] != page:
        session.put({"page": page})
    return page


# ---- a few samples by id ---------------------------------------------------------------------------------------------

_KEY = "rows"


def show_rows(ids: Sequence[int]) -> None:
    """Show only these samples in the table and clear the other filters. A button callback."""
    session.put({**NO_FILTERS, "task": "table", _KEY: ",".join(map(str, ids))})


def picks_rows() -> bool:
    """Whether the filter is in use."""
    return bool(session.on_screen(_KEY, ""))


def pick_rows() -> str:
    """Draw the filter if it is in use; return its ids, separated by commas."""
    if not picks_rows():
        return ""
    return st.text_input(
        "Rows",
        key=_KEY,
        bind="query-params",
        width=200,
        help="IDs of the samples to show, separated by commas. Leave empty to show all.",
    )


def ids_of(rows: str) -> frozenset[int]:
    """The ids in the typed text; an empty set means all samples."""
    # At most 18 digits, which fit into an id of the store.
    return frozenset(int(each) for each in re.findall(r"\d{1,18}", rows))
