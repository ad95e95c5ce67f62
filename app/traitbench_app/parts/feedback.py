"""Feedback on a score: what it should have been, the corrections that wait, and the version that learned them.

The user first chooses values, then confirms them in a dialog, and only then they are sent. Feedback can be undone
until a version has been trained with it. The values belong to the text: a new text starts with none.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import streamlit as st

from traitbench.contract.models import Model, RetrainRule
from traitbench.contract.samples import LONGEST_TEXT, MOST_SAMPLES
from traitbench.contract.scores import Card
from traitbench.contract.traits import Trait
from traitbench.display.colours import NEGATIVE_SIGN, NEUTRAL_SIGN, POSITIVE_SIGN
from traitbench.display.text import count, plain, shortened
from traitbench.names import pin
from traitbench_app.parts.controls import ask, asked, confirm
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import attempt, client, guarded

_FORM, _QUESTION, _SENT = "score.feedback", "score.send", "score.sent"
_LABEL, _QUOTE = 28, 240

Answer = Literal["negative", "between", "positive", "exact"]
_QUALITY: Mapping[str, float] = {"negative": 0.0, "between": 0.5, "positive": 1.0}
_ANSWERS: tuple[Answer, ...] = ("negative", "between", "positive", "exact")


@dataclass(frozen=True)
class SentFeedback:
    """Feedback that was sent: the value of each trait in words, and the request that carried it."""

    summary: str
    request_id: str
    samples: tuple[int, ...]


def why_none(model: Model, text: str) -> str:
    """Why no feedback is possible on this text, in markdown; empty if it is possible."""
    if model.zero_data_retention:
        return "Zero data retention is on for this model, so texts cannot be stored as feedback."
    if len(text) > LONGEST_TEXT:
        return f"The text has {len(text):,} characters. A sample can have at most {LONGEST_TEXT:,} characters."
    return why_read_only(model)


def open_feedback() -> None:
    """Open the rows in which scores are corrected. A callback."""
    session.put({_FORM: True})


def draw_feedback(model: Model, version_no: str, text: str, card: Card, traits: Sequence[Trait]) -> None:
    """Draw a row for each trait of the card and the button to send the values, or the reason why there is none."""
    if reason := why_none(model, text):
        st.caption(f":material/lock: **No feedback possible.** {reason}")
        return
    this = _digest(model.handle, text)
    form = session.round_key(f"{_FORM}:{this}")
    known = [trait for trait in traits if trait.key in card.scores]
    if _FORM not in st.session_state and any(session.get(f"{form}:{trait.key}") for trait in known):
        session.put({_FORM: True})  # what was begun before another page is on screen again
    chosen: dict[str, float] = {}
    label = "Is a score wrong? Say what it should have been."
    # The rows of many traits take as long to draw as the scores, so they are drawn when somebody wants them.
    with st.expander(label, icon=":material/school:", key=_FORM, on_change="rerun") as fold:
        if fold.open:
            st.caption(
                f"The text becomes a sample of each trait that you choose a value for. {learned(model.retrain)} "
                "When you compare two texts, this is about the first."
            )
            picked = {trait.key: _pick_quality(form, trait, card) for trait in known}
            chosen = {key: quality for key, quality in picked.items() if quality is not None}
            _draw_sending(this, len(chosen))
    _draw_sent(model, this)
    if asked(_QUESTION) == this and chosen:
        _confirm(model, version_no, text, card, [(trait, chosen[trait.key]) for trait in known if trait.key in chosen])
    else:
        session.store(_QUESTION, None)


def _pick_quality(form: str, trait: Trait, card: Card) -> float | None:
    """Draw the row of a trait and return the chosen quality, or None while there is none."""
    score = card.scores[trait.key]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key=f"{_FORM}.{trait.key}"):
        given = st.segmented_control(
            f"{plain(shortened(trait.name, _LABEL))} **{score}**",
            _ANSWERS,
            format_func=_labels(trait).__getitem__,
            key=f"{form}:{trait.key}",
            wrap=True,
            persist_state="session",
        )
        if given != "exact":
            return _QUALITY.get(given or "")
        points: int = st.slider(
            f"{plain(trait.name)}, 0 to 100",
            0,
            100,
            score,
            key=f"{form}:{trait.key}:points",
            label_visibility="collapsed",
            width=220,
            persist_state="session",
        )
    return points / 100


def _labels(trait: Trait) -> Mapping[Answer, str]:
    return {
        "negative": f"{NEGATIVE_SIGN} {plain(shortened(trait.negative_label, _LABEL))}",
        "between": f"{NEUTRAL_SIGN} in between",
        "positive": f"{plain(shortened(trait.positive_label, _LABEL))} {POSITIVE_SIGN}",
        "exact": "exactly …",
    }


def _draw_sending(this: str, chosen: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            f"Send feedback on {count(chosen, 'trait')}" if chosen else "Send feedback",
            icon=":material/school:",
            disabled=not chosen,
            key=f"{_FORM}.send",
            on_click=ask,
            args=(_QUESTION, this),
        )
        st.caption(
            "You confirm it first. You can undo it until it is learned."
            if chosen
            else "Choose a value for at least one trait."
        )


def _confirm(model: Model, version_no: str, text: str, card: Card, chosen: Sequence[tuple[Trait, float]]) -> None:
    lines = [f"- {_in_words(trait, quality)} (scored {card.scores[trait.key]})" for trait, quality in chosen]

    def act() -> None:
        sent = send(model, pin(model.handle, version_no), text, chosen)
        session.next_round(f"{_FORM}:{_digest(model.handle, text)}")
        session.flash(f"Sent: {count(len(sent.samples), 'correction')}. {learned(model.retrain)}")

    confirm(
        _QUESTION,
        title="Send this feedback?",
        body=f"> {plain(shortened(text, _QUOTE))}\n\n"
        + "\n".join(lines)
        + f"\n\nThe service stores the text as {count(len(chosen), 'sample')} of **{plain(model.handle)}**. "
        "You can undo it until it is learned.",
        yes="Send feedback",
        no="Not yet",
        icon=":material/school:",
        act=act,
    )


def send(model: Model, pinned: str, text: str, chosen: Sequence[tuple[Trait, float]]) -> SentFeedback:
    """Send feedback on a text as scored by a version, and remember it in this tab; raise the service's errors."""
    answer = client().scores.score(pinned, text, feedback={trait.key: quality for trait, quality in chosen})
    words = "; ".join(_in_words(trait, quality) for trait, quality in chosen)
    sent = SentFeedback(words, answer.metadata.request_id, tuple(answer.metadata.sample_ids))
    key = f"{_SENT}:{_digest(model.handle, text)}"
    session.store(key, (*session.get(key, ()), sent))
    return sent


def _draw_sent(model: Model, this: str) -> None:
    """Draw the feedback that this tab already sent for this text, so that it is not sent twice by mistake.

    What the model has not learned yet can be undone.
    """
    all_sent: tuple[SentFeedback, ...] = session.get(f"{_SENT}:{this}", ())
    if not all_sent:
        return
    ids = [sample_id for sent in all_sent for sample_id in sent.samples][-MOST_SAMPLES:]
    pending = {sample.id for sample in client().samples.list(model.handle, ids=ids, pending=True)}
    for sent in all_sent:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f":material/check: Sent for this text: {sent.summary}. Request `{sent.request_id}`")
            if pending.issuperset(sent.samples) and st.button(
                "Undo",
                icon=":material/undo:",
                type="tertiary",
                key=f"{_FORM}.undo:{sent.request_id}",
                disabled=model.state != "ready",
                help="Delete these samples. This is possible until a version has learned them.",
            ):
                _undo(model, this, sent)
    with st.container(horizontal=True, vertical_alignment="center"):
        page_link("samples", "See what waits")
        hold_switch(model, key=f"{_FORM}.hold")


def _undo(model: Model, this: str, sent: SentFeedback) -> None:
    with attempt() as undoing:
        client().samples.delete_many(model.handle, sent.samples)
    if undoing.done:
        key = f"{_SENT}:{this}"
        # None removes the entry, so that the session does not grow with every text.
        session.store(key, tuple(each for each in session.get(key, ()) if each != sent) or None)
        session.flash("Feedback undone. The model does not learn it.")
        st.rerun()


def _in_words(trait: Trait, quality: float) -> str:
    """`Warmth **100**, warm`."""
    poles = {0.0: trait.negative_label, 0.5: "in between", 1.0: trait.positive_label}
    pole = f", {plain(poles[quality])}" if quality in poles else ""
    return f"{plain(trait.name)} **{round(quality * 100)}**{pole}"


def _digest(handle: str, text: str) -> str:
    return hashlib.sha256(f"{handle}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def hold_switch(model: Model, *, key: str) -> None:
    """Draw the switch; a change is saved at once."""
    st.toggle(
        "Hold worse versions",
        value=model.hold_if_worse,
        key=f"{key}:{model.handle}:{model.hold_if_worse}",
        on_change=_switch,
        args=(model.handle, not model.hold_if_worse),
        help="A version that has learned corrections and is worse waits for your decision instead of scoring. It is "
        "measured on the test samples; if they are too few, on samples that each fit has not seen.",
    )


def _switch(handle: str, hold: bool) -> None:
    with attempt():
        client().models.update(handle, hold_if_worse=hold)


_SEEN, _NEW = "learning.seen", "learning.new"
# Seconds between polls while feedback waits, and while nothing is expected to happen.
_OFTEN, _SLOWLY = 3.0, 10.0


def learned(rule: RetrainRule) -> str:
    """The rule in words: `Learned after 10 corrections, or in 5 min.`; empty if the model never retrains by itself."""
    if rule.after_samples is None or rule.after_seconds is None:
        return ""
    return f"Learned after {rule.after_samples} corrections, or in {_span(rule.after_seconds)}."


def due(rule: RetrainRule, now: datetime | None = None) -> str:
    """When the retraining is due, in words: `any moment`, `within 4 min`, or "" if that is not known."""
    if rule.due_at is None:
        return ""
    left = (rule.due_at - (now or datetime.now(UTC))).total_seconds()
    return f"within {_span(left)}" if left > 1 else "any moment"


def _span(seconds: float) -> str:
    """Format a duration: `40 s`, `5 min`."""
    return f"{round(seconds)} s" if seconds < 100 else f"{round(seconds / 60)} min"


def draw_learning(model: Model) -> None:
    """Draw the state of retraining, if there is anything to show."""
    _announce(model)
    last, busy = model.last_operation, model.state == "busy"
    if last and last.kind == "retrain" and last.status == "failed":
        reason = last.error.message if last.error else "The service gave no reason."
        st.warning(
            f"**The corrections could not be learned.** {plain(reason)} v{model.version_no} keeps scoring. The "
            "corrections are kept, and the service tries again in a few minutes.",
            icon=":material/error:",
        )
    if busy:  # the header of the page follows the run
        return
    if not model.retrain.pending:
        _watch_version(model)
        return

    @st.fragment(run_every=None if _is_stalled(model) else _OFTEN)
    def watch() -> None:
        with guarded():
            now = client().models.get(model.handle)
        if (now.state, now.version_no) != (model.state, model.version_no):
            st.rerun()
        with st.container(border=True, key="learning"):
            _draw_waiting(now)

    watch()


def _is_stalled(model: Model) -> bool:
    """Whether feedback waits that is not learned by itself; a version on hold has learned it already."""
    return model.retrain.due_at is None and model.held_version_no is None


def _watch_version(model: Model) -> None:
    """Draw nothing, but show the page again when another version is in use."""

    @st.fragment(run_every=_SLOWLY)
    def watch() -> None:
        with guarded():
            now = client().models.get(model.handle)
        if now.version_no != model.version_no:
            st.rerun()

    watch()


def _announce(model: Model) -> None:
    """Announce a new version that learned corrections."""
    key, last = f"{_SEEN}:{model.handle}", model.last_operation
    before = session.get(key)
    session.store(key, model.version_no)
    retrained = last is not None and (last.kind, last.status) == ("retrain", "succeeded")
    if before is not None and before != model.version_no and retrained:
        session.store(f"{_NEW}:{model.handle}", (before, model.version_no))
        session.flash(f"v{model.version_no} is in use: it has learned the corrections.")
        session.show_flashes()
    earlier, new = session.get(f"{_NEW}:{model.handle}", (None, None))
    if new is not None and new == model.version_no:
        with st.container(border=True, key="learning.new"):
            st.markdown(
                f":material/school: **v{new} is in use.** It has learned the corrections. You can switch back to "
                f"v{earlier} on the Versions page."
            )
            page_link("versions", f"Compare v{earlier} with v{new}", view="Compare", a=f"v{earlier}", b=f"v{new}")


def _draw_waiting(model: Model) -> None:
    rule = model.retrain
    enough, when = rule.after_samples or 1, due(rule)
    st.progress(min(rule.pending / enough, 1.0), text=f"{count(rule.pending, 'correction')} of {enough}")
    if _is_stalled(model):
        st.caption(
            f"Nothing is learned by itself now: some samples of v{model.version_no} were removed, and a new version "
            "would be without them. To use the remaining samples, train again on the Train page."
        )
        return
    st.caption(f"{learned(rule)}{f' Due {when}.' if when else ''} v{model.version_no} scores until then.")
