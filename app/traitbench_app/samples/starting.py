"""A model without samples: three ways to bring some, and what makes them good ones."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.display.text import shortened
from traitbench_app.parts.controls import draw_title
from traitbench_app.parts.samples_switch import draw_samples_switch
from traitbench_app.samples.views import go_to
from traitbench_app.samples.words import empty_title
from traitbench_app.shell.navigation import page

_TIPS = (
    ("Same subjects on both sides.", "A refusal and a refund, each once on either side. Else the subject is learned."),
    ("Alike in length.", "If all texts of one side are long, every long text gets that side."),
    ("Also the hard ones.", "A polite refusal teaches more than five thank-yous."),
)
_NOT_KEPT = (
    "Samples are not kept",
    "Zero data retention is on: a training removes the samples that it used. Paste or label texts, then train.",
)
_LABEL = 24

_STYLE = """
<style>
.stApp [class*="st-key-card-way"] { min-height: 240px; padding: 20px; }
.tb-way { font-size: 13px; line-height: 20px; color: var(--tb-ink-2); }
.tb-way .f { display: grid; grid-template-columns: 1fr 1fr; gap: 8px; margin-top: 10px; }
.tb-way .f > div, .tb-way .one {
  min-height: 72px; padding: 8px 10px; border: 1px solid var(--tb-line-strong); border-radius: 6px;
  color: var(--tb-ink-3);
}
.tb-way .one { margin-top: 10px; }
.tb-way .drop {
  display: grid; place-items: center; min-height: 90px; margin-top: 10px; border: 1.5px dashed var(--tb-line-strong);
  border-radius: 8px; text-align: center; color: var(--tb-ink-3);
}
.tb-way b { font-weight: 600; }
.tb-way .f > .left { color: var(--tb-left-ink); border-top: 2px solid var(--tb-left); }
.tb-way .f > .right { color: var(--tb-right-ink); border-top: 2px solid var(--tb-right); }
.tb-tips {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(220px, 1fr)); gap: 12px 24px; font-size: 13px;
}
.tb-tips p { margin: 0; line-height: 20px; color: var(--tb-ink-2); }
.tb-tips b { font-weight: 600; color: var(--tb-ink); }
</style>
"""


def draw_starting(model: Model, traits: Sequence[Trait], *, can_edit: bool) -> None:
    """Draw the title with the ways; a model that keeps no samples has no files."""
    title, sentence = (
        _NOT_KEPT
        if model.zero_data_retention
        else (empty_title(traits), "They teach what the two words mean to you. Some can be set aside and only test.")
    )
    with st.container(horizontal=True, horizontal_alignment="distribute", key="samples-title"):
        with st.container(width="content"):
            draw_title(title, sentence, is_first=False)
        draw_samples_switch("samples")
    if not can_edit:
        return
    st.html(_STYLE)
    columns = st.columns(2 if model.zero_data_retention else 3)
    with columns[0], st.container(border=True, key="card.way_paste"):
        _draw_way("content_paste", "Paste texts", "One text a line, a field for each side.", _fields(traits))
        st.button("Paste", key="samples.first_paste", on_click=go_to, args=("paste",))
    if not model.zero_data_retention:
        with columns[1], st.container(border=True, key="card.way_file"):
            drop = '<div class="drop">CSV, Excel, JSONL, Parquet</div>'
            _draw_way("upload", "Bring a file", "Labelled or not: columns are read, you confirm them.", drop)
            st.button("Choose a file", key="samples.first_import", on_click=go_to, args=("import",))
    with columns[-1], st.container(border=True, key="card.way_label"):
        one = '<div class="one">Your parcel was found. It comes on Thursday.</div>'
        _draw_way("label", "Label texts", "Bring texts without labels, one key for each.", one)
        if st.button("Label", shortcut="L", key="samples.first_label"):
            st.switch_page(page("label"), query_params={})
    with st.container(border=True, key="card.tips"):
        tips = "".join(f"<p><b>{escape(title)}</b> {escape(text)}</p>" for title, text in _TIPS)
        st.html(f'<div class="tb-tips">{tips}</div>')
    if not model.zero_data_retention:
        st.button(
            "Write some for me",
            icon=":material/auto_awesome:",
            type="tertiary",
            key="samples.first_synthesize",
            on_click=go_to,
            args=("synthesize",),
        )


def _draw_way(icon: str, title: str, sentence: str, picture: str) -> None:
    st.header(title, icon=f":material/{icon}:", anchor=False)
    st.html(f'<div class="tb-way">{escape(sentence)}{picture}</div>')


def _fields(traits: Sequence[Trait]) -> str:
    words = (traits[0].negative_label, traits[0].positive_label) if len(traits) == 1 else ("one side", "the other side")
    return '<div class="f" aria-hidden="true">{}{}</div>'.format(
        *(
            f'<div class="{side}"><b>{escape(shortened(word, _LABEL))}</b></div>'
            for side, word in zip(("left", "right"), words, strict=True)
        )
    )
