"""A button that copies a text to the clipboard and looks like the other buttons in both themes.

A browser may deny clipboard access (plain http to another machine). Then the text is shown and selected, to be copied
by hand.
"""

from typing import Literal

import streamlit as st

from traitbench_app.shell.navigation import PageName, link

_HTML = """
<button type="button"><span class="icon"></span><span class="label"></span></button>
<textarea readonly hidden aria-label="Text to copy"></textarea>
"""

_CSS = """
:host { display: block; }
button {
  display: inline-flex; align-items: center; gap: 0.4rem; min-height: 2.5rem; padding: 0.25rem 0.75rem; margin: 0;
  font: inherit; font-size: 0.875rem; color: var(--st-text-color); background: var(--st-background-color);
  border: 1px solid var(--st-widget-border-color, var(--st-border-color)); border-radius: var(--st-button-radius);
  cursor: pointer; white-space: nowrap;
}
button:hover, button:focus-visible, button.done {
  color: var(--st-primary-color); border-color: var(--st-primary-color); outline: none;
}
button:has(.label:empty) { visibility: hidden; }
svg { width: 1.05rem; height: 1.05rem; display: block; }
textarea {
  width: 100%; resize: vertical; box-sizing: border-box; margin-top: 0.4rem; padding: 0.35rem 0.5rem;
  font: inherit; font-size: 0.875rem;
  color: var(--st-text-color); background: var(--st-secondary-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-base-radius);
}
textarea[hidden] { display: none; }
"""

_JS = """
const LINK = '<path d="M10 14a5 5 0 0 0 7.07 0l2.83-2.83a5 5 0 0 0-7.07-7.07L11.4 5.5'
  + 'M14 10a5 5 0 0 0-7.07 0L4.1 12.83a5 5 0 0 0 7.07 7.07L12.6 18.5"/>'
const COPY = '<rect x="9" y="9" width="11" height="11" rx="2"/><path d="M5 15V6a2 2 0 0 1 2-2h8"/>'
const TICK = '<path d="M5 12.5l4.5 4.5L19 7.5"/>'
const icon = (path) => '<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8"'
  + ' stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">' + path + '</svg>'

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector('button')
  const field = parentElement.querySelector('textarea')
  const show = (path, label) => {
    button.querySelector('.icon').innerHTML = icon(path)
    button.querySelector('.label').textContent = label
  }
  const text = data.text.startsWith('/') ? new URL(data.text, window.location.origin).href : data.text
  const sign = data.icon === 'link' ? LINK : COPY
  show(sign, data.label)
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(text)
      button.classList.add('done')
      show(TICK, data.done)
      setTimeout(() => { button.classList.remove('done'); show(sign, data.label) }, 1800)
    } catch {
      field.hidden = false
      field.value = text
      field.rows = Math.min(text.split('\\n').length, 12)
      field.focus()
      field.select()
    }
  }
}
"""

_button = st.components.v2.component("traitbench_copy", html=_HTML, css=_CSS, js=_JS)


def copy_button(text: str, *, label: str, key: str, icon: Literal["copy", "link"] = "copy") -> None:
    """Draw the button; after a copy it shows "Copied" for a moment."""
    _button(data={"text": text, "label": label, "done": "Copied", "icon": icon}, key=key, width="content")


def copy_link(page: PageName, /, **query: str | int | None) -> None:
    """Draw a button that copies the link of the current view."""
    copy_button(link(page, **query), label="Copy link", icon="link", key=f"{page}.copy_link")
