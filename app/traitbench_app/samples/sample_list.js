const PAUSE = 180
const LATE = 2000
const BUSY = '[role=dialog], [role=radiogroup], [role=listbox], [role=menu], [role=tablist], input, textarea, select'
const DRAWER = 'data-traitbench-sample'

const made = (tag, name, text) => {
  const element = document.createElement(tag)
  if (name) element.className = name
  if (text !== undefined) element.textContent = text
  return element
}
const cell = (element) => {
  element.setAttribute('role', 'gridcell')
  return element
}

const labelCell = ({ how, word, side }) => {
  const box = cell(made('div', `lb ${side || 'm2'}`))
  if (how) box.append(how + ' ')
  box.append(made(side ? 'b' : 'span', '', word))
  return box
}

const scoreCell = ({ score, sure, wrong, label, says }) => {
  const box = cell(made('div', 'hb'))
  if (score === null) return box
  const track = made('span', 'mini')
  const fill = made('i', `fill ${score > 50 ? 'right' : 'left'} ${sure}`)
  fill.style.left = `${Math.min(50, score)}%`
  fill.style.width = `${Math.abs(score - 50)}%`
  track.append(fill)
  if (wrong) {
    const ring = made('i', `ring ${label.side}`)
    ring.style.left = `${score}%`
    track.append(ring)
  }
  track.setAttribute('role', 'img')
  track.setAttribute('aria-label', says)
  track.title = says
  box.append(track, made('b', '', String(score)))
  return box
}

const rowOf = (row, columns) => {
  const element = made('div', `r row${row.changed ? ' ed' : ''}${columns.scored ? '' : ' unscored'}`)
  element.setAttribute('role', 'row')
  element.dataset.id = String(row.id)
  const text = cell(made('div', 'tx', row.text))
  if (row.changed) text.append(made('span', 'said', ' (changed in your draft)'))
  element.append(text, labelCell(row.label))
  if (columns.scored) element.append(scoreCell(row))
  element.append(cell(made('div', 'm3', row.test)))
  if (columns.grouped) element.append(cell(made('div', 'm3', row.group)))
  element.append(cell(made('div', 'm3', row.by)))
  return element
}

const headOf = (columns) => {
  const head = made('div', 'r h')
  head.setAttribute('role', 'row')
  const names = ['Text', 'Label', columns.scored && 'Scored unseen', 'For', columns.grouped && 'Group', 'By']
  for (const name of names.filter(Boolean)) {
    const each = made('span', '', name)
    each.setAttribute('role', 'columnheader')
    head.append(each)
  }
  return head
}

// One list is on the page; the keys belong to the one that was drawn last.
let here = null
let picking = 0

const rows = () => (here ? [...here.place.querySelectorAll('.row')] : [])
const mark = (id) => {
  for (const row of rows()) {
    const isOn = row.dataset.id === String(id)
    row.setAttribute('aria-selected', String(isOn))
    row.tabIndex = isOn ? 0 : -1
  }
}
const drawer = (isOpen) => document.documentElement.toggleAttribute(DRAWER, isOpen)

const pick = (row, { opens = false, soon = false } = {}) => {
  if (!row || !here) return
  here.picked = here.asked = row.dataset.id
  here.at = Date.now()
  mark(here.picked)
  row.scrollIntoView({ block: 'nearest' })
  if (opens) drawer(true)
  clearTimeout(picking)
  const own = here
  const send = () => own.send('pick', own.picked)
  if (soon) picking = setTimeout(send, PAUSE)
  else send()
}

document.addEventListener('keydown', (event) => {
  if (!here?.place.isConnected || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  const target = event.composedPath()[0]
  if (event.key === 'Escape') return drawer(false)
  if (target instanceof Element && (target.closest(BUSY) || target.closest('[contenteditable=true]'))) return
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
  if (step) {
    const all = rows()
    const at = all.findIndex((row) => row.dataset.id === here.picked)
    const row = all[Math.min(Math.max(at + step, 0), all.length - 1)]
    if (!row) return
    event.preventDefault()
    pick(row, { soon: true })
    if (target instanceof Element && target.classList.contains('row')) row.focus()
  } else if (event.key.toLowerCase() === 'v') {
    here.send('paste', '')
  }
})
document.addEventListener('click', (event) => {
  if (event.target instanceof Element && event.target.closest('.st-key-samples-close_panel')) drawer(false)
})

export default function ({ data, parentElement, setStateValue }) {
  const place = parentElement.querySelector('.list')
  const send = (kind, about) => setStateValue('event', `${Date.now()} ${kind} ${about}`)
  const drawn = JSON.stringify([data.rows, data.columns, data.foot])
  if (place.dataset.drawn !== drawn) {
    place.dataset.drawn = drawn
    const hadFocus = place.getRootNode().activeElement?.classList?.contains('row')
    place.style.setProperty('--columns', data.columns.widths)
    const foot = made('div', 'foot')
    foot.append(made('span', '', data.foot.said))
    if (data.foot.more) {
      const more = made('button', '', data.foot.more)
      more.type = 'button'
      more.onclick = () => send('more', '')
      foot.append(more)
    }
    const grid = made('div', 'grid')
    grid.setAttribute('role', 'grid')
    grid.setAttribute('aria-label', 'Samples')
    grid.append(headOf(data.columns), ...data.rows.map((row) => rowOf(row, data.columns)))
    place.replaceChildren(grid, foot)
    if (hadFocus) place.querySelector(`[data-id="${data.picked}"]`)?.focus()
  }
  place.onclick = (event) => {
    const row = event.target instanceof Element && event.target.closest('.row')
    if (row) pick(row, { opens: true })
  }
  place.onkeydown = (event) => {
    const row = event.target instanceof Element && event.target.closest('.row')
    if (row && event.key === 'Enter') pick(row, { opens: true })
  }
  const picked = String(data.picked ?? '')
  if (here?.place !== place) here = { place, picked, asked: '', at: 0 }
  here.send = send
  // An answer to an earlier row does not take back the row that was picked since.
  const isLate = here.asked && here.asked !== picked && Date.now() - here.at < LATE
  if (!isLate) Object.assign(here, { picked, asked: '' })
  mark(here.picked)
  return () => {
    if (here?.place === place && !place.isConnected) here = null
  }
}
