"""The All view: which version scores, every version in a table, and which served when, with the way back."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Activation, ActivationCause, Version
from traitbench.display.quality import by_trait, evidence_on
from traitbench.display.text import count, plain
from traitbench_app.parts import version_figures
from traitbench_app.parts.chart import download_table
from traitbench_app.parts.controls import folded, question
from traitbench_app.parts.course import draw_course
from traitbench_app.parts.version_figures import TRIGGERS, draw_keeping, label, made_how
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client

CREATED_BY = (
    "First training: trained from a draft. Trained again: from scratch. Corrections: it has learned corrections of "
    "scores. Imported or put in use: from a file, or from a draft that became this version."
)


def draw_all(model: Model, versions: Sequence[Version], traits: Sequence[Trait], *, may_change: bool) -> None:
    """Draw whether the model gets better, and the versions, newest first; the record and the rule are folded."""
    _draw_in_use(model, versions, traits)
    if len(versions) > 1:
        with question("Is it getting better?", key="course"):
            draw_course(model, versions, is_listed=True)
    table = _table(model, versions)
    with st.container(key="versions.list_box"):
        st.dataframe(
            table,
            hide_index=True,
            width="stretch",
            key="versions.list",
            placeholder="–",
            column_config={
                "Right": st.column_config.TextColumn(
                    help="How many samples that the version had not seen are on the side of their label. Test samples "
                    "come first."
                ),
                "Created": st.column_config.DatetimeColumn(format="distance"),
                "Created by": st.column_config.TextColumn(help=CREATED_BY),
                "After the next version": st.column_config.TextColumn(
                    help="Whether this version is kept when the next one is added."
                ),
            },
        )
        with st.container(horizontal=True, horizontal_alignment="right"):
            download_table(table, key="versions.list", file_name=f"{model.handle}-versions")
    with folded("Which version served when", icon=":material/history:", key="record") as is_open:
        if is_open:
            draw_timeline(model, versions, may_change=may_change)
    draw_keeping(model, versions)


def _draw_in_use(model: Model, versions: Sequence[Version], traits: Sequence[Trait]) -> None:
    """Say which version is in use and how often it is right."""
    active = next((each for each in versions if each.version_no == model.version_no), None)
    if active is None:
        return
    evidence = evidence_on(by_trait(active.metrics))
    said = [] if evidence is None else [*evidence.warnings(traits), f"{evidence.says('It', traits)}."]
    verb = "was in use when the model was archived" if model.state == "archived" else "is in use"
    right = "".join(f" {plain(sentence)}" for sentence in said)
    st.markdown(f"**{label(active)} {verb}.**{right}", help=made_how(active))


def _table(model: Model, versions: Sequence[Version]) -> pd.DataFrame:
    """One row per version, without columns that are empty."""
    fates = version_figures.fates(model, versions)
    states = {model.held_version_no: "on hold", model.version_no: "in use"}
    return pd.DataFrame(
        [
            {
                "Version": label(each),
                "State": states.get(each.version_no, ""),
                "Right": _right(each),
                "Created": each.created_at,
                "Created by": TRIGGERS[each.triggered_by],
                "Samples": each.sample_count,
                "Tags": ", ".join(each.tags),
                "After the next version": fates[each.version_id],
            }
            for each in versions
        ]
    ).loc[:, lambda table: (table != "").any()]


def _right(version: Version) -> str:
    """`55 of 60`, or `18 of 20 test samples`; empty if it was not measured."""
    evidence = evidence_on(by_trait(version.metrics))
    if evidence is None:
        return ""
    return (
        f"{evidence.right:,} of {count(evidence.samples, 'test sample')}"
        if evidence.on_tests
        else (f"{evidence.right:,} of {evidence.samples:,}")
    )


_MOST_SHOWN = 10
_UNDO = "versions.timeline_undo"
_CAUSES: dict[ActivationCause, str] = {
    "train": "trained",
    "retrain": "learned corrections",
    "activate": "put in use",
    "promote": "put in use from a draft",
    "import": "imported",
}


def draw_timeline(model: Model, versions: Sequence[Version], *, may_change: bool) -> None:
    """Draw which version scored when, newest first, with a button to return and one to undo the return."""
    page = client().versions.activations(model.handle, limit=_MOST_SHOWN)
    if not page.items:
        st.caption("Nothing is recorded yet. The record begins with this release.")
        return
    there = {each.version_no for each in versions}
    for at, each in enumerate(page.items):
        with st.container(horizontal=True, vertical_alignment="center", key=f"versions.timeline:{at}"):
            st.markdown(f"**v{each.version_no}** {_how(each)}", width="content")
            back = each.previous_version_no
            if at == 0 and may_change and back in there:
                _draw_return(model, each, back)
    if page.next_cursor is not None:
        st.caption(f"The latest {_MOST_SHOWN} are shown. `traitbench activations {model.handle}` lists all.")


def _how(each: Activation) -> str:
    by = "by itself" if each.by is None else f"by {plain(each.by)}"
    after = "" if each.previous_version_no is None else f", after v{each.previous_version_no}"
    who = f" {by}" if each.by is not None or each.cause == "retrain" else ""
    return f"since {each.activated_at:%Y-%m-%d %H:%M} UTC, {_CAUSES[each.cause]}{who}{after}"


def _draw_return(model: Model, latest: Activation, back: int | None) -> None:
    undoes = session.get(_UNDO) == (model.handle, latest.version_no, back)
    words = f"Undo: back to v{back}" if undoes else f"Return to v{back}"
    icon = ":material/undo:" if undoes else ":material/history:"
    if st.button(words, icon=icon, type="tertiary", key="versions.timeline_return"):
        with attempt() as returning:
            client().versions.activate(model.handle, version=f"v{back}")
        if returning.done:
            session.store(_UNDO, None if undoes else (model.handle, back, latest.version_no))
            session.flash(f"v{back} scores.")
            st.rerun()
