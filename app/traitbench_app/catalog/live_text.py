"""A text that is scored while you edit it: the field shows the words that decide, and each bar its side in words."""

from collections.abc import Mapping, Sequence

import streamlit as st

from traitbench.contract.models import Model, State
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.text import is_address, plain, shortened
from traitbench.errors import TraitbenchError
from traitbench_app.catalog.listing import best_scoring, is_demo, traits_of
from traitbench_app.parts.scored_text import draw_scores, is_new, lit_field, read_while_typing
from traitbench_app.shell import session
from traitbench_app.shell.navigation import model_link
from traitbench_app.shell.service import attempt, guarded, models
from traitbench_app.workspace.texts import bring_along, texts_of

_TEXT, _TRY, _BARS, _SHOWN = "home.text", "home.try", "home.bars", "home.model"
_MOST_CHIPS, _CHIP = 4, 20
_LOOKS_AGAIN_S = 3.0
_STYLE = """
<style>
.st-key-card-live { padding: 0.9rem 1.25rem; }
</style>
"""


def draw_live(listed: Sequence[Model]) -> None:
    """Draw the text, scored by the best demo model or another ready one; without one, say what happens.

    The model stays while this tab is open: another one has another text, which would replace what somebody types.
    """
    shown = [each for each in listed if each.handle == session.get(_SHOWN)]
    with st.container(border=True, key="card.live"):
        if best := best_scoring(shown) or best_scoring(listed):
            model, active = best
            session.store(_SHOWN, model.handle)
            _live_text(model, active, traits_of(model), _texts(model))
        else:
            _draw_waiting(listed)
        if any(each.state == "busy" for each in listed):
            _watch({each.handle: each.state for each in listed})


def _texts(model: Model) -> list[str]:
    """A few texts to try."""
    try:
        return texts_of(model)[:_MOST_CHIPS]
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
    """Draw the page again when a run ends."""
    with guarded():
        if {each.handle: each.state for each in models()} != drawn:
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
            text, marks = lit_field(key, typed, default=texts[0] if texts else "")
            words = st.container()
        bring_along(model.handle, text)
        with right:
            notice = st.container()

            def hear(answered: str) -> None:
                with notice:
                    keep = "" if model.zero_data_retention else model.handle
                    read_while_typing(key, keep=keep, restore=is_new(key), answered={key: answered})

            if is_address(text):
                st.caption("This is a web address. **Score** can fetch its text.")
                model_link("score", "Open Score", model=model.handle)
                hear(text)
            else:
                with attempt():
                    draw_scores(model, active, traits, text, marks, words, key=_BARS, on_scored=hear)
                if text.strip():
                    model_link("score", f"Scored by {plain(model.handle)}", model=model.handle)
                else:
                    st.caption("Type or paste a text to see its scores.")


def _draw_chips(key: str, texts: Sequence[str]) -> None:
    chip = f"{_TRY}.{key}"

    def take() -> None:
        picked = session.get(chip)
        if picked is not None:
            session.store(key, texts[picked])

    if len(texts) > 1:
        now = session.get(key, texts[0])
        # No chip is chosen once the text is edited.
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
                persist_state="page",
            )
