"""After a change of the samples: what was done, how many there are now, and what is next."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain
from traitbench.tables.writing import csv_file
from traitbench_app.parts.controls import download
from traitbench_app.parts.next_step import NextStep, facts_of, next_step
from traitbench_app.parts.sample_table import draw_undo
from traitbench_app.samples.add import linked_values
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page
from traitbench_app.workspace.changes import UNDO, Undo

_IMPORTED = "samples.imported"
_MOST = 3


def imported(undo: Undo, header: Sequence[str], left_out: Sequence[Sequence[str]]) -> None:
    """Hold the rows of a file that an import left out, while the import is the last change."""
    session.store(_IMPORTED, (undo, header, left_out))


def draw_just_now(model: Model, traits: Sequence[Trait], *, adds: bool = False) -> None:
    """Draw the last change of this model with its undo, what there is now, and the next step with its button.

    Without a change, draw nothing but a step that is done on this page; nothing at all if the view `adds` samples.
    """
    last, step = session.get(UNDO), next_step(facts_of(model, traits))
    changed = isinstance(last, Undo) and last.handle == model.handle
    if not changed and (adds or step.page != "samples"):
        return
    with st.container(border=True, key="samples.now"):
        if changed:
            with st.container(horizontal=True, vertical_alignment="center"):
                draw_undo(model.handle)
                _draw_import(last)
                now = [f"{plain(each.name)}: {_at_poles(each)}" for each in traits if each.kind == "extrinsic"]
                if len(now) <= _MOST:
                    st.caption(" · ".join(now), width="content")
        with st.container(horizontal=True, vertical_alignment="center"):
            _draw_next(traits, step)


def _draw_import(last: Undo) -> None:
    undo, header, rows = session.get(_IMPORTED, (None, (), ()))
    if undo is not last:
        return
    st.html(f'<i hidden data-top="{id(last)}"></i>')  # the page goes to its top, in shell.js
    if rows:
        download(
            f"Download {count(len(rows), 'row')} to correct",
            partial(csv_file, header, rows),
            "rows-to-correct.csv",
            key="samples.left_out_file",
            type="tertiary",
        )


def _draw_next(traits: Sequence[Trait], step: NextStep) -> None:
    """Draw the step that the header says, which is done here if it is about samples."""
    st.markdown(f"**Next**: {step.sentence}", width="content")
    if step.page == "samples":
        st.button(
            step.label,
            icon=":material/add:",
            key="samples.now.step",
            on_click=session.put,
            args=({"task": "add", **linked_values(traits, step.query)},),
        )
    elif step.page is not None and st.button(step.label, icon=":material/arrow_forward:", key="samples.now.step"):
        st.switch_page(page(step.page), query_params=dict(step.query))


def _at_poles(trait: Trait) -> str:
    poles = ((trait.negative_samples, trait.negative_label), (trait.positive_samples, trait.positive_label))
    return ", ".join(f"{samples:,} {plain(label)}" for samples, label in poles)
