"""A new trait: a sentence with two words, which answer at once on a few of the person's own texts."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from html import escape

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.scores import Confidence
from traitbench.contract.traits import Trait, TraitInput
from traitbench.display.pictures import bar
from traitbench.display.text import count, plain, shortened
from traitbench.errors import TraitbenchError
from traitbench.local.names import NameScore, NoNamesAxis, scorer_by_names
from traitbench.names import canonical
from traitbench_app.parts.door import Poles, draw_door, problem_of, said, say
from traitbench_app.shell import session
from traitbench_app.shell.service import complaints, explain
from traitbench_app.traits.editing import add, open_editor, suggested_key, suggested_name
from traitbench_app.traits.suggestions import dismiss, name_suggestion
from traitbench_app.workspace import pool
from traitbench_app.workspace.texts import examples, texts_of

WORDS = ("traits.left_word", "traits.right_word")
"""The keys of the two words."""

_OPEN, _TURN, _NAMED = "traits.adding", "traits.turn", "traits.named"
_TEXTS = "traits.own_texts"
_NAME, _KEY, _PROBLEMS = "traits.new_name", "traits.new_key", "traits.new_problems"
_SHOWN, _MOST, _LONGEST, _PHRASES = 3, 60, 160, 3
_NUMBERS = ("", "One", "Two", "Three")
_EXAMPLES = "demo.support-tone"
_STYLE = """
<style>
.stApp .st-key-answer .st-key-door [data-testid="stMarkdownContainer"] p {
  font-size: var(--size); line-height: var(--line); color: var(--tb-ink);
}
.stApp .st-key-card-preview { padding: 14px 20px 8px; }
.tb-preview { display: grid; grid-template-columns: minmax(0, 1fr) 230px 84px; gap: 4px 20px; align-items: center;
  padding: 9px 0; border-top: 1px solid var(--tb-line); font-size: 14px; line-height: 22px; }
.tb-preview p { margin: 0; overflow-wrap: anywhere; }
.tb-preview .ends { display: flex; justify-content: space-between; gap: 8px; margin-top: 4px; font-size: 12px;
  line-height: 16px; color: var(--tb-ink-3); }
.tb-preview .ends bdi { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.tb-preview .score { text-align: right; font-size: 16px; font-weight: 600; }
.tb-preview .score span { margin-right: 8px; font-size: 12px; font-weight: 450; color: var(--tb-ink-3); }
.tb-words { display: flex; flex-wrap: wrap; gap: 6px; margin-bottom: 8px; font-weight: 600; font-size: 14px;
  line-height: 22px; }
.tb-words span { padding: 1px 8px; border-radius: 4px; overflow-wrap: anywhere; }
.tb-words.left span { background: var(--tb-left-soft); color: var(--tb-left-ink); }
.tb-words.right span { background: var(--tb-right-soft); color: var(--tb-right-ink); }
.tb-typical { margin: 0; font-size: 13px; line-height: 20px; color: var(--tb-ink-2); overflow-wrap: anywhere;
  display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; }
@media (max-width: 720px) {
  .tb-preview { grid-template-columns: minmax(0, 1fr); }
  .tb-preview .score { text-align: left; }
}
</style>
"""


def open_sentence() -> None:
    """Open the sentence. A button callback."""
    session.store(_OPEN, True)
    open_editor(None)


def is_adding() -> bool:
    """Whether the sentence is open."""
    return bool(session.get(_OPEN))


def close_sentence() -> None:
    """Close the sentence and forget its words. A button callback."""
    session.put(dict.fromkeys(WORDS, ""))
    session.store(_OPEN, None)
    session.store(_NAMED, None)


def draw_add_button(model: Model, traits: Sequence[Trait]) -> bool:
    """Draw the step of the header while the sentence is open; return whether it is drawn."""
    words = said(WORDS)
    why_not = problem_of(words)
    sentence = "Not tested: the names alone decide." if not why_not else "Two words begin a trait."
    st.markdown(sentence, width="content")
    st.button(
        "Add the trait",
        type="primary",
        key="traits.add",
        disabled=bool(why_not),
        on_click=_add,
        args=(model, traits, words),
    )
    return True


def draw_sentence() -> Poles:
    """Draw the sentence as the title of the page, and return its words."""
    st.html(_STYLE)
    with st.container(gap="xsmall", key="answer"):
        poles = draw_door(("", ""), is_title=True, keys=WORDS)
        st.markdown("Two words, opposite. They answer at once; about ten samples for each side make it yours.")
    return poles


def draw_answer(poles: Poles, texts: Sequence[str]) -> None:
    """Draw how two words answer on a few texts, or why they cannot; nothing before a word is typed."""
    if not any(poles):
        return
    if why_not := problem_of(poles):
        with st.container(border=True, key="card.preview"):
            st.markdown(f":gray-badge[opposites?] {why_not}" if all(poles) else why_not)
        return
    _draw_preview(poles, texts)


def draw_naming(traits: Sequence[Trait], poles: Poles) -> None:
    """Draw the fields for the names of the trait, which are made from the two words unless they are typed."""
    if problem_of(poles):
        return
    problems: dict[str, str] = session.get(_PROBLEMS, {}) or {}
    name, key = st.columns(2)
    with name:
        given = st.text_input("Name", key=_NAME, placeholder=suggested_name(traits, *poles), persist_state="session")
        _draw_problems(problems, "name")
    with key:
        made = suggested_key(traits, given.strip() or suggested_name(traits, *poles))
        hint = "Stays when you rename the trait."
        st.text_input("Name in files and programs", key=_KEY, placeholder=made, help=hint, persist_state="session")
        _draw_problems(problems, "key")
    _draw_problems(problems, "negative_label", "positive_label", "")


def _draw_problems(problems: Mapping[str, str], *fields: str) -> None:
    for field in fields:
        if field in problems:
            said = plain(problems[field]) if field else problems[field]
            st.markdown(f":small[:red[:material/error: {said}]]")


def own_texts(model: Model, samples: int) -> Sequence[str]:
    """Return a few of the texts that a person has here: those to label, else those of the model, which has `samples`.

    They are read once, not at every key.
    """

    def read() -> Sequence[str]:
        own = [*pool.texts(model.handle).values()][:_MOST]
        with suppress(TraitbenchError):
            return own or texts_of(model)[:_MOST]
        return []

    return session.once(_TEXTS, (model.handle, samples), read)


def draw_suggested(model: Model, suggestions: Sequence[Trait], texts: Mapping[str, str]) -> None:
    """Draw the differences that discovery suggests, as words that can be put into the sentence."""
    if not suggestions:
        return
    st.header("Or take a difference that your texts suggest", anchor=False)
    for pair in (suggestions[at : at + 2] for at in range(0, len(suggestions), 2)):
        for column, trait in zip(st.columns(2), pair, strict=False):
            with column, st.container(border=True, key=f"card.suggested.{trait.key}"):
                left, right = st.columns(2)
                left.html(_end(trait, "left", texts))
                right.html(_end(trait, "right", texts))
                with st.container(horizontal=True):
                    st.button("Name it", key=f"traits.name_it.{trait.key}", on_click=_name, args=(trait,))
                    st.button(
                        "Not this one",
                        type="tertiary",
                        key=f"traits.not_it.{trait.key}",
                        on_click=dismiss,
                        args=(model.handle, [trait]),
                    )


def _draw_preview(poles: Poles, texts: Sequence[str]) -> None:
    with st.container(border=True, key="card.preview"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            which = f"{_NUMBERS[min(len(texts), _SHOWN)]} of your texts" if texts else "Three example texts"
            st.header(f"{which}, by the two words alone", anchor=False, width="content")
            st.badge("not tested", color="gray")
        texts = texts or examples(_EXAMPLES)
        start = int(session.get(_TURN, 0)) * _SHOWN
        some = [texts[(start + at) % len(texts)] for at in range(min(_SHOWN, len(texts)))]
        try:
            scores = scorer_by_names(*poles).score(some)
        except (NoNamesAxis, TraitbenchError) as reason:
            st.markdown(f"No scores: {plain(str(reason))}")
            return
        st.html("".join(_row(text, each, poles) for text, each in zip(some, scores, strict=True)))
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.caption("Does one read differently to you? Samples will teach that.", width="content")
            if len(texts) > _SHOWN:
                st.button("Three others", type="tertiary", key="traits.others", on_click=_turn)


def _turn() -> None:
    session.store(_TURN, int(session.get(_TURN, 0)) + 1)


def _name(trait: Trait) -> None:
    say((trait.negative_label, trait.positive_label), WORDS)
    session.store(_NAMED, trait.key)


def _add(model: Model, traits: Sequence[Trait], words: Poles) -> None:
    """Add the trait, or keep the suggestion that the words are about. A button callback."""
    named = next((each for each in traits if each.key == session.get(_NAMED)), None)
    name, key = (str(session.get(each) or "").strip() for each in (_NAME, _KEY))
    name = name or suggested_name(traits, *words)
    problems: dict[str, str] = {}
    if any(canonical(each.name) == canonical(name) for each in traits if each is not named):
        problems["name"] = "This model already has a trait with this name."
    if any(each.key == key for each in traits):
        problems["key"] = "Another trait has this name in files. Type another one, or leave the field empty."
    if not problems:
        try:
            # Not validated here: the service does it and names the fields.
            new = TraitInput.model_construct(
                name=name, negative_label=words[0], positive_label=words[1], key=key or suggested_key(traits, name)
            )
            key = name_suggestion(model.handle, named, name, words) if named else add(model, traits, new)
        except TraitbenchError as error:
            problems = {field: said[0] for field, said in complaints(error).items()} or {"": explain(error)}
    session.store(_PROBLEMS, problems or None)
    if not problems:
        close_sentence()
        open_editor(key)
        session.flash("Trait added. Next, add about ten texts for each side.")


def _row(text: str, scored: NameScore, poles: Poles) -> str:
    confidence: Confidence = "low" if scored.positive is None else "moderate"
    words = "no clear side" if scored.positive is None else f"nearer to {poles[scored.positive]}"
    picture = bar(scored.score, confidence, negative=poles[0], positive=poles[1], words=words)
    ends = "".join(f"<bdi>{escape(pole)}</bdi>" for pole in poles)
    is_open = "<span>open</span>" if scored.positive is None else ""
    shown = escape(shortened(" ".join(text.split()), _LONGEST))
    return (
        f'<div class="tb-preview"><p dir="auto">{shown}</p><div>{picture}<div class="ends">{ends}</div></div>'
        f'<div class="score">{is_open}{scored.score}</div></div>'
    )


def _end(trait: Trait, side: str, texts: Mapping[str, str]) -> str:
    discovered = trait.discovered
    label = trait.negative_label if side == "left" else trait.positive_label
    phrases, typical = list[str](), list[str]()
    if discovered is not None:
        phrases = discovered.phrases.negative if side == "left" else discovered.phrases.positive
        typical = discovered.typical.negative if side == "left" else discovered.typical.positive
    words = "".join(f"<span>{escape(each)}</span>" for each in phrases[:_PHRASES] or [label])
    text = next((texts[each] for each in typical if each in texts), "")
    shown = f'<p class="tb-typical" dir="auto">{escape(shortened(text, _LONGEST))}</p>' if text else ""
    return f'<div class="tb-words {side}">{words}</div>{shown}'


def found_in_words(suggestions: Sequence[Trait]) -> str:
    """Return in how many texts discovery looked; empty if that is not known."""
    numbers = [each.discovered.texts for each in suggestions if each.discovered and each.discovered.texts]
    return f"Found in {count(max(numbers), 'text')}." if numbers else ""
