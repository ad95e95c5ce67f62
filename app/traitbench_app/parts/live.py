"""A text area that is read while the user types, not only when it loses focus, and that survives a reload of the page.

Streamlit reads a text area when it loses focus or on Ctrl+Enter. This script sends Ctrl+Enter after a short pause, so
the text still arrives in only one way. If the script does not run, typing works as usual. The text is kept in the
browser's tab, which no other page can read, until the tab is closed.
"""

import streamlit as st

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
