"""Compare installed encoders on the model's samples. Only installed encoders are offered: a page never reads a folder
that somebody names.
"""

from collections.abc import Sequence
from functools import partial
from threading import Lock

import pandas as pd
import streamlit as st

from traitbench.comparison import encoders
from traitbench.comparison.encoders import EncoderCandidate, EncoderComparison, Encoders, EncodersNotComparable, Inputs
from traitbench.contract.models import Model, TrainEffort
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.text import count, plain
from traitbench.local.training import effort_of
from traitbench.settings import read_settings
from traitbench_app.parts.chart import download_table
from traitbench_app.parts.controls import ask, asked, confirm
from traitbench_app.parts.runs import watch, why_no_search
from traitbench_app.shell import session
from traitbench_app.shell.service import client, namespaces
from traitbench_app.workspace.samples import all_samples

MOST = 2_000
"""The newest samples are compared here; the command line takes more."""

_EFFORT: TrainEffort = "medium"
_REPORT = "versions.encoders.report"
_SWITCH = "versions.encoders.switch"
_BYTES_OF_A_NUMBER = 4

_one_at_a_time = Lock()
"""Of all sessions, one compares at a time: a comparison takes about as long as several trainings."""


def draw_encoders(model: Model, traits: Sequence[Trait], active: Version) -> None:
    """Draw the choice of encoders and the last comparison, or why there can be none; the progress of a run."""
    if model.state == "busy":
        watch(model, traits)
        return
    try:
        given = _inputs(model, traits)
        settings = read_settings()
        able = encoders.installed(settings.encoder, cache=settings.cache, version=active)
    except EncodersNotComparable as reason:
        st.info(plain(str(reason)), icon=":material/info:")
        return
    current, *others = able
    with st.form("versions.encoders", border=False):
        chosen = st.pills(
            f"Compare {plain(current)}, the current encoder, with",
            others,
            selection_mode="multi",
            default=[name for name in (encoders.BEST,) if name in others],
            key="versions.encoders.others",
            persist_state="page",
        )
        asked = st.form_submit_button("Compare encoders", type="primary", icon=":material/compare_arrows:")
    left_out = f" {count(given.left_out, 'older sample')} left out." if given.left_out else ""
    st.caption(
        f"Reads {count(len(given.texts), 'text')} in this workbench and stores nothing.{left_out} "
        "The command `traitbench encoder compare` also takes folders."
    )
    if note := encoders.other_encoder(active, able[current]):
        st.caption(plain(note))
    if asked and not chosen:
        st.warning("Choose at least one encoder.", icon=":material/info:")
    elif asked:
        _compare(model, given, {name: able[name] for name in (current, *chosen)})
    report = session.get(_REPORT)
    if report is not None and report[0] == _identity(model, given):
        _draw(report[1], file_name=f"{model.handle}-encoders")
        _draw_switch(model, active, given, report[1])


def _inputs(model: Model, traits: Sequence[Trait]) -> Inputs:
    if model.zero_data_retention:
        return encoders.inputs(model, traits, [])
    if model.handle.split(".")[0] not in namespaces():
        raise EncodersNotComparable(
            "Only owners of the model's namespace can read its samples, on which encoders are compared."
        )
    return encoders.inputs(model, traits, all_samples(model.handle, traits), most=MOST)


def _compare(model: Model, given: Inputs, chosen: Encoders) -> None:
    if not _one_at_a_time.acquire(blocking=False):
        st.warning("Another comparison is running. Try again when it has ended.", icon=":material/hourglass_top:")
        return
    slot = st.empty()

    def progress(done: int, total: int) -> None:
        slot.progress(done / total, text=f"Comparing: {done / total:.0%}")

    try:
        with st.spinner("Comparing encoders", show_time=True):
            candidates: list[EncoderCandidate] = [
                encoders.timed(name, encoder, list(given.texts.values())) for name, encoder in chosen.items()
            ]
            report = encoders.compare_encoders(
                candidates,
                given,
                effort=_EFFORT,
                cache=read_settings().cache,
                on_progress=progress,
            )
    finally:
        _one_at_a_time.release()
        slot.empty()
    session.store(_REPORT, (_identity(model, given), report))


def _identity(model: Model, given: Inputs) -> tuple[object, ...]:
    """What a comparison depends on besides its encoders."""
    samples = tuple((sample.id, sample.trait, sample.quality, sample.content_sha256) for sample in given.samples)
    # The hash is enough, because a report stays in the session that made it.
    return model.handle, model.version_no, hash(samples)


def _draw(report: EncoderComparison, *, file_name: str) -> None:
    st.markdown(plain(encoders.sentence(report)))
    rows = encoders.rows(report)
    if rows:
        names = {trait.key: trait.name for trait in report.traits}
        table = pd.DataFrame([(names[row[0]], *row[1:]) for row in rows], columns=list(encoders.COLUMNS))
        st.dataframe(
            table,
            hide_index=True,
            width="stretch",
            key="versions.encoders.figures",
            # On a narrow screen, only the first columns are visible.
            column_order=("Trait", "Encoder", "Verdict", *encoders.COLUMNS[2:-1]),
            column_config={
                "AUROC": st.column_config.TextColumn(help="0.5 is chance, 1 is perfect, on samples not seen."),
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
    st.dataframe(speeds, hide_index=True, width="stretch", key="versions.encoders.speeds")
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(
            "Trained with the same samples and folds. No difference shown does not mean that the encoders are equal.",
            width="stretch",
        )
        if rows:
            download_table(table, key="versions.encoders", file_name=file_name)


def _draw_switch(model: Model, active: Version, given: Inputs, report: EncoderComparison) -> None:
    """Draw a button for each encoder that the model can be trained with next, and the question before it is."""
    if model.state != "ready" or why_no_search(model) or not any(trait.figures for trait in report.traits):
        return
    others = report.candidates[1:]
    with st.container(horizontal=True):
        for each in others:
            st.button(
                "Switch to this encoder" if len(others) == 1 else f"Switch to {each.name}",
                icon=":material/swap_horiz:",
                key=f"versions.encoders.switch.{each.name}",
                help=f"Trains a new version with {each.name}, after a confirmation.",
                on_click=ask,
                args=(_SWITCH, each.name),
            )
    asked_for = next((each for each in others if each.name == asked(_SWITCH)), None)
    if asked_for is not None:
        confirm(
            _SWITCH,
            title=f"Switch to {asked_for.name}?",
            body="\n\n".join(map(plain, _price(model, given, report, asked_for))),
            yes=f"Train with {asked_for.name}",
            no=f"Keep {report.candidates[0].name}",
            icon=":material/model_training:",
            act=partial(_switch, model, active, asked_for.name),
        )


def _price(model: Model, given: Inputs, report: EncoderComparison, to: EncoderCandidate) -> tuple[str, ...]:
    """What a switch costs, in paragraphs."""
    first = report.candidates[0]
    texts = len(given.texts) + given.left_out
    vectors = texts * to.encoder.dimension * _BYTES_OF_A_NUMBER / 1e6
    return (
        f"{encoders.verdict_on(report, to.name)} The service encodes {count(texts, 'text')} with {to.name} and learns "
        f"every trait again. The result is a new version, which is in use at once. "
        f"v{model.version_no} keeps its encoder, and you can put it in use again.",
        f"A text then takes {to.ms_per_text:.2f} ms instead of {first.ms_per_text:.2f} ms. The service stores "
        f"{vectors:.1f} MB of new vectors and keeps both encoders in memory (model files: {to.megabytes:.0f} MB and "
        f"{first.megabytes:.0f} MB). Later trainings keep {to.name}.",
    )


def _switch(model: Model, active: Version, name: str) -> None:
    client().models.train(
        model.handle,
        effort=effort_of(active.metrics.effort),
        reoptimize_params=True,
        use_labels=active.metrics.use_labels is not False,
        encoder=name,
    )
    session.flash(f"A new version of {plain(model.handle)} is being trained with {name}.")
