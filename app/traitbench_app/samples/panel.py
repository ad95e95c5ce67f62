"""The picked sample: its text as a field, its label on keys, its score, its uses, its history, what is like it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Literal

import streamlit as st

from traitbench.as_read import is_blank
from traitbench.contract.models import Model
from traitbench.contract.sample_changes import ChangedSample, SampleChange
from traitbench.contract.samples import LONGEST_GROUP, LONGEST_NOTE, LONGEST_TEXT, Sample
from traitbench.contract.scores import Confidence, TraitScore
from traitbench.contract.traits import Trait
from traitbench.display.pictures import bar
from traitbench.display.sides import UNCLEAR
from traitbench.display.text import ago, count, plain, shortened
from traitbench.errors import TraitbenchError
from traitbench.names import pin
from traitbench_app.parts.reasons import draw_highlighted, reasons_of
from traitbench_app.parts.scorer import PageScorer, scorer_of
from traitbench_app.parts.version_figures import label
from traitbench_app.samples.editing import change, pick_sample, problem_of, remove
from traitbench_app.samples.unseen import ScoresOfSamples
from traitbench_app.samples.words import excerpt, label_words
from traitbench_app.shell import session
from traitbench_app.shell.service import client, own_name

_LIKE, _LONG, _MOST_HISTORY, _WORD = 2, 1_500, 6, 24
_HOW = {"high": "clearly", "moderate": "probably"}
_OF_GROUP = "Texts that belong together are not independent. No figure divides them."
_ADDED = {"authored": "Added", "score_feedback": "Added as a correction", "synthesized": "Synthesized"}


@dataclass(frozen=True)
class PickedSample:
    """The sample of the panel: its place among those listed, its trait, and the samples around it."""

    model: Model
    traits: Sequence[Trait]
    sample: Sample
    at: int
    of: int
    before: int | None
    after: int | None
    scores: ScoresOfSamples
    copies: int | None = None
    in_group: int | None = None
    editable: bool = True

    @property
    def trait(self) -> Trait:
        """The trait of the sample."""
        return next(each for each in self.traits if each.key == self.sample.trait)


def draw_panel(picked: PickedSample) -> None:
    """Draw the panel."""
    sample = picked.sample
    with st.container(border=True, key="card.sample_panel", gap="small"):
        _draw_place(picked)
        _draw_text(picked)
        _draw_keys(picked)
        _draw_score(picked)
        _draw_uses(picked)
        with st.container(key="samples.history", gap=None):
            st.html(f"<h3>History</h3>{_history(picked)}")
        _draw_alike(picked)
        with st.container(horizontal=True, horizontal_alignment="distribute", key="samples.panel_end"):
            unseen = picked.scores.of(sample)
            if unseen is not None and picked.scores.version is not None:
                why = st.toggle(f"Why {unseen.points}?", key=f"samples.why:{sample.id}", persist_state="page")
            else:
                why = False
            if picked.editable:
                st.button("Delete", type="tertiary", key="samples.delete", on_click=_delete, args=(picked,))
        if why and picked.scores.version is not None:
            scorer = PageScorer(pin(picked.scores.handle, label(picked.scores.version)))
            draw_highlighted(scorer, picked.trait.key, sample.text)


def _draw_place(picked: PickedSample) -> None:
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key="samples.place"
    ):
        st.caption(f"{picked.at:,} of {picked.of:,}", width="content")
        with st.container(horizontal=True, width="content", gap="xsmall"):
            for name, sign, other in (
                ("Previous", "arrow_upward", picked.before),
                ("Next", "arrow_downward", picked.after),
            ):
                st.button(
                    "",
                    icon=f":material/{sign}:",
                    key=f"samples.{name.lower()}",
                    help=f"{name} sample",
                    disabled=other is None,
                    on_click=pick_sample,
                    args=(other,),
                )
            st.button("", icon=":material/close:", key="samples.close_panel", help="Close")


def _set(key: str, value: object) -> None:
    """Set a widget to what is stored. Set to what it has, it would forget what is being typed."""
    if st.session_state.get(key) != value:
        st.session_state[key] = value


# ---- the text --------------------------------------------------------------------------------------------------------


def _draw_text(picked: PickedSample) -> None:
    sample, problem = picked.sample, problem_of(picked.sample.id)
    key = f"samples.text:{picked.model.handle}:{sample.id}"
    typed = problem.fields.get("text") if problem else None
    # Set to what is stored, which an undo or another person may have changed; not while an edit of it is not saved.
    _set(key, sample.text if typed is None else typed)
    with st.container(key="samples-text", gap="xsmall"):
        st.text_area(
            "Text of the sample",
            key=key,
            height="content" if len(sample.text) < _LONG else 320,
            max_chars=LONGEST_TEXT,
            label_visibility="collapsed",
            disabled=not picked.editable,
            on_change=_save_text,
            args=(picked, key),
            persist_state="page",
        )
        if problem:
            st.markdown(f":small[:red[:material/error: {plain(problem.why)}]]")
            st.button("Try again", key="samples.try_again", on_click=_try_again, args=(picked,))
        else:
            st.html(
                '<p class="until">Ctrl Enter or a click elsewhere saves. Until then it is only in this tab.</p>',
            )


def _save_text(picked: PickedSample, key: str) -> None:
    text = str(st.session_state[key])
    if is_blank(text):
        session.flash("A sample needs a text. Delete it instead.", "problem")
    elif text != picked.sample.text:
        change(picked.model, picked.sample, f"{excerpt(text)} has a new text{_in_draft(picked)}", text=text)


def _try_again(picked: PickedSample) -> None:
    problem = problem_of(picked.sample.id)
    if problem is not None:
        change(
            picked.model, picked.sample, f"{excerpt(picked.sample.text)} is saved{_in_draft(picked)}", **problem.fields
        )


def _in_draft(picked: PickedSample) -> str:
    """`, in your draft. v3 scores as before until you train.`"""
    scores = picked.scores
    if picked.scores.version is None or (picked.model.state != "ready" and scores.handle == picked.model.handle):
        return "."
    return f", in your draft. {label(scores.version)} scores as before until you train." if scores.version else "."


# ---- the label -------------------------------------------------------------------------------------------------------


def _draw_keys(picked: PickedSample) -> None:
    trait, sample = picked.trait, picked.sample
    with st.container(horizontal=True, gap="xsmall", key="samples-keys"):
        for number, (quality, word, side) in enumerate(
            ((0.0, trait.negative_label, "left"), (1.0, trait.positive_label, "right"), (0.5, "neither", "none")), 1
        ):
            is_on = label_words(trait, sample.quality).side == ("" if side == "none" else side)
            with st.container(
                key=f"samples-key-{side}{'-on' if is_on else ''}", width="stretch" if side != "none" else "content"
            ):
                st.button(
                    plain(shortened(word, _WORD)),
                    shortcut=str(number),
                    key=f"samples.label.{number}",
                    disabled=not picked.editable,
                    width="stretch",
                    on_click=_label,
                    args=(picked, quality),
                )
    if picked.editable:
        _draw_graded(picked)


def _draw_graded(picked: PickedSample) -> None:
    """Draw the label as a grade between the poles."""
    quality, key = picked.sample.quality, f"samples.grade:{picked.model.handle}:{picked.sample.id}"
    words = plain(str(label_words(picked.trait, quality)))
    name = "Between the two" if quality in (0.0, 0.5, 1.0) else f"{words} ({quality:g})"
    _set(key, quality)
    with st.popover(name, type="tertiary", key="samples.graded"):
        st.slider(
            f"From 0, {plain(picked.trait.negative_label)}, to 1, {plain(picked.trait.positive_label)}",
            0.0,
            1.0,
            step=0.05,
            key=key,
            on_change=_grade,
            args=(picked, key),
            persist_state="page",
        )


def _grade(picked: PickedSample, key: str) -> None:
    _label(picked, round(float(st.session_state[key]), 2))


def _label(picked: PickedSample, quality: float) -> None:
    if quality == picked.sample.quality:
        return
    word = plain(str(label_words(picked.trait, quality)))
    change(
        picked.model, picked.sample, f"{excerpt(picked.sample.text)} is {word} now{_in_draft(picked)}", quality=quality
    )


def _draw_score(picked: PickedSample) -> None:
    """Draw the score by a model that had not seen the text or, for a text that no model knew, by the version in use."""
    unseen, trait = picked.scores.of(picked.sample), picked.trait
    if unseen is not None:
        sureness = picked.scores.sureness(trait.key, unseen.points)
        _draw_bar(trait, unseen.points, sureness, "Scored unseen:")
    elif (score := _score_now(picked)) is not None and picked.scores.version is not None:
        _draw_bar(trait, score.score, score.confidence, f"As it is now, by {label(picked.scores.version)}:")


def _score_now(picked: PickedSample) -> TraitScore | None:
    """The score of a text that was changed or added in a draft; None if there is no version that can score it."""
    version = picked.scores.version
    if version is None or picked.scores.not_known is not None:
        return None
    try:
        [card] = scorer_of(picked.scores.handle, version).cards([picked.sample.text])
    except TraitbenchError:
        return None
    return card.detail.get(picked.trait.key)


def _draw_bar(trait: Trait, points: int, sureness: Confidence, said: str) -> None:
    side = trait.positive_label if points > 50 else trait.negative_label
    words = UNCLEAR if sureness == "low" or points == 50 else f"{_HOW[sureness]} {side}"
    colour = "none" if words == UNCLEAR else "right" if points > 50 else "left"
    line = f'<span>{escape(said)}</span><span class="{colour}">{escape(words)}</span><b>{points}</b>'
    ends = "".join(
        f'<bdi class="{where}">{escape(word)}</bdi>'
        for where, word in (("left", trait.negative_label), ("right", trait.positive_label))
    )
    drawn = bar(points, sureness, negative=trait.negative_label, positive=trait.positive_label, words=words)
    st.html(f'<div class="unseen"><div class="line">{line}</div>{drawn}<div class="ends">{ends}</div></div>')


# ---- what it is for --------------------------------------------------------------------------------------------------


def _draw_uses(picked: PickedSample) -> None:
    sample, key = picked.sample, f"{picked.model.handle}:{picked.sample.id}"
    for_key, must_key, trait_key = (f"samples.{name}:{key}" for name in ("for", "must", "trait"))
    _set(for_key, "Only testing" if sample.held_out else "Teaching")
    _set(must_key, sample.must_pass)
    _set(trait_key, sample.trait)
    with st.container(key="samples-uses", gap="small"):
        st.segmented_control(
            "For",
            ["Teaching", "Only testing"],
            required=True,
            key=for_key,
            disabled=not picked.editable,
            help="What only tests is never learned, and every version is checked on it.",
            on_change=_set_use,
            args=(picked, for_key),
            persist_state="page",
        )
        if sample.held_out:
            st.toggle(
                "Never get wrong",
                key=must_key,
                disabled=not picked.editable,
                help="A version that puts it on the other side is worse, however good it is else.",
                on_change=_set_must,
                args=(picked, must_key),
                persist_state="page",
            )
        names = {each.key: each.name for each in picked.traits if each.kind == "extrinsic" or each.key == sample.trait}
        if len(names) > 1:
            st.selectbox(
                "Trait",
                list(names),
                format_func=lambda each: names.get(each, each),
                key=trait_key,
                disabled=not picked.editable,
                on_change=_set_trait,
                args=(picked, trait_key),
                persist_state="page",
            )
        _draw_words(picked, "group", LONGEST_GROUP, "Its conversation, author or document", _OF_GROUP)
        if sample.group and picked.in_group:
            st.caption(f"With {count(picked.in_group, 'other')} in this group.")
        _draw_words(picked, "note", LONGEST_NOTE, "Why this label", "For people. Training and scoring ignore it.")


def _draw_words(picked: PickedSample, field: Literal["group", "note"], most: int, hint: str, tip: str) -> None:
    key = f"samples.{field}:{picked.model.handle}:{picked.sample.id}"
    problem = problem_of(picked.sample.id)
    typed = problem.fields.get(field) if problem else None
    _set(key, (getattr(picked.sample, field) or "") if typed is None else typed)
    st.text_input(
        field.capitalize(),
        key=key,
        max_chars=most,
        placeholder=hint,
        help=tip,
        disabled=not picked.editable,
        on_change=_save_words,
        args=(picked, field, key),
        persist_state="page",
    )


def _set_use(picked: PickedSample, key: str) -> None:
    held_out = st.session_state[key] == "Only testing"
    does = "only tests now" if held_out else "teaches now"
    change(picked.model, picked.sample, f"{excerpt(picked.sample.text)} {does}{_in_draft(picked)}", held_out=held_out)


def _set_must(picked: PickedSample, key: str) -> None:
    must = bool(st.session_state[key])
    does = "must never be wrong" if must else "may be wrong"
    change(picked.model, picked.sample, f"{excerpt(picked.sample.text)} {does}{_in_draft(picked)}", must_pass=must)


def _set_trait(picked: PickedSample, key: str) -> None:
    trait = next(each for each in picked.traits if each.key == st.session_state[key])
    said = f"{excerpt(picked.sample.text)} is about {plain(trait.name)} now{_in_draft(picked)}"
    change(picked.model, picked.sample, said, trait=trait.key)


def _save_words(picked: PickedSample, field: Literal["group", "note"], key: str) -> None:
    words = str(st.session_state[key] or "").strip()
    if words != (getattr(picked.sample, field) or ""):
        did = {"group": f"is in the group {plain(words)}", "note": "has a note"}[field] if words else f"has no {field}"
        change(picked.model, picked.sample, f"{excerpt(picked.sample.text)} {did}{_in_draft(picked)}", **{field: words})


def _delete(picked: PickedSample) -> None:
    following = picked.after if picked.after is not None else picked.before
    remove(picked.model, picked.sample, f"{excerpt(picked.sample.text)} is deleted{_in_draft(picked)}")
    pick_sample(following)


# ---- history, and what is like it ------------------------------------------------------------------------------------


def _history(picked: PickedSample) -> str:
    """Who changed what when, as HTML, the newest first."""
    try:
        changes = list(client().samples.changes(picked.model.handle, sample_id=picked.sample.id, limit=_MOST_HISTORY))
    except TraitbenchError:
        changes = []
    lines = [
        (_said(each, one, picked.traits), each.at) for each in changes[:_MOST_HISTORY] for one in each.samples
        if one.sample_id == picked.sample.id
    ]  # fmt: skip
    if not any(one.kind == "add" for each in changes for one in each.samples):
        lines.append((_ADDED[picked.sample.provenance], picked.sample.created_at))
    rows = "".join(f"<span>{said}</span><span>{escape(_when(at))}</span>" for said, at in lines)
    return f'<div class="hist">{rows}</div>'


def _when(at: datetime) -> str:
    return ago(at)


def _said(change: SampleChange, one: ChangedSample, traits: Sequence[Trait]) -> str:
    """What a change did to a sample, as HTML: `Ana changed warm to cold`, `You added it as warm`."""
    who = "You" if change.by == own_name() else escape(change.by or "The service")
    undid = " (undo)" if change.undoes is not None else " (undone)" if change.undone else ""
    words = {each.key: each for each in traits}
    before, after = (_coloured(words.get(one.trait), each) for each in (one.quality_before, one.quality_after))
    if one.kind == "add":
        return f"{who} added it as {after}{undid}"
    if one.kind == "delete":
        return f"{who} deleted it{undid}"
    did = []
    if "quality" in one.changed:
        did.append(f"changed {before} to {after}")
    did += [_FIELDS[each] for each in one.changed if each in _FIELDS]
    return f"{who} {' and '.join(did) or 'changed it'}{undid}"


_FIELDS: Mapping[str, str] = {
    "text": "changed the text",
    "trait": "moved it to another trait",
    "held_out": "changed what it is for",
    "must_pass": "changed whether it must never be wrong",
    "group": "changed the group",
    "note": "changed the note",
}


def _coloured(trait: Trait | None, quality: float | None) -> str:
    if trait is None or quality is None:
        return ""
    words = label_words(trait, quality)
    return f'<span class="{words.side}">{escape(str(words))}</span>'


def _draw_alike(picked: PickedSample) -> None:
    """Draw the samples that are most like the text, and whether it has copies."""
    copies = ""
    if picked.copies is not None:
        copies = f"{count(picked.copies, 'copy', 'copies')} of it." if picked.copies else "No copy of it."
    version, sample = picked.scores.version, picked.sample
    near: list[tuple[str, str]] = []
    if version is not None and len(sample.text) < _LONG:
        try:
            reasons = reasons_of(PageScorer(pin(picked.scores.handle, label(version))), sample.text)
        except TraitbenchError:
            reasons = {}
        own = reasons.get(picked.trait.key)
        if own is not None and own.nearest is not None:
            every = sorted([*own.nearest.positive, *own.nearest.negative], key=lambda each: -each.similarity)
            others = [each for each in every if each.text and each.text.strip() != sample.text.strip()]
            near = [(_coloured(picked.trait, each.quality), each.text or "") for each in others[:_LIKE]]
    rows = "".join(f"<b>{words}</b><span>{escape(shortened(text, 160))}</span>" for words, text in near)
    title = "<h3>Most like it</h3>" if near else ""
    with st.container(key="samples.alike", gap=None):
        st.html(f'{title}<div class="like">{rows}</div><p class="m3">{copies}</p>')
