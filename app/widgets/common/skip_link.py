"""A link at the start of every page that moves the keyboard past the menu, to the page itself.

It is the first stop of the Tab key and is visible only while it has the focus.
"""

import streamlit as st

_JS = """
const HIDDEN = 'position:fixed;left:-10000px;top:0.5rem;z-index:1000000;padding:0.5rem 1rem;border-radius:8px;'
  + 'background:#0f766e;color:#fff;font-family:sans-serif'

export default function () {
  if (document.getElementById('traitbench-skip')) return
  const link = document.createElement('a')
  link.id = 'traitbench-skip'
  link.href = '#'
  link.textContent = 'Skip the menu'
  link.style.cssText = HIDDEN
  link.onfocus = () => { link.style.left = '0.5rem' }
  link.onblur = () => { link.style.left = '-10000px' }
  link.onclick = (event) => {
    event.preventDefault()
    const heading = document.querySelector('.st-key-heading')
    if (!heading) return
    heading.tabIndex = -1
    heading.style.outline = 'none'
    heading.focus()
  }
  document.body.prepend(link)
}
"""

_skip_link = st.components.v2.component("traitbench_skip", js=_JS)


def skip_link() -> None:
    """Put the link at the start of the page, once for all pages."""
    _skip_link(key="shell.skip", height=0)
