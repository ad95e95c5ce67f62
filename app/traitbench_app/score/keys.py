"""Keys of the Score page and of its present mode. A key that is pressed while someone types belongs to the text.

Only two keys work in a text field: Escape, which leaves the field, and Shift with an arrow at the end of the text.
"""

from collections.abc import Callable, Mapping

import streamlit as st

from traitbench_app.shell import session

_HTML = """
<span></span>
"""

_CSS = """
:host { display: none; }
"""

_JS = """
const TYPED = 'input, textarea, select, [contenteditable=true], [role=combobox], [role=listbox]'

let current = null

const name = (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return ''
  if (event.key.startsWith('Arrow')) return (event.shiftKey ? 'Shift+' : '') + event.key
  return event.key.length === 1 ? event.key.toLowerCase() : event.key
}

const heard = (event) => {
  if (!current?.parentElement.isConnected || event.defaultPrevented) return
  const key = name(event)
  const field = event.target instanceof Element ? event.target.closest(TYPED) : null
  const area = document.querySelector(current.data.field)
  if (field) {
    if (key === 'Escape' && current.data.keys.includes('Escape')) { field.blur(); return }
    const at_the_end = field === area && area.selectionStart === area.value.length
    if (!key.startsWith('Shift+Arrow') || !at_the_end) return
  }
  if (document.querySelector('[role=dialog]') || !current.data.keys.includes(key)) return
  event.preventDefault()
  current.setStateValue('pressed', { key, time: Date.now(), text: area ? area.value : null })
}

document.addEventListener('keydown', heard)

export default function (component) {
  current = component
  // The keys that work from now on, for who must not press them too early.
  document.documentElement.dataset.keys = component.data.keys.join(' ')
}
"""

_listener = st.components.v2.component("traitbench_keys", html=_HTML, css=_CSS, js=_JS)

Action = Callable[[str | None], None]


def on_keys(actions: Mapping[str, Action], *, field: str, key: str) -> None:
    """Run the action of a pressed key, with the text that is in the field; draw it once on a page.

    Keys are named as in browsers, small letters, `Shift+ArrowLeft`. `field` is the key of the text area.
    """

    def pressed() -> None:
        state = session.get(key) or {}
        event = state.get("pressed") or {}
        if action := actions.get(event.get("key", "")):
            action(event.get("text"))

    data = {"keys": list(actions), "field": f".st-key-{field.replace('.', '-')} textarea"}
    _listener(data=data, key=key, on_pressed_change=pressed, height=1)
