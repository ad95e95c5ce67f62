"""A text that is scored while someone edits it: its field, a bar for each trait, and its words lit for one of them."""

import re
from collections.abc import Mapping, Sequence
from uuid import uuid4

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.analysis.texts import is_long, word_count
from traitbench.as_read import is_blank
from traitbench.contract.explanations import Explanation
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.reasons import highlighted
from traitbench.errors import Unreachable
from traitbench_app.parts.card import draw_card, ordered, picked_bar, poles_of
from traitbench_app.parts.reasons import draw_strongest, reasons_of, shows_words
from traitbench_app.parts.scorer import scorer_of
from traitbench_app.parts.version_figures import names_of
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt

_NOT_IN_A_CLASS = re.compile(r"[^A-Za-z0-9_-]")  # Streamlit makes the class of a widget from its key
_TALL, _TALLEST = 4_000, 480  # characters, and pixels of the field of a longer text
_STYLE = """
<style>
[class*="st-key-lit-"] { position: relative; gap: 0; margin: 0 -11px; }
[class*="st-key-lit-"] [data-testid="stTextArea"] { position: relative; z-index: 1; }
[class*="st-key-lit-"] [data-testid="stTextAreaRootElement"] { background: transparent; }
[class*="st-key-lit-"] [data-testid="stTextAreaRootElement"]:not(:focus-within, :hover) { border-color: transparent; }
[class*="st-key-lit-"] :is(textarea, .tb-why) {
  font: 400 20px/32px "Inter Variable", sans-serif; padding: 6px 10px !important;
  white-space: pre-wrap; overflow-wrap: anywhere; word-break: normal; unicode-bidi: plaintext; text-align: start;
}
[class*="st-key-lit-"] [data-testid="InputInstructions"] { display: none; }
[class*="st-key-lit-"] textarea { background: transparent; resize: none; }
[class*="st-key-lit-"] [data-testid="stElementContainer"]:has(.tb-why) {
  position: absolute; inset: 1px; width: auto; overflow: hidden;
}
[class*="st-key-lit-"] .tb-why { max-height: none; overflow: hidden; color: transparent; }
[class*="st-key-lit-"] .tb-why span[style] { padding: 1px 0; }
[class*="st-key-lit-"] .tb-why, [class*="st-key-scored"], [class*="st-key-words-of"] { transition: opacity 0.15s; }
html[data-traitbench-ahead] [class*="st-key-scored"] { opacity: 0.38; }
html[data-traitbench-words-ahead] :is([data-of].old, [class*="st-key-words-of"], .st-key-card-nearest) {
  opacity: 0.38;
}
html[data-traitbench-unanswered] [data-of].old { opacity: 0; }
html:not([data-traitbench-unanswered]) :is(.st-key-read_while_typing, :has(> .st-key-unanswered)) {
  position: absolute;
}
@media (forced-colors: active) {
  [class*="st-key-lit-"] [data-testid="stTextArea"] { forced-color-adjust: none; color: CanvasText; }
  [class*="st-key-lit-"] textarea { color: inherit; }
}
@media (max-width: 720px) {
  [class*="-two_keys"] [data-testid="stElementContainer"]:has([data-testid="stCaptionContainer"]) { display: none; }
}
</style>
"""
_SMALLER = """
<style>
.stApp [class*="st-key-lit-"] :is(textarea, .tb-why) { font-size: 16px; line-height: 27px; }
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
    is_tall = len(typed) > _TALL
    st.html(_STYLE + ("" if is_tall else _GROWS) + (_SMALLER if is_long(typed) else ""))
    with st.container(key=f"lit-{key}"):
        text = st.text_area(
            label,
            default,
            key=key,
            height=_TALLEST if is_tall else "content",
            label_visibility="collapsed",
            persist_state="session",
            placeholder="Type or paste a text.",
        )
        return text, st.container()


def light(slot: DeltaGenerator, reasons: Explanation, text: str, *, by_pieces: bool) -> None:
    """Light the parts of the text that decide. For those who do not see it, a sentence says which they are."""
    lit = highlighted(reasons, text, by_pieces=by_pieces)
    slot.html(f'<div aria-hidden="true" data-of="{_mark(text)}">{lit}</div>')


def _mark(text: str) -> int:
    """Return a number that tells texts apart, which the script computes too: Streamlit cleans what attributes say."""
    mark = 0
    for unit in memoryview(_as_field(text).encode("utf-16-le", "surrogatepass")).cast("H"):
        mark = (mark * 31 + unit) % 2**32
    return mark


def _as_field(text: str) -> str:
    """Return the text as a field has it."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def light_and_say(
    slot: DeltaGenerator, reasons: Explanation, text: str, poles: tuple[str, str], *, name: str = ""
) -> None:
    """Light the parts of the text that decide, and draw here the words that count most; of a long text, its sentences.

    Among several traits, `name` says which one it is about.
    """
    by_pieces = shows_words(reasons, text)
    light(slot, reasons, text, by_pieces=by_pieces)
    draw_strongest(reasons, text, poles, name=name)
    if not by_pieces and is_long(text):
        st.caption(f"This text has {word_count(text):,} words, so its sentences are lit.")


# Streamlit reads a text area when it loses focus or on Ctrl+Enter. This script sends Ctrl+Enter after a short pause, so
# the text still arrives in only one way. If the script does not run, typing works as usual. The text is kept in the
# browser's tab, which no other page can read, until the tab is closed.
#
# What is scored on the page belongs to the text that was `answered`. While a field has another one, the page has the
# attribute that makes old scores pale. If no answer comes, the script says so and asks again until one does.
_HTML = """
<div role="status"></div>
"""

_CSS = """
:host(:not(.shown)) { display: none; }
div { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 12px; color: var(--st-text-color); }
p { flex: 1 1 220px; margin: 0; font-size: 13px; line-height: 20px; color: var(--tb-ink-2); }
b { display: block; font-size: 14px; line-height: 22px; font-weight: 600; color: var(--st-text-color); }
button {
  font: 500 13px/20px var(--st-font); padding: 4px 10px; border: 1px solid var(--tb-line-strong); border-radius: 6px;
  color: inherit; background: var(--tb-surface); cursor: pointer;
}
button:focus-visible { outline: 2px solid var(--tb-accent-ink); outline-offset: 2px; }
"""

_JS = """
const PAUSE = 350
const PATIENCE = 3000
const AGAIN = 4000
const CTRL_ENTER = { key: 'Enter', code: 'Enter', keyCode: 13, which: 13, ctrlKey: true, metaKey: true, bubbles: true }
const RELEASED = [['Enter', 13], ['Control', 17], ['Meta', 91]]

let fields = {} // the text that was answered, or null, by the selector of its field
let keep = ''
let along = ''
let forget = ''
const restored = new Set() // sessions of the server, with what their texts are for
let owner = null
let ask = () => {}
let typing = 0
let waiting = 0
let asking = 0

const areas = (selector = Object.keys(fields).join(', ')) =>
  selector ? [...document.querySelectorAll(selector)].flatMap((each) => [...each.querySelectorAll('textarea')]) : []
const place = (area, name = keep) => `traitbench ${name} ${area.ariaLabel}`
const send = (area) => {
  area.dispatchEvent(new KeyboardEvent('keydown', CTRL_ENTER))
  // A key that is never released keeps the shortcuts of buttons from being heard.
  for (const [key, keyCode] of RELEASED) {
    area.dispatchEvent(new KeyboardEvent('keyup', { key, code: key, keyCode, which: keyCode, bubbles: true }))
  }
}
const mark = (text) => {
  let number = 0
  for (let at = 0; at < text.length; at++) number = (Math.imul(number, 31) + text.charCodeAt(at)) >>> 0
  return String(number)
}
const isAhead = () => Object.entries(fields).some(([selector, answered]) =>
  answered !== null && areas(selector).some((area) => area.value !== answered))

const store = (names = [keep]) => {
  for (const area of areas()) {
    if (forget) sessionStorage.removeItem(place(area, forget))
    for (const name of names.filter(Boolean)) {
      try { sessionStorage.setItem(place(area, name), area.value) } catch { /* a text too large to keep is not kept */ }
    }
  }
}

const restore = (tries = 50) => {
  const found = areas()
  if (!found.length && tries) setTimeout(restore, 100, tries - 1)
  for (const area of found) {
    const stored = sessionStorage.getItem(place(area))
    if (stored === null || stored === area.value) continue
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(area, stored)
    area.dispatchEvent(new Event('input', { bubbles: true }))
  }
}

const again = () => {
  for (const area of areas()) send(area)
  ask()
  clearTimeout(asking)
  asking = setTimeout(again, AGAIN)
}

const say = (isUnanswered) => {
  document.documentElement.toggleAttribute('data-traitbench-unanswered', isUnanswered)
  owner?.getRootNode().host?.classList.toggle('shown', isUnanswered)
  const box = owner?.querySelector('[role=status]')
  if (!box || Boolean(box.firstChild) === isUnanswered) return
  box.replaceChildren()
  if (!isUnanswered) return
  const words = document.createElement('p')
  const what = document.createElement('b')
  what.textContent = 'Not scored: the service does not answer.'
  const isOld = Object.values(fields).some((text) => text?.trim())
  const before = isOld ? 'The pale score below is that of the text before. ' : ''
  words.append(what, before + 'The new one comes by itself when the service is back.')
  const button = document.createElement('button')
  box.append(words, Object.assign(button, { type: 'button', textContent: 'Try again', onclick: again }))
}

// The lit words say themselves which text they are of, because they come after the scores.
const lookAtWords = () => {
  let ahead = false
  for (const area of areas()) {
    const words = area.closest('[class*="st-key-lit-"]')?.querySelector('[data-of]')
    const isOld = Boolean(words) && words.dataset.of !== mark(area.value)
    if (words?.classList.contains('old') !== isOld) words?.classList.toggle('old', isOld)
    ahead ||= isOld
  }
  document.documentElement.toggleAttribute('data-traitbench-words-ahead', ahead)
}
const newWords = new MutationObserver(lookAtWords)

// Called when a text has changed, and when an answer came, which may be that to an earlier text.
const look = (isAnswer) => {
  lookAtWords()
  const ahead = isAhead()
  document.documentElement.toggleAttribute('data-traitbench-ahead', ahead)
  if (isAnswer || !ahead) {
    clearTimeout(waiting)
    clearTimeout(asking)
    waiting = 0
    say(false)
  }
  if (ahead && !waiting) waiting = setTimeout(() => { say(true); again() }, PAUSE + PATIENCE)
}

const heard = (event) => {
  const area = event.target
  const selector = Object.keys(fields).join(', ')
  if (!selector || !(area instanceof HTMLTextAreaElement) || !area.closest(selector)) return
  look(false)
  if (event.isComposing) return
  clearTimeout(typing)
  typing = setTimeout(() => { store([keep, along]); send(area) }, PAUSE)
}

// The lit words lie below the field, so they move with its text.
const follow = (event) => {
  const words = event.target instanceof HTMLTextAreaElement && event.target.closest('[class*="st-key-lit-"]')
  const box = words && words.querySelector('[data-of]')?.closest('[data-testid=stElementContainer]')
  if (box) box.scrollTop = event.target.scrollTop
}

document.addEventListener('input', heard)
document.addEventListener('scroll', follow, true)
document.addEventListener('compositionend', heard)
addEventListener('pagehide', () => store())

export default function ({ data, parentElement, setTriggerValue }) {
  const isAnswer = JSON.stringify(fields) !== JSON.stringify(data.fields)
  fields = data.fields
  ;({ keep, along, forget } = data)
  owner = parentElement
  ask = () => setTriggerValue('again', true)
  if (forget) store()
  // The fields are drawn about when this script is.
  const what = `${data.restore} ${keep}`
  if (data.restore && keep && !restored.has(what)) setTimeout(restore, 150)
  restored.add(what)
  look(isAnswer)
  newWords.disconnect()
  for (const area of areas()) {
    newWords.observe(area.closest('[class*="st-key-lit-"]') ?? area, { childList: true, subtree: true })
  }
  // The next mount may come before this one's end.
  return () => {
    if (owner !== parentElement) return
    fields = {}
    look(true)
  }
}
"""

_listener = st.components.v2.component("traitbench_live", html=_HTML, css=_CSS, js=_JS)


def read_while_typing(
    *keys: str,
    keep: str = "",
    along: str = "",
    forget: str = "",
    restore: bool = False,
    answered: Mapping[str, str] | None = None,
) -> None:
    """Read the text areas with these keys after each short pause; call it once, where a missing answer is to be said.

    With `keep`, a name of what the texts are for, the browser's tab keeps them; with `restore`, they become what it
    kept, once in a session and for each name. What is typed is also kept under the name `along`, for a page that it
    goes along to. The tab forgets those of the name `forget`.
    `answered` are the texts, by key, that the scores on the page belong to, so it is called after those are drawn: once
    a field has another text, what is in a container whose key begins with `scored` is pale until that is answered too.
    """
    texts = {key: _as_field(text) for key, text in (answered or {}).items()}
    fields = {f".st-key-{_NOT_IN_A_CLASS.sub('-', key)}": texts.get(key) for key in keys}
    # Not "the first run", which the browser may never see: a quick second one replaces it.
    of_session = session.once("scored_text.session", None, lambda: uuid4().hex)
    _listener(
        data={
            "fields": fields,
            "keep": keep,
            "along": along,
            "forget": forget,
            "restore": of_session if restore else "",
        },
        key="read_while_typing",
        on_again_change=lambda: None,
    )


def draw_scored_text(model: Model, version: Version, traits: Sequence[Trait], *, key: str) -> None:
    """Draw the field, whose text is at `key` of the session, and below it the scores by the version.

    The words that decide are those for the trait of the picked bar.
    """
    text, marks = lit_field(key, session.get(key, ""))
    words, notice = st.container(key=f"words-of.{key}"), st.container(key="unanswered")
    names, poles, bars = names_of(traits), poles_of(traits), f"{key}.card"
    answered, card = text, None
    if not is_blank(text):
        with attempt() as scoring:
            scorer = scorer_of(model.handle, version)
            [card] = scorer.cards([text])
            with st.container(key=f"scored.{key}"):
                draw_card(card, names, poles, main=model.main_trait, key=bars, can_pick=True)
        if isinstance(scoring.error, Unreachable):
            answered = ""
    with notice:
        read_while_typing(key, answered={key: answered})
    if card:
        keys = ordered([*card.detail], model.main_trait)
        trait = keys[min(picked_bar(bars), len(keys) - 1)]
        with words, attempt():
            name = names.get(trait, trait) if len(keys) > 1 else ""
            reasons = reasons_of(scorer, text)[trait]
            light_and_say(marks, reasons, text, poles.get(trait, ("negative", "positive")), name=name)
