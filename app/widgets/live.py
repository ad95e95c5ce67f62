"""A text area that is read while one types, not only when one leaves it.

Streamlit takes a text over on leaving the field or on Ctrl+Enter. This presses Ctrl+Enter for the person after a short
pause, so there is one text and one way for it to arrive; where the script does not run, typing works as ever.
"""

import streamlit as st

_CSS = """
:host { display: none; }
"""

_JS = """
const PAUSE = 350

export default function ({ data, parentElement }) {
  const timers = []
  const listeners = []
  const take = (area) => area.dispatchEvent(new KeyboardEvent('keydown', {
    key: 'Enter', code: 'Enter', keyCode: 13, which: 13, ctrlKey: true, metaKey: true, bubbles: true, cancelable: true,
  }))
  const listen = () => {
    for (const key of data.keys) {
      const area = document.querySelector('.st-key-' + CSS.escape(key.replace(/[^a-zA-Z0-9_-]/g, '-')) + ' textarea')
      if (!area || listeners.some(([known]) => known === area)) continue
      let timer = 0
      const heard = (event) => {
        clearTimeout(timer)
        if (event.isComposing) return
        timer = setTimeout(() => take(area), PAUSE)
        timers.push(timer)
      }
      area.addEventListener('input', heard)
      listeners.push([area, heard])
    }
  }
  listen()
  const late = setInterval(listen, 1000)
  return () => {
    clearInterval(late)
    timers.forEach(clearTimeout)
    listeners.forEach(([area, heard]) => area.removeEventListener('input', heard))
  }
}
"""

_listener = st.components.v2.component("traitbench_live", html="<span></span>", css=_CSS, js=_JS)


def read_while_typing(*keys: str) -> None:
    """Let the text areas of these keys be read after each short pause; draw it once, anywhere on the page."""
    _listener(data={"keys": list(keys)}, key="read_while_typing:" + ",".join(keys), height=1)
