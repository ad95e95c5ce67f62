"""The sentence that asks what a text is: two words between which a text is scored, each in a field of its own."""

import streamlit as st

from traitbench.display.text import plain
from traitbench.local.names import needs_opposite
from traitbench_app.shell import session

EITHER, OR = "either", "or"
"""The keys of the two words, which are also their names in the link."""

HOME = (EITHER, OR)

Poles = tuple[str, str]
"""The words for the negative and for the positive pole."""

_LONGEST = 80
_STYLE = """
<style>
[class*="st-key-door"] {
  --size: 32px; --line: 48px; row-gap: 0; column-gap: 12px; align-items: center;
}
.stApp [data-testid="stMain"] [class*="st-key-door"] :is(h1, h2, p, input) {
  padding: 0; font-size: var(--size); line-height: var(--line); font-weight: 600; letter-spacing: -0.02em;
}
[class*="st-key-door"] > * { flex: none !important; width: auto !important; max-width: 100%; }
[class*="st-key-door"] [data-testid="stTextInput"] { width: auto; max-width: 100%; }
[class*="st-key-door"] [data-testid="InputInstructions"] { display: none; }
[class*="st-key-door"] [data-testid="stTextInputRootElement"] {
  height: 46px; border: 0; border-radius: 8px 8px 4px 4px; background: var(--fill); box-shadow: 0 2px 0 0 var(--edge);
}
[class*="st-key-door"] [data-testid="stTextInputRootElement"]:focus-within {
  outline: 2px solid var(--tb-accent-ink); outline-offset: 2px; border-radius: 8px;
}
.stApp [data-testid="stMain"] [class*="st-key-door"] input {
  width: auto; min-width: 3ch; max-width: min(20ch, 78vw); padding: 0 12px; field-sizing: content; color: var(--words);
  background: transparent; text-overflow: ellipsis; caret-color: var(--tb-accent-ink);
}
[class*="st-key-door"] [class*="st-key-door-left"] {
  --fill: var(--tb-left-soft); --edge: var(--tb-left); --words: var(--tb-left-ink);
}
[class*="st-key-door"] [class*="st-key-door-right"] {
  --fill: var(--tb-right-soft); --edge: var(--tb-right); --words: var(--tb-right-ink);
}
[class*="st-key-door"] .st-key-door-swap button { width: 32px; min-height: 32px; padding: 0; }
[class*="st-key-door"] .st-key-door-swap [data-testid="stMarkdownContainer"] {
  position: absolute; clip-path: inset(50%);
}
.st-key-door-small { --size: 24px; --line: 40px; }
.st-key-door-small [data-testid="stTextInputRootElement"] { height: 38px; }
@media (max-width: 720px) {
  [class*="st-key-door"] { --size: 26px; --line: 42px; column-gap: 8px; }
  [class*="st-key-door"] [data-testid="stTextInputRootElement"] { height: 40px; }
  .stApp [data-testid="stMain"] [class*="st-key-door"] input { padding: 0 8px; }
}
</style>
"""


def draw_door(usual: Poles, *, is_title: bool, keys: tuple[str, str] = HOME) -> Poles:
    """Draw the sentence, which begins with the `usual` words, and return its words.

    It is the title of the page, or a smaller one in a card. The words of Home are in the address.
    """
    for key, word in zip(keys, usual, strict=True):
        if session.get(key) is None and key not in st.query_params:
            session.put({key: word})
    st.html(_STYLE)
    with st.container(horizontal=True, vertical_alignment="center", key="door" if is_title else "door.small"):
        # On a page about a model, the header line has the first heading.
        (st.title if is_title and keys == HOME else st.header)("A text is", anchor=False, width="content")
        with st.container(width="content", key="door.left"):
            negative = _word("A text is", keys[0])
        st.markdown("or", width="content")
        with st.container(width="content", key="door.right"):
            positive = _word("or", keys[1])
        st.button(
            "Swap the two words",
            icon=":material/swap_horiz:",
            type="tertiary",
            key="door.swap",
            on_click=_swap,
            args=(keys,),
        )
    return negative, positive


def say(poles: Poles, keys: tuple[str, str] = HOME) -> None:
    """Put two words into the sentence. A button callback."""
    session.put(dict(zip(keys, poles, strict=True)))


def said(keys: tuple[str, str] = HOME) -> Poles:
    """Return the words of the sentence, even before it is drawn."""
    return session.on_screen(keys[0], "").strip(), session.on_screen(keys[1], "").strip()


def problem_of(poles: Poles) -> str:
    """Return why two words cannot answer and what to do, in Markdown; empty if nothing prevents it."""
    negative, positive = poles
    if not negative or not positive:
        return "**Name both sides.** The text is then scored from these two words alone."
    if negative.casefold() == positive.casefold():
        return "**Both sides have the same name.** Use two different words."
    for pole, other in ((negative, positive), (positive, negative)):
        if needs_opposite(pole):
            return (
                f"**“{plain(pole)}” only says what a text is not.** Say what it is instead: what is the opposite of "
                f"“{plain(other)}”? For *ironic*, it may be *meant seriously*."
            )
    return ""


def _word(label: str, key: str) -> str:
    return st.text_input(
        label,
        key=key,
        max_chars=_LONGEST,
        placeholder="a word",
        bind="query-params" if key in HOME else None,
        live="300ms",
        label_visibility="collapsed",
        persist_state="session",
        width=160,
    ).strip()


def _swap(keys: tuple[str, str]) -> None:
    negative, positive = said(keys)
    say((positive, negative), keys)
