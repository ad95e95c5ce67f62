"""Teach the text on screen with one key: its bar moves at once, and the text can be kept for a model.

Until then, nothing is stored. A model that the person may not change, such as a demo, gets a copy that is their own.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.samples import LONGEST_TEXT, SampleInput
from traitbench.contract.scores import Card, TraitScore
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.colours import SIDES
from traitbench.display.sides import lean_of
from traitbench.display.text import plain
from traitbench.errors import ModelNotFound, TraitbenchError, Unreachable
from traitbench.local.preview import PreviewUnavailable
from traitbench.local.version import LocalVersion
from traitbench_app.parts.card import ScoreRow
from traitbench_app.parts.feedback import learned, send
from traitbench_app.parts.model_actions import copy_as_draft, free_name
from traitbench_app.parts.scorer import PageScorer
from traitbench_app.parts.teaching import Taught, Teacher, teach, texts_taught, undo
from traitbench_app.shell import session
from traitbench_app.shell.navigation import model_link
from traitbench_app.shell.permission import why_nowhere, why_read_only
from traitbench_app.shell.service import attempt, client, namespaces

_ADDED, _CANNOT, _DEMO = "taught.added", "taught.cannot", "demo"


@dataclass(frozen=True)
class TeachableText:
    """A text that can be taught on a trait. After that: where it was put, its score then, and what gave that score.

    `field` is the key of the text.
    """

    model: Model
    trait: Trait
    field: str
    text: str
    before: TraitScore
    taught: Taught | None = None
    after: TraitScore | None = None
    scorer: PageScorer | None = None

    def change(self, key: str, row: ScoreRow) -> ScoreRow:
        """The bar of a trait, changed if the text was taught on this trait."""
        if self.taught is None or self.after is None or key != self.trait.key:
            return row
        look, pole = SIDES[self.taught.positive], row.positive if self.taught.positive else row.negative
        is_sure = self.after.confidence != "low"
        return replace(
            row,
            score=self.after.score,
            words=f"taught as {pole}",
            note="",
            sign=look.sign,
            colour=look.words,
            fill=SIDES[self.after.score > 50].colour,
            sure=self.after.confidence if is_sure else "leans",
            was=self.before.score,
        )


def teachable_text(
    model: Model, traits: Sequence[Trait], by: Version | LocalVersion, key: str, card: Card, *, field: str
) -> TeachableText | None:
    """The text in a field, to teach on a trait, by its card.

    None unless the text leans to a side, and the trait can be fitted here at once. What another version than the one in
    use learned from is not known here.
    """
    text = session.get(field, "")
    trait = next(each for each in traits if each.key == key)
    before = card.detail[key]
    is_current = isinstance(by, LocalVersion) or by.version_no == model.version_no
    leans = lean_of(before, positive_label=trait.positive_label, negative_label=trait.negative_label)
    if not leans or not is_current or not text.strip() or session.get(f"{_CANNOT}:{model.handle}"):
        return None
    teacher = Teacher.of(model, traits, by)
    taught = next((each for each in texts_taught(model.handle) if (each.trait, each.text) == (key, text)), None)
    try:
        if not teacher.can_teach(key):
            return None
        teacher.prepare(key)
        if taught is None:
            return TeachableText(model, trait, field, text, before)
        with st.spinner("Learning from this text"):
            scorer = teacher.scorer(key, [taught])
            return TeachableText(model, trait, field, text, before, taught, scorer.cards([text])[0].detail[key], scorer)
    except Unreachable:
        return None
    except (TraitbenchError, PreviewUnavailable):
        # This key may not read the samples, or the encoder is not here.
        session.store(f"{_CANNOT}:{model.handle}", True)
        return None


def draw_teaching(teachable: TeachableText, *, key: str) -> None:
    """Draw the two keys that teach the text; once one was pressed, what changed and the offer to keep the text."""
    if teachable.after is None:
        _draw_keys(teachable, key=key)
    elif added := session.get(_added_key(teachable)):
        _draw_added(teachable, added, key=key)
    else:
        _draw_offer(teachable, teachable.after, key=key)


def _draw_keys(teachable: TeachableText, *, key: str) -> None:
    poles = (teachable.trait.negative_label, teachable.trait.positive_label)
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key=f"{key}.two_keys"
    ):
        for positive, pole in enumerate(poles):
            if positive:
                st.caption("You know better? One key teaches it.", width="content")
            st.button(
                f"It is :{SIDES[bool(positive)].badge}[**{plain(pole)}**]",
                key=f"{key}.teach.{positive}",
                shortcut=str(positive + 1),
                on_click=_teach,
                args=(teachable, bool(positive)),
            )


def _teach(teachable: TeachableText, positive: bool) -> None:
    """Teach what is in the field now, which may be newer than the page. A callback."""
    text = session.get(teachable.field, "")
    teach(teachable.model.handle, Taught(teachable.trait.key, text, positive), alone=True)


def _draw_offer(teachable: TeachableText, after: TraitScore, *, key: str) -> None:
    reason = _why_not_kept(teachable)
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}.offer"):
        with st.container(gap=None):
            offer = "" if reason else " Keep this text for your model?"
            st.markdown(f"**Was {teachable.before.score}, now {after.score}.{offer}**")
            st.caption(reason or _where(teachable.model))
        st.button("Undo", key=f"{key}.undo", shortcut="Z", on_click=undo, args=(teachable.model.handle,))
        is_kept = not reason and st.button("Keep it", type="primary", key=f"{key}.keep")
    if is_kept:
        with st.spinner("Keeping the text"), attempt() as keeping:
            session.store(_added_key(teachable), _keep(teachable))
        if keeping.done:
            st.rerun()


def _why_not_kept(teachable: TeachableText) -> str:
    """Why the text cannot be kept, as Markdown; empty if it can."""
    if teachable.model.zero_data_retention:
        return "Nothing is stored: zero data retention is on for this model."
    if len(teachable.text) > LONGEST_TEXT:
        return f"Nothing is stored: a sample has at most {LONGEST_TEXT:,} characters."
    return "" if _is_own(teachable.model) else why_nowhere(_own_namespaces()) or ""


def _where(model: Model) -> str:
    name = plain(model.handle)
    if not _is_own(model):
        return f"It goes into a copy of {name} that is yours. Nothing is stored until then."
    what = "a correction" if model.state == "ready" else "a sample"
    return f"It becomes {what} of {name}. Nothing is stored until then."


def _is_own(model: Model) -> bool:
    return model.handle.partition(".")[0] != _DEMO and not why_read_only(model)


def _own_namespaces() -> list[str]:
    return [each for each in namespaces() if each != _DEMO]


@dataclass(frozen=True)
class AddedText:
    """A text that was kept: its model, and its samples there, which can be removed again."""

    handle: str
    samples: tuple[int, ...]
    words: str


def _added_key(teachable: TeachableText) -> str:
    """The key of what is known of the text."""
    taught = repr((teachable.model.handle, teachable.taught)).encode("utf-8", "surrogatepass")
    return f"{_ADDED}:{hashlib.sha256(taught).hexdigest()}"


def _keep(teachable: TeachableText) -> AddedText:
    """Add the text to the model, or to the person's copy of it; raise the service's errors."""
    model = teachable.model if _is_own(teachable.model) else _copy_of(teachable.model)
    quality = 1.0 if teachable.taught and teachable.taught.positive else 0.0
    name = plain(model.handle)
    if model.state == "ready":
        sent = send(model, model.handle, teachable.text, [(teachable.trait, quality)])
        return AddedText(model.handle, sent.samples, f"Kept as a correction of **{name}**. {learned(model.retrain)}")
    sample = SampleInput(trait=teachable.trait.key, text=teachable.text, quality=quality)
    ids = client().samples.add(model.handle, [sample])
    words = f"Kept as a sample of **{name}**." + ("" if model is teachable.model else " Train it to use it.")
    return AddedText(model.handle, tuple(ids), words)


def _copy_of(model: Model) -> Model:
    """The person's own copy of a model, made now unless there is one with the same traits."""
    namespace, name = _own_namespaces()[0], model.handle.partition(".")[2]
    try:
        own = client().models.get(f"{namespace}.{name}")
        if own.state != "archived" and _poles(own.handle) == _poles(model.handle):
            return own
    except ModelNotFound:
        pass
    return copy_as_draft(model.handle, f"{namespace}.{free_name(namespace, name, end='')}")


def _poles(handle: str) -> set[tuple[str, str, str]]:
    return {(each.key, each.negative_label, each.positive_label) for each in client().traits.list(handle)}


def _draw_added(teachable: TeachableText, added: AddedText, *, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}.kept"):
        st.markdown(f":material/check: {added.words}")
        if added.handle != teachable.model.handle:
            model_link("train", "Open it", model=added.handle)
        if st.button("Undo", icon=":material/undo:", type="tertiary", key=f"{key}.unkeep"):
            with attempt() as undoing:
                client().samples.delete_many(added.handle, added.samples)
            if undoing.done:
                session.store(_added_key(teachable), None)
                session.flash("The text was removed again.")
                st.rerun()
