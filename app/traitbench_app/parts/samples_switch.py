"""The switch at the right of a title between the three views of what a model learns from: samples, traits, check."""

from collections.abc import Mapping
from typing import Literal

import streamlit as st

from traitbench_app.shell.navigation import PageName, page_link

SamplesView = Literal["samples", "traits", "check"]

_VIEWS: Mapping[SamplesView, tuple[PageName, str, Mapping[str, str]]] = {
    "samples": ("samples", "Samples", {}),
    "traits": ("traits", "Traits", {}),
    "check": ("samples", "Check", {"task": "Check"}),
}

_STYLE = """
<style>
.stApp .st-key-samples-switch {
  gap: 0; width: fit-content; min-height: 28px; flex-wrap: nowrap; overflow: hidden; align-self: flex-start;
  border: 1px solid var(--tb-line-strong); border-radius: 6px; background: var(--tb-surface);
}
.stApp .st-key-samples-switch [data-testid="stPageLink-NavLink"] {
  box-sizing: border-box; height: 28px; min-height: 0; margin: 0; padding: 5px 12px; border-radius: 0; background: none;
}
.stApp .st-key-samples-switch [class*="st-key-samples-switch-"] { min-height: 28px; justify-content: center; }
.stApp .st-key-samples-switch > * + * { border-left: 1px solid var(--tb-line); }
.stApp .st-key-samples-switch [data-testid="stPageLink"] :is(p, span) {
  font-size: 13px; line-height: 18px; font-weight: 500; color: var(--tb-ink-2);
}
.stApp .st-key-samples-switch [data-testid="stPageLink"] a > :not(:has(p)):has([data-testid="stIconMaterial"]) {
  display: none;
}
.stApp .st-key-samples-switch [data-testid="stPageLink"] a:focus-visible {
  outline: 2px solid var(--tb-accent-ink); outline-offset: -2px;
}
.stApp .st-key-samples-switch .st-key-samples-switch-on { background: var(--tb-sunk); }
.stApp .st-key-samples-switch .st-key-samples-switch-on [data-testid="stPageLink"] :is(p, span) {
  font-weight: 600; color: var(--tb-ink);
}
</style>
"""


def draw_samples_switch(here: SamplesView) -> None:
    """Draw the three links as one control; `here` is the view on screen. Draw it at the right of the title."""
    st.html(_STYLE)
    with st.container(horizontal=True, width="content", key="samples-switch"):
        for view, (page, name, query) in _VIEWS.items():
            with st.container(width="content", key=f"samples-switch-{'on' if view == here else view}"):
                page_link(page, name, **query)
