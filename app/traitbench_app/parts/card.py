"""A score card on a page: a bar with both poles for each trait, and the figures for experts one click away."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any

import pandas as pd
import streamlit as st

from traitbench.contract.metrics import Pole
from traitbench.contract.scores import Card, Comparison, Confidence, TraitScore
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.barchart import DOTS
from traitbench.display.colours import NEGATIVE_SIGN, POSITIVE_SIGN, SIDES
from traitbench.display.pictures import ticks
from traitbench.display.sides import side_of
from traitbench.display.text import count, plain
from traitbench.display.words import PROMISE, REASONS, leaning, why, why_short
from traitbench_app.parts.chart import download_table
from traitbench_app.shell import session

Names = Mapping[str, str]
Samples = Mapping[str, Mapping[Pole, Sequence[int]]]
Poles = Mapping[str, tuple[str, str]]
"""The labels of the negative and the positive pole, by trait key."""


# Drawn as text and boxes. A Plotly figure is rebuilt for every text, its type does not scale with the page, and a
# browser loads 4.7 MB before the first one.
@dataclass(frozen=True)
class ScoreRow:
    """One bar. `words` say which side the text is on, `note` why that is not sure.

    `colour` is that of the words, `fill` that of the bar.

    `ticks` are the samples of the trait by their scores, as HTML. With a score `before`, the row shows the change from
    there to `score`, and `words` say where it goes.
    """

    name: str
    negative: str
    positive: str
    score: int
    words: str
    note: str
    sign: str
    colour: str
    fill: str
    sure: Confidence
    before: int | None = None
    ticks: str = ""

    @property
    def data(self) -> dict[str, Any]:
        """The row for the browser."""
        return {**asdict(self), "alt": self.alt}

    @property
    def alt(self) -> str:
        """The row in words: `Warmth: clearly warm, 84 from 0, cold, to 100, warm`."""
        scores = f"{self.score}" if self.before is None else f"{self.before} to {self.score}"
        return f"{self.name}: {self.words}, {scores} from 0, {self.negative}, to 100, {self.positive}"


def poles_of(traits: Sequence[Trait]) -> Poles:
    """Return the labels of the poles, by trait key."""
    return {trait.key: (trait.negative_label, trait.positive_label) for trait in traits}


def ordered(keys: Sequence[str], main: str | None) -> list[str]:
    """Return the keys with the main trait first."""
    return sorted(keys, key=lambda key: key != main)


def score_counts(version: Version) -> Samples:
    """The samples of a version by the scores of a model that had not seen them, by trait key."""
    return {key: each.score_counts for key, each in version.metrics.traits.items() if each.score_counts}


def score_rows(
    card: Card,
    names: Names,
    poles: Poles,
    *,
    main: str | None = None,
    reasons: bool = True,
    samples: Samples = MappingProxyType({}),
) -> list[ScoreRow]:
    """One row per trait; without `reasons` no row says why it is not sure."""
    return [
        replace(
            _row(key, card.detail[key], names, poles, reason=reasons),
            ticks=ticks(samples[key]) if key in samples else "",
        )
        for key in ordered([*card.detail], main)
    ]


def pair_rows(comparison: Comparison, names: Names, poles: Poles, *, main: str | None = None) -> list[ScoreRow]:
    """One row per trait of two texts, from the first to the second: sure differences first, the largest first."""
    deltas = comparison.per_trait
    by_size = sorted(deltas, key=lambda key: (deltas[key].certain is False, -abs(deltas[key].delta)))
    return [_pair_row(key, comparison, names, poles) for key in ordered(by_size, main)]


def pair_table(comparison: Comparison, names: Names) -> pd.DataFrame:
    """The figures of two texts, one row per trait."""
    return pd.DataFrame(
        [
            {
                "Trait": names.get(key, key),
                "Text": each.a,
                "Second text": each.b,
                "Change": each.delta,
                "Sure": each.certain,
            }
            for key, each in comparison.per_trait.items()
        ]
    )


def signed(delta: int) -> str:
    """A change as text: `▲ +7`, `▼ −3` or `=`."""
    if delta == 0:
        return "="
    return f"{POSITIVE_SIGN} +{delta}" if delta > 0 else f"{NEGATIVE_SIGN} −{-delta}"


def card_table(detail: Mapping[str, TraitScore], names: Names) -> pd.DataFrame:
    """The figures of a card, one row per trait."""
    return pd.DataFrame(
        [
            {
                "Trait": names.get(key, key),
                "Score": trait.score,
                "Tier": trait.label,
                "Confidence": trait.confidence,
                "Why not high": why_short(trait) or None,
                "Band low": trait.band[0],
                "Band high": trait.band[1],
                "To next tier": trait.headroom,
                "Developing from": trait.breaks.developing,
                "Solid from": trait.breaks.solid,
                "Strong from": trait.breaks.strong,
                "Polarity": round(trait.native.polarity, 4),
            }
            for key, trait in detail.items()
        ]
    )


def _row(key: str, trait: TraitScore, names: Names, poles: Poles, *, reason: bool) -> ScoreRow:
    negative, positive = poles.get(key, ("negative", "positive"))
    side = side_of(trait, positive_label=positive, negative_label=negative)
    look = SIDES[side.positive]
    return ScoreRow(
        name=names.get(key, key),
        negative=negative,
        positive=positive,
        score=trait.score,
        words=side.words,
        note=why(trait) if reason else "",
        sign=look.sign,
        colour=look.words,
        fill=look.colour,
        sure=trait.confidence,
    )


def _pair_row(key: str, comparison: Comparison, names: Names, poles: Poles) -> ScoreRow:
    negative, positive = poles.get(key, ("negative", "positive"))
    each = comparison.per_trait[key]
    sure = each.certain is not False and each.delta != 0
    look = SIDES[each.delta > 0 if sure else None]
    return ScoreRow(
        name=names.get(key, key),
        negative=negative,
        positive=positive,
        score=each.b,
        words=leaning(each.delta, each.certain, positive_label=positive, negative_label=negative),
        note="It is not known if this difference is sure." if each.certain is None and each.delta else "",
        sign=look.sign,
        colour=look.words,
        fill=look.colour,
        sure="low" if not sure else "moderate" if each.certain is None else "high",
        before=each.a,
    )


_HTML = """
<ol></ol>
"""

_CSS = """
:host { display: block; container-type: inline-size; }
ol { list-style: none; margin: 0; padding: 0.25rem 0; display: flex; flex-direction: column; gap: 1.1rem; }
ol.many {
  display: grid; align-items: start; gap: 1rem 2.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr));
}
li { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.3rem; color: var(--st-text-color); line-height: 1.3; }
.head { display: flex; align-items: baseline; gap: 0.2rem 0.75rem; flex-wrap: wrap; }
.name { color: var(--tb-ink-2); overflow-wrap: anywhere; }
.words { font-size: 1.1rem; font-weight: 600; overflow-wrap: anywhere; }
.score {
  margin-left: auto; font-size: 1.75rem; font-weight: 600; line-height: 1.1; letter-spacing: -0.02em;
  font-variant-numeric: tabular-nums;
}
bdi { unicode-bidi: isolate; }
.track { position: relative; height: 0.8rem; border-radius: 0.4rem; background: var(--tb-sunk); }
.middle {
  position: absolute; left: 50%; top: -3px; bottom: -3px; width: 2px; margin-left: -1px;
  background: var(--tb-line-strong);
}
.bar {
  position: absolute; top: 0; bottom: 0; border-radius: 0.4rem; box-sizing: border-box;
  transition: left 0.35s ease, width 0.35s ease, background-color 0.35s ease;
}
.bar.moderate { opacity: 0.52; }
.bar.low {
  background: repeating-linear-gradient(-55deg, var(--tb-line-strong) 0 2px, transparent 2px 6px) !important;
}
.dot {
  position: absolute; top: 50%; width: 0.8rem; height: 0.8rem; margin: -0.4rem 0 0 -0.4rem; box-sizing: border-box;
  background: var(--tb-surface); border: 3px solid var(--tb-ink-2); border-radius: 50%;
  transition: left 0.35s ease;
}
.dot.knob { width: 1.1rem; height: 1.1rem; margin: -0.55rem 0 0 -0.55rem; border-width: 4px; }
.dot.after { transform: rotate(45deg); border-radius: 2px; }
.pair .bar { top: 38%; bottom: 38%; min-width: 0; }
.poles { display: flex; justify-content: space-between; gap: 1rem; font-size: 0.875rem; }
.poles span { overflow-wrap: anywhere; color: var(--tb-ink-2); }
.poles .on { font-weight: 650; color: inherit; }
.poles span:last-child { text-align: right; }
.note { font-size: 0.875rem; color: var(--tb-ink-2); }
.note:empty, .ticks:empty { display: none; }
.can-pick li { padding: 0.5rem 0.9rem; border: 1px solid transparent; border-radius: 8px; cursor: pointer; }
.can-pick { gap: 0.25rem; }
.can-pick .picked { background: var(--tb-page); border-color: var(--tb-line); }
.can-pick li:focus-visible { outline: 2px solid var(--tb-accent-ink); outline-offset: 1px; }
@media (prefers-reduced-motion: reduce) { .bar, .dot { transition: none; } }
"""

_JS = """
const PARTS = '<div class="head"><bdi class="name"></bdi><bdi class="words"></bdi><span class="score"></span></div>'
  + '<div class="track" role="img"><div class="bar"></div><div class="middle"></div></div><div class="ticks"></div>'
  + '<div class="poles"><span></span><span></span></div><div class="note"></div>'

const dot = (track, kind, at) => {
  let mark = track.querySelector('.' + kind)
  if (at === null) { mark?.remove(); return null }
  if (!mark) { mark = document.createElement('div'); mark.className = 'dot ' + kind; track.append(mark) }
  mark.style.left = at + '%'
  return mark
}

const letPick = (item, isPicked, pick) => {
  item.classList.toggle('picked', isPicked)
  item.role = 'button'
  item.tabIndex = 0
  item.ariaPressed = String(isPicked)
  item.onclick = pick
  item.onkeydown = (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return
    event.preventDefault()
    pick()
  }
}

const draw = (item, row) => {
  const find = (name) => item.querySelector(name)
  const pair = row.before !== null
  item.className = pair ? 'pair' : ''
  find('.name').textContent = row.name
  find('.name').title = row.name
  find('.words').textContent = row.words
  find('.words').title = row.words
  find('.words').style.color = row.colour
  find('.score').textContent = pair ? row.before + ' → ' + row.score : row.score
  const start = pair ? row.before : 50
  const bar = find('.bar')
  bar.className = 'bar ' + row.sure
  bar.style.left = Math.min(start, row.score) + '%'
  bar.style.width = Math.abs(row.score - start) + '%'
  bar.style.backgroundColor = row.fill
  const track = find('.track')
  track.setAttribute('aria-label', row.alt)
  dot(track, 'before', pair ? row.before : null)
  const knob = dot(track, 'knob', pair ? null : row.score)
  if (knob) knob.style.borderColor = row.sure === 'low' ? '' : row.fill
  const after = dot(track, 'after', pair ? row.score : null)
  if (after) { after.style.borderColor = row.fill; after.style.backgroundColor = row.fill }
  const [negative, positive] = item.querySelectorAll('.poles span')
  for (const [pole, text, sign] of [[negative, row.negative, '▼'], [positive, row.positive, '▲']]) {
    const name = document.createElement('bdi')
    name.textContent = text
    pole.replaceChildren(name)
    pole.title = text
    pole.className = sign === row.sign ? 'on' : ''
    pole.style.color = sign === row.sign ? row.colour : ''
  }
  find('.ticks').innerHTML = row.ticks
  find('.note').textContent = row.note
}

export default function ({ data, parentElement, setStateValue }) {
  const list = parentElement.querySelector('ol')
  const pairs = data.rows.some((row) => row.before !== null)
  list.className = pairs && data.rows.length > 3 ? 'many' : ''
  list.classList.toggle('can-pick', data.picked >= 0)
  list.role = data.picked >= 0 ? 'group' : null
  while (list.children.length > data.rows.length) list.lastChild.remove()
  data.rows.forEach((row, at) => {
    let item = list.children[at]
    if (!item) { item = document.createElement('li'); item.innerHTML = PARTS; list.append(item) }
    draw(item, row)
    if (data.picked >= 0) letPick(item, at === data.picked, () => setStateValue('picked', at))
  })
}
"""

_bars = st.components.v2.component("traitbench_bars", html=_HTML, css=_CSS, js=_JS)


def picked_bar(key: str) -> int:
    """Return the number of the row that was clicked last; the first one at the beginning."""
    return int(session.get(f"{key}.picked", 0))


def draw_bars(rows: Sequence[ScoreRow], *, key: str, can_pick: bool = False) -> None:
    """Draw the rows. With `can_pick`, a click on a row picks it (`picked_bar`)."""

    def pick() -> None:
        session.store(f"{key}.picked", st.session_state[key].get("picked"))

    # The bar that was clicked last may be of a version with more traits.
    picked = min(picked_bar(key), len(rows) - 1) if can_pick else -1
    data = {"rows": [row.data for row in rows], "picked": picked}
    _bars(data=data, key=key, width="stretch", on_picked_change=pick)


_OFTEN = 3  # bars; a reason that all of them share is said once, above them
_LEGEND = " · ".join(f"{dots} {level}" for level, dots in DOTS.items()) + " confidence."
_POLES = ("negative", "positive")


def draw_card(
    card: Card,
    names: Mapping[str, str],
    poles: Poles,
    *,
    main: str | None,
    key: str,
    can_pick: bool = False,
    samples: Samples = MappingProxyType({}),
) -> None:
    """Draw a bar for each trait, the main one first; `key` must be unique on the page.

    With `can_pick`, a click on a bar picks its trait (`bars.picked_bar`). The marks below a bar are the `samples`.
    """
    reasons = {each.confidence_reason for each in card.detail.values()}
    (reason,) = reasons if len(reasons) == 1 else (None,)
    # A text is unlike the samples of the whole model, not of one trait, so that is never said on a bar.
    once = reason == "unlike_samples" or (reason is not None and len(card.detail) >= _OFTEN)
    if once and reason:
        st.warning(REASONS[reason].sentence, icon=":material/warning:")
    drawn = score_rows(card, names, poles, main=main, reasons=not once, samples=samples)
    draw_bars(drawn, key=key, can_pick=can_pick)


def draw_change(comparison: Comparison, names: Mapping[str, str], poles: Poles, *, main: str | None, key: str) -> None:
    """Draw the change from the first text to the second on each trait, the main one first."""
    draw_bars(pair_rows(comparison, names, poles, main=main), key=key)


def draw_numbers(card: Card, names: Mapping[str, str], poles: Poles, *, key: str, file_name: str) -> None:
    """Draw the figures of a card: its composite, what each score says, and a table with the tiers."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key=f"{key}.head"):
        value = f"≈ {card.composite}" if card.confidence == "low" else card.composite
        st.metric("Composite", value, width=110, help=f"Harmonic mean of {count(len(card.scores), 'trait')}.")
        with st.container(gap=None):
            st.markdown(f"{DOTS[card.confidence]}  **{card.confidence.capitalize()} confidence**")
            st.caption("Confidence is that of the least certain trait.")
    for name, each in card.detail.items():
        st.markdown(f"- **{plain(names.get(name, name))}** {plain(in_words(each, *poles.get(name, _POLES)))}")
    _draw_table(card_table(card.detail, names), key=key, file_name=file_name, alt="Figures of the score card")
    st.caption(f"{_LEGEND} {PROMISE}")


def draw_change_numbers(comparison: Comparison, names: Mapping[str, str], *, key: str, file_name: str) -> None:
    """Draw the figures of a comparison: the composites and a table."""
    first, second = comparison.a, comparison.b
    changed = sum(each.delta != 0 for each in comparison.per_trait.values())
    with st.container(horizontal=True):
        st.metric("Composite", f"{first.composite} → {second.composite}", width=160)
        st.metric("Change", signed(comparison.improvement), width=160)
        st.metric("Traits changed", f"{changed} of {len(comparison.per_trait)}", width=160)
    _draw_table(pair_table(comparison, names), key=key, file_name=file_name, alt="Scores of both texts")


def in_words(trait: TraitScore, negative: str, positive: str) -> str:
    """`Clearly warm (84 of 100).`, and why its confidence is not high."""
    side = side_of(trait, positive_label=positive, negative_label=negative).words
    return f"{side[:1].upper()}{side[1:]} ({trait.score} of 100). {why(trait)}".rstrip()


def _draw_table(table: pd.DataFrame, *, key: str, file_name: str, alt: str) -> None:
    st.dataframe(table, hide_index=True, width="stretch", placeholder="–", key=f"{key}.table", alt=alt)
    with st.container(horizontal=True, horizontal_alignment="right"):
        download_table(table, key=key, file_name=file_name)
