"""A text field whose words can be lit: what is typed lies over a painted copy, of which only the marks are seen."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.contract.explanations import Explanation
from traitbench.display.reasons import highlighted

_LONG, _TALLEST = 1_500, 400  # characters, and pixels of the field of a longer text
_STYLE = """
<style>
[class*="st-key-lit-"] { position: relative; gap: 0; }
[class*="st-key-lit-"] [data-testid="stTextArea"] { position: relative; z-index: 1; }
[class*="st-key-lit-"] [data-testid="stTextAreaRootElement"] { background: transparent; }
[class*="st-key-lit-"] :is(textarea, .tb-why) {
  font: 400 20px/32px "Source Sans", sans-serif; padding: 6px 10px !important;
  white-space: pre-wrap; overflow-wrap: anywhere; word-break: normal; unicode-bidi: plaintext; text-align: start;
}
[class*="st-key-lit-"] [data-testid="InputInstructions"] { display: none; }
[class*="st-key-lit-"] textarea { background: transparent; resize: none; }
[class*="st-key-lit-"] [data-testid="stElementContainer"]:has(.tb-why) { position: absolute; inset: 1px; width: auto; }
[class*="st-key-lit-"] .tb-why { max-height: none; overflow: hidden; color: transparent; }
[class*="st-key-lit-"] .tb-why span[style] { padding: 1px 0; }
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
    is_long = len(typed) > _LONG
    st.html(_STYLE if is_long else _STYLE + _GROWS)
    with st.container(key=f"lit-{key}"):
        text = st.text_area(
            label,
            default,
            key=key,
            height=_TALLEST if is_long else "content",
            label_visibility="collapsed",
            persist_state="session",
            placeholder="Type or paste a text.",
        )
        return text, st.container()


def light(place: DeltaGenerator, reasons: Explanation, text: str, *, by_pieces: bool) -> None:
    """Light the parts of the text that decide. For those who do not see it, a sentence says which they are."""
    place.html(f'<div aria-hidden="true">{highlighted(reasons, text, by_pieces=by_pieces)}</div>')
