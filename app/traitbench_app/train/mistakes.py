"""The mistakes of a version, worst first: each with its label, what the model says, and a button for either answer.

The samples of a trained model are frozen. Decisions are kept in the session and carried over into a draft.
"""

from collections.abc import Mapping, Sequence

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.moved import STYLE, moved
from traitbench.display.text import count, plain, shortened
from traitbench.local.unseen import UnseenScore
from traitbench_app.parts.advice import wrong_in
from traitbench_app.parts.controls import page_of, question
from traitbench_app.parts.model_actions import can_improve, forks_of, free_name
from traitbench_app.parts.runs import MISTAKES
from traitbench_app.parts.scored_samples import NotKnown, draw_not_known, draw_text, of, texts_of
from traitbench_app.parts.strips import may_review
from traitbench_app.parts.version_figures import label, names_of
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client, guarded
from traitbench_app.workspace.changes import Decision, carried, remember, save
from traitbench_app.workspace.samples import all_samples, forget_samples

Mistake = tuple[UnseenScore, Trait]

_STATE = "train.mistakes"
_DONE: Mapping[Decision, str] = {"keep": "kept", "flip": "changed", "delete": "deleted"}
_FIRST, _PAGE = 5, 20


def draw_first_mistakes(model: Model, version: Version, traits: Sequence[Trait]) -> None:
    """Draw the worst mistakes on the page of the result, and the button that shows all; nothing without mistakes."""
    if not may_review(model) or not any(map(wrong_in, version.metrics.traits.values())):
        return

    @st.fragment
    def review() -> None:
        with guarded(), question("Its mistakes, worst first", key="train.mistakes"):
            listed = _mistakes(model, version, traits)
            if listed is None:
                return
            mistakes, left_out = listed
            _draw_rows(model, version, traits, _open(model, version, mistakes)[:_FIRST])
            every = "the worst" if left_out else "all"
            if len(mistakes) > _FIRST and st.button(
                f"Review {every} {len(mistakes):,}", icon=":material/rule:", shortcut="M", key="train.to_mistakes",
                on_click=session.put, args=({"show": MISTAKES},),
            ):  # fmt: skip
                st.rerun()
            _draw_decided(model, version, traits, mistakes)

    review()


def draw_all_mistakes(model: Model, version: Version, traits: Sequence[Trait]) -> None:
    """Draw all mistakes, or those of one trait, with the highlights of the first."""
    listed = _mistakes(model, version, traits)
    if listed is None:
        return
    mistakes, left_out = listed
    if not mistakes:
        st.success("No mistakes: every sample is on the side of its label.", icon=":material/check:")
        return
    names = {key: name for key, name in names_of(traits).items() if any(each.key == key for _, each in mistakes)}
    chosen = None
    if len(names) > 1:
        chosen = st.pills(
            "Trait", list(names), format_func=lambda key: names.get(key, key), key="trait", bind="query-params",
            label_visibility="collapsed",
        )  # fmt: skip

    @st.fragment
    def review() -> None:
        with guarded(), st.container(border=True, key="train.mistakes.all"):
            left = [each for each in _open(model, version, mistakes) if chosen in (None, each[1].key)]
            others = f" {count(left_out, 'other sample')} on the wrong side come after these." if left_out else ""
            st.markdown(f"**{count(len(left), 'mistake')} to review**, worst first.{others}")
            slot = st.container()
            page = page_of(left, _PAGE, key=f"train.mistakes.page:{chosen}")
            with slot:
                _draw_rows(model, version, traits, page, is_whole=True)
            _draw_decided(model, version, traits, mistakes)

    review()


def _mistakes(model: Model, version: Version, traits: Sequence[Trait]) -> tuple[list[Mistake], int] | None:
    """Return the mistakes, worst first, and how many samples are left out of them, as there are very many.

    If they cannot be had, say why and return None.
    """
    rows = of(model, version)
    if isinstance(rows, NotKnown):
        draw_not_known(model, version, rows)
        return None
    by_key = {trait.key: trait for trait in traits}
    listed = texts_of(model, version, (row for row in rows.values() if row.right is False and row.trait in by_key))
    return [(each, by_key[each.axis.key]) for each in listed.scores], listed.left_out


def _open(model: Model, version: Version, mistakes: Sequence[Mistake]) -> list[Mistake]:
    decided = _decisions(model, version)
    return [mistake for mistake in mistakes if mistake[0].key not in decided]


def _draw_rows(
    model: Model, version: Version, traits: Sequence[Trait], mistakes: Sequence[Mistake], *, is_whole: bool = False
) -> None:
    """Draw a row for each mistake; keys decide the first, which is highlighted if the texts are shown whole."""
    st.html(STYLE)
    for at, (scored, trait) in enumerate(mistakes):
        what, buttons = st.columns([2.5 if is_whole else 3.2, 1], vertical_alignment="center")
        with what:
            st.html(_in_html(scored, trait, names_of(traits)[trait.key] if len(traits) > 1 else ""))
            if is_whole and at == 0:
                draw_text(model, version, trait, scored)
        if not can_improve(model):
            continue
        with buttons, st.container(horizontal=True, horizontal_alignment="right"):
            choices: list[tuple[Decision, str, str]] = [("keep", "Keep", "K"), ("flip", "Change label", "X")]
            other = plain(_pole(trait, not scored.positive))
            for decision, word, key in [*choices, *([("delete", "Delete", "D")] if is_whole else [])]:
                st.button(
                    word,
                    key=f"train.mistake.{decision}:{scored.key}",
                    type="tertiary" if decision == "delete" else "secondary",
                    shortcut=key if at == 0 else None,
                    help=f"The label becomes {other}." if decision == "flip" else None,
                    on_click=_decide,
                    args=(model, version, scored.key, decision),
                )


def _in_html(scored: UnseenScore, trait: Trait, name: str) -> str:
    notes = ["a test sample"] if scored.first.held_out else []
    notes += [f"{len(scored.samples)} samples"] if len(scored.samples) > 1 else []
    about = ", ".join(filter(None, (name, *notes, "labelled")))
    poles = (trait.negative_label, trait.positive_label)
    sure = scored.score.confidence
    pole = shortened(_pole(trait, scored.positive), 40)
    return moved(scored.first.text, about, pole, scored.positive, poles, [(scored.points, sure)])


def _pole(trait: Trait, positive: bool) -> str:
    return trait.positive_label if positive else trait.negative_label


# ---- decisions -------------------------------------------------------------------------------------------------------


def _draw_decided(model: Model, version: Version, traits: Sequence[Trait], mistakes: Sequence[Mistake]) -> None:
    """Draw what was decided, a way back, and the button that carries the changes over into a draft."""
    made = _decisions(model, version)
    if not made or not can_improve(model):
        return
    scores = {scored.key: scored for scored, _ in mistakes}
    decisions = {
        sample.id: decision
        for key, decision in made.items()
        if decision != "keep" and key in scores
        for sample in scores[key].samples
    }
    done = [*made.values()]
    said = ", ".join(f"{done.count(each):,} {word}" for each, word in _DONE.items() if each in done)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{said.capitalize()}.**", width="content")
        st.button(
            "Undo", icon=":material/undo:", key="train.mistake.undo", type="tertiary", shortcut="Z",
            on_click=_undo, args=(model, version),
        )  # fmt: skip
        if decisions:
            if st.button(
                f"Make a draft with {count(len(decisions), 'change')}",
                type="primary",
                icon=":material/upgrade:",
                help=f"The samples of {label(version)} stay as they are. Train the draft, and compare the two.",
                key="train.apply",
            ):
                _apply(model, version, traits, decisions, None)
            for draft in [each for each in forks_of(model) if each.state in ("draft", "failed")][:2]:
                if st.button(f"Add to {plain(draft.handle)}", icon=":material/add:", key=f"train.apply:{draft.handle}"):
                    _apply(model, version, traits, decisions, draft)
    if not decisions:
        st.caption("Nothing changes: these labels are right, so the texts are hard.")


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
        # The samples of a draft have other ids.
        changes, lost = carried(decisions, samples, there)
        undo = save(draft.handle, there, changes, progress=lambda _done, _of: None)
    if not applying.done or draft is None:
        return
    forget_samples()
    remember(undo)
    session.store(_address(model, version), None)
    lost += len(undo.missing)
    missing = f" {count(lost, 'sample is', 'samples are')} no longer in the draft." if lost else ""
    session.flash(f"{plain(draft.handle)} has {count(len(changes), 'change')}. Train it and compare.{missing}")
    session.next_model(draft.handle)
    st.rerun()


def _address(model: Model, version: Version) -> str:
    return f"{_STATE}:{model.handle}:{version.version_no}"


def _decisions(model: Model, version: Version) -> Mapping[str, Decision]:
    """The decisions by the key of a text, in their order."""
    return session.get(_address(model, version)) or {}


def _decide(model: Model, version: Version, key: str, decision: Decision) -> None:
    """A button callback."""
    session.store(_address(model, version), {**_decisions(model, version), key: decision})


def _undo(model: Model, version: Version) -> None:
    """Take the last decision back. A button callback."""
    session.store(_address(model, version), dict([*_decisions(model, version).items()][:-1]))
