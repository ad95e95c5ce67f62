"""A text area that is read while the user types, not only when it loses focus.

Streamlit reads a text area when it loses focus or on Ctrl+Enter. This script sends Ctrl+Enter after a short pause, so
the text still arrives in only one way. If the script does not run, typing works as usual.
"""

import streamlit as st

_CSS = """
:host { display: none; }
"""

_JS = """
const PAUSE = 350
const CTRL_ENTER = { key: 'Enter', code: 'Enter', keyCode: 13, which: 13, ctrlKey: true, metaKey: true, bubbles: true }

let fields = ''
let owner = null
let timer = 0

const heard = (event) => {
  const area = event.target
  if (event.isComposing || !fields || !(area instanceof HTMLTextAreaElement) || !area.closest(fields)) return
  clearTimeout(timer)
  timer = setTimeout(() => area.dispatchEvent(new KeyboardEvent('keydown', CTRL_ENTER)), PAUSE)
}

document.addEventListener('input', heard)
document.addEventListener('compositionend', heard)

export default function ({ data, parentElement }) {
  fields = data.fields
  owner = parentElement
  // The next mount may come before this one's end.
  return () => { if (owner === parentElement) fields = '' }
}
"""

_listener = st.components.v2.component("traitbench_live", html="<span></span>", css=_CSS, js=_JS)


def read_while_typing(*keys: str) -> None:
    """Read the text areas with these keys after each short pause; call it once, anywhere on the page."""
    fields = ", ".join(f".st-key-{key.replace('.', '-')}" for key in keys)
    _listener(data={"fields": fields}, key="read_while_typing", height=1)
