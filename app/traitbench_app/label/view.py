"""The label view: the labeller, what is next, and how good the labels are, redrawn without the rest of the page."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from traitbench.analysis.active_learning import Order
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain, shortened
from traitbench.errors import SampleChanged
from traitbench.local import preview
from traitbench.local.draft_learner import draft_learner, judge_of
from traitbench.local.label_session import Judge, LabelSession
from traitbench.local.labeller import LabelAnswer
from traitbench.local.preview import PreviewUnavailable
from traitbench_app.label import saving
from traitbench_app.label.figures import draw_figures, step_for
from traitbench_app.label.saving import LabelConflict, SaveOutcome
from traitbench_app.label.work import PoolWork
from traitbench_app.parts.controls import draw_title
from traitbench_app.parts.labeller import hear, labeller
from traitbench_app.parts.next_step import NextStep, facts_of
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import active_version, attempt, client, explain, guarded, version
from traitbench_app.workspace import pool
from traitbench_app.workspace.samples import all_samples, forget_samples

KEY = "label.labeller"
LEFT = "label.left"
"""The session key that says that the person left the label view."""

# Random is the default, because chosen texts are harder than others and make the held-out figures look worse. On five
# real sets the informative order needed 0.67 times as many labels: 0.50 on the best set, 0.97 on the worst.
QUEUES: Mapping[Order, str] = {
    "random": "Random",
    "informative": "Most informative",
    "top": "Highest scores first",
    "bottom": "Lowest scores first",
}
"""The names of the orders, the default first."""

_OUTCOME, _SAMPLES = "label.outcome", "label.samples"
# Streamlit fades what a run has not drawn yet; here a run never replaces the text that is being read.
_NEVER_FADED = "<style>.st-key-label-view [data-stale] { opacity: 1 !important; transition: none !important; }</style>"
_LOOKS_AGAIN_S, _WORKS_ON_S = 2.0, 60.0
_EXCERPT = 160


@dataclass(frozen=True)
class View:
    """What is chosen: the traits to label (all, or one), the order, and whether scores are hidden."""

    traits: Sequence[Trait]
    every: Sequence[Trait]
    order: Order
    blind: bool


@st.fragment(run_every=_LOOKS_AGAIN_S)
def draw_view(model: Model, view: View) -> None:
    """Draw the labeller and the figures; look again every two seconds for new scores and figures."""
    with guarded():
        _draw(model, view)


def next_of(view: View, model: Model) -> NextStep:
    """Return what is next: what the labels need, as long as it is not yet good enough to train."""
    traits = client().traits.list(model.handle)
    labels, facts = pool.session_of(model.handle), facts_of(model, traits)
    chosen = {each.key for each in view.traits}
    return step_for(facts, labels, [each for each in traits if each.key in chosen], view.order)


def _draw(model: Model, view: View) -> None:
    now = client().models.get(model.handle)
    if now.state != model.state or now.version_no != model.version_no:
        st.rerun()
    if session.get(LEFT):
        st.rerun()
    outcome = _outcome(now)
    work = work_of(now, view)
    labels = pool.session_of(model.handle)
    learner = draft_learner(now, view.every, work.training, _judge(now))
    st.html(_NEVER_FADED)
    with labels.lock, st.container(key="label.view"):
        labels.update(work.labelled(view.order, learner, hints=not view.blind))
        # Scores are computed ahead only while somebody looks: a closed tab does not say that it is closed.
        labels.until = time.monotonic() + _WORKS_ON_S
        labels.rank()
        items = labels.upcoming(1)
        labeller(
            labels,
            key=KEY,
            run=f"{model.handle} {'+'.join(t.key for t in view.traits)} {view.order}",
            on_answers=partial(_take, now),
            saved=work.saved,
            keep="" if now.zero_data_retention else f"traitbench.labeller.{model.handle}",
            notice=_notice(outcome),
            empty=_finished(work),
            scorer="Score now" if now.version_no is not None else "The draft says",
        )
    labels.work()
    if outcome.error:
        with st.container(horizontal=True, vertical_alignment="center", key="label.failed"):
            st.caption(explain(outcome.error), width="stretch")
            st.button("Save again", icon=":material/refresh:", key="label.again", on_click=_resend, args=(now,))
    _draw_conflicts(now, outcome.conflicts)
    if not items:
        _draw_ways_on(now, view, work, labels)
    trait = next((each for each in view.traits if items and items[0].endswith(f":{each.key}")), view.traits[0])
    draw_figures(now, labels, trait, work, is_one_of_many=len(view.every) > 1)


def draw_summary(model: Model, view: View) -> None:
    """Draw what was labelled, what is left, and the ways on, after the person left the label view."""
    work = work_of(model, view)
    labels = LabelSession(work.labelled())
    left = labels.total - labels.done
    unsaved = _outcome(model).unsaved
    with st.container(border=True, key="label.summary"):
        draw_title(f"{count(work.saved, 'label')} saved, {left:,} to go", is_first=False)
        if unsaved:
            st.warning(f"{count(unsaved, 'answer is', 'answers are')} not saved yet. Continue to send them again.")
        for trait in view.traits:
            negative, positive = work.balance(trait)
            st.markdown(
                f"**{plain(trait.name)}**: {negative:,} {plain(trait.negative_label)}, {positive:,} "
                f"{plain(trait.positive_label)}"
            )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Continue labelling",
                type="primary",
                icon=":material/play_arrow:",
                key="label.continue",
                on_click=session.store,
                args=(LEFT, None),
            )
            if model.version_no is None:
                page_link("train", "Train the model")
            page_link("samples", "View samples")


# ---- what there is ---------------------------------------------------------------------------------------------------


def look_afresh() -> None:
    """Read decisions and samples again in this run of the page."""
    pool.look_afresh()
    session.store(_SAMPLES, None)


def work_of(model: Model, view: View) -> PoolWork:
    """Return the pool with its decisions and samples; samples are read again after every save."""
    stored = session.get(_SAMPLES)
    if stored is None or stored[0] != model.handle:
        stored = (model.handle, all_samples(model.handle, client().traits.list(model.handle)))
        session.store(_SAMPLES, stored)
    return PoolWork(pool.texts(model.handle), view.traits, pool.decisions(model), stored[1])


def _judge(model: Model) -> Judge | None:
    """Return the version in use as what scores the next texts; nothing for a draft, which its own fit scores."""
    listed = active_version(model)
    if listed is None:
        return None
    try:
        return judge_of(preview.version_of(version(model.handle, listed)), listed.param_hash)
    except PreviewUnavailable:
        return None


# ---- answers ---------------------------------------------------------------------------------------------------------


def _take(model: Model, new: Sequence[LabelAnswer]) -> bool:
    """Save what the browser sent; return whether all of it is saved. Else the browser keeps it."""
    taken = saving.take(model, new)
    resent = saving.resend(model)
    _store(model, replace(taken, conflicts=resent.conflicts, error=taken.error or resent.error))
    if taken.left:
        session.store(LEFT, True)
    return not taken.unsaved


def _resend(model: Model) -> None:
    """Send again what was not saved. A button's callback."""
    _store(model, saving.resend(model))
    hear(KEY, partial(_take, model))


def _store(model: Model, outcome: SaveOutcome) -> None:
    session.store(_OUTCOME, (model.handle, outcome))
    session.store(_SAMPLES, None)


def _outcome(model: Model) -> SaveOutcome:
    """Return what became of the last answers. At first, try again what had another label in an earlier session."""
    stored: tuple[str, SaveOutcome] | None = session.get(_OUTCOME)
    if stored is None or stored[0] != model.handle:
        session.store(_OUTCOME, (model.handle, saving.resend(model)))
        stored = session.get(_OUTCOME)
    return stored[1] if stored else SaveOutcome()


# ---- what is said ----------------------------------------------------------------------------------------------------


def _notice(outcome: SaveOutcome) -> str:
    if not outcome.unsaved:
        return ""
    return f"{count(outcome.unsaved, 'answer waits', 'answers wait')} to be saved. They stay in this tab."


def _finished(work: PoolWork) -> str:
    skipped = len(work.skipped())
    return "All texts are labelled." if not skipped else f"All texts are labelled, except {skipped:,} that you skipped."


def _draw_conflicts(model: Model, conflicts: Sequence[LabelConflict]) -> None:
    """Draw the texts that somebody labelled differently meanwhile, with both ways out."""
    if not conflicts:
        return
    names = {trait.key: trait for trait in client().traits.list(model.handle)}
    texts = pool.texts(model.handle)
    with st.container(border=True, key="label.conflicts"):
        st.markdown(
            f"**Someone else labelled {count(len(conflicts), 'text')} differently.** Choose which label is the sample."
        )
        for each in conflicts[:5]:
            trait, own = names.get(each.decision.trait), each.decision
            st.caption(f"“{plain(shortened(texts.get(own.hash, ''), _EXCERPT))}”")
            with st.container(horizontal=True, vertical_alignment="center"):
                prefix = f"label.conflict.{own.hash[:16]}.{own.trait}"
                theirs = f"Keep theirs: {_label(trait, each.sample.quality)}"
                st.button(theirs, key=f"{prefix}.theirs", on_click=_keep_theirs, args=(model, each))
                if model.version_no is None or each.sample.pending:
                    mine = f"Use mine: {_label(trait, own.quality)}"
                    st.button(mine, key=f"{prefix}.mine", on_click=_use_mine, args=(model, each))


def _label(trait: Trait | None, quality: float | None) -> str:
    if trait is not None and quality in (0.0, 1.0):
        return plain(trait.positive_label if quality else trait.negative_label)
    return f"{quality:g}" if quality is not None else "skipped"


def _keep_theirs(model: Model, conflict: LabelConflict) -> None:
    with attempt():
        saving.keep_theirs(model, conflict)
    _store(model, saving.resend(model))


def _use_mine(model: Model, conflict: LabelConflict) -> None:
    with attempt() as using:
        saving.use_mine(model, conflict)
    # If they have changed it again, the choice is shown with their new label.
    if using.done or isinstance(using.error, SampleChanged):
        forget_samples()
        _store(model, saving.resend(model))


def _draw_ways_on(model: Model, view: View, work: PoolWork, labels: LabelSession) -> None:
    """Draw what to do when no text is left."""
    with st.container(horizontal=True, key="label.ways_on"):
        if skipped := work.skipped():
            st.button(
                f"Show {count(len(skipped), 'skipped text')} again",
                icon=":material/replay:",
                key="label.skipped",
                on_click=show_skipped,
                args=(model, work),
            )
        following = next((each for each in view.every if each not in view.traits and labels.is_open(each.key)), None)
        if following is not None and st.button(
            f"Label for {plain(following.name)}",
            type="primary",
            icon=":material/arrow_forward:",
            key="label.following",
            on_click=session.put,
            args=({"trait": following.key},),
        ):
            st.rerun()
        page_link("train", "Train the model") if model.version_no is None else page_link("samples", "View samples")


def show_skipped(model: Model, work: PoolWork) -> None:
    """Bring the skipped texts back. A button's callback."""
    with attempt():
        for each in work.skipped():
            pool.take_back(model, each)
