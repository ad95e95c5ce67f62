"""Many traits as a list: a row for each with its strip, the weakest first. A press opens a trait as a card."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from traitbench.analysis.checks import ENOUGH
from traitbench.contract.traits import Trait
from traitbench.display.pictures import strip
from traitbench.display.text import isolated, shortened
from traitbench_app.shell import session
from traitbench_app.traits.measured import MeasuredTrait, Separation, weakest_first

_OPEN = "traits.listed"
_WORDS: dict[Separation, str] = {"apart": "told apart", "hardly": "hardly", "not trained": "not trained"}
_WIDTH, _HEIGHT, _RADIUS = 330, 38, 1.6
_LONGEST = 60

_CSS = """
:host { display: block; font: 13px/20px var(--st-font); color: var(--tb-ink); }
.row, .head { display: grid; grid-template-columns: 132px 104px minmax(0, 1fr) 128px 176px 92px 66px; gap: 0 14px;
  align-items: center; padding: 0 16px; }
.row { position: relative; min-height: 52px; border-top: 1px solid var(--tb-line); }
.head { height: 34px; font: 500 12px/16px var(--st-font); color: var(--tb-ink-3); }
.row > *, .head > * { min-width: 0; overflow-wrap: anywhere; }
.row > b { font-weight: 600; } .row i { font-style: normal; }
.row > :is(b, .l, .r) { display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden;
  line-height: 18px; }
.l { text-align: right; } .row .l { color: var(--tb-left-ink); } .row .r { color: var(--tb-right-ink); }
.m { color: var(--tb-ink-3); }
.n { font-variant-numeric: tabular-nums; }
.split { display: flex; gap: 2px; height: 20px; font: 500 12px/20px var(--st-font); }
.split span { padding: 0 6px; border-radius: 3px; overflow: hidden; min-width: fit-content; }
.split .a { background: var(--tb-left-soft); color: var(--tb-left-ink); }
.split .b { background: var(--tb-right-soft); color: var(--tb-right-ink); text-align: right; }
button { all: unset; position: absolute; inset: 0; z-index: 1; cursor: pointer; }
button:hover { background: color-mix(in srgb, var(--tb-ink) 4%, transparent); }
button[aria-pressed="true"] { box-shadow: inset 3px 0 0 var(--tb-ink); }
button:focus-visible { outline: 2px solid var(--tb-accent-ink); outline-offset: -2px; }
@media (max-width: 720px) {
  .head { display: none; }
  .row { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 4px 12px; padding: 10px 16px; }
  .row > :nth-child(2) { grid-area: 1 / 1; } .row > .share { grid-area: 1 / 2; text-align: right; }
  .row > .strip { grid-area: 2 / 1 / 3 / 3; } .row > .l { grid-row: 3; text-align: left; }
  .row > .r { grid-row: 3; text-align: right; } .row > :is(.all, .wrong) { display: none; }
}
"""

_JS = """
export default function ({ data, parentElement, setStateValue }) {
  const place = parentElement.querySelector('.place')
  if (place.dataset.shown !== data.html) {
    place.innerHTML = data.html
    place.dataset.shown = data.html
  }
  for (const button of place.querySelectorAll('button')) {
    button.setAttribute('aria-pressed', String(button.dataset.trait === data.pressed))
    button.onclick = () => setStateValue('pressed', `${Date.now()} ${button.dataset.trait}`)
  }
}
"""

_list = st.components.v2.component("traitbench_trait_list", html='<div class="place"></div>', css=_CSS, js=_JS)


def opened_row() -> str | None:
    """Return the key of the trait that is open as a card."""
    key: str | None = session.get(_OPEN)
    return key


def open_row(key: str | None) -> None:
    """Open a trait as a card, or close it. A callback."""
    session.store(_OPEN, key)


def draw_list(every: Sequence[MeasuredTrait]) -> None:
    """Draw the filters and the rows."""
    shown = _filtered(every)
    if not shown:
        st.markdown("No trait is found.")
        return

    def press() -> None:
        sent = str(st.session_state["traits.list"].get("pressed") or "").partition(" ")[2]
        if any(each.trait.key == sent for each in every):
            open_row(None if sent == opened_row() else sent)

    _list(data={"html": rows_html(shown), "pressed": opened_row() or ""}, key="traits.list", on_pressed_change=press)


def _filtered(every: Sequence[MeasuredTrait]) -> Sequence[MeasuredTrait]:
    counts = {separation: sum(each.separation == separation for each in every) for separation in _WORDS}
    with st.container(horizontal=True, vertical_alignment="center", key="traits.bar"):
        separation = st.pills(
            "Which traits",
            ["all", *(each for each in _WORDS if counts[each])],
            default="all",
            required=True,
            format_func=lambda each: f"All {len(every)}" if each == "all" else f"{_WORDS[each]} {counts[each]}",
            key="traits.separation",
            persist_state="page",
            label_visibility="collapsed",
            width="content",
        )
        st.space("stretch")
        order = st.selectbox(
            "Order",
            ("Weakest first", "Their order"),
            key="traits.order",
            persist_state="page",
            label_visibility="collapsed",
            width=150,
        )
        words = st.text_input(
            "Find a trait",
            key="traits.find",
            persist_state="page",
            placeholder="Find a trait",
            label_visibility="collapsed",
            live="300ms",
            width=180,
        )
    wanted = words.strip().casefold()
    matches = [
        each
        for each in every
        if separation in (None, "all", each.separation)
        and any(wanted in name.casefold() for name in _names(each.trait))
    ]
    return weakest_first(matches) if order == "Weakest first" else matches


def rows_html(every: Sequence[MeasuredTrait]) -> str:
    """Return the rows as HTML; each has a button that names its trait in `data-trait`."""
    titles = ("Trait", "Left side", "A dot is a sample, a ring is on the wrong side", "Right side", "Samples")
    head = "".join(
        f'<span class="{"l" if title == "Left side" else ""}">{title}</span>'
        for title in (*titles, "On its side", "Wrong side")
    )
    return f'<div class="head">{head}</div>{"".join(map(_row, every))}'


def _row(each: MeasuredTrait) -> str:
    trait = each.trait
    share = f'<b>{each.right:,}</b> <i class="m">of {each.samples:,}</i>' if each.samples else ""
    wrong = f"{each.wrong:,}" if each.samples else ""
    return (
        f'<div class="row"><button data-trait="{escape(trait.key)}" aria-label="Open {escape(trait.name)}"></button>'
        f"<b {_title(trait.name)}</b>"
        f'<span class="l" {_title(trait.negative_label)}</span><span class="strip">{_picture(each)}</span>'
        f'<span class="r" {_title(trait.positive_label)}</span><span class="all">{_split(trait)}</span>'
        f'<span class="share n">{share}</span><span class="wrong m n">{wrong}</span></div>'
    )


def _title(name: str) -> str:
    return f'dir="auto" title="{escape(name)}">{escape(isolated(shortened(name, _LONGEST)))}'


def _picture(each: MeasuredTrait) -> str:
    trait = each.trait
    if each.counts is None or not each.samples:
        return f'<span class="m">{_untrained(trait)}</span>'
    return strip(
        each.counts, negative=trait.negative_label, positive=trait.positive_label, width=_WIDTH, height=_HEIGHT,
        radius=_RADIUS, is_labelled=False,
    )  # fmt: skip


def _untrained(trait: Trait) -> str:
    if not trait.stored_samples:
        return "by its two words alone, not tested" if trait.kind == "extrinsic" else "not trained"
    if min(trait.negative_samples, trait.positive_samples) < ENOUGH:
        return f"not trained: {ENOUGH} for each side are enough"
    return "not trained yet: there are enough samples"


def _split(trait: Trait) -> str:
    negative, positive = trait.negative_samples, trait.positive_samples
    if not negative + positive:
        return '<span class="m">no samples</span>'
    parts = (("a", negative), ("b", positive))
    inner = "".join(f'<span class="{side} n" style="flex:{max(number, 1)}">{number:,}</span>' for side, number in parts)
    return f'<div class="split">{inner}</div>'


def _names(trait: Trait) -> tuple[str, ...]:
    return trait.name, trait.key, trait.negative_label, trait.positive_label
