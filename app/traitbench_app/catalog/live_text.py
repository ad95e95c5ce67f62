"""A text that is scored while you edit it: the field shows the words that decide, and each bar its side in words."""

from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.contract.models import Model, State
from traitbench.contract.scores import Card
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.reasons import highlighted
from traitbench.display.text import is_address, plain, shortened
from traitbench.errors import TraitbenchError
from traitbench.local import preview
from traitbench_app.catalog.model_card import traits_of
from traitbench_app.catalog.ranking import best_scoring, is_demo
from traitbench_app.parts.bars import picked_bar
from traitbench_app.parts.card import draw_card
from traitbench_app.parts.explanation import explained
from traitbench_app.parts.lit_words import Explain, are_quick, draw_strongest, highlights_of
from traitbench_app.parts.live import read_while_typing
from traitbench_app.parts.scorecard import ordered, poles_of
from traitbench_app.parts.scorer import Scorer
from traitbench_app.parts.version_figures import label, names_of
from traitbench_app.shell import session
from traitbench_app.shell.navigation import model_link
from traitbench_app.shell.service import attempt, client, guarded, models, version
from traitbench_app.workspace.score_texts import examples, sample_texts

_TEXT, _TRY, _BARS, _EDITED = "home.text", "home.try", "home.bars", "home.edited"
_MOST_CHIPS, _CHIP = 4, 20
_LONG, _TALLEST = 1_500, 400  # characters of a text whose words are not lit, and pixels of its field
_LOOKS_AGAIN_S = 3.0
# The text that is typed lies over a painted copy, of which only the marks are seen.
_STYLE = """
<style>
.st-key-card-live { padding: 0.9rem 1.25rem; }
.st-key-home-lit { position: relative; gap: 0; }
.st-key-home-lit [data-testid="stTextArea"] { position: relative; z-index: 1; }
.st-key-home-lit [data-testid="stTextAreaRootElement"] { background: transparent; }
.st-key-home-lit :is(textarea, .tb-why) {
  font: 400 20px/32px "Source Sans", sans-serif; padding: 6px 10px !important;
  white-space: pre-wrap; overflow-wrap: anywhere; word-break: normal;
}
.st-key-home-lit [data-testid="InputInstructions"] { display: none; }
.st-key-home-lit textarea { background: transparent; resize: none; }
.st-key-home-lit [data-testid="stElementContainer"]:has(.tb-why) { position: absolute; inset: 1px; z-index: 0; }
.st-key-home-lit .tb-why { max-height: none; overflow: hidden; color: transparent; }
.st-key-home-lit .tb-why span[style] { padding: 1px 0; }
</style>
"""


def draw_live(listed: Sequence[Model]) -> None:
    """Draw the text, scored by the best demo model or another ready one; without one, say what happens."""
    with st.container(border=True, key="card.live"):
        if best := best_scoring(listed):
            model, active = best
            _live_text(model, active, traits_of(model), _texts(model))
        else:
            _draw_waiting(listed)
        if any(each.state == "busy" for each in listed):
            _watch({each.handle: each.state for each in listed})


def _texts(model: Model) -> list[str]:
    """A few texts to try: the examples of a demo model, else those of its owner, else some of its samples."""
    try:
        return (examples(model.handle) or model.demo_texts or sample_texts(model.handle))[:_MOST_CHIPS]
    except TraitbenchError:
        return []


def _draw_waiting(listed: Sequence[Model]) -> None:
    running = [each for each in listed if each.state == "busy"]
    if not running:
        st.markdown("**No model is ready to score a text.** Each of these three ways leads to one.")
        return
    what = "The demo models are being trained." if any(map(is_demo, running)) else "A run is in progress."
    st.markdown(f"**{what}** As soon as a model is ready, it scores a text here.")


@st.fragment(run_every=_LOOKS_AGAIN_S)
def _watch(drawn: Mapping[str, State]) -> None:
    """Draw the page again when a run ends, but not below someone who edits the text."""
    with guarded():
        if not session.get(_EDITED) and {each.handle: each.state for each in models()} != drawn:
            st.rerun()


@st.fragment
def _live_text(model: Model, active: Version, traits: Sequence[Trait], texts: Sequence[str]) -> None:
    """Draw the field and the bars; a change of the text runs only this."""
    key = f"{_TEXT}.{model.handle}"
    with guarded():
        st.html(_STYLE)
        left, right = st.columns([1.22, 1], gap="medium")
        with left:
            _draw_chips(key, texts)
            typed = session.get(key, "")
            session.store(_EDITED, typed not in ("", *texts))
            with st.container(key="home.lit"):
                text = st.text_area(
                    "Text",
                    texts[0] if texts else "",
                    key=key,
                    height=_TALLEST if len(typed) > _LONG else "content",
                    label_visibility="collapsed",
                    persist_state="session",
                    placeholder="Type or paste a text.",
                )
                marks = st.container()
            words = st.container()
        with right:
            if is_address(text):
                st.caption("This is a web address. **Score** can fetch its text.")
                model_link("score", "Open Score", model=model.handle)
            elif text.strip():
                with attempt():
                    _draw_scores(model, active, traits, text, marks, words)
                model_link("score", f"Scored by {plain(model.handle)}", model=model.handle)
            else:
                st.caption("Type or paste a text to see its scores.")
            read_while_typing(key)


def _draw_scores(
    model: Model,
    active: Version,
    traits: Sequence[Trait],
    text: str,
    marks: DeltaGenerator,
    words: DeltaGenerator,
) -> None:
    """Draw the bars here, and the reasons for the trait of the picked bar into their places."""
    card, explain, source = _scored(model, active, text)
    poles = poles_of(traits)
    draw_card(card, names_of(traits), poles, main=model.main_trait, key=_BARS, can_pick=True)
    keys = ordered([*card.detail], model.main_trait)
    trait = keys[min(picked_bar(_BARS), len(keys) - 1)]
    if are_quick([text]) and (reasons := highlights_of(text, source, explain).get(trait)):
        by_pieces = any(part.pieces for part in reasons.parts)
        marks.html(f'<div aria-hidden="true">{highlighted(reasons, text, by_pieces=by_pieces)}</div>')
        with words:
            draw_strongest(reasons, text, poles.get(trait, ("negative", "positive")))


def _draw_chips(key: str, texts: Sequence[str]) -> None:
    chip = f"{_TRY}.{key}"

    def take() -> None:
        picked = session.get(chip)
        if picked is not None:
            session.store(key, texts[picked])

    if len(texts) > 1:
        now = session.get(key, texts[0])
        session.put({chip: texts.index(now) if now in texts else None})
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.caption("Edit this, or try:", width="content")
            st.pills(
                "Texts to try",
                range(len(texts)),
                format_func=lambda at: plain(shortened(texts[at], _CHIP)),
                key=chip,
                on_change=take,
                label_visibility="collapsed",
                wrap=True,
            )


def _scored(model: Model, active: Version, text: str) -> tuple[Card, Explain, str]:
    """The card, what explains it, and what both are of: this workbench, or the service if it cannot."""
    number = label(active)
    try:
        scorer = Scorer(version(model.handle, active))
        return scorer.cards([text])[0], scorer.highlights, scorer.identity
    except preview.PreviewUnavailable:
        pinned = f"{model.handle}@{number}"
        return client().scores.score(pinned, text), lambda one: explained(model.handle, number, one), pinned
