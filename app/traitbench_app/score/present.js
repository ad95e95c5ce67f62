// The presentation draws what Python sends, says which keys were pressed, and computes no figure.

const PAUSE = 250
const AGAIN = 2000 // until events that nobody has answered are sent again
const STEP = 5 // of the room's guess
const SMALLEST = 14 // pixels of the text

let current = null // the presentation on screen

const element = (tag, name, text = '') => Object.assign(document.createElement(tag), { className: name, textContent: text })
const typing = (event) => event.composedPath()[0] instanceof HTMLTextAreaElement

document.addEventListener('keydown', (event) => {
  if (!current?.root.isConnected || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key
  if (typing(event)) {
    if (key === 'Escape') current.field.blur()
    return
  }
  if (event.composedPath()[0] instanceof HTMLButtonElement && (key === ' ' || key === 'Enter')) return
  const pressed = current.actions().find((each) => each.keys.includes(key))
  if (!pressed) return
  event.preventDefault()
  pressed.act(key)
})
addEventListener('resize', () => current?.fit())

class Presentation {
  constructor(root) {
    this.root = root
    for (const name of ['model', 'taught', 'title', 'say', 'paint', 'field', 'stage', 'rows', 'hint', 'keys', 'sent', 'code']) {
      this[name] = root.querySelector('.' + name)
    }
    Object.assign(this, { events: [], round: null, trait: null, shown: false, guesses: {}, dirty: false, timer: 0, again: 0 })
    this.field.oninput = () => {
      this.dirty = true
      this.drawText()
      clearTimeout(this.timer)
      this.timer = setTimeout(() => this.send('type'), PAUSE)
    }
    this.field.onfocus = this.field.onblur = () => this.draw()
  }

  // An event is sent until Python has handled it, because a press may come while it answers another one.
  send(kind) {
    clearTimeout(this.timer)
    const last = Math.max(this.events.at(-1)?.n ?? 0, this.data.handled)
    const text = this.dirty ? this.field.value : null
    this.events.push({ n: Math.max(last + 1, Date.now()), kind, text, trait: this.row.key })
    this.dirty = false
    this.tellEvents()
    this.learning = kind === 'left' || kind === 'right'
    if (this.learning) this.drawHint()
  }

  tellEvents() {
    clearTimeout(this.again)
    if (!this.events.length || !this.root.isConnected) return
    this.tell('events', [...this.events])
    this.again = setTimeout(() => this.tellEvents(), AGAIN)
  }

  take(data, tell) {
    Object.assign(this, { data, tell })
    this.events = this.events.filter((each) => each.n > data.handled)
    if (this.round !== data.round) Object.assign(this, { round: data.round, shown: false, guesses: {} })
    if (!this.events.length) {
      this.learning = false
      if (!this.dirty && this.field.value !== data.text) this.field.value = data.text
    }
    this.draw()
  }

  get row() {
    return this.data.rows.find((each) => each.key === this.trait) ?? this.data.rows[0]
  }

  // ---- the keys that work now, in the order of the footer; `now` is what a presenter does next ----------------------
  actions() {
    const { data, row, field } = this
    const action = (keys, show, words, act, now = false) => ({ keys: [keys].flat(), show, words, act, now })
    if (field.matches(':focus')) return [action('Escape', 'Esc', 'Leave the text', () => field.blur(), true)]
    const says = (kind) => () => this.send(kind)
    const turn = (shown) => () => {
      this.shown = shown
      this.draw()
    }
    const list = []
    const { room } = data
    const code = (isShown) => () => {
      this.showsCode = isShown
      if (isShown && !room.open) this.send('open')
      this.draw()
    }
    if (room.waiting) {
      list.push(action('Enter', 'Enter', 'Show the text sent', () => { this.showsCode = false; this.send('show') }, true))
      list.push(action('N', 'N', 'Reject it', says('reject'), true))
    }
    if (this.showsCode) {
      list.push(action(['Escape', 'Q'], 'Q', 'Hide the code', code(false), true))
      list.push(action('X', 'X', 'Close the room', () => { this.showsCode = false; this.send('close') }))
      return list
    }
    if (row.score !== null && !this.shown) {
      list.push(action(['ArrowLeft', 'ArrowRight'], '← →', 'The room’s guess', (key) => {
        this.guess((this.guesses[row.key] ?? 50) + (key === 'ArrowLeft' ? -STEP : STEP))
      }, true))
      list.push(action(' ', 'Space', 'Reveal', turn(true), true))
    } else if (row.taught) {
      list.push(action('Z', 'Z', 'Undo teaching', says('undo'), true))
    } else if (row.score !== null) {
      if (row.teachable) {
        list.push(action('1', '1', `Teach ${row.negative}`, says('left'), true))
        list.push(action('2', '2', `Teach ${row.positive}`, says('right'), true))
      }
      list.push(action(' ', 'Space', 'Hide', turn(false)))
    }
    if (data.taught_as.length && !row.taught) list.push(action('Z', 'Z', 'Undo teaching', says('undo')))
    if (data.examples && !room.waiting) list.push(action('N', 'N', 'Next example', says('next'), row.taught || row.score === null))
    list.push(data.side === 'A' ? action('B', 'B', 'Second text', says('B')) : action('A', 'A', 'First text', says('A')))
    if (data.versions) list.push(action('V', 'V', 'Switch version', says('version')))
    if (data.rows.length > 1) list.push(action('T', 'T', 'Next trait', () => {
      this.choose(data.rows[(data.rows.indexOf(row) + 1) % data.rows.length].key)
    }))
    if ('open' in room) list.push(action('Q', 'Q', room.open ? 'Show the code' : 'Let the room send texts', code(true)))
    list.push(action('Escape', 'Esc', 'Leave', says('leave')))
    return list
  }

  choose(key) {
    this.trait = key
    this.draw()
  }

  guess(at) {
    this.guesses[this.row.key] = Math.min(100, Math.max(0, at))
    this.draw()
  }

  // ---- drawing ------------------------------------------------------------------------------------------------------
  draw() {
    const { data, row } = this
    this.model.textContent = data.model
    this.taught.replaceChildren(...data.taught_as.map((side) => element('i', side)), data.taught_say)
    const { room } = data
    this.sent.textContent = room.waiting || (room.open ? 'The room may send texts' : '')
    this.code.hidden = !this.showsCode || !room.open
    if (room.open && this.code.lastChild.textContent !== room.address) {
      this.code.firstChild.innerHTML = room.code
      this.code.lastChild.textContent = room.address
    }
    this.title.replaceChildren(...row.title.map(([words, side]) => element('span', side, words)))
    this.title.style.setProperty('--length', this.title.textContent.length)
    this.rows.classList.toggle('many', data.rows.length > 1)
    this.rows.classList.toggle('dense', data.rows.length > 4)
    while (this.rows.children.length > data.rows.length) this.rows.lastChild.remove()
    data.rows.forEach((each, at) => this.drawRow(this.rows.children[at] ?? this.rows.appendChild(blank()), each))
    ;(data.rows.length > 1 ? this.stage : this.rows.firstChild).append(this.hint)
    this.drawHint()
    this.drawKeys()
    this.drawText()
  }

  drawRow(item, row) {
    const { before, score, side, sure } = row
    const find = (name) => item.querySelector('.' + name)
    const shown = this.shown && score !== null
    const guess = before && shown ? undefined : this.guesses[row.key]
    item.className = `row ${shown ? `shown ${side} ${sure}` : ''} ${row === this.row ? 'chosen' : ''}`
    item.onclick = () => this.choose(row.key)
    const track = find('track')
    track.setAttribute('aria-label', shown ? row.alt : `${row.name}: not revealed`)
    track.onpointerdown = track.onpointermove = (event) => {
      if (this.shown || score === null || !event.buttons) return
      this.trait = row.key
      const box = track.getBoundingClientRect()
      this.guess(Math.round((100 * (event.clientX - box.left)) / box.width / STEP) * STEP)
    }
    for (const pole of ['negative', 'positive']) {
      find(pole).querySelector('bdi').textContent = find(pole).title = row[pole]
    }
    const at = shown ? score : 50
    place(find('bar'), { left: Math.min(50, at), width: Math.abs(at - 50) })
    place(find('knob'), { left: at }, shown)
    number(find('score'), at, '', shown ? score : '')
    place(find('was'), { left: before?.score ?? 50 }, shown && before)
    number(find('before'), before?.score ?? 50, before?.caption ?? '', shown && before ? before.score : '', score)
    const far = shown && before ? Math.abs(before.score - score) : 0
    place(find('arrow'), { left: Math.min(before?.score, score) + 7, width: far - 15 }, far > 22)
    find('arrow').classList.toggle('back', before?.score > score)
    place(find('room'), { left: guess ?? 50 }, guess !== undefined || (!this.shown && row === this.row && score !== null))
    number(find('guess'), guess ?? 50, `The room ${shown ? 'said' : 'says'}`, guess ?? '', shown ? score : null)
  }

  drawHint() {
    const { data, row } = this
    const words = data.problem ? [[data.problem, '']]
      : this.learning ? [['Learning from this text …', '']]
      : row.score === null ? [['Type a text.', '']]
      : this.shown ? row.says : [['Hands up: which side?', '']]
    const key = JSON.stringify(words)
    if (this.said === key) return // a screen reader says every change
    this.said = key
    this.hint.replaceChildren(...words.map(([text, side]) => element('bdi', side, text)))
  }

  drawText() {
    const { data, field, paint, row } = this
    const lit = this.shown && row.lit && field.value === data.text
    paint.textContent = field.value
    if (lit) {
      paint.innerHTML = row.lit
      paint.replaceChildren(paint.querySelector('.tb-why')) // without its style
    }
    if (field.value.endsWith('\n') || !field.value) paint.append('\u200b')
    this.fit()
  }

  drawKeys() {
    this.keys.replaceChildren(...this.actions().map(({ keys, show, words, act, now }) => {
      const button = element('button', now ? 'now' : '')
      button.append(element('kbd', '', show), element('bdi', '', words))
      button.onmousedown = (event) => event.preventDefault() // the field keeps the caret, if it has it
      button.onclick = () => act(keys.at(-1))
      return button
    }))
  }

  // The largest type in which the whole text fits; a text too long even for the smallest can be scrolled.
  fit() {
    let [small, large] = [SMALLEST, 0.039 * Math.min(innerWidth, 1.7778 * innerHeight)]
    large = Math.max(large, 28)
    const fits = (size) => {
      this.say.style.setProperty('--size', `${size}px`)
      return this.paint.offsetHeight <= this.say.clientHeight
    }
    if (fits(large)) return
    while (large - small > 0.5) {
      const middle = (small + large) / 2
      if (fits(middle)) small = middle
      else large = middle
    }
    fits(small)
  }
}

const blank = () => {
  const item = element('div', 'row')
  item.innerHTML = '<div class="track" role="img"><i class="middle"></i><i class="bar"></i><i class="arrow"></i>'
    + '<i class="dot room"></i><i class="dot was"></i><i class="dot knob"></i>'
    + '<div class="number guess"></div><div class="number before"></div><div class="number score"></div></div>'
    + '<span class="pole negative"><bdi></bdi></span><span class="pole positive"><bdi></bdi></span>'
  return item
}

const place = (mark, sides, isShown = true) => {
  for (const [side, at] of Object.entries(sides)) mark.style[side] = `${Math.max(0, at)}%`
  mark.hidden = !isShown
}

// A number above its knob; beside the score's number if it would cover that.
const number = (mark, at, caption, value, score = null) => {
  const isNear = score !== null && Math.abs(at - score) < 16
  const isLeft = score > 84 || (score > 15 && at < score)
  mark.classList.toggle('left-of', isNear && isLeft)
  mark.classList.toggle('right-of', isNear && !isLeft)
  mark.style.setProperty('--at', `${isNear ? score : at}%`)
  mark.replaceChildren(...(caption && value !== '' ? [element('small', '', caption)] : []), String(value))
}

export default function ({ data, parentElement, setStateValue }) {
  if (current?.root !== parentElement) current = new Presentation(parentElement)
  current.take(data, setStateValue)
}
