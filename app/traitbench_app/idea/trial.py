"""A trial: two poles give a text a side by their names alone; six labelled texts then make a draft of a model.

Nothing is stored before that: the poles are in the link, texts and labels in the session.
"""

from collections.abc import Mapping, Sequence
from itertools import chain, islice

import streamlit as st

from traitbench.analysis.languages import language
from traitbench.contract.samples import SampleInput, text_hash
from traitbench.contract.traits import TraitInput
from traitbench.display.colours import SIDES
from traitbench.display.languages import ENGLISH, name_of
from traitbench.display.sides import UNCLEAR
from traitbench.display.text import count, plain
from traitbench.local.names import (
    NameScore,
    NoNamesAxis,
    everyday_texts,
    needs_opposite,
    reads_other_languages,
    scorer_by_names,
)
from traitbench.names import slug
from traitbench_app.parts.card import ScoreRow, draw_bars
from traitbench_app.parts.model_actions import free_name
from traitbench_app.parts.scored_text import read_while_typing
from traitbench_app.shell import session
from traitbench_app.shell.navigation import open_page
from traitbench_app.shell.service import attempt, client
from traitbench_app.workspace import pool

LEFT, RIGHT = "either", "or"
"""The keys of the poles, which are also their names in the link."""

_EXAMPLE = "Would you kindly take a seat? I will be with you in a minute."
_TEXT, _OWN, _SIX, _MOST_OWN = "idea.text", "idea.own", 6, 200


def draw_trial(owned: Sequence[str]) -> None:
    """Draw the poles, the side of a text, and the texts to label."""
    left, right = st.columns(2)
    with left:
        negative = _pole("A text is either", LEFT, "rude")
    with right:
        positive = _pole("or", RIGHT, "polite")
    st.text_area("A text to score", _EXAMPLE, key=_TEXT, height=96, persist_state="session")
    read_while_typing(_TEXT, _OWN)
    if not negative or not positive:
        st.caption("Name both sides. The text is then scored from these two names alone.")
        return
    own = dict.fromkeys(filter(None, map(str.strip, session.get(_OWN, "").splitlines())))
    try:
        if problem := _problem(negative, positive):
            raise NoNamesAxis(problem)
        six = _six(negative, positive, tuple(own)[:_MOST_OWN])
        _draw_side(negative, positive, session.get(_TEXT, "").strip())
    except NoNamesAxis as reason:
        with st.container(border=True, key="idea.problem"):
            st.markdown(str(reason))
        return
    _draw_labels(owned, negative, positive, six)


def _pole(label: str, key: str, example: str) -> str:
    return st.text_input(
        label, key=key, max_chars=80, placeholder=example, bind="query-params", live="300ms", persist_state="session"
    ).strip()


def _problem(negative: str, positive: str) -> str:
    """What prevents a side, and what to do, in Markdown; empty if nothing does."""
    if negative.casefold() == positive.casefold():
        return "Both sides have the same name. Use two different ones."
    for pole, other in ((negative, positive), (positive, negative)):
        if needs_opposite(pole):
            return (
                f"**“{plain(pole)}” only says what a text is not.** Say what it is instead: what is the opposite of "
                f"“{plain(other)}”? For *ironic*, it may be *meant seriously*."
            )
    return ""


def _draw_side(negative: str, positive: str, text: str) -> None:
    if not text:
        return
    [named] = scorer_by_names(negative, positive).score([text])
    look, pole = SIDES[named.positive], positive if named.positive else negative
    nearer, share = (positive, named.score) if named.score >= 50 else (negative, 100 - named.score)
    row = ScoreRow(
        name=f"{negative} or {positive}",
        negative=negative,
        positive=positive,
        score=named.score,
        words=f"{UNCLEAR if named.positive is None else f'probably {pole}'}, not tested",
        note=f"From the two names alone: nearer to “{nearer}” than {share} of 100 everyday sentences.",
        sign=look.sign,
        colour=look.words,
        fill=look.colour,
        sure="low" if named.positive is None else "moderate",
    )
    draw_bars([row], key="idea.bar")
    _draw_language(f"{text} {negative} {positive}")


def _draw_language(words: str) -> None:
    """Say what names are worth for texts in another language than English, and what is worth more."""
    code = language(words)
    if code is None or code == ENGLISH:
        return
    name = name_of(code)
    if reads_other_languages():
        says = (
            f"These words are {name}. Two names in English find the right side more often, also for {name} texts: about"
            " 8 in 10 in a small trial, instead of 7. A model that learns from your own texts does better."
        )
    else:
        says = (
            f"These words are {name}, and the encoder here knows English only: the side is hardly better than a guess."
            " Set `TRAITBENCH_ENCODER=multilingual`, or label texts of your own and check the model's figures."
        )
    with st.container(key="idea.language"):
        st.caption(f":material/translate: {says}")


# In the session and not in the process, because the key has a person's own texts.
@st.cache_data(max_entries=20, scope="session", show_spinner="Reading the two names")
def _six(negative: str, positive: str, own: tuple[str, ...]) -> dict[str, NameScore]:
    """The texts to label: those nearest to either pole by the names, of the person's own texts if there are enough."""
    enough = len(own) >= _SIX
    texts = own if enough else [*dict.fromkeys([*own, *everyday_texts()])]
    at = dict(zip(texts, scorer_by_names(negative, positive).score(texts), strict=True))
    order = sorted(at, key=lambda text: at[text].score)
    alternating = chain.from_iterable(zip(order, reversed(order), strict=True))
    picked = set(islice(dict.fromkeys(alternating if enough else [*own, *alternating]), _SIX))
    # In their own order, which does not say what the names think of them.
    return {text: at[text] for text in texts if text in picked}


def _draw_labels(owned: Sequence[str], negative: str, positive: str, six: Mapping[str, NameScore]) -> None:
    """Draw the texts with the choice of their side, and the button that makes a draft of those with one."""
    st.subheader("Which side are these on?", anchor=False)
    labelled: dict[str, float] = {}
    for number, text in enumerate(six):
        what, side = st.columns([3, 1.4], vertical_alignment="center", gap="medium")
        what.markdown(plain(text))
        chosen = side.segmented_control(
            f"Side of text {number + 1}",
            [0.0, 1.0],
            format_func=lambda quality: plain(positive if quality else negative),
            key=f"idea.side.{text_hash(f'{negative} {positive} {text}')}",
            label_visibility="collapsed",
            persist_state="session",
        )
        if chosen is not None:
            labelled[text] = chosen
    st.text_area(
        "Your own texts, one on each line (better than these sentences)", key=_OWN, height=68, persist_state="session"
    )
    ready = {*labelled.values()} == {0.0, 1.0}
    if labelled:
        agreed = sum((six[text].score > 50) == (quality == 1.0) for text, quality in labelled.items())
        st.markdown(f"The names alone agree with {agreed} of your {count(len(labelled), 'label')}.")
    if st.button(
        "Make it a model",
        type="primary",
        key="idea.make",
        disabled=not ready,
        help=None if ready else "Label at least one text for each side. Leave out what is on neither.",
    ):
        _make(owned[0], negative, positive, labelled)


def _make(namespace: str, negative: str, positive: str, labelled: Mapping[str, float]) -> None:
    """Create a draft with these samples and open it; own texts without a label wait on Label."""
    trait = TraitInput(name=f"{negative} or {positive}"[:80], positive_label=positive, negative_label=negative)
    with attempt() as making:
        model = client().models.create(f"{namespace}.{free_name(namespace, slug(trait.name) or 'idea', end='')}")
        client().traits.add(model.handle, [trait])
        samples = [SampleInput(trait=trait.name, text=text, quality=quality) for text, quality in labelled.items()]
        client().samples.add(model.handle, samples)
        rest = [text for text in session.get(_OWN, "").splitlines() if text.strip() not in labelled]
        added = pool.add(model.handle, rest, "Try an idea") if any(rest) else 0
    if making.done:
        session.flash(f"{plain(model.handle)} was created with {count(len(labelled), 'sample')}.")
        open_page("label" if added else "samples", model=model.handle)
