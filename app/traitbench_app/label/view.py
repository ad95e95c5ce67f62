"""The desk: the labeller, what it says about the next text, and the figures, redrawn without the rest of the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from traitbench.analysis.active_learning import Order
from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain, shortened
from traitbench.local import preview
from traitbench.local.assistant import Assistant, Wanted, assistant_of
from traitbench.local.labeller import BATCH, Answer, Handled, LabelItem, PoleSign
from traitbench.local.preview import PreviewUnavailable, Rehearsal
from traitbench_app.label import saving
from traitbench_app.label.figures import draw_figures
from traitbench_app.label.order import Next, Work, upcoming
from traitbench_app.label.saving import Conflict, Outcome
from traitbench_app.parts.labeller import answers_of, labeller
from traitbench_app.shell import people, session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import active_version, attempt, client, explain, guarded, version
from traitbench_app.workspace import pool
from traitbench_app.workspace.samples import all_samples, forget_samples

KEY = "label.labeller"
LEFT = "label.left"
"""The session key that says that the person left the desk."""

# Random is the default, because chosen texts are harder than others and make the held-out figures look worse. On five
# real sets the informative order needed 0.67 times as many labels: 0.50 on the best set, 0.97 on the worst.
QUEUES: Mapping[Order, str] = {
    "random": "Random",
    "informative": "Most informative",
    "top": "Highest score first",
    "bottom": "Lowest score first",
}
"""The names of the orders, the default first."""

_HANDLED, _OUTCOME, _PACE, _SAMPLES = "label.handled", "label.outcome", "label.pace", "label.samples"
# Streamlit fades what a run has not drawn yet; here a run never replaces the text that is being read.
_NEVER_FADED = "<style>.st-key-label-desk [data-stale] { opacity: 1 !important; transition: none !important; }</style>"
_LOOKS_AGAIN_S = 2.0
_PACED, _LONG_PAUSE_S = 20, 60.0
_MOST_CHARACTERS = 300_000
_EXCERPT = 160


@dataclass(frozen=True)
class View:
    """What is chosen: the traits to label (all, or one), the order, and whether scores are hidden."""

    traits: Sequence[Trait]
    every: Sequence[Trait]
    order: Order
    blind: bool


def assistant(handle: str) -> Assistant:
    """Return the assistant of this person for a model."""
    return assistant_of(client().base_url, handle, people.current().id)


@st.fragment(run_every=_LOOKS_AGAIN_S)
def draw_desk(model: Model, view: View) -> None:
    """Draw the labeller and the figures; look again every two seconds for new scores and figures."""
    with guarded():
        _draw(model, view)


def _draw(model: Model, view: View) -> None:
    now = client().models.get(model.handle)
    if now.state != model.state or now.version_no != model.version_no:
        st.rerun()
    if session.get(LEFT):
        st.rerun()
    outcome = _outcome(now)
    work = work_of(now, view)
    helper = assistant(model.handle)
    items = _limited(upcoming(helper, work, view.order, BATCH))
    scorer, scored_by = _scorer(now)
    texts = list({each.text.hash: each.text for each in items}.values())
    helper.ask(work.texts, Wanted(now, view.every, _training(work), texts, scorer, scored_by, hints=not view.blind))
    last = next((each for each in reversed(work.decisions) if each.trait in {t.key for t in view.traits}), None)
    st.html(_NEVER_FADED)
    with st.container(key="label.desk"):
        labeller(
            [_item(helper, each, every=len(view.traits) > 1) for each in items],
            key=KEY,
            run=f"{model.handle} {'+'.join(t.key for t in view.traits)} {view.order}",
            done=work.done,
            total=work.total,
            saved=work.saved,
            handled=session.get(_HANDLED, {}),
            on_answers=partial(_take, now, view),
            blind=view.blind,
            last=saving.item_id(last.hash, last.trait) if last else None,
            keep="" if now.zero_data_retention else f"traitbench.labeller.{model.handle}",
            notice=_notice(outcome, work),
            empty=_finished(work),
            scorer="Score now" if now.version_no is not None else "The draft says",
        )
    if outcome.error:
        with st.container(horizontal=True, vertical_alignment="center", key="label.failed"):
            st.caption(explain(outcome.error), width="stretch")
            st.button("Save again", icon=":material/refresh:", key="label.again", on_click=_save, args=(now,))
    _draw_conflicts(now, outcome.conflicts)
    if not items:
        _draw_ways_on(now, view, work)
    trait = items[0].trait if items else view.traits[0]
    draw_figures(now, helper, trait, work.samples, pace=_pace(), is_one_of_many=len(view.every) > 1)


# ---- what there is ---------------------------------------------------------------------------------------------------


def look_afresh() -> None:
    """Read the samples again in this run of the page."""
    session.store(_SAMPLES, None)


def work_of(model: Model, view: View) -> Work:
    """Return the heap with its decisions and samples; samples are read again after every save."""
    held = session.get(_SAMPLES)
    if held is None or held[0] != model.handle:
        held = (model.handle, all_samples(model.handle, client().traits.list(model.handle)))
        session.store(_SAMPLES, held)
    return Work(pool.texts(model.handle), view.traits, pool.decisions(model), held[1])


def _training(work: Work) -> list[Sample]:
    return [each for each in work.samples if not each.held_out]


def _scorer(model: Model) -> tuple[Rehearsal | None, str]:
    """Return the active version as what scores the next texts; nothing for a draft, which its own refit scores."""
    listed = active_version(model)
    if listed is None:
        return None, ""
    try:
        return preview.version_of(version(model.handle, listed)), listed.param_hash
    except PreviewUnavailable:
        return None, ""


def _limited(items: Sequence[Next]) -> list[Next]:
    """Return the first items, with not too many characters to send to a browser at once, but at least two."""
    size, result = 0, list[Next]()
    for each in items:
        size += len(each.text.text)
        if size > _MOST_CHARACTERS and len(result) > 1:
            break
        result.append(each)
    return result


def _item(helper: Assistant, each: Next, *, every: bool) -> LabelItem:
    trait = each.trait
    hint = helper.hints_of(each.text).get(trait.key)
    return LabelItem(
        each.id,
        each.text.text,
        trait.name,
        PoleSign.negative(trait.negative_label),
        PoleSign.positive(trait.positive_label),
        score=hint.score if hint else None,
        highlights=hint.highlights if hint else (),
    )


# ---- answers ---------------------------------------------------------------------------------------------------------


def _take(model: Model, view: View) -> None:
    """Store what the browser sent, then save it. The callback of the labeller."""
    sent = answers_of(KEY)
    handled: Handled = session.get(_HANDLED, {})
    new = sent.new(handled)
    taken = saving.take(model, new)
    session.store(_HANDLED, sent.handled(handled))
    _note_pace(new)
    _save(model, taken)
    if taken.left:
        session.store(LEFT, True)


def _save(model: Model, taken: Outcome | None = None) -> None:
    """Send what is not saved. Also a button's callback."""
    outcome = saving.save(model, {each.hash: each.text for each in pool.texts(model.handle)})
    if taken is not None and taken.error and not outcome.error:
        outcome = replace(outcome, error=taken.error)
    session.store(_OUTCOME, (model.handle, outcome))
    session.store(_SAMPLES, None)


def _outcome(model: Model) -> Outcome:
    """Return what became of the last answers. At first, send those that an earlier session could not save."""
    held: tuple[str, Outcome] | None = session.get(_OUTCOME)
    if held is None or held[0] != model.handle:
        _save(model)
        held = session.get(_OUTCOME)
    return held[1] if held else Outcome()


def _note_pace(new: Sequence[Answer]) -> None:
    seconds = [each.seconds for each in new if each.action in ("label", "skip")]
    session.store(_PACE, (*session.get(_PACE, ()), *seconds)[-_PACED:])


def _pace() -> float:
    """Return the decisions per minute lately; 0 until there are a few. Long pauses do not count."""
    seconds = [each for each in session.get(_PACE, ()) if each < _LONG_PAUSE_S]
    return 60 * len(seconds) / max(sum(seconds), 0.1) if len(seconds) >= _PACED // 4 else 0.0


# ---- what is said ----------------------------------------------------------------------------------------------------


def _notice(outcome: Outcome, work: Work) -> str:
    pending = sum(each.pending for each in work.decisions) - len(outcome.conflicts)
    if outcome.error and pending > 0:
        return f"{count(pending, 'label is', 'labels are')} not saved yet. They are kept here and sent again."
    if outcome.error:
        return "The last undo failed: the label is still saved."
    return ""


def _finished(work: Work) -> str:
    skipped = len(work.skipped())
    return "All texts are labelled." if not skipped else f"All texts are labelled, except {skipped:,} that you skipped."


def _draw_conflicts(model: Model, conflicts: Sequence[Conflict]) -> None:
    """Draw the texts that somebody labelled differently meanwhile, with both ways out."""
    if not conflicts:
        return
    names = {trait.key: trait for trait in client().traits.list(model.handle)}
    texts = {each.hash: each.text for each in pool.texts(model.handle)}
    with st.container(border=True, key="label.conflicts"):
        st.markdown(
            f"**Someone else labelled {count(len(conflicts), 'text')} differently.** Choose which label to keep; yours "
            f"{'is' if len(conflicts) == 1 else 'are'} not saved yet."
        )
        for each in conflicts[:5]:
            trait, own = names.get(each.decision.trait), each.decision
            st.caption(f"“{plain(shortened(texts.get(own.hash, ''), _EXCERPT))}”")
            with st.container(horizontal=True, vertical_alignment="center"):
                place = f"label.conflict.{own.hash[:16]}.{own.trait}"
                theirs = f"Keep theirs: {_label(trait, each.sample.quality)}"
                st.button(theirs, key=f"{place}.theirs", on_click=_keep_theirs, args=(model, each))
                if model.version_no is None or each.sample.pending:
                    mine = f"Use mine: {_label(trait, own.quality)}"
                    st.button(mine, key=f"{place}.mine", on_click=_use_mine, args=(model, each, texts))


def _label(trait: Trait | None, quality: float | None) -> str:
    if trait is not None and quality in (0.0, 1.0):
        return plain(trait.positive_label if quality else trait.negative_label)
    return f"{quality:g}" if quality is not None else "skipped"


def _keep_theirs(model: Model, conflict: Conflict) -> None:
    saving.keep_theirs(model, conflict)
    _save(model)


def _use_mine(model: Model, conflict: Conflict, texts: Mapping[str, str]) -> None:
    with attempt() as using:
        saving.use_mine(model, conflict, texts)
    if using.done:
        forget_samples()
        _save(model)


def _draw_ways_on(model: Model, view: View, work: Work) -> None:
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
        following = next((each for each in view.every if each not in view.traits and _is_open(work, each)), None)
        if following is not None:
            st.button(
                f"Label for {plain(following.name)}",
                type="primary",
                icon=":material/arrow_forward:",
                key="label.following",
                on_click=session.put,
                args=({"trait": following.key},),
            )
        page_link("train", "Train the model") if model.version_no is None else page_link("samples", "View samples")


def _is_open(work: Work, trait: Trait) -> bool:
    """Whether texts have no label for the trait yet."""
    closed = work.closed(trait)
    return any(text.hash not in closed for text in work.texts)


def show_skipped(model: Model, work: Work) -> None:
    """Bring the skipped texts back. A button's callback."""
    for each in work.skipped():
        pool.undo(model, each)
