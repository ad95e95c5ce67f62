"""A score card on a page: a bar with both poles for each trait, and the figures for experts one click away."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

import pandas as pd
import streamlit as st

from traitbench.contract.metrics import Pole
from traitbench.contract.scores import Card, Comparison, Confidence, TraitScore
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.barchart import DOTS
from traitbench.display.colours import NEGATIVE_SIGN, POSITIVE_SIGN, SIDES
from traitbench.display.pictures import ticks
from traitbench.display.sides import UNCLEAR, lean_of, side_of
from traitbench.display.text import count, plain
from traitbench.display.words import PROMISE, REASONS, leaning, why, why_less_sure, why_short
from traitbench.local.names import NameScore
from traitbench_app.parts.chart import download_table
from traitbench_app.shell import session

Names = Mapping[str, str]
Samples = Mapping[str, Mapping[Pole, Sequence[int]]]
Poles = Mapping[str, tuple[str, str]]
"""The labels of the negative and the positive pole, by trait key."""

Sureness = Confidence | Literal["leans", "names"]
"""How a bar is drawn: by its confidence, as a lean, or as a side that no label tested."""

Size = Literal["small", "usual", "large"]


# Drawn as text and boxes. A Plotly figure is rebuilt for every text, its type does not scale with the page, and a
# browser loads 4.7 MB before the first one.
@dataclass(frozen=True)
class ScoreRow:
    """One bar. `words` say which side the text is on, `note` why that is not sure, `chip` what else is known of it.

    `colour` is that of the words, `fill` that of the bar.

    `ticks` are the samples of the trait by their scores, as HTML. With a score `before`, the row shows the change from
    there to `score`, and `words` say where it goes. `was` is the score before the text was taught.
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
    sure: Sureness
    before: int | None = None
    ticks: str = ""
    chip: str = ""
    was: int | None = None

    @property
    def data(self) -> dict[str, Any]:
        """The row for the browser."""
        pole = {POSITIVE_SIGN: self.positive, NEGATIVE_SIGN: self.negative}.get(self.sign, "")
        pole = pole if self.words.endswith(pole) else ""
        return {**asdict(self), "how": self.words.removesuffix(pole).rstrip(), "pole": pole, "alt": self.alt}

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
    leans: bool = False,
) -> list[ScoreRow]:
    """One row per trait; without `reasons` no row says why it is not sure.

    With `leans`, a row without a side says where the text leans to, if its samples can say that, and the reasons are
    those of a lean.
    """
    return [
        replace(
            _row(key, card.detail[key], names, poles, reason=reasons, leans=leans),
            ticks=ticks(samples[key]) if key in samples else "",
        )
        for key in ordered([*card.detail], main)
    ]


def row_by_names(negative: str, positive: str, named: NameScore) -> ScoreRow:
    """The row of a text by the names of two poles alone."""
    look = SIDES[named.positive]
    nearer, share = (positive, named.score) if named.score >= 50 else (negative, 100 - named.score)
    return ScoreRow(
        name=f"{negative} or {positive}",
        negative=negative,
        positive=positive,
        score=named.score,
        words=UNCLEAR if named.positive is None else f"nearer to {nearer}",
        note=f"From the two words alone: nearer to {nearer} than {share} of 100 everyday sentences. "
        "How often that is right is not known yet.",
        sign=look.sign,
        colour=look.words,
        fill=look.colour,
        sure="low" if named.positive is None else "names",
        chip="not tested",
    )


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


def _row(key: str, trait: TraitScore, names: Names, poles: Poles, *, reason: bool, leans: bool) -> ScoreRow:
    negative, positive = poles.get(key, ("negative", "positive"))
    side = side_of(trait, positive_label=positive, negative_label=negative)
    lean = lean_of(trait, positive_label=positive, negative_label=negative) if leans else None
    side, note = lean or side, (why_less_sure(trait) if leans else "") or why(trait)
    look = SIDES[side.positive]
    return ScoreRow(
        name=names.get(key, key),
        negative=negative,
        positive=positive,
        score=trait.score,
        words=side.words,
        note=note if reason else "",
        sign=look.sign,
        colour=look.words,
        fill=look.colour,
        sure="leans" if lean else trait.confidence,
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
<ul role="list"></ul>
"""

_CSS = """
:host { display: block; container-type: inline-size; }
ul { list-style: none; margin: 0; padding: 4px 0; display: flex; flex-direction: column; gap: 18px; }
ul.many {
  display: grid; align-items: start; gap: 16px 40px;
  grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr));
}
li {
  position: relative; display: grid; grid-template-columns: minmax(0, 1fr); gap: 6px;
  color: var(--st-text-color); line-height: 1.3; --track: 12px; --knob: 16px; --score: 28px; --side: 14px;
}
.large li { --track: 14px; --knob: 20px; --score: 40px; --side: 16px; gap: 8px; }
.small li { --track: 8px; --knob: 12px; --score: 16px; --side: 13px; gap: 4px; }
.head { display: flex; align-items: baseline; gap: 2px 10px; flex-wrap: wrap; }
.name {
  all: unset; font-size: 13px; font-weight: 500; color: var(--tb-ink-2); overflow-wrap: anywhere;
  unicode-bidi: isolate;
}
.large .name { display: none; }
.words { font-size: var(--side); line-height: 22px; overflow-wrap: anywhere; unicode-bidi: isolate; }
.words b, .moderate .words, .high .words { font-weight: 600; }
.words .how { font-weight: 400; }
.low .words .how, .pair .words .how { font-weight: 600; }
.chip {
  font-size: 12px; line-height: 16px; font-weight: 500; padding: 3px 8px; border-radius: 99px; color: var(--tb-ink-2);
  border: 1px solid var(--tb-line);
}
.score {
  margin-left: auto; font-size: var(--score); font-weight: 600; line-height: 1.1; letter-spacing: -0.02em;
  font-variant-numeric: tabular-nums;
}
bdi { unicode-bidi: isolate; }
.track { position: relative; height: var(--track); border-radius: 99px; background: var(--tb-sunk); }
@media (forced-colors: active) { .track { outline: 1px solid CanvasText; } }
.middle {
  position: absolute; left: 50%; top: -3px; bottom: -3px; width: 2px; margin-left: -1px;
  background: var(--tb-line-strong);
}
.bar {
  position: absolute; top: 0; bottom: 0; border-radius: 99px; box-sizing: border-box; background: var(--fill);
  transition: left 0.35s ease, width 0.35s ease, background-color 0.35s ease;
}
.bar.right { border-start-start-radius: 0; border-end-start-radius: 0; }
.bar.left { border-start-end-radius: 0; border-end-end-radius: 0; }
:is(.moderate, .leans) .bar { opacity: 0.52; }
.low .bar { background: repeating-linear-gradient(-55deg, var(--tb-line-strong) 0 2px, transparent 2px 6px); }
.names .bar { background: color-mix(in srgb, var(--fill) 16%, transparent); border: 1.5px dashed var(--fill); }
.names .bar.right { border-inline-start: 0; }
.names .bar.left { border-inline-end: 0; }
.dot {
  position: absolute; top: 50%; width: 12px; height: 12px; transform: translate(-50%, -50%); box-sizing: border-box;
  background: var(--tb-surface); border: 3px solid var(--tb-ink-2); border-radius: 50%; transition: left 0.35s ease;
}
.dot.knob { width: var(--knob); height: var(--knob); border-width: calc(var(--knob) / 4); border-color: var(--fill); }
.low .dot.knob { border-color: var(--tb-ink-2); border-width: 3px; }
.names .dot.knob { border: 2px dashed var(--words); }
.dot.was { width: var(--knob); height: var(--knob); border: 1.5px dashed var(--tb-ink-2); }
.dot.after { transform: translate(-50%, -50%) rotate(45deg); border-radius: 2px; }
.dot.after { border-color: var(--fill); background: var(--fill); }
.pair .bar { top: 38%; bottom: 38%; border-radius: 99px; }
.poles { position: relative; display: flex; justify-content: space-between; gap: 16px; font-size: 13px; }
.large .poles { font-size: 14px; }
.small .poles { font-size: 12px; }
.poles span { overflow-wrap: anywhere; color: var(--tb-ink-2); }
.poles .on { font-weight: 600; color: var(--words); }
.poles span:last-child { text-align: end; }
.poles .past { position: absolute; transform: translateX(-50%); font-size: 12px; white-space: nowrap; }
.note { font-size: 13px; line-height: 20px; color: var(--tb-ink-2); unicode-bidi: plaintext; }
.large > li > .note { font-size: 14px; margin-top: 4px; }
:is(.note, .ticks, .chip, .past):empty, [hidden] { display: none !important; }
.can-pick li { padding: 8px 14px; border: 1px solid transparent; border-radius: 8px; }
.can-pick.small li { padding: 4px 0; }
.can-pick { gap: 4px; }
.can-pick .picked { background: var(--tb-page); border-color: var(--tb-line); }
.can-pick button.name::after { content: ''; position: absolute; inset: 0; border-radius: 8px; cursor: pointer; }
.can-pick button.name:focus-visible::after { outline: 2px solid var(--tb-accent-ink); outline-offset: 1px; }
.can-pick li:hover .name { color: var(--st-text-color); }
@container (max-width: 480px) {
  .large li { --score: 32px; }
  .large .aside { order: 1; flex-basis: 100%; }
}
@media (prefers-reduced-motion: reduce) { .bar, .dot { transition: none; } }
"""

# The left pole is at the left in every language, so the direction of a bar is never that of its words.
_JS = """
const PARTS = '<div class="head"><bdi class="name"></bdi><span class="words"><bdi class="how"></bdi> <b></b></span>'
  + '<span class="chip"></span><span class="note aside"></span><span class="score"></span></div>'
  + '<div class="track" role="img" dir="ltr"><div class="bar"></div><div class="middle"></div></div>'
  + '<div class="ticks" dir="ltr"></div>'
  + '<div class="poles" dir="ltr"><span></span><span class="past"></span><span></span></div>'
  + '<div class="note below"></div>'

const dot = (track, kind, at) => {
  let mark = track.querySelector('.' + kind)
  if (at === null) { mark?.remove(); return }
  if (!mark) { mark = document.createElement('div'); mark.className = 'dot ' + kind; track.append(mark) }
  mark.style.left = at + '%'
}

// The name of a row is a button that covers the row.
const nameOf = (item, canPick) => {
  const name = item.querySelector('.name')
  const wanted = canPick ? 'BUTTON' : 'BDI'
  if (name.tagName === wanted) return name
  const other = Object.assign(document.createElement(wanted), { className: 'name' })
  if (canPick) other.type = 'button'
  name.replaceWith(other)
  return other
}

const draw = (item, row, isLarge, hasPoles) => {
  const find = (name) => item.querySelector(name)
  const pair = row.before !== null
  item.className = (pair ? 'pair ' : '') + row.sure
  item.style.setProperty('--fill', row.fill)
  item.style.setProperty('--words', row.colour)
  find('.words').style.color = row.colour
  find('.words').title = row.words
  find('.how').textContent = row.how
  const pole = document.createElement('bdi')
  pole.textContent = row.pole
  find('.words b').replaceChildren(pole)
  find('.chip').textContent = row.chip
  find('.score').textContent = pair ? row.before + ' → ' + row.score : row.score
  const start = pair ? row.before : 50
  const bar = find('.bar')
  bar.className = 'bar ' + (row.score < start ? 'left' : 'right')
  bar.style.left = Math.min(start, row.score) + '%'
  bar.style.width = Math.abs(row.score - start) + '%'
  const track = find('.track')
  track.setAttribute('aria-label', row.alt)
  dot(track, 'before', pair ? row.before : null)
  dot(track, 'was', row.was)
  dot(track, 'knob', pair ? null : row.score)
  dot(track, 'after', pair ? row.score : null)
  find('.poles').hidden = !hasPoles
  const [negative, past, positive] = item.querySelectorAll('.poles > span')
  for (const [end, text, sign] of [[negative, row.negative, '▼'], [positive, row.positive, '▲']]) {
    const words = document.createElement('bdi')
    words.textContent = text
    end.replaceChildren(words)
    end.title = text
    end.className = sign === row.sign ? 'on' : ''
  }
  past.textContent = row.was === null ? '' : 'was ' + row.was
  past.style.left = Math.min(80, Math.max(20, row.was ?? 50)) + '%'
  find('.ticks').innerHTML = row.ticks
  const isBeside = isLarge && row.sure !== 'names'
  find('.aside').textContent = isBeside ? row.note : ''
  find('.below').textContent = isBeside ? '' : row.note
}

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const list = parentElement.querySelector('ul')
  const { rows, picked, size } = data
  const pairs = rows.some((row) => row.before !== null)
  const canPick = picked !== null
  list.className = size
  list.classList.toggle('many', (pairs && rows.length > 3) || (size === 'small' && rows.length > 1))
  list.classList.toggle('can-pick', canPick)
  while (list.children.length > rows.length) list.lastChild.remove()
  rows.forEach((row, at) => {
    let item = list.children[at]
    if (!item) { item = document.createElement('li'); item.innerHTML = PARTS; list.append(item) }
    draw(item, row, size === 'large', data.poles)
    const name = nameOf(item, canPick)
    name.textContent = name.title = row.name
    if (!canPick) return
    item.classList.toggle('picked', at === picked)
    if (data.keeps) name.ariaPressed = String(at === picked)
    name.onclick = () => data.keeps ? setStateValue('picked', at) : setTriggerValue('pressed', at)
  })
}
"""

_bars = st.components.v2.component("traitbench_bars", html=_HTML, css=_CSS, js=_JS)


def picked_bar(key: str) -> int:
    """Return the number of the row that was clicked last; the first one at the beginning."""
    return int(session.get(f"{key}.picked", 0))


def draw_bars(
    rows: Sequence[ScoreRow],
    *,
    key: str,
    can_pick: bool = False,
    on_press: Callable[[int], None] | None = None,
    size: Size = "usual",
    poles: bool = True,
) -> None:
    """Draw the rows. With `can_pick`, a click on one of several rows picks it (`picked_bar`).

    With `on_press` instead, a click calls it with the number of the row, and no row looks picked. Without `poles`, the
    caller names both ends below the bar.
    """

    def change() -> None:
        state = st.session_state[key]
        if can_pick:
            session.store(f"{key}.picked", state.get("picked"))
        elif on_press and state.get("pressed") is not None:
            on_press(int(state["pressed"]))

    # The bar that was clicked last may be of a version with more traits.
    picked = min(picked_bar(key), len(rows) - 1) if can_pick and len(rows) > 1 else -1 if on_press else None
    data = {"rows": [row.data for row in rows], "picked": picked, "keeps": can_pick, "size": size, "poles": poles}
    _bars(data=data, key=key, width="stretch", on_picked_change=change, on_pressed_change=change)


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
    leans: bool = False,
    change: Callable[[str, ScoreRow], ScoreRow] | None = None,
) -> None:
    """Draw a bar for each trait, the main one first; `key` must be unique on the page.

    With `can_pick`, a click on a bar picks its trait (`picked_bar`). The marks below a bar are the `samples`. With
    `leans`, a text without a side leans to one, if its samples can say that. `change` makes another row of a trait's.
    """
    reasons = {each.confidence_reason for each in card.detail.values()}
    (reason,) = reasons if len(reasons) == 1 else (None,)
    # A text is unlike the samples of the whole model, not of one trait, so that is never said on several bars.
    once = reason is not None and len(card.detail) >= (2 if reason == "unlike_samples" and leans else _OFTEN)
    once = once or (reason == "unlike_samples" and not leans)
    if once and reason and leans and (sentence := REASONS[reason].less_sure):
        st.caption(sentence)
    elif once and reason:
        st.warning(REASONS[reason].sentence, icon=":material/warning:")
    drawn = score_rows(card, names, poles, main=main, reasons=not once, samples=samples, leans=leans)
    if change:
        drawn = [change(trait, row) for trait, row in zip(ordered([*card.detail], main), drawn, strict=True)]
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
