"""What the list is narrowed to, which is kept in the address: a link opens the same list, and Back undoes a click."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from traitbench.contract.samples import LONGEST_SEARCH, Pole
from traitbench.contract.traits import Trait
from traitbench.display.text import shortened
from traitbench_app.parts.sample_table import ORIGINS
from traitbench_app.samples.listed import CHIPS, Chip, Chosen
from traitbench_app.samples.tiles import PressedTile
from traitbench_app.samples.views import go_to
from traitbench_app.shell import session

FIND = "find"
"""The key of the field that searches, which is in the address too."""

ROWS_SHOWN, A_PAGE = "samples.rows_shown", 50

_NEWEST = "Newest first"
_MOST, _LONGEST = 3, 24
_NAMES = ("trait", "pole", "score", "show", "rows", "order", "origin", "use")
_USES: Mapping[str, Chip] = {"Test samples": "test"}
_OF_ORIGIN: Mapping[str, Chip] = {ORIGINS["synthesized"]: "synthesized", ORIGINS["score_feedback"]: "corrected"}


def chosen_in(query: Mapping[str, str], traits: Sequence[Trait]) -> Chosen:
    """Return what an address asks for; what it has that does not exist is left out."""
    named = query.get("trait", "")
    trait = next((each for each in traits if named and named in (each.name, each.key)), None)
    pole = _pole_of(query.get("pole", ""), [trait] if trait else traits)
    score, show = query.get("score", ""), query.get("show", "")
    chip = next((each for each in CHIPS if each == show), None) or _USES.get(query.get("use", ""))
    return Chosen(
        trait=trait.key if trait else None,
        pole=pole,
        tenth=int(score) if re.fullmatch(r"[1-9]?0", score) else None,
        chip=chip or _OF_ORIGIN.get(query.get("origin", ""), "all"),
        words=query.get(FIND, "")[:LONGEST_SEARCH],
        ids=ids_of(query.get("rows", "")),
        newest_first=query.get("order") == _NEWEST,
    )


def query_of(chosen: Chosen, traits: Sequence[Trait]) -> dict[str, str]:
    """Return the address of a list, without its words."""
    trait = next((each for each in traits if each.key == chosen.trait), None)
    words = pole_words([trait] if trait else traits)
    values = {
        "trait": trait.name if trait else "",
        "pole": words[chosen.pole] if chosen.pole else "",
        "score": "" if chosen.tenth is None else str(chosen.tenth),
        "show": "" if chosen.chip == "all" else chosen.chip,
        "rows": ",".join(map(str, sorted(chosen.ids))),
        "order": _NEWEST if chosen.newest_first else "",
    }
    return {name: value for name, value in values.items() if value}


def narrow(traits: Sequence[Trait], chosen: Chosen) -> None:
    """Narrow the list to this. A callback."""
    wanted = query_of(chosen, traits)
    for name in _NAMES:
        if name in st.query_params and name not in wanted:
            del st.query_params[name]
    for name, value in wanted.items():
        if st.query_params.get(name) != value:
            st.query_params[name] = value
    session.store(ROWS_SHOWN, None)


def show_all(traits: Sequence[Trait]) -> None:
    """Show all samples. A callback."""
    session.put({FIND: ""})
    narrow(traits, Chosen())


def press_tile(traits: Sequence[Trait], chosen: Chosen, tile: PressedTile) -> None:
    """Narrow the list to what a tile has; a second press shows all again. A callback."""
    if tile == pressed_tile(chosen):
        narrow(traits, replace(chosen, trait=None, pole=None, tenth=None))
    else:
        narrow(traits, replace(chosen, trait=tile.trait, pole=tile.side, tenth=tile.tenth))


def pressed_tile(chosen: Chosen) -> PressedTile | None:
    """Return the tile, or the part of it, that the list is narrowed to."""
    if chosen.trait is None:
        return None
    side = chosen.pole if chosen.pole in ("negative", "positive") else None
    return PressedTile(chosen.trait, side, chosen.tenth)


def show_samples(ids: Sequence[int]) -> None:
    """Show only these samples, from another view of the page. A button callback."""
    session.put({FIND: ""})
    for name in _NAMES:
        st.query_params.pop(name, None)
    st.query_params["rows"] = ",".join(map(str, ids))
    session.store(ROWS_SHOWN, None)
    go_to("samples")


def ids_of(rows: str) -> frozenset[int]:
    """Return the ids in a text; an empty set means all samples."""
    # At most 18 digits, which fit into an id of the store.
    return frozenset(int(each) for each in re.findall(r"\d{1,18}", rows))


def pole_words(traits: Sequence[Trait]) -> dict[Pole, str]:
    """What samples of these traits are called by pole, such as `happy`; of several traits, `happy / clear`."""
    return {
        "negative": _joined([each.negative_label for each in traits]),
        "between": "in between",
        "positive": _joined([each.positive_label for each in traits]),
    }


def _joined(labels: Sequence[str]) -> str:
    distinct = [shortened(each, _LONGEST) for each in dict.fromkeys(labels)]
    return " / ".join([*distinct[:_MOST], *(["…"] if len(distinct) > _MOST else [])])


def _pole_of(named: str, traits: Sequence[Trait]) -> Pole | None:
    words: dict[Any, str] = dict(pole_words(traits))
    return next((pole for pole, word in words.items() if named and named in (pole, word)), None)
