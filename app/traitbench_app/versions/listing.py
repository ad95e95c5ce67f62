"""The All view: which version scores, every version in a table, and what happened when."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display import held_out
from traitbench.display.quality import by_trait, evidence_on
from traitbench.display.text import count, plain
from traitbench_app.parts import retention
from traitbench_app.parts.chart import download_table
from traitbench_app.parts.folded import folded
from traitbench_app.parts.keeping import draw_keeping
from traitbench_app.parts.quality import discovered_note
from traitbench_app.parts.version_figures import (
    TRIGGERS,
    auroc,
    label,
    made_how,
    mean_of,
    names_of,
    on_screen,
    series,
    sets_of_tests,
)
from traitbench_app.shell import session
from traitbench_app.versions.timeline import draw_timeline

CREATED_BY = (
    "First training: trained from a draft. Refit: fitted again from scratch. Feedback: retrained automatically from "
    "feedback. Imported or promoted: from a file, or from a draft that became this version."
)
_MAIN = ("Version", "Status", "Right", "Created", "Created by", "Samples", "Tags", "After the next version")


def draw_all(model: Model, versions: Sequence[Version], traits: Sequence[Trait], *, may_change: bool) -> None:
    """Draw the versions, newest first; figures, the record and the rule are folded."""
    _draw_active(model, versions, traits)
    table = _table(model, versions, traits)
    with st.container(key="versions.list_box"):
        st.dataframe(
            table[[*(name for name in _MAIN if name in table)]],
            hide_index=True,
            width="stretch",
            key="versions.list",
            placeholder="–",
            column_config={
                "Right": st.column_config.TextColumn(
                    help="How many held-out samples are on the side of their label: test samples if there are any."
                ),
                "Created": st.column_config.DatetimeColumn(format="distance"),
                "Created by": st.column_config.TextColumn(help=CREATED_BY),
                "After the next version": st.column_config.TextColumn(
                    help="Whether this version is kept when the next one is added."
                ),
            },
        )
    with folded("Figures of each version", icon=":material/query_stats:", key="figures") as is_open:
        if is_open:
            _draw_figures(model, versions, traits, table)
    with folded("Activation history", icon=":material/history:", key="record") as is_open:
        if is_open:
            draw_timeline(model, versions, may_change=may_change)
    draw_keeping(model, versions)


def _draw_active(model: Model, versions: Sequence[Version], traits: Sequence[Trait]) -> None:
    """Say which version scores and how often it is right, with one way on."""
    active = next((each for each in versions if each.version_no == model.version_no), None)
    if active is None:
        return
    evidence = evidence_on(by_trait(active.metrics))
    said = [] if evidence is None else [*evidence.warnings(traits), f"{evidence.says('It', traits)}."]
    right = "".join(f" {plain(sentence)}" for sentence in said)
    archived = model.state == "archived"
    scores = "was active when the model was archived" if archived else "scores now"
    st.markdown(f"**{label(active)} {scores}.**{right}", help=made_how(active))
    others = [each for each in versions if each is not active]
    with st.container(horizontal=True, vertical_alignment="center"):
        if others:
            other = max((each for each in others), key=lambda each: each.version_no)
            newer = other.version_no > active.version_no
            a, b = (active, other) if newer else (other, active)
            st.button(
                f"Compare {label(a)} with {label(b)}",
                icon=":material/compare_arrows:",
                key="versions.to_compare",
                on_click=session.put,
                args=({"view": "Compare", "a": label(a), "b": label(b)},),
            )
        st.button(
            f"Details of {label(active)}",
            key="versions.to_details",
            on_click=session.put,
            args=({"view": "Details", "version": label(active)},),
        )


def _table(model: Model, versions: Sequence[Version], traits: Sequence[Trait]) -> pd.DataFrame:
    """One row per version, with all figures."""
    names, fates, tests = names_of(traits), retention.fates(model, versions), sets_of_tests(versions)
    statuses = {model.held_version_no: "on hold", model.version_no: "active"}
    return pd.DataFrame(
        [
            {
                "Version": label(each),
                "Status": statuses.get(each.version_no, ""),
                "Right": _right(each),
                "Tags": ", ".join(each.tags),
                "Created": each.created_at,
                "Created by": TRIGGERS[each.triggered_by],
                "Samples": each.sample_count,
                "After the next version": fates[each.version_id],
                **(
                    {"Test AUROC": held_out.mean_auroc(each.metrics), "Test samples": tests[label(each)]}
                    if any(tests.values())
                    else {}
                ),
                "AUROC": auroc(each),
                "Brier": mean_of(each, "brier"),
                "Calibration error": mean_of(each, "calibration_error"),
                **{f"AUROC {measured.name}": measured.text for measured in series(each, names).figures},
            }
            for each in versions
        ]
    )


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


def _draw_figures(model: Model, versions: Sequence[Version], traits: Sequence[Trait], table: pd.DataFrame) -> None:
    tests = sets_of_tests(versions)
    hidden = [name for name in _MAIN if name not in ("Version", "Status", "Samples") and name in table]
    st.dataframe(
        on_screen(table.drop(columns=hidden), ("Test AUROC", "AUROC"), 2),
        hide_index=True,
        width="stretch",
        key="versions.figures_of_all",
        placeholder="–",
        column_config={
            "Test AUROC": st.column_config.NumberColumn(
                format="%.2f", help="Mean over the traits, on test samples. Compare only figures of the same test set."
            ),
            "Test samples": st.column_config.TextColumn(
                help="How many were measured. Versions with the same letter were measured on the same test samples."
            ),
            "AUROC": st.column_config.NumberColumn(format="%.2f", help="Mean over the traits, out-of-fold."),
            "Brier": st.column_config.NumberColumn(format="%.3f", help="Mean over the traits; 0 is perfect."),
            "Calibration error": st.column_config.NumberColumn(
                format="%.3f", help="Mean over the traits; 0 is perfect."
            ),
        },
    )
    st.caption(
        "AUROC: 0.5 is chance, 1 is perfect; the 95 % interval is in brackets. Each sample is scored by a fit that did "
        "not use it." + (" Test AUROC: on samples that no version learns from." if any(tests.values()) else "")
    )
    if len({each.rpartition(" ")[2] for each in tests.values() if each}) > 1:
        st.caption(
            ":material/link_off: The versions were measured on different test samples: compare Test AUROC only between "
            "versions with the same letter."
        )
    discovered_note(traits)
    with st.container(horizontal=True, horizontal_alignment="right"):
        download_table(table, key="versions.list", file_name=f"{model.handle}-versions")
