"""What a synthesis rejected: the numbers by reason, and the texts, of which a person can add some."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.contract.models import LastOperation, Model, SynthesisOutcome
from traitbench.contract.samples import OFFLINE, RejectedText, SampleInput
from traitbench.contract.traits import Trait
from traitbench.display.sides import label_of
from traitbench.display.text import count, plain
from traitbench_app.parts.sample_table import ROW_HEIGHT, table_height
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client
from traitbench_app.workspace.changes import Undo, remember, undoable_additions

REASONS: Mapping[str, tuple[str, str]] = {
    "invalid": ("not in the form asked for", "not in the form asked for"),
    "copy": ("copies", "a copy"),
    "near_duplicate": ("nearly the same as another text", "nearly the same as another text"),
    "wrong_side": ("on the wrong side", "on the wrong side"),
    "strayed": ("too far from the text they vary", "too far from the text it varies"),
    "repetitive": ("begin like many others", "begins like many others"),
    "form": ("with marks that only one pole has", "has marks that only one pole has"),
    "length": ("too long or too short for their pole", "too long or too short for its pole"),
}
"""What the exam rejects: words that follow a number of texts, and words for one text."""

_READ, _ADDED, _GRID = "samples.rejected", "samples.rejected_added", "samples.rejects"


def draw_counts(outcome: SynthesisOutcome) -> None:
    """Draw how many texts were accepted, and how many rejected for which reason."""
    tokens = f", {outcome.tokens:,} tokens" if outcome.tokens else ""
    by = "offline" if outcome.generator == OFFLINE else f"by {plain(outcome.generator)}"
    st.markdown(f"**{outcome.added:,} accepted**, {sum(outcome.rejected.values()):,} rejected, made {by}{tokens}")
    for reason, number in sorted(outcome.rejected.items(), key=lambda each: -each[1]):
        st.caption(f"{number:,} {REASONS[reason][0] if reason in REASONS else plain(reason)}")


def draw_rejects(model: Model, traits: Sequence[Trait], last: LastOperation) -> None:
    """Draw the rejected texts that can be read, folded, and the button that adds those that are ticked."""
    outcome = last.progress.synthesis if last.progress else None
    if outcome is None or not outcome.rejected:
        return
    if model.zero_data_retention:
        st.caption("Zero data retention is on, so rejected texts were not kept.")
        return
    names = {trait.key: trait for trait in traits}
    every, there = _read(model, last), undoable_additions()
    listed = [each for each in every if each.trait in names and _added().get((each.trait, each.text)) not in there]
    if not listed:
        return
    total = sum(outcome.rejected.values())
    some = f"Read {len(every):,} of the {total:,} rejected texts" if len(every) < total else "Read the rejected texts"
    with st.expander(some, icon=":material/rule:"):
        st.caption(
            "Tick the texts that are good all the same. Added, they count as samples of your own: check that each"
            " belongs to its pole."
        )
        picked = _picked(listed, names)
        slot = st.container()
        if st.button(
            f"Add {count(len(picked), 'text')}" if picked else "Add texts",
            icon=":material/add:",
            disabled=not picked,
            key="samples.rejects.add",
            help=None if picked else "Tick a text first.",
        ):
            _add(model, picked, slot)


def _read(model: Model, last: LastOperation) -> list[RejectedText]:
    """The rejected texts of this run, read once in a session."""
    held: tuple[str, list[RejectedText]] | None = session.get(_READ)
    if held is None or held[0] != last.run_id:
        held = (str(last.run_id), client().samples.rejected(model.handle))
        session.store(_READ, held)
    return held[1]


def _added() -> dict[tuple[str, str], int]:
    """The ids of the texts that were added in this session, by trait and text."""
    return session.get(_ADDED) or {}


def _picked(listed: Sequence[RejectedText], traits: dict[str, Trait]) -> list[RejectedText]:
    columns = {
        "Text": [each.text for each in listed],
        "Trait": [traits[each.trait].name for each in listed],
        "Label": [label_of(traits[each.trait], each.quality) for each in listed],
        "Reason": [REASONS[each.reason][1] for each in listed],
    }
    if len({each.trait for each in listed}) == 1:
        del columns["Trait"]
    event = st.dataframe(
        pd.DataFrame(columns),
        hide_index=True,
        width="stretch",
        height=table_height(len(listed), most=8),
        row_height=ROW_HEIGHT,
        on_select="rerun",
        selection_mode="multi-row",
        # A new grid after an addition, because ticks belong to positions.
        key=f"{_GRID}:{len(listed)}",
        alt="Texts that the synthesis rejected, with the reasons",
        column_config={"Text": st.column_config.TextColumn(width="large")},
    )
    rows = event.selection.rows if event else []
    return [listed[row] for row in rows if row < len(listed)]


def _add(model: Model, picked: Sequence[RejectedText], place: DeltaGenerator) -> None:
    inputs = [SampleInput(trait=each.trait, text=each.text, quality=each.quality) for each in picked]
    with place, attempt() as adding:
        ids = client().samples.add(model.handle, inputs)
        remember(Undo(model.handle, f"{count(len(ids), 'sample')} added", (), tuple(ids)))
        session.store(_ADDED, _added() | {(each.trait, each.text): own for each, own in zip(picked, ids, strict=True)})
    if adding.done:
        st.rerun()
