// Label texts by keys: one item at a time, ahead of the server. See `labeller.py` for the interface.
//
// `render({ element, data, send })` draws into `element` and may be called again at any time with new data. It knows
// nothing about Streamlit: pages and the widget for notebooks share it. Answers are events with ascending numbers. They are
// sent until the server has handled them, and are kept in the tab's storage, so that a reload loses none.

const PAUSE = 250
const GRADES = 9
const TYPING = 'input:not([type=checkbox]), textarea, select, [contenteditable=""], [contenteditable="true"]'
const OWN_ARROWS = '[role=radiogroup], [role=listbox], [role=combobox], [role=slider], [role=tablist], [role=menu], '
  + '[role=grid], [role=dialog]'
const SIZES = [[240, 'short'], [900, 'medium'], [Infinity, 'long']]

const states = new WeakMap()

function render({ element, data, send }) {
  let state = states.get(element)
  if (!state) {
    state = begin(element, data)
    states.set(element, state)
  }
  state.send = send
  receive(state, data)
  draw(state)
  return () => {
    flush(state)
    state.end()
    states.delete(element)
  }
}

// ---- state ----------------------------------------------------------------------------------------------------------

function begin(element, { keys }) {
  // On the element itself a key can be kept from the shortcuts of the page around it.
  const heard = keys === 'element' ? element : document
  const state = {
    element, data: { run: null }, items: [], events: [], n: 0, timer: 0, shownAt: 0, help: false,
  }
  state.parts = build(state)
  const pressed = (event) => onKey(state, event)
  const leaving = () => flush(state)
  heard.addEventListener('keydown', pressed)
  window.addEventListener('pagehide', leaving)
  state.end = () => {
    clearTimeout(state.timer)
    heard.removeEventListener('keydown', pressed)
    window.removeEventListener('pagehide', leaving)
  }
  return state
}

// Take new data: forget what the server has handled, keep the item on screen, and replace those after it.
function receive(state, data) {
  const fresh = data.run !== state.data.run
  state.data = data
  if (fresh) beginRun(state)
  const handled = (data.handled || {})[state.mount] || 0
  const before = state.events.length
  state.events = state.events.filter((event) => event.n > handled)
  if (state.events.length !== before) keep(state)
  const unsaved = new Set()
  for (const event of state.events) {
    if (event.action === 'undo') unsaved.delete(event.id)
    else unsaved.add(event.id)
  }
  const items = data.items.filter((item) => !unsaved.has(item.id))
  const asked = items.find((item) => item.id === state.wanted)
  if (asked) state.wanted = null
  const first = asked || state.items[0]
  const same = first && (items.find((item) => item.id === first.id) || first)
  state.items = same ? [same, ...items.filter((item) => item.id !== same.id)] : items
  if (state.events.length) later(state)
}

function beginRun(state) {
  const kept = state.mount || !state.data.keep ? null : read(state.data.keep)
  state.mount ||= kept?.mount || Math.random().toString(36).slice(2, 12)
  state.n ||= kept?.n || 0
  if (kept) state.events = kept.events || []
  state.items = []
  state.history = []
  state.wanted = null
  state.shown = null
  takeFocus(state)
}

// Keys label at once after a choice above the labeller, whose field would keep the focus; but never while one writes.
function takeFocus({ data, parts }) {
  const at = document.activeElement
  if (data.keys !== 'page' || at?.closest('textarea, [role=dialog], [contenteditable=true]')) return
  setTimeout(() => parts.box.focus({ preventScroll: true }), 0)
}

function read(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key) || 'null')
  } catch {
    return null
  }
}

function keep(state) {
  if (!state.data.keep) return
  try {
    const { mount, n, events } = state
    sessionStorage.setItem(state.data.keep, JSON.stringify({ mount, n, events }))
  } catch { /* A browser may forbid storage; then a reload loses what was not sent yet. */ }
}

function add(state, event) {
  state.n += 1
  state.events.push({ n: state.n, ...event })
  keep(state)
  later(state)
}

// Send after a pause that further answers do not prolong, so that a burst cannot run ahead of the server for long.
function later(state) {
  if (!state.timer) state.timer = setTimeout(() => flush(state), PAUSE)
}

function flush(state) {
  clearTimeout(state.timer)
  state.timer = 0
  if (!state.events.length) return
  const message = { run: state.data.run, mount: state.mount, events: state.events, left: state.items.length }
  const text = JSON.stringify(message)
  if (text === state.sent) return
  state.sent = text
  state.send(message)
}

// ---- decisions ------------------------------------------------------------------------------------------------------

function answer(state, action, quality) {
  const item = state.items[0]
  if (!item || state.help) return
  const seconds = Math.round((performance.now() - state.shownAt) / 100) / 10
  state.history.push({ item, action, quality })
  if (state.history.length > 200) state.history.shift()
  state.items = state.items.slice(1)
  add(state, { id: item.id, action, quality: quality ?? null, seconds })
  flash(state, action === 'skip' ? 'skip' : quality > 0.5 ? 'positive' : quality < 0.5 ? 'negative' : 'skip')
  draw(state)
}

// Undo the last decision of this tab. Without one, ask the server to undo the last that it knows.
function undo(state) {
  const last = state.history.pop()
  if (!last && !state.data.last) return
  const id = last ? last.item.id : state.data.last
  if (last) state.items = [last.item, ...state.items.filter((item) => item.id !== last.item.id)]
  else state.wanted = id
  add(state, { id, action: 'undo', quality: null, seconds: 0 })
  draw(state)
  say(state, 'Undone.')
}

function leave(state) {
  add(state, { id: '', action: 'leave', quality: null, seconds: 0 })
  flush(state)
}

function onKey(state, event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  const path = event.composedPath()
  const inside = path.includes(state.element)
  const elsewhere = path.some((node) => node instanceof Element && (node.matches(TYPING)
    || (!inside && node.matches(OWN_ARROWS))))
  if (elsewhere || document.querySelector('[role=dialog][aria-modal=true]')) return
  const act = action(state, event.key) || action(state, byPlace(event))
  if (!act) return
  event.preventDefault()
  if (state.data.keys === 'element') event.stopPropagation()
  if (!event.repeat) act()
}

// Where a keyboard has no Latin letter or no digit at a key, the key counts by its place.
function byPlace({ key, code, shiftKey }) {
  const digit = shiftKey || key.length > 1 ? null : code.match(/^(?:Digit|Numpad)([0-9])$/)
  const letter = /^\p{L}$/u.test(key) && !/[a-z]/i.test(key) ? code.match(/^Key([A-Z])$/) : null
  return (digit || letter || [])[1] || ''
}

function action(state, key) {
  if (key === '?') return () => toggleHelp(state)
  if (key === 'Escape') return () => (state.help ? toggleHelp(state) : state.data.leave && leave(state))
  if (state.help) return null
  if (key === 'ArrowLeft') return () => answer(state, 'label', 0)
  if (key === 'ArrowRight') return () => answer(state, 'label', 1)
  if (key === 'ArrowDown') return () => answer(state, 'skip', null)
  if (key === 'ArrowUp' && state.data.middle) return () => answer(state, 'label', 0.5)
  if (key === 'u' || key === 'U') return () => undo(state)
  if (/^[0-9]$/.test(key)) return () => answer(state, 'label', grade(Number(key)))
  return null
}

const grade = (digit) => Math.round((digit / GRADES) * 100) / 100

function toggleHelp(state) {
  state.help = !state.help
  draw(state)
  const focus = state.help ? state.parts.closeHelp : state.parts.box
  focus.focus({ preventScroll: true })
}

// ---- drawing --------------------------------------------------------------------------------------------------------

function make(tag, className, properties = {}, children = []) {
  const node = document.createElement(tag)
  node.className = className
  for (const [name, value] of Object.entries(properties)) {
    if (name in node && name !== 'role') node[name] = value
    else node.setAttribute(name, value)
  }
  node.append(...children)
  return node
}

function build(state) {
  const button = (className, label, act) => make('button', className, { type: 'button', onclick: act }, label)
  const key = (text) => make('kbd', '', { textContent: text, 'aria-hidden': 'true' })
  const span = (className) => make('span', className)
  const p = {}
  p.trait = span('trait')
  p.count = span('count')
  p.top = make('div', 'top', {}, [p.trait, p.count])
  p.bar = make('div', 'bar', { role: 'progressbar', 'aria-label': 'Texts decided' }, [make('div', 'done')])
  for (const [side, arrow, quality] of [['negative', '←', 0], ['positive', '→', 1]]) {
    const label = span('label')
    p[side] = button(`pole ${side}`, [label, key(arrow)], () => answer(state, 'label', quality))
    p[side].labelled = label
  }
  p.text = make('div', 'text', { dir: 'auto', tabIndex: 0, role: 'document', 'aria-live': 'polite' })
  p.middle = make('div', 'middle', {}, [p.negative, p.text, p.positive])
  p.hint = make('div', 'hint', {})
  p.grades = make('div', 'grades', { role: 'group', 'aria-label': 'Grade' })
  p.gradeLow = span('end')
  p.gradeHigh = span('end')
  const digits = [...Array(GRADES + 1).keys()].map((digit) => button('grade', [String(digit)], () => {
    answer(state, 'label', grade(digit))
  }))
  p.grades.append(p.gradeLow, ...digits, p.gradeHigh)
  p.between = button('act', ['In between ', key('↑')], () => answer(state, 'label', 0.5))
  p.skip = button('act', ['Skip ', key('↓')], () => answer(state, 'skip', null))
  p.undo = button('act', ['Undo ', key('U')], () => undo(state))
  p.helpButton = button('act', ['Help ', key('?')], () => toggleHelp(state))
  p.leave = button('act', ['Leave ', key('Esc')], () => leave(state))
  p.acts = make('div', 'acts', {}, [p.between, p.skip, p.undo, p.helpButton, p.leave])
  p.last = make('p', 'last', { role: 'status' })
  p.notice = make('p', 'notice', { role: 'alert' })
  p.help = make('div', 'help', { role: 'dialog', 'aria-label': 'Keys', hidden: true })
  p.box = make('div', 'labeller', { role: 'group', 'aria-label': 'Label texts', tabIndex: -1 }, [
    p.top, p.bar, p.middle, p.hint, p.grades, p.acts, p.notice, p.last, p.help,
  ])
  buildHelp(state, p, key)
  state.element.replaceChildren(p.box)
  return p
}

function buildHelp(state, p, key) {
  p.rows = [['←', ''], ['→', ''], ['↓', 'Skip this text'], ['0 to 9', ''], ['U', 'Undo the last decision'],
    ['?', 'Show or hide this list'], ['Esc', 'Leave; everything you decided is kept']].map(([name, text]) => {
    const says = make('span', '', { textContent: text })
    return { says, line: make('li', '', {}, [key(name), says]) }
  })
  p.closeHelp = make('button', 'act', { type: 'button', textContent: 'Close', onclick: () => toggleHelp(state) })
  p.help.append(make('ul', '', {}, p.rows.map((row) => row.line)), p.closeHelp)
}

function draw(state) {
  const { parts, data } = state
  const item = state.items[0]
  const poles = item || state.poles || { trait: '', negative: {}, positive: {} }
  state.poles = poles
  parts.trait.textContent = poles.trait || ''
  drawProgress(state)
  for (const side of ['negative', 'positive']) {
    const pole = poles[side]
    parts[side].labelled.textContent = `${pole.sign || ''} ${pole.label || ''}`.trim()
    parts[side].style.setProperty('--pole', pole.colour || 'currentColor')
    parts[side].disabled = !item
  }
  parts.gradeLow.textContent = poles.negative.label || ''
  parts.gradeHigh.textContent = poles.positive.label || ''
  for (const each of parts.grades.querySelectorAll('button')) each.disabled = !item
  parts.between.hidden = !data.middle
  parts.leave.hidden = !data.leave
  parts.between.disabled = parts.skip.disabled = !item
  parts.undo.disabled = !state.history.length && !data.last
  parts.rows[0].says.textContent = poles.negative.label || ''
  parts.rows[1].says.textContent = poles.positive.label || ''
  parts.rows[3].says.textContent = `A grade from 0 (${poles.negative.label}) to 9 (${poles.positive.label}); 6 means 0.67`
  parts.help.hidden = !state.help
  parts.box.classList.toggle('over', !item && data.total > 0 && data.done >= data.total)
  drawText(state, item)
  drawHint(state, item)
  drawLast(state)
  parts.notice.textContent = data.notice || ''
}

function drawProgress({ parts, data, events }) {
  const unsent = events.filter((event) => event.action === 'label' || event.action === 'skip').length
    - events.filter((event) => event.action === 'undo').length
  const done = Math.max(0, Math.min(data.total, data.done + unsent))
  const saved = data.saved == null ? '' : `, ${data.saved.toLocaleString('en')} saved`
  parts.count.textContent = data.total ? `${done.toLocaleString('en')} of ${data.total.toLocaleString('en')}${saved}` : ''
  parts.bar.setAttribute('aria-valuenow', String(done))
  parts.bar.setAttribute('aria-valuemax', String(data.total))
  parts.bar.firstChild.style.width = `${data.total ? (100 * done) / data.total : 0}%`
}

function drawText(state, item) {
  const { text } = state.parts
  const id = item ? item.id : ''
  if (state.shown !== id) {
    state.shown = id
    state.shownAt = performance.now()
    state.drawn = null
    text.scrollTop = 0
  }
  const marks = item && !state.data.blind ? item.highlights || [] : []
  const drawn = JSON.stringify([id, marks])
  if (state.drawn === drawn) return
  state.drawn = drawn
  text.className = `text ${item ? SIZES.find(([most]) => item.text.length <= most)[1] : 'empty'}`
  if (!item) text.textContent = state.data.empty || 'Loading the next texts…'
  else text.replaceChildren(...highlighted(item, marks))
}

// The text in spans: each mark is [start, end, strength], in characters, with a strength from -1 to 1.
function highlighted(item, marks) {
  const characters = marks.length ? Array.from(item.text) : []
  if (!marks.length) return [document.createTextNode(item.text)]
  const nodes = []
  let at = 0
  const plain = (end) => {
    if (end > at) nodes.push(document.createTextNode(characters.slice(at, end).join('')))
  }
  for (const [start, end, strength] of marks) {
    plain(start)
    const pole = strength > 0 ? item.positive : item.negative
    const mark = make('span', 'mark', { textContent: characters.slice(start, end).join('') })
    mark.style.setProperty('--pole', pole.colour)
    mark.style.setProperty('--strength', `${Math.round(Math.min(1, Math.abs(strength)) * 45)}%`)
    nodes.push(mark)
    at = end
  }
  plain(characters.length)
  return nodes
}

function drawHint(state, item) {
  const { hint } = state.parts
  const shown = Boolean(item && item.hint && !state.data.blind)
  hint.classList.toggle('off', !shown)
  if (!shown) {
    hint.replaceChildren()
    return
  }
  const { score, words, positive } = item.hint
  const colour = positive === true ? item.positive.colour : positive === false ? item.negative.colour : '#808080'
  const rail = make('div', 'rail', { 'aria-hidden': 'true' }, [make('div', 'dot')])
  rail.firstChild.style.left = `${score}%`
  rail.firstChild.style.background = colour
  hint.replaceChildren(make('span', '', { textContent: `${state.data.scorer || 'Score now'}: ${words}, ${score}` }), rail)
}

function drawLast(state) {
  const last = state.history[state.history.length - 1]
  if (!last) return
  const { item, quality, action: how } = last
  const named = how === 'skip' ? 'skipped' : quality === 0 ? item.negative.label : quality === 1 ? item.positive.label
    : quality === 0.5 ? 'in between' : `graded ${quality}`
  const scored = item.hint && how !== 'skip' ? ` (scored ${item.hint.score})` : ''
  say(state, `Last: ${named}${scored}.`)
}

function say(state, words) {
  if (state.parts.last.textContent !== words) state.parts.last.textContent = words
}

function flash(state, side) {
  const pressed = state.parts[side]
  pressed.classList.remove('pressed')
  void pressed.offsetWidth
  pressed.classList.add('pressed')
}
