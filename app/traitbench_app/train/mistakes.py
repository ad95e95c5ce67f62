"""The mistakes of a version: samples that a fit without them puts on the wrong side, worst first, decided by keys.

The samples of a trained model are frozen. Decisions are kept in the session and carried over into a draft.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.text import count, plain
from traitbench.local.held_out_scores import HeldOutScore, HeldOutScores
from traitbench_app.parts.improve import can_improve, forks_of, free_name
from traitbench_app.parts.sample_table import ROW_HEIGHT, table_height
from traitbench_app.parts.scored_samples import draw_text, find, pole_in_words, side_in_words, table_of
from traitbench_app.parts.trait_figures import pick_trait
from traitbench_app.parts.version_figures import label, names_of
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client, guarded
from traitbench_app.workspace.carrying import Decision, carried
from traitbench_app.workspace.changes import remember, save
from traitbench_app.workspace.samples import all_samples, forget_samples

_STATE = "train.mistakes"
_DONE: Mapping[Decision, str] = {"keep": "kept", "flip": "flipped", "delete": "deleted"}


@dataclass(frozen=True)
class _Review:
    """The decisions by key of a text, in their order, the texts that were skipped, and the text that was selected."""

    decisions: Mapping[str, Decision]
    skipped: tuple[str, ...] = ()
    selected: str | None = None

    def next(self, mistakes: Sequence[HeldOutScore]) -> HeldOutScore | None:
        """The text to decide: the selected one, else the worst that is open; skipped ones come last."""
        if chosen := next((each for each in mistakes if each.key == self.selected), None):
            return chosen
        left = [each for each in mistakes if each.key not in self.decisions]
        return min(left, key=lambda each: self.skipped.count(each.key), default=None)


def draw_mistakes(model: Model, version: Version, traits: Sequence[Trait]) -> None:
    """Draw the mistakes of one trait after the other, and the way to apply the decisions."""
    scores = find(model, version, traits)
    if scores is None:
        return
    wrong = _worst_trait_first(scores)
    if not wrong:
        checked = sum(map(len, scores.by_trait.values()))
        st.success(
            f"No mistakes: all {count(checked, 'sample')} are on the side of their label.", icon=":material/check:"
        )
        return
    names = names_of(traits)
    key = pick_trait({each: names[each] for each in wrong})
    trait = next(each for each in traits if each.key == key)
    if key in scores.changed:
        st.caption(
            f":material/info: The samples of {plain(trait.name)} changed since {label(version)} was trained, so this "
            "list may differ from its figures."
        )

    @st.fragment
    def review() -> None:
        with guarded():
            _draw_review(model, version, trait, wrong[key])
            _draw_next_trait(_review(model, version), list(wrong), wrong, key, names)
            _draw_applying(model, version, traits, wrong)

    review()


def _worst_trait_first(scores: HeldOutScores) -> dict[str, list[HeldOutScore]]:
    """The mistakes by trait key, the trait with the largest share of them first."""
    wrong = {key: scores.wrong(key) for key in scores.by_trait}
    keys = sorted(wrong, key=lambda key: -len(wrong[key]) / max(len(scores.by_trait[key]), 1))
    return {key: wrong[key] for key in keys if wrong[key]}


# ---- one text --------------------------------------------------------------------------------------------------------


def _draw_review(model: Model, version: Version, trait: Trait, mistakes: Sequence[HeldOutScore]) -> None:
    state = _review(model, version)
    place = state.next(mistakes)
    with st.container(border=True, key="train.mistake"):
        if place is None:
            done = [state.decisions[each.key] for each in mistakes]
            said = ", ".join(f"{done.count(each):,} {_DONE[each]}" for each in _DONE if each in done)
            st.markdown(
                f":material/check_circle: **All {len(mistakes):,} mistakes of {plain(trait.name)} decided:** {said}."
            )
        else:
            at = mistakes.index(place) + 1
            st.markdown(
                f"**{at:,} of {len(mistakes):,}.** Labelled **{pole_in_words(place.positive, trait)}**, scored "
                f"**{place.points}**: {side_in_words(place, trait)}."
                + (f" :gray[{_where(place)}]" if _where(place) else "")
            )
            draw_text(model, version, trait, place)
        _draw_keys(model, version, trait, place)
    _draw_list(model, version, trait, mistakes, state)


def _draw_keys(model: Model, version: Version, trait: Trait, place: HeldOutScore | None) -> None:
    """Draw the buttons: the arrow of the label's own pole keeps it, the other one flips it."""
    state, may = _review(model, version), can_improve(model)
    with st.container(horizontal=True, vertical_alignment="center", key="train.mistake_keys"):
        if place is not None and may:
            for positive, arrow in ((False, "Left"), (True, "Right")):
                decision: Decision = "keep" if positive is place.positive else "flip"
                word = "Keep" if decision == "keep" else "Flip to"
                st.button(
                    f"{word} {pole_in_words(positive, trait)}",
                    key=f"train.mistake.{decision}",
                    shortcut=arrow,
                    on_click=_decide,
                    args=(model, version, place.key, decision),
                )
            st.button(
                "Delete",
                icon=":material/delete:",
                key="train.mistake.delete",
                shortcut="D",
                on_click=_decide,
                args=(model, version, place.key, "delete"),
            )
            st.button(
                "Skip",
                key="train.mistake.skip",
                type="tertiary",
                shortcut="Down",
                on_click=_skip,
                args=(model, version, place.key),
            )
        if state.decisions:
            st.button(
                "Undo",
                icon=":material/undo:",
                key="train.mistake.undo",
                type="tertiary",
                shortcut="U",
                on_click=_undo,
                args=(model, version),
            )


def _draw_list(model: Model, version: Version, trait: Trait, mistakes: Sequence[HeldOutScore], state: _Review) -> None:
    table = table_of(mistakes, trait)
    made = [state.decisions.get(each.key) for each in mistakes]
    table.insert(0, "Decision", [_DONE[each] if each else "" for each in made])
    grid = f"train.mistakes.list:{trait.key}:{len(state.decisions)}:{len(state.skipped)}"
    event = st.dataframe(
        table,
        hide_index=True,
        width="stretch",
        height=table_height(len(table), most=8),
        row_height=ROW_HEIGHT,
        on_select="rerun",
        selection_mode="single-row",
        key=grid,
        alt="Samples on the wrong side, worst first",
        column_config={
            "Decision": st.column_config.TextColumn(width=90),
            "Text": st.column_config.TextColumn(width="large"),
            "Score": st.column_config.NumberColumn(width=70, help="From a fit that did not use this sample."),
        },
    )
    rows = event.selection.rows if event else []
    if rows and rows[0] < len(mistakes) and mistakes[rows[0]].key != state.selected:
        _store(model, version, replace(state, selected=mistakes[rows[0]].key))
        st.rerun(scope="fragment")


def _draw_next_trait(
    state: _Review, keys: Sequence[str], wrong: Mapping[str, Sequence[HeldOutScore]], key: str, names: Mapping[str, str]
) -> None:
    """Offer the next trait with open mistakes once those of this one are decided."""
    open_ones = [each for each in keys if any(one.key not in state.decisions for one in wrong[each])]
    if open_ones and key not in open_ones:
        following = open_ones[0]
        go_on = st.button(
            f"Continue with {plain(names[following])}",
            icon=":material/arrow_forward:",
            key="train.next_trait",
            on_click=session.put,
            args=({"trait": following},),
        )
        if go_on:
            st.rerun()


def _where(scored: HeldOutScore) -> str:
    parts = ["Test sample." if scored.first.held_out else ""]
    if len(scored.samples) > 1:
        parts.append(f"{len(scored.samples)} samples have this text.")
    return " ".join(part for part in parts if part)


# ---- applying --------------------------------------------------------------------------------------------------------


def _draw_applying(
    model: Model, version: Version, traits: Sequence[Trait], wrong: Mapping[str, Sequence[HeldOutScore]]
) -> None:
    """Draw the button that carries the decisions over into a draft."""
    if not can_improve(model):
        return
    state = _review(model, version)
    every = {each.key: each for mistakes in wrong.values() for each in mistakes}
    decisions = {
        sample.id: decision
        for key, decision in state.decisions.items()
        if decision != "keep" and key in every
        for sample in every[key].samples
    }
    st.markdown(
        f"The samples of {label(version)} are frozen. Your changes go into a draft of {plain(model.handle)}, which you "
        "then train and compare."
    )
    drafts = [each for each in forks_of(model) if each.state in ("draft", "failed")]
    with st.container(horizontal=True, vertical_alignment="center"):
        changes = f" with {count(len(decisions), 'change')}" if decisions else ""
        if st.button(
            f"Improve this model{changes}",
            type="primary",
            icon=":material/upgrade:",
            disabled=not decisions,
            help=None if decisions else "Flip or delete a sample first.",
            key="train.apply",
        ):
            _apply(model, version, traits, decisions, None)
        for draft in drafts[:2] if decisions else ():
            if st.button(f"Add to {plain(draft.handle)}", icon=":material/add:", key=f"train.apply:{draft.handle}"):
                _apply(model, version, traits, decisions, draft)
    if state.decisions:
        st.caption("Decisions are kept in this browser tab until you apply them.")


def _apply(
    model: Model, version: Version, traits: Sequence[Trait], decisions: Mapping[int, Decision], draft: Model | None
) -> None:
    """Carry the decisions over into the draft, or into a new one, and open it."""
    samples = all_samples(model.handle, traits)
    with st.spinner("Carrying the changes over", show_time=True), attempt() as applying:
        if draft is None:
            namespace, _, name = model.handle.partition(".")
            draft = client().models.fork(model.handle, f"{namespace}.{free_name(namespace, name)}")
        there = list(client().samples.list(draft.handle))
        changes, lost = carried(decisions, samples, there)
        undo = save(draft.handle, there, changes, progress=lambda _done, _of: None, whole=True)
    if not applying.done or draft is None:
        return
    forget_samples()
    remember(undo)
    session.store(_address(model, version), None)
    missing = f" {count(lost, 'sample is', 'samples are')} no longer in the draft." if lost else ""
    session.flash(f"{plain(draft.handle)} has {count(len(changes), 'change')}. Train it and compare.{missing}")
    session.next_model(draft.handle)
    st.rerun()


# ---- state -----------------------------------------------------------------------------------------------------------


def _address(model: Model, version: Version) -> str:
    return f"{_STATE}:{model.handle}:{version.version_no}"


def _review(model: Model, version: Version) -> _Review:
    held = session.get(_address(model, version))
    return held if isinstance(held, _Review) else _Review({})


def _store(model: Model, version: Version, state: _Review) -> None:
    session.store(_address(model, version), state)


def _decide(model: Model, version: Version, key: str, decision: Decision) -> None:
    """A button callback."""
    state = _review(model, version)
    others = {each: made for each, made in state.decisions.items() if each != key}
    _store(model, version, _Review({**others, key: decision}, state.skipped))


def _skip(model: Model, version: Version, key: str) -> None:
    """A button callback."""
    state = _review(model, version)
    _store(model, version, _Review(state.decisions, (*state.skipped, key)))


def _undo(model: Model, version: Version) -> None:
    """Take the last decision back and show its text again. A button callback."""
    state = _review(model, version)
    *kept, last = state.decisions
    _store(model, version, _Review({each: state.decisions[each] for each in kept}, state.skipped, last))
