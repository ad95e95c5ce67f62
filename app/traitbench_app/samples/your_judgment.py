"""What your labels say: how far each rater agrees with you, what a model would lose, and samples for both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from traitbench.analysis.agreement import Item
from traitbench.contract.models import Model
from traitbench.contract.samples import Sample, SampleInput
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain
from traitbench.errors import TraitbenchError
from traitbench.local import raters
from traitbench.local.preview import PreviewUnavailable
from traitbench.local.raters import FEWEST, MOST, Loss, NotMeasurable, Own
from traitbench.tables.agreement import COLUMNS as FIGURES
from traitbench.tables.agreement import Right, lost, rows, sentence, with_yours
from traitbench.tables.rating_files import Ratings, samples_of
from traitbench_app.parts.chart import figures_table
from traitbench_app.samples.editing import add
from traitbench_app.samples.views import go_to
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt

ENOUGH = 10
"""The number of labels of a trait from which the agreement with them is shown."""

_LOSS = "samples.raters.loss"
_SENTENCES, _FEW = 3, 100


def draw_yours(
    ratings: Ratings, judged: Sequence[str], yours: Mapping[Item, float], names: Mapping[str, str], *, file_name: str
) -> None:
    """Draw the agreement of each rater with you, for every trait with enough labels."""
    numbers = {trait: sum(item[0] == trait for item in yours) for trait in ratings.traits}
    ready = [trait for trait, number in numbers.items() if number >= ENOUGH]
    if not ready:
        st.caption(f"After {ENOUGH} labels, this shows how far the raters agree with you.")
        return
    compared = [with_yours(ratings, rater, trait, yours) for trait in ready for rater in judged]
    several = len(ratings.traits) > 1
    # The lowest agreement first; what cannot be measured comes last.
    ordered = sorted(compared, key=lambda pair: 1.0 if pair.agreement.kappa is None else pair.agreement.kappa)
    for pair in ordered[:_SENTENCES]:
        said = sentence(
            pair,
            first=f"The labels in **{plain(pair.first)}**",
            second="yours",
            trait=f" for {plain(names[pair.trait])}" if several else "",
        )
        st.markdown(said)
    if len(compared) > 1:
        figures_table(
            pd.DataFrame(rows(compared, names), columns=list(FIGURES)),
            key="samples.raters.yours",
            file_name=file_name,
            alt="Agreement with you",
        )


# ---- what a model would lose -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _MeasuredRaters:
    """What was measured for each rater, or why it could not be."""

    losses: tuple[Loss, ...]
    failures: Mapping[str, str]
    own: Own | None


def draw_loss(
    model: Model,
    trait: Trait,
    ratings: Ratings,
    judged: Sequence[str],
    yours: Mapping[Item, float],
    *,
    file_name: str,
) -> None:
    """Draw the button that fits a model on each rater's labels, and how often these models are on your side."""
    own = {item: quality for item, quality in yours.items() if item[0] == trait.key}
    if len(own) < ENOUGH:
        return
    st.header("What would a model lose?", anchor=False)
    st.caption(
        "A model is trained here on each rater's labels, without the texts that you labelled. Then it scores your "
        f"texts. At most {MOST:,} labels of each rater are used."
    )
    about = (model.handle, ratings, tuple(judged), trait, tuple(own.items()))
    stored = session.get(_LOSS)
    measured = stored[1] if stored and stored[0] == about else None
    slot = st.empty()
    if measured is None and slot.button(
        "Train and compare", icon=":material/model_training:", key="samples.raters.measure"
    ):
        slot.empty()
        with st.spinner("Training on the labels of each rater", show_time=True):
            measured = _measure(model, trait, ratings, judged, own)
        session.store(_LOSS, (about, measured))
    if measured is not None:
        _draw_measured(measured, file_name=file_name)


def _measure(
    model: Model, trait: Trait, ratings: Ratings, judged: Sequence[str], yours: Mapping[Item, float]
) -> _MeasuredRaters:
    losses, failures, own = [], {}, None
    slot = st.empty()

    def progress(done: int, of: int) -> None:
        slot.progress(done / of, text=f"Reading {done:,} of {count(of, 'text')}")

    for rater in judged:
        try:
            losses.append(raters.loss(model, trait, ratings, rater, yours, progress))
        except (NotMeasurable, PreviewUnavailable, TraitbenchError) as reason:
            failures[rater] = str(reason)
    try:
        own = raters.own(model, trait, ratings, yours)
    except (NotMeasurable, PreviewUnavailable, TraitbenchError) as reason:
        failures["you"] = str(reason)
    slot.empty()
    return _MeasuredRaters(tuple(losses), failures, own)


def _draw_measured(measured: _MeasuredRaters, *, file_name: str) -> None:
    for loss in measured.losses:
        st.markdown(_said(loss))
    for rater, reason in measured.failures.items():
        st.warning(f"**{plain(rater)}** was not measured. {plain(reason)}", icon=":material/info:")
    figures = [*map(_row, measured.losses), *_own_rows(measured.own)]
    if figures:
        figures_table(
            pd.DataFrame(figures),
            key="samples.raters.losses",
            file_name=file_name,
            alt="What a model would lose",
            columns={
                "Rater is on your side": st.column_config.TextColumn(help="With the 95 % interval of the share."),
                "Model is on your side": st.column_config.TextColumn(help="With the 95 % interval of the share."),
                "Left out": st.column_config.NumberColumn(help="Labels of near duplicates of your texts."),
            },
        )
    if measured.own is not None and measured.own.missing:
        st.caption(
            f"To measure a model of your own labels, label {count(measured.own.missing, 'more text')}: it needs "
            f"{FEWEST} at each pole."
        )
    st.caption("Texts that you put in between are not counted, because a score is almost never exactly in the middle.")


def _said(loss: Loss) -> str:
    texts, right = len(loss.model_right), sum(loss.model_right)
    less, low, high = lost(loss.rater_right, loss.model_right)
    said = (
        f"A model of the labels in **{plain(loss.rater)}** is on your side on {right:,} of {count(texts, 'text')}; "
        f"**{plain(loss.rater)}** itself on {sum(loss.rater_right):,}."
    )
    interval = f"95 % interval {_points(low)} to {_points(high)}"
    if low > 0:
        return f"{said} The model loses {less:.0f} points ({interval})."
    if high < 0:
        return f"{said} The model gains {-less:.0f} points (95 % interval {_points(-high)} to {_points(-low)})."
    few = f" {count(texts, 'text')} can show only a large loss." if texts < _FEW else ""
    return f"{said} No loss is proven: {_points(less)} points ({interval}).{few}"


def _points(value: float) -> str:
    # What rounds to nothing has no sign.
    return f"{value:.0f}".replace("-0", "0").replace("-", "−")


def _row(loss: Loss) -> dict[str, object]:
    _, low, high = lost(loss.rater_right, loss.model_right)
    texts = len(loss.model_right)
    return {
        "Rater": loss.rater,
        "Rater is on your side": str(Right(sum(loss.rater_right), texts)),
        "Model is on your side": str(Right(sum(loss.model_right), texts)),
        "Points lost, 95 %": f"{_points(low)} to {_points(high)}",
        "Trained on": loss.trained_on,
        "Left out": loss.near,
    }


def _own_rows(own: Own | None) -> list[dict[str, object]]:
    if own is None or own.right is None:
        return []
    return [
        {
            "Rater": "you, out of fold",
            "Model is on your side": str(Right(own.right, own.texts)),
            "Trained on": own.texts,
        }
    ]


# ---- samples ---------------------------------------------------------------------------------------------------------


def draw_adding(
    model: Model,
    samples: Sequence[Sample],
    ratings: Ratings,
    judged: Sequence[str],
    yours: Mapping[Item, float],
    *,
    can_edit: bool,
) -> None:
    """Draw the button that adds a rater's labels as samples and yours as test samples."""
    st.header("Add the labels as samples", anchor=False)
    if not can_edit:
        st.info("The samples of this model cannot be changed now.", icon=":material/lock:")
        return
    rater = judged[0]
    if len(judged) > 1:
        rater = st.selectbox(
            "Labels to train with", judged, key="samples.raters.chosen", width=240, persist_state="page"
        )
    present = {(sample.trait, sample.content_sha256): sample.held_out for sample in samples}
    labels = sum(item not in yours and item not in present for item in ratings.by_rater[rater])
    tests = sum(item not in present for item in yours)
    st.markdown(_what(rater, labels, tests, labelled=bool(yours)))
    _draw_present(ratings, rater, yours, present)
    if st.button(
        f"Add {count(labels + tests, 'sample')}" if labels + tests else "Add samples",
        type="primary",
        icon=":material/add:",
        disabled=not labels + tests,
        key="samples.raters.add",
    ):
        _add(model, samples_of(ratings, rater, yours, set(present)))


def _what(rater: str, labels: int, tests: int, *, labelled: bool) -> str:
    said = f"{count(labels, 'label')} of **{plain(rater)}** to train with"
    if tests:
        return (
            f"{said}, and {count(tests, 'label')} of yours as test samples: no version is trained with them, and every "
            "version is measured on them."
        )
    return f"{said}." if labelled else f"{said}. Label some texts above first to get test samples."


def _draw_present(ratings: Ratings, rater: str, yours: Mapping[Item, float], present: Mapping[Item, bool]) -> None:
    """Say which labels are left out, because their texts are samples already."""
    trained = sum(item in present and not present[item] for item in yours)
    if trained:
        st.warning(
            f"{count(trained, 'text')} of yours cannot be used as a test, because a sample to train with has the same "
            "text. To change that, delete that sample in the table first.",
            icon=":material/warning:",
        )
    known = sum(item in present for item in {*ratings.by_rater[rater], *yours}) - trained
    if known:
        st.caption(f"{count(known, 'label')} left out: these texts are samples of the trait already.")


def _add(model: Model, adding: Sequence[SampleInput]) -> None:
    with attempt() as addition, st.spinner(f"Adding {count(len(adding), 'sample')}", show_time=True):
        add(model, f"{count(len(adding), 'sample')} added.", adding)
    if addition.done:
        go_to("samples")
        st.rerun()
