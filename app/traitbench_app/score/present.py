"""Present mode: the Score page before a room. No menu, large type, and keys for everything.

The keys walk through texts, teach the chosen trait in memory, and put two versions side by side. Nothing is stored.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.scores import Card
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.reasons import highlighted
from traitbench.display.text import count, plain
from traitbench.local.preview import PreviewUnavailable
from traitbench_app.parts import scorecard
from traitbench_app.parts.bars import Large, draw_bars
from traitbench_app.parts.live import read_while_typing
from traitbench_app.parts.reasons import by_words, reasons_of
from traitbench_app.parts.scorecard import ordered, poles_of
from traitbench_app.parts.scorer import Scorer, scorer_of
from traitbench_app.parts.version_figures import names_of
from traitbench_app.score import teaching
from traitbench_app.score.keys import on_keys
from traitbench_app.score.rehearsal import rehearsed
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt
from traitbench_app.workspace.score_texts import texts_to_try
from traitbench_app.workspace.texts import TEXT

MOST_BARS = 6
"""The most bars that fit a screen of 720 lines."""

_PARAMETER = "present"
_AT, _TRAIT, _OTHER, _HELP, _TEXTS = "present.at", "present.trait", "present.other", "present.help", "present.texts"
_KEYS = (
    ("← →", "another text"),
    ("1 to 6", "choose the trait to highlight and to teach"),
    ("Shift ← →", "teach: this text belongs at the left or the right pole"),
    ("U", "undo what you taught last"),
    ("V", "show another version beside it"),
    ("Esc", "leave the text field, then the presentation"),
)
_CSS = """
<style>
[data-testid=stSidebar], [data-testid=stHeader], [data-testid=stExpandSidebarButton], .st-key-present-hidden {
  display: none !important;
}
[data-testid=stMainBlockContainer] { max-width: none; padding: 20px 2.5vw 0 !important; }
[data-testid=stMain] { overflow: hidden; }
.st-key-score-text textarea, .st-key-present :is(p, li, td, th) {
  font-size: 28px !important; line-height: 1.3 !important;
}
.st-key-present p { margin: 0; }
.st-key-present-status { position: fixed; left: 2.5vw; bottom: 14px; }
.st-key-present .tb-why { font-size: clamp(32px, 2.1vw, 42px); line-height: 1.5; max-height: calc(100vh - 270px); }
.st-key-present .tb-line { font-size: 28px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.st-key-present [data-testid=stVerticalBlock] { gap: 12px; }
</style>
"""


def presenting() -> bool:
    """Whether the address asks for present mode."""
    return st.query_params.get(_PARAMETER) == "1"


def start(_: object = None) -> None:
    """Begin to present. A callback."""
    st.query_params[_PARAMETER] = "1"


def present(model: Model, traits: Sequence[Trait], versions: Sequence[Version], chosen: str) -> None:
    """Draw the presentation; `chosen` is the label of the version that scores, empty for a draft."""
    st.html(_CSS)
    names, poles, main = names_of(traits), poles_of(traits), model.main_trait
    keys = ordered([trait.key for trait in traits], main)[:MOST_BARS]
    trait = session.get(_TRAIT) if session.get(_TRAIT) in keys else next(iter(keys), None)
    labels = [f"v{each.version_no}" for each in versions]
    on_keys(_actions(model, keys, trait, [each for each in labels if each != chosen]), field=TEXT, key="present.keys")
    other = session.get(_OTHER)
    with st.container(key="present"):
        if session.get(_HELP):
            _draw_keys()
            return
        text = session.get(TEXT, "") or _first_text(model)
        cards: dict[str, tuple[Card, Scorer]] = {}
        for label in (chosen, other) if other in labels else (chosen,):
            with attempt():
                if scored := _scored(model, traits, versions, label, text):
                    cards[label] = scored
        note = ""
        if text.strip() and teaching.taught(model.handle) and chosen in cards:
            card, scorer = cards[chosen]
            try:
                with attempt():
                    scorers = teaching.scorers(model, traits)
                    cards[chosen] = (teaching.retaught(card, text, scorers), scorers.get(trait or "", scorer))
                    note = f"{count(len(teaching.taught(model.handle)), 'text')} taught here. Nothing is stored."
            except PreviewUnavailable as reason:
                note = str(reason)
        focus = keys.index(trait) if trait in keys else -1
        drawn = Bars(keys, names, poles, focus)
        if other in cards and other != chosen:
            st.html(f'<div class="tb-line">{_escaped(text)}</div>')
            for place, label in zip(st.columns(2, gap="large"), (other, chosen), strict=True):
                with place:
                    st.markdown(f"**{label}**")
                    drawn.draw(cards[label][0], f"present.bars.{label}", above=150)
        else:
            _draw_one(text, cards.get(chosen), drawn, trait)
        with st.container(key="present.status"):
            said = (plain(note), _where(model, text), "Press **?** for the keys.")
            st.markdown(" ".join(each for each in said if each))
    read_while_typing(TEXT)


class Bars:
    """The bars of the traits that are shown, as large as the screen allows."""

    def __init__(
        self, keys: Sequence[str], names: Mapping[str, str], poles: Mapping[str, tuple[str, str]], focus: int
    ) -> None:
        self.keys, self.names, self.poles, self.focus = keys, names, poles, focus

    def draw(self, card: Card, key: str, *, above: int) -> None:
        """Draw the bars of a card below `above` pixels."""
        shown = [each for each in self.keys if each in card.detail]
        own = card.model_copy(update={"detail": {each: card.detail[each] for each in shown}})
        notes = len(shown) <= MOST_BARS // 2
        lines, widest = (6.0, "3.2vw") if len(shown) < 3 else (4.6, "2.7vw") if notes else (3.1, "2.7vw")
        size = f"clamp(28px, min((100vh - {above}px) / {lines * max(len(shown), 1):.1f}, {widest}), 64px)"
        rows = scorecard.rows(own, self.names, self.poles)
        draw_bars(rows, key=key, large=Large(size, "0.6em" if notes else "0.2em", notes, self.focus))


def _draw_one(text: str, scored: tuple[Card, Scorer] | None, bars: Bars, trait: str | None) -> None:
    left, right = st.columns([5, 7], gap="large")
    with right:
        if scored:
            bars.draw(scored[0], "present.bars", above=100)
    with left:
        st.text_area(
            "Text",
            key=TEXT,
            height=130,
            persist_state="session",
            placeholder="Type a text.",
            label_visibility="collapsed",
        )
        scorer = scored[1] if scored else None
        if scorer and trait and text.strip():
            with attempt():
                if reasons := reasons_of(scorer, text).get(trait):
                    st.html(highlighted(reasons, text, by_pieces=by_words(reasons)))


def _scored(
    model: Model, traits: Sequence[Trait], versions: Sequence[Version], label: str, text: str
) -> tuple[Card, Scorer] | None:
    """The card of a text and what scored it."""
    if not text.strip():
        return None
    chosen = next((each for each in versions if f"v{each.version_no}" == label), None)
    try:
        rehearsal = None if chosen else rehearsed(model, traits)
        if chosen is None and rehearsal is None:
            return None
        scorer = scorer_of(model.handle, chosen) if chosen else Scorer(by=rehearsal)
        return scorer.cards([text])[0], scorer
    except PreviewUnavailable as reason:
        st.markdown(plain(str(reason)))
        return None


# ---- what the keys do ------------------------------------------------------------------------------------------------


def _actions(
    model: Model, keys: Sequence[str], trait: str | None, others: Sequence[str]
) -> dict[str, Callable[[str | None], None]]:
    def walk(step: int) -> Callable[[Any], None]:
        def go(_: object) -> None:
            if texts := demo_texts(model):
                now = session.get(TEXT, "")
                before = texts.index(now) if now in texts else session.get(_AT, 0 if step < 0 else -1)
                at = (before + step) % len(texts)
                session.put({_AT: at, TEXT: texts[at]})

        return go

    def teach(positive: bool) -> Callable[[str | None], None]:
        def learn(text: str | None) -> None:
            content = text if text is not None else session.get(TEXT, "")
            if trait and content.strip():
                session.store(TEXT, content)
                teaching.teach(model.handle, trait, content, positive=positive)

        return learn

    def beside(_: object) -> None:
        following = [None, *others]
        at = following.index(session.get(_OTHER)) if session.get(_OTHER) in following else 0
        session.store(_OTHER, following[(at + 1) % len(following)])

    def leave(_: object) -> None:
        for each in (_HELP, _OTHER, _AT):
            session.store(each, None)
        teaching.forget(model.handle)
        st.query_params.pop(_PARAMETER, None)

    return {
        "ArrowRight": walk(1),
        "ArrowLeft": walk(-1),
        "Shift+ArrowRight": teach(True),
        "Shift+ArrowLeft": teach(False),
        "u": lambda _: teaching.undo(model.handle),
        "v": beside,
        "?": lambda _: session.store(_HELP, None if session.get(_HELP) else True),
        "Escape": lambda _: session.store(_HELP, None) if session.get(_HELP) else leave(None),
        **{str(place): _choose(key) for place, key in enumerate(keys, start=1)},
    }


def _choose(key: str) -> Callable[[str | None], None]:
    return lambda _: session.store(_TRAIT, key)


def demo_texts(model: Model) -> list[str]:
    """The texts to walk through, read once."""
    key = f"{_TEXTS}:{model.handle}"
    if session.get(key) is None:
        session.store(key, texts_to_try(model))
    held: list[str] = session.get(key)
    return held


def _first_text(model: Model) -> str:
    texts = demo_texts(model)
    if texts:
        session.put({_AT: 0, TEXT: texts[0]})
    return texts[0] if texts else ""


def _draw_keys() -> None:
    st.markdown("\n".join(["| Key | What it does |", "|---|---|", *(f"| **{key}** | {what} |" for key, what in _KEYS)]))
    st.markdown("Press **?** to go back.")


def _where(model: Model, text: str) -> str:
    """`Text 2 of 12.`, if the text is one of the list."""
    texts = demo_texts(model)
    return f"Text {texts.index(text) + 1} of {len(texts)}." if text in texts else ""


def _escaped(text: str) -> str:
    return escape(" ".join(text.split()))
