"""The bars of a score card: every bar names both poles, says its side in words, and moves when the text changes."""

from collections.abc import Sequence

import streamlit as st

from traitbench_app.parts.scorecard import ScoreRow
from traitbench_app.shell import session

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

    picked = min(picked_bar(key), len(rows) - 1) if can_pick else -1
    data = {"rows": [row.data for row in rows], "picked": picked}
    _bars(data=data, key=key, width="stretch", on_picked_change=pick)
