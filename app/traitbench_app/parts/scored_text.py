"""A text that is scored while someone edits it: its field, a bar for each trait, and its words lit for one of them."""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.contract.explanations import Explanation
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.reasons import highlighted
from traitbench_app.parts.card import draw_card, ordered, picked_bar, poles_of
from traitbench_app.parts.reasons import are_quick, by_words, draw_strongest, reasons_of
from traitbench_app.parts.scorer import scorer_of
from traitbench_app.parts.version_figures import names_of
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt

_LONG, _TALLEST = 1_500, 400  # characters, and pixels of the field of a longer text
_STYLE = """
<style>
[class*="st-key-lit-"] { position: relative; gap: 0; }
[class*="st-key-lit-"] [data-testid="stTextArea"] { position: relative; z-index: 1; }
[class*="st-key-lit-"] [data-testid="stTextAreaRootElement"] { background: transparent; }
[class*="st-key-lit-"] :is(textarea, .tb-why) {
  font: 400 20px/32px "Source Sans", sans-serif; padding: 6px 10px !important;
  white-space: pre-wrap; overflow-wrap: anywhere; word-break: normal; unicode-bidi: plaintext; text-align: start;
}
[class*="st-key-lit-"] [data-testid="InputInstructions"] { display: none; }
[class*="st-key-lit-"] textarea { background: transparent; resize: none; }
[class*="st-key-lit-"] [data-testid="stElementContainer"]:has(.tb-why) { position: absolute; inset: 1px; width: auto; }
[class*="st-key-lit-"] .tb-why { max-height: none; overflow: hidden; color: transparent; }
[class*="st-key-lit-"] .tb-why span[style] { padding: 1px 0; }
</style>
"""
# Streamlit measures the height of a text once, sometimes before these styles apply: then the last line was cut off.
_GROWS = """
<style>
@supports (field-sizing: content) {
  [class*="st-key-lit-"] textarea { field-sizing: content; height: auto !important; max-height: none; }
}
</style>
"""


def lit_field(key: str, typed: str, *, label: str = "Text", default: str = "") -> tuple[str, DeltaGenerator]:
    """Draw the field; return its text and the place for `light`. `typed` is the text that it had, for its height."""
    is_long = len(typed) > _LONG
    st.html(_STYLE if is_long else _STYLE + _GROWS)
    with st.container(key=f"lit-{key}"):
        text = st.text_area(
            label,
            default,
            key=key,
            height=_TALLEST if is_long else "content",
            label_visibility="collapsed",
            persist_state="session",
            placeholder="Type or paste a text.",
        )
        return text, st.container()


def light(slot: DeltaGenerator, reasons: Explanation, text: str, *, by_pieces: bool) -> None:
    """Light the parts of the text that decide. For those who do not see it, a sentence says which they are."""
    slot.html(f'<div aria-hidden="true">{highlighted(reasons, text, by_pieces=by_pieces)}</div>')


# Streamlit reads a text area when it loses focus or on Ctrl+Enter. This script sends Ctrl+Enter after a short pause, so
# the text still arrives in only one way. If the script does not run, typing works as usual. The text is kept in the
# browser's tab, which no other page can read, until the tab is closed.
_CSS = """
:host { display: none; }
"""

_JS = """
const PAUSE = 350
const CTRL_ENTER = { key: 'Enter', code: 'Enter', keyCode: 13, which: 13, ctrlKey: true, metaKey: true, bubbles: true }

let fields = ''
let keep = ''
let owner = null
let timer = 0

const areas = () =>
  fields ? [...document.querySelectorAll(fields)].flatMap((each) => [...each.querySelectorAll('textarea')]) : []
const place = (area) => `traitbench ${keep} ${area.ariaLabel}`
const send = (area) => area.dispatchEvent(new KeyboardEvent('keydown', CTRL_ENTER))

const store = () => {
  if (!keep) return
  for (const area of areas()) {
    try { sessionStorage.setItem(place(area), area.value) } catch { /* a text too large to keep is not kept */ }
  }
}

const restore = () => {
  for (const area of areas()) {
    const stored = sessionStorage.getItem(place(area))
    if (stored === null || stored === area.value) continue
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(area, stored)
    area.dispatchEvent(new Event('input', { bubbles: true }))
  }
}

const heard = (event) => {
  const area = event.target
  if (event.isComposing || !fields || !(area instanceof HTMLTextAreaElement) || !area.closest(fields)) return
  clearTimeout(timer)
  timer = setTimeout(() => send(area), PAUSE)
}

document.addEventListener('input', heard)
document.addEventListener('compositionend', heard)
addEventListener('pagehide', store)

export default function ({ data, parentElement }) {
  fields = data.fields
  keep = data.keep
  owner = parentElement
  // The fields are drawn about when this script is.
  if (data.restore) setTimeout(restore, 150)
  // The next mount may come before this one's end.
  return () => { if (owner === parentElement) fields = '' }
}
"""

_listener = st.components.v2.component("traitbench_live", html="<span></span>", css=_CSS, js=_JS)


def read_while_typing(*keys: str, keep: str = "", restore: bool = False) -> None:
    """Read the text areas with these keys after each short pause; call it once, anywhere on the page.

    With `keep`, a name of what the texts are for, the browser's tab keeps them; with `restore`, they are what it kept.
    """
    fields = ", ".join(f".st-key-{key.replace('.', '-')}" for key in keys)
    _listener(data={"fields": fields, "keep": keep, "restore": restore}, key="read_while_typing", height=1)


def draw_scored_text(model: Model, version: Version, traits: Sequence[Trait], *, key: str) -> None:
    """Draw the field, whose text is at `key` of the session, and below it the scores by the version."""
    text, marks = lit_field(key, session.get(key, ""))
    words = st.container()
    read_while_typing(key)
    if text.strip():
        with attempt():
            draw_scores(model, version, traits, text, marks, words, key=f"{key}.card")


def draw_scores(
    model: Model,
    version: Version,
    traits: Sequence[Trait],
    text: str,
    marks: DeltaGenerator,
    words: DeltaGenerator,
    *,
    key: str,
) -> None:
    """Draw the bars here, and the reasons for the trait of the picked bar into their places.

    Raise the service's errors.
    """
    scorer, names, poles = scorer_of(model.handle, version), names_of(traits), poles_of(traits)
    [card] = scorer.cards([text])
    draw_card(card, names, poles, main=model.main_trait, key=key, can_pick=True, leans=True)
    keys = ordered([*card.detail], model.main_trait)
    trait = keys[min(picked_bar(key), len(keys) - 1)]
    if are_quick([text]) and (reasons := reasons_of(scorer, text).get(trait)):
        light(marks, reasons, text, by_pieces=by_words(reasons))
        with words:
            name = names.get(trait, trait) if len(keys) > 1 else ""
            draw_strongest(reasons, text, poles.get(trait, ("negative", "positive")), name=name)
