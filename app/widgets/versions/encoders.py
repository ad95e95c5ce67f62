"""Compare installed encoders on the model's samples. Only installed encoders are offered: a page never reads a folder
that somebody names.
"""

from collections.abc import Sequence
from threading import Lock

import pandas as pd
import streamlit as st

from traitbench.app.local import bakeoff
from traitbench.app.local.bakeoff import Candidate, Inputs, NotComparable, Report
from traitbench.app.samples.sample_list import all_samples
from traitbench.app.shell import session
from traitbench.app.shell.service import namespaces
from traitbench.app.shell.text import count, plain
from traitbench.app.widgets.common.chart import download_table, only_our_csv
from traitbench.contract.models import Model, TrainEffort
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.encoders import Encoder, EncoderUnavailable
from traitbench.encoders.registry import NAMES, load_encoder
from traitbench.encoders.scheduler import SCHEDULER, BatchQueue
from traitbench.settings import read_settings

MOST = 2_000
"""The newest samples are compared here; the command line takes more."""

_EFFORT: TrainEffort = "medium"
_REPORT = "versions.encoders.report"

_one_at_a_time = Lock()
"""Of all sessions, one compares at a time: a comparison takes about as long as several trainings."""


def draw_encoders(model: Model, traits: Sequence[Trait], active: Version) -> None:
    """Draw the choice of encoders and the last comparison, or why there can be none."""
    try:
        given = _inputs(model, traits)
        current, others = _installed()
    except NotComparable as reason:
        st.info(plain(str(reason)), icon=":material/info:")
        return
    except EncoderUnavailable as reason:
        st.info(f"There is no encoder here. {plain(str(reason))}", icon=":material/info:")
        return
    with st.form("versions.encoders", border=False):
        chosen = st.pills(
            f"Compare {plain(current[0])}, the current encoder, with",
            list(others),
            selection_mode="multi",
            default=[name for name in ("static",) if name in others],
            key="versions.encoders.others",
        )
        asked = st.form_submit_button("Compare encoders", type="primary", icon=":material/compare_arrows:")
    left_out = f" {count(given.left_out, 'older sample')} left out." if given.left_out else ""
    st.caption(
        f"Reads {count(len(given.texts), 'text')} in this workbench and stores nothing.{left_out} "
        "The command `traitbench encoder compare` also takes folders."
    )
    if note := bakeoff.other_encoder(active, current[1]):
        st.caption(plain(note))
    if asked and not chosen:
        st.warning("Choose at least one encoder.", icon=":material/info:")
    elif asked:
        _compare(model, given, dict([current]) | {name: others[name] for name in chosen})
    report = session.get(_REPORT)
    if report is not None and report[0] == _identity(model, given):
        _draw(report[1], file_name=f"{model.handle}-encoders")


def _inputs(model: Model, traits: Sequence[Trait]) -> Inputs:
    if model.zero_data_retention:
        return bakeoff.inputs(model, traits, [])
    if model.handle.split(".")[0] not in namespaces():
        raise NotComparable(
            "Only owners of the model's namespace can read its samples, on which encoders are compared."
        )
    return bakeoff.inputs(model, traits, all_samples(model.handle, traits), most=MOST)


def _installed() -> tuple[tuple[str, Encoder], dict[str, Encoder]]:
    """The current encoder with its name, and the other installed ones."""
    settings = read_settings()
    current = bakeoff.current(settings.encoder, cache=settings.cache)
    others = {}
    for name in NAMES:
        try:
            encoder = load_encoder(name, cache=settings.cache)
        except EncoderUnavailable:
            continue
        if encoder.digest != current[1].digest:
            others[name] = encoder
    return current, others


def _compare(model: Model, given: Inputs, encoders: dict[str, Encoder]) -> None:
    if not _one_at_a_time.acquire(blocking=False):
        st.warning("Another comparison is running. Try again when it has ended.", icon=":material/hourglass_top:")
        return
    place, queue = st.empty(), BatchQueue()

    def progress(done: int, total: int) -> None:
        place.progress(done / total, text=f"Comparing: {done / total:.0%}")

    try:
        with st.spinner("Comparing encoders", show_time=True):
            candidates: list[Candidate] = [
                bakeoff.timed(name, encoder, list(given.texts.values())) for name, encoder in encoders.items()
            ]
            report = bakeoff.run(
                candidates,
                given,
                effort=_EFFORT,
                cache=read_settings().cache,
                on_progress=progress,
                slot=lambda: SCHEDULER.slot(queue),
            )
    finally:
        _one_at_a_time.release()
        place.empty()
    session.store(_REPORT, (_identity(model, given), report))


def _identity(model: Model, given: Inputs) -> tuple[object, ...]:
    """What a comparison depends on besides its encoders."""
    samples = tuple((sample.id, sample.trait, sample.quality, sample.content_sha256) for sample in given.samples)
    return model.handle, hash(samples)


def _draw(report: Report, *, file_name: str) -> None:
    st.markdown(plain(bakeoff.sentence(report)))
    st.caption(plain(bakeoff.how_to_switch(*report.preferable[:1])))
    rows = bakeoff.rows(report)
    if rows:
        names = {trait.key: trait.name for trait in report.traits}
        table = pd.DataFrame([(names[row[0]], *row[1:]) for row in rows], columns=list(bakeoff.COLUMNS))
        only_our_csv("versions.encoders.figures")
        st.dataframe(
            table,
            hide_index=True,
            width="stretch",
            key="versions.encoders.figures",
            # On a narrow screen, only the first columns are visible.
            column_order=("Trait", "Encoder", "Verdict", *bakeoff.COLUMNS[2:-1]),
            column_config={
                "AUROC": st.column_config.TextColumn(help="0.5 is chance, 1 is perfect. Out-of-fold."),
                "Difference": st.column_config.TextColumn(help="AUROC minus that of the current encoder."),
                "Verdict": st.column_config.TextColumn(
                    help="Better or worse only if the 95 % interval of the difference excludes 0."
                ),
            },
        )
    for trait in report.traits:
        if trait.why_not:
            st.caption(f"**{plain(trait.name)}**: {plain(trait.why_not)}")
    speeds = pd.DataFrame(
        [
            (each.name, round(each.ms_per_text, 2), round(each.megabytes, 1), each.encoder.id)
            for each in report.candidates
        ],
        columns=["Encoder", "ms a text", "Megabytes", "Id"],
    )
    only_our_csv("versions.encoders.speeds")
    st.dataframe(speeds, hide_index=True, width="stretch", key="versions.encoders.speeds")
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(
            f"Fitted at effort {report.effort} with the same samples and folds. A difference that is not proven does "
            "not mean that the encoders are equal.",
            width="stretch",
        )
        if rows:
            download_table(table, key="versions.encoders", file_name=file_name)
