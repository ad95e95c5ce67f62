"""A table of counts or a picture whose parts are buttons; a pressed one opens its texts.

It stays HTML in the page's own colours. Streamlit has no HTML with buttons, so a small component reports which one was
pressed.
"""

import streamlit as st

_CSS = """
:host { display: block; overflow-x: auto; padding-bottom: 4px; color: var(--st-text-color); font: inherit; }
button {
  all: unset; box-sizing: border-box; display: block; width: 100%; text-align: center; cursor: pointer;
  border-radius: 4px; font-variant-numeric: tabular-nums;
}
button:hover b { text-decoration: underline; }
button:empty:hover { background: color-mix(in srgb, var(--st-text-color) 8%, transparent); }
button:focus-visible, button[aria-pressed="true"] { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
button:disabled { cursor: default; }
button:disabled:hover b { text-decoration: none; }
"""

_JS = """
export default function ({ data, parentElement, setStateValue }) {
  const place = parentElement.querySelector('.cells')
  if (place.dataset.shown !== data.html) {
    place.innerHTML = data.html
    place.dataset.shown = data.html
  }
  for (const button of place.querySelectorAll('button')) {
    button.setAttribute('aria-pressed', String(button.dataset.cell === data.pressed))
    button.onclick = () => setStateValue('pressed', `${button.dataset.cell} ${Date.now()}`)
  }
}
"""

_cells = st.components.v2.component("traitbench_cells", html='<div class="cells"></div>', css=_CSS, js=_JS)


def draw_cells(html: str, *, key: str) -> str | None:
    """Draw HTML whose buttons have `data-cell`; return the pressed cell, which a second press closes."""
    held = f"{key}.open"

    def press() -> None:
        cell = str(st.session_state[key].get("pressed") or "").partition(" ")[0]
        st.session_state[held] = None if st.session_state.get(held) == cell else cell

    opened = st.session_state.get(held)
    _cells(data={"html": html, "pressed": opened or ""}, key=key, on_pressed_change=press)
    return opened if isinstance(opened, str) and opened else None
