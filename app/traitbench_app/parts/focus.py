"""Puts the keyboard into the first field of a dialog when it opens."""

import streamlit as st

_JS = """
export default function ({ parentElement }) {
  const host = parentElement.host ?? parentElement.getRootNode().host ?? parentElement
  const dialog = host.closest('[role="dialog"]')
  if (!dialog || dialog.dataset.focused) return
  const field = dialog.querySelector('input:not([type="hidden"]):not([disabled]), textarea:not([disabled])')
  if (!field) return
  dialog.dataset.focused = 'yes'
  // After the dialog has taken the focus itself.
  setTimeout(() => field.focus(), 50)
}
"""

_focus = st.components.v2.component("traitbench_focus", js=_JS)


def focus_first_field(key: str) -> None:
    """Put the keyboard into the first field of the dialog that this is drawn in; call it after the fields."""
    _focus(key=key, height=0)
