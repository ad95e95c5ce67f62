"""The front door: two words in a sentence, and a text that is scored between them while either is edited."""

from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.as_read import is_blank
from traitbench.contract.models import Model, State
from traitbench.display.text import is_address, plain, shortened
from traitbench.errors import TraitbenchError, Unreachable
from traitbench.local.names import NoNamesAxis
from traitbench_app.catalog.answers import HomeAnswer, TrainedPoles, Untested, answer_of, draw_language, first_trained
from traitbench_app.catalog.listing import FIRST_DEMO, is_demo, short_name
from traitbench_app.catalog.paste import ask_for_texts
from traitbench_app.parts.card import draw_bars
from traitbench_app.parts.door import Poles, draw_door, say
from traitbench_app.parts.scored_text import light_and_say, lit_field, read_while_typing
from traitbench_app.parts.taught_text import draw_teaching
from traitbench_app.shell import session
from traitbench_app.shell.navigation import model_link, page
from traitbench_app.shell.service import attempt, guarded, models
from traitbench_app.workspace.texts import bring_along, examples, names_of_examples, texts_of

TEXT = "home.text"
"""The key of the text."""

_TRY, _BAR, _ALSO, _FIRST = "home.try", "home.bar", "home.also", "home.model"
_TEXTS, _ANSWER, _EXAMPLE = "home.texts", "home.answer", "home.example"
_MOST_CHIPS, _CHIP, _MOST_ALSO = 5, 20, 6
_LOOKS_AGAIN_S = 3.0
_USUAL = ("cold", "warm")
_LEAD = "Score any text from 0 to 100, and see which words decide. Put your own two words in: they answer at once."
_STYLE = """
<style>
.st-key-card-live, .st-key-card-live > [data-testid="stVerticalBlock"] { padding: 0; gap: 0; overflow: hidden; }
[class*="st-key-live-"] { padding: 18px 28px; gap: 8px; }
:has(> [class*="st-key-live-"]) + :has(> [class*="st-key-live-"]) { border-top: 1px solid var(--tb-line); }
[class*="st-key-live-"] [class*="st-key-lit-"] { margin: 0 -11px; width: calc(100% + 22px); }
[class*="st-key-live-"] [data-testid="stTextAreaRootElement"]:not(:focus-within) { border-color: transparent; }
.st-key-live-text { padding-bottom: 14px; }
.st-key-live-bar, .st-key-live-bar > [data-testid="stLayoutWrapper"]:first-child { gap: 0; }
.st-key-live-both .st-key-home-teaching-teach [data-testid="stCaptionContainer"] { display: none; }
.st-key-home-chips button { min-height: 28px; padding: 2px 10px; border-radius: 99px; }
.st-key-home-chips button p { font-size: 12px; }
.st-key-home-chips [data-testid="stBaseButton-primary"] {
  color: var(--tb-page) !important; background: var(--tb-ink) !important; border-color: var(--tb-ink) !important;
  forced-color-adjust: none;
}
.st-key-live-also { padding-block: 12px 14px; }
.st-key-live-kept { background: var(--tb-page); }
.st-key-live-said p { font-size: 13px; line-height: 20px; color: var(--tb-ink-2); }
.st-key-live-said.st-key-live-said { padding: 0; }
.st-key-live-said [data-testid="stLayoutWrapper"] { min-width: min(100%, 320px); }
.st-key-home-title [data-testid="stMarkdownContainer"] p { font-size: 16px; line-height: 24px; color: var(--tb-ink-2); }
.st-key-home-title .st-key-door [data-testid="stMarkdownContainer"] p {
  font-size: var(--size); line-height: var(--line); color: var(--tb-ink);
}
@media (max-width: 720px) { [class*="st-key-live-"] { padding: 14px 16px; } }
</style>
"""


@st.fragment
def draw_front_door(listed: Sequence[Model], nowhere: str | None, *, is_title: bool) -> None:
    """Draw the sentence and the scored text; a change of either runs only this.

    The sentence is the title of the page, or in one card with the text. `nowhere` says why the person cannot create a
    model.
    """
    with guarded():
        first = _first(listed)
        usual = first.poles if first else _USUAL
        st.html(_STYLE)
        if is_title:
            with st.container(gap="xsmall", key="home.title"):
                poles, lead = draw_door(usual, is_title=True), st.container()
        with st.container(border=True, key="card.live"):
            if is_title:
                typed, scored = st.container(key="live.text"), st.container(key="live.bar")
            else:
                with st.container(key="live.both"):
                    typed, scored = st.columns([1.5, 1], gap="large", vertical_alignment="center")
                with typed:
                    poles = draw_door(usual, is_title=False)
            by, problem = _asked(listed, poles, first)
            if is_title:
                with lead:
                    _draw_lead(by, poles, usual)
            with typed:
                text, marks, words = _draw_field(by if isinstance(by, TrainedPoles) else first, offers=is_title)
            with scored:
                answer = _draw_answer(listed, by, problem, text, marks, words)
            if answer and len(answer.rows) > 1 and is_title:
                with st.container(key="live.also"), st.container(key="scored.also"):
                    also = answer.rows[1 : _MOST_ALSO + 1]
                    put = [(row.negative, row.positive) for row in also]
                    draw_bars(also, key=_ALSO, size="small", on_press=lambda at: say(put[at]))
            if answer and answer.teachable and answer.teachable.after:
                with st.container(key="live.kept"):
                    draw_teaching(answer.teachable, key="home.teaching")
            if isinstance(by, Untested):
                with st.container(key="live.ways"):
                    _draw_ways_on(by.poles, nowhere)


def watch(listed: Sequence[Model]) -> None:
    """Draw the page again when a run of one of these models ends."""
    if any(each.state == "busy" for each in listed):
        _watch({each.handle: each.state for each in listed})


@st.fragment(run_every=_LOOKS_AGAIN_S)
def _watch(drawn: Mapping[str, State]) -> None:
    with guarded():
        if {each.handle: each.state for each in models()} != drawn:
            st.rerun()


def _first(listed: Sequence[Model]) -> TrainedPoles | None:
    """What is asked before anybody changes a word. It stays while this tab is open."""
    first = first_trained([each for each in listed if each.handle == session.get(_FIRST)]) or first_trained(listed)
    session.store(_FIRST, first.model.handle if first else None)
    return first


def _asked(
    listed: Sequence[Model], poles: Poles, first: TrainedPoles | None
) -> tuple[TrainedPoles | Untested | None, str]:
    """Who answers the two words, or the reason why nothing does."""
    try:
        return answer_of(listed, poles, first), ""
    except NoNamesAxis as reason:
        return None, str(reason)


def _draw_lead(by: TrainedPoles | Untested | None, poles: Poles, usual: Poles) -> None:
    if isinstance(by, TrainedPoles) or poles == usual:
        st.markdown(_LEAD)
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown("Your own two words answer." if by else _LEAD, width="content")
        back = f"Back to {plain(usual[0])} and {plain(usual[1])}"
        st.button(back, type="tertiary", key="home.back", on_click=say, args=(usual,))


# ---- the text --------------------------------------------------------------------------------------------------------


def _draw_field(by: TrainedPoles | None, *, offers: bool) -> tuple[str, DeltaGenerator, DeltaGenerator]:
    """Draw the field; return its text, and the places for what lights it and for its words.

    With `offers`, there are texts to try above it.
    """
    model = by.model if by else None
    texts = _texts(model)
    # Not set in the session: then a reconnected browser would get it instead of what was typed meanwhile.
    example = session.once(_EXAMPLE, None, lambda: next(iter(texts), ""))
    if offers:
        _draw_chips(texts, names_of_examples(model.handle if model else FIRST_DEMO), session.get(TEXT, example))
    text, marks = lit_field(TEXT, session.get(TEXT, example), default=example)
    return text, marks, st.container(key="live.said")


def _texts(model: Model | None) -> Sequence[str]:
    """A few texts to try, read once."""

    def read() -> Sequence[str]:
        try:
            texts = texts_of(model) if model else []
        except TraitbenchError:
            texts = []
        return (texts or examples(FIRST_DEMO))[:_MOST_CHIPS]

    return session.once(_TEXTS, model and model.handle, read)


def _draw_chips(texts: Sequence[str], names: Mapping[str, str], now: str) -> None:
    """Draw a button for each text.

    Not pills, which have a state: a browser that repeats it while it waits for an answer would put the example back.
    """
    if len(texts) < 2:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="home.chips"):
        st.caption("Write your own, or try:", width="content")
        for number, text in enumerate(texts):
            st.button(
                plain(names.get(text) or shortened(text, _CHIP)),
                type="primary" if text == now else "secondary",
                key=f"{_TRY}.{number}",
                on_click=session.store,
                args=(TEXT, text),
            )


# ---- the answer ------------------------------------------------------------------------------------------------------


def _draw_answer(
    listed: Sequence[Model],
    by: TrainedPoles | Untested | None,
    problem: str,
    text: str,
    marks: DeltaGenerator,
    words: DeltaGenerator,
) -> HomeAnswer | None:
    """Draw the bar of the two words, or what is in its place, and light the words that decide."""
    notice, answer = st.container(), None
    if by is None:
        st.markdown(problem)
    elif is_blank(text):
        st.caption("Type or paste a text to see its score.")
    elif is_address(text):
        st.caption("This is a web address. **Score** can fetch its text.")
    else:
        with attempt():
            answer = _scored(by, text)
    if answer:
        is_asked = answer.teachable is not None and answer.teachable.after is None
        with st.container(key="scored.home"):
            draw_bars(answer.rows[:1], key=_BAR, size="large", poles=not is_asked)
            if is_asked and answer.teachable:
                draw_teaching(answer.teachable, key="home.teaching")
    with notice:
        keep, forget = ("", "home") if isinstance(by, TrainedPoles) and by.model.zero_data_retention else ("home", "")
        # Without an answer, the bar is that of another text.
        answered = "" if answer is not None and answer.text != text else text
        # A reload of Score, where the text goes along to, may come before that page keeps it.
        along = by.model.handle if keep and isinstance(by, TrainedPoles) else ""
        read_while_typing(TEXT, keep=keep, along=along, forget=forget, restore=True, answered={TEXT: answered})
    if isinstance(by, TrainedPoles):
        bring_along(by.model.handle, text, example=next(iter(_texts(by.model)), ""))
    elif by and answer:
        draw_language(f"{text} {' '.join(by.poles)}")
        if any(each.state == "busy" and is_demo(each) for each in listed):
            st.caption("The demo models are being trained. Then they answer with what they learned.")
    with words, st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        if answer and answer.reasons and answer.text == text:
            with st.container(width="stretch", key="words-of.home"):
                light_and_say(marks, answer.reasons, text, (answer.rows[0].negative, answer.rows[0].positive))
        if isinstance(by, TrainedPoles):
            model_link("score", f"Scored by {short_name(by.model)}", model=by.model.handle)
    return answer


def _scored(by: TrainedPoles | Untested, text: str) -> HomeAnswer | None:
    """The answer; if the service does not answer, the one that was on this page before. Raise its other errors."""
    try:
        answer: HomeAnswer | None = by.score(text, field=TEXT)
        session.store(_ANSWER, (by.poles, answer))
    except Unreachable:
        poles, answer = session.get(_ANSWER, (by.poles, None))
        answer = answer if poles == by.poles else None
    return answer


def _draw_ways_on(poles: Poles, nowhere: str | None) -> None:
    """Draw what two words that no label tested lead to."""
    file, texts = st.columns(2, gap="large")
    with file:
        tries = st.button(
            "Try it on my file",
            type="primary",
            shortcut="F",
            key="home.file",
            disabled=nowhere is not None,
            help=nowhere,
        )
        st.caption(
            "Scores every row by these two words, marked “not tested”, and shows the twenty texts to label first."
        )
    with texts:
        adds = st.button(
            "Add about ten texts for each side", key="home.add", disabled=nowhere is not None, help=nowhere
        )
        st.caption("Then it learns from your texts, and says how often it is right.")
    if tries:
        st.switch_page(page("from_file"), query_params=dict(zip(("negative", "positive"), poles, strict=True)))
    if adds:
        ask_for_texts()
        st.rerun()
