// What the workbench adds to Streamlit's page in the browser. The page loads this before Streamlit's own code.

(() => {
  'use strict'

  // Streamlit would look for its server below the address of the page first, and get a 404.
  window.__streamlit = { BACKEND_BASE_URL: new URL('./', document.baseURI).href }

  // ---- one step back is one page back ----------------------------------------------------------------------------
  // Streamlit adds an entry to the history whenever the server changes the query. Only another page, or a link that
  // somebody followed, is a step of its own.
  const push = history.pushState.bind(history)
  let followed = null

  document.addEventListener(
    'click',
    (event) => {
      const link = event.target instanceof Element ? event.target.closest('a[href]') : null
      followed = link ? new URL(link.href, document.baseURI).pathname : null
    },
    true,
  )
  history.pushState = (state, unused, url) => {
    const path = new URL(url ?? '', location.href).pathname
    if (path !== location.pathname || path === followed) {
      followed = null
      push(state, unused, url)
    } else {
      history.replaceState(state, unused, url)
    }
  }

  // ---- a service that stopped ------------------------------------------------------------------------------------
  const PATIENCE = 1500
  const AWAY = 'Traitbench does not answer. It has stopped, or this browser cannot reach it.'
  const MEANWHILE = 'This page connects again by itself. Saved work is safe; keep this page open, so that nothing that you typed is lost.'
  const BACK = 'Traitbench answers again.'
  // A service that was restarted does not know of open dialogs: their buttons would do nothing, without a word.
  const BACK_IN_DIALOG = 'If it was restarted, buttons of an open dialog do nothing: copy what you typed, then reload this page.'
  const OF_STREAMLIT = /Streamlit server is not responding|Is Streamlit still running|Connection timed out|Connection failed with status|Cannot connect to Streamlit/
  let banner = null
  let timer = 0
  let wasConnected = false

  const say = (words, more) => {
    banner ??= document.body.appendChild(document.createElement('div'))
    banner.className = 'traitbench-away'
    banner.setAttribute('role', 'status')
    banner.replaceChildren(Object.assign(document.createElement('strong'), { textContent: words }), ` ${more}`)
  }
  const watchConnection = (app) => {
    const connected = app.dataset.testConnectionState === 'CONNECTED'
    if (connected && banner) {
      const hasDialog = document.querySelector('[data-testid=stDialog]')
      say(BACK, hasDialog ? BACK_IN_DIALOG : '')
      const old = banner
      banner = null
      setTimeout(() => old.remove(), hasDialog ? 20000 : 4000)
    }
    if (connected) {
      wasConnected = true
      clearTimeout(timer)
      timer = 0
    } else if (wasConnected && !timer && !banner) {
      timer = setTimeout(() => say(AWAY, MEANWHILE), PATIENCE)
    }
  }
  const rewordError = (dialog) => {
    if (!OF_STREAMLIT.test(dialog.textContent)) return
    const walker = document.createTreeWalker(dialog, NodeFilter.SHOW_TEXT)
    let said = false
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.nodeValue.trim() === 'Connection error') node.nodeValue = 'Traitbench does not answer'
      else if (OF_STREAMLIT.test(node.nodeValue) || node.parentElement.closest('pre')) {
        node.nodeValue = said ? '' : `It has stopped, or this browser cannot reach it. ${MEANWHILE}`
        said = true
      }
    }
  }
  const rewordMissing = (dialog) => {
    const walker = document.createTreeWalker(dialog, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (/no corresponding file was found|does not seem to exist/.test(node.nodeValue)) {
        node.nodeValue = 'There is no page at this address. Here is Home instead.'
      }
    }
  }

  // ---- single keys -----------------------------------------------------------------------------------------------
  // Where a keyboard has no Latin letter or no digit at a key, the key counts by its place. A person may switch single
  // keys off (WCAG 2.1.4), because speech and screen readers send letters too.
  const SINGLE_KEYS = 'traitbench single keys'
  const WRITES = 'input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=""], [contenteditable=true]'
  const areOff = () => {
    try {
      return localStorage.getItem(SINGLE_KEYS) === 'off'
    } catch {
      return false
    }
  }
  const byPlace = ({ key, code, shiftKey }) => {
    const digit = !shiftKey && !/[0-9]/.test(key) && code.match(/^(?:Digit|Numpad)([0-9])$/)
    const letter = /^\p{L}$/u.test(key) && !/[a-z]/i.test(key) && code.match(/^Key([A-Z])$/)
    return digit ? digit[1] : letter && (shiftKey ? letter[1] : letter[1].toLowerCase())
  }
  window.addEventListener(
    'keydown',
    (event) => {
      const target = event.composedPath()[0]
      const writes = target instanceof Element && target.closest(WRITES)
      const isSingle = event.key.length === 1 && !(event.ctrlKey || event.metaKey || event.altKey)
      if (event.isComposing || (isSingle && writes)) return
      if (isSingle && event.key !== ' ' && areOff()) return event.stopImmediatePropagation()
      const key = event.key.length === 1 && byPlace(event)
      if (!key) return
      event.stopImmediatePropagation()
      const { code, shiftKey, ctrlKey, altKey, metaKey, repeat } = event
      const place = { key, code, shiftKey, ctrlKey, altKey, metaKey, repeat, keyCode: key.toUpperCase().charCodeAt(0) }
      const again = new KeyboardEvent('keydown', { ...place, bubbles: true, cancelable: true, composed: true })
      if (!target.dispatchEvent(again)) event.preventDefault()
    },
    true,
  )
  const nameSwitch = () => {
    for (const button of document.querySelectorAll('[data-single-keys]')) {
      const words = `Switch single keys ${areOff() ? 'on' : 'off'}`
      if (button.textContent !== words) button.textContent = words
    }
  }
  document.addEventListener('click', (event) => {
    if (!event.target.closest?.('[data-single-keys]')) return
    try {
      localStorage.setItem(SINGLE_KEYS, areOff() ? 'on' : 'off')
    } catch { /* A browser that keeps nothing keeps single keys on. */ }
    nameSwitch()
  })

  // ---- the keyboard ----------------------------------------------------------------------------------------------
  const FIELDS = 'input:not([type=hidden]):not([type=file]):not(:disabled), textarea:not(:disabled)'
  const MAIN = '[data-testid=stMain]'

  const focusFirstField = (dialog) => {
    // Streamlit puts the focus on the button that closes the dialog.
    if (dialog.dataset.traitbenchFocused) return
    const field = [...dialog.querySelectorAll(FIELDS)].find((each) => each.getClientRects().length)
    const here = document.activeElement
    if (!field || (dialog.contains(here) && here.matches(FIELDS))) return
    dialog.dataset.traitbenchFocused = 'yes'
    field.focus()
  }
  const primary = () =>
    [...document.querySelectorAll(`${MAIN} button[kind=primary]:not(:disabled)`)].find((each) => each.getClientRects().length)
  // Enter in the field of “Find” opens the first place, as soon as the list belongs to what was typed.
  const openFirst = (field) => {
    const list = document.querySelector('.st-key-shell-found')
    if (!list || !field.isConnected) return
    if (list.querySelector('[data-words]')?.dataset.words === field.value) list.querySelector('a, button')?.click()
    else setTimeout(openFirst, 50, field)
  }
  document.addEventListener('keydown', (event) => {
    const field = event.target
    if (event.key === 'Enter' && field.closest?.('.st-key-shell-find_words')) openFirst(field)
  })
  let toAction = null
  const addSkipLink = () => {
    toAction = document.createElement('a')
    toAction.href = '#stMain'
    toAction.className = 'traitbench-skip'
    toAction.hidden = true
    toAction.onclick = (event) => {
      event.preventDefault()
      event.stopPropagation()
      primary()?.focus()
    }
    document.body.prepend(toAction)
  }
  const nameAction = () => {
    const button = primary()
    const label = button?.querySelector('[data-testid=stMarkdownContainer]')?.textContent.trim()
    const wanted = label ? `Skip to “${label}”` : ''
    if (toAction.textContent !== wanted) toAction.textContent = wanted
    toAction.hidden = !label
  }

  // ---- names and roles for screen readers -----------------------------------------------------------------------
  // Streamlit does not say that the links of the sidebar are a menu, nor which of them is the page that is open.
  const mendMenu = () => {
    const menu = document.querySelector('.st-key-shell-menu')
    if (!menu) return
    menu.setAttribute('role', 'navigation')
    menu.setAttribute('aria-label', 'Pages')
    const here = location.pathname.split('/').pop()
    for (const link of menu.querySelectorAll('a')) {
      // The link to Home is empty, so its address is that of any page. A page that is shown as another one has the name
      // of that one in bold.
      const isOpen = link.getAttribute('href').split('?')[0] === here || link.querySelector('strong')
      if (isOpen) link.setAttribute('aria-current', 'page')
      else link.removeAttribute('aria-current')
    }
  }

  // Its link to the content leads to an element that has no such id, and its field for a file hides its own name.
  const mendElements = () => {
    const main = document.querySelector(MAIN)
    if (main && !main.id) main.id = 'stMain'
    for (const field of document.querySelectorAll('[data-testid=stFileUploaderDropzone][role=presentation]')) {
      field.setAttribute('role', 'group')
    }
  }

  // ---- the code of charts ----------------------------------------------------------------------------------------
  // It is large, so the browser fetches it only when the first view has been complete for a while.
  const LATER = 2000
  let charts = document.currentScript.dataset.charts
  const fetchLater = (href) => {
    const link = document.createElement('link')
    document.head.append(Object.assign(link, { rel: 'prefetch', as: 'script', crossOrigin: '', href }))
  }
  const watchDrawing = (app) => {
    if (charts && wasConnected && app.dataset.testScriptState === 'notRunning') {
      setTimeout(fetchLater, LATER, charts)
      charts = ''
    }
  }

  // ---- what was done is said at the top of the page ---------------------------------------------------------------
  let announced = ''
  const goToTop = () => {
    const now = document.querySelector('[data-top]')?.dataset.top ?? ''
    if (now && now !== announced) document.querySelector(MAIN)?.scrollTo({ top: 0 })
    announced = now
  }

  // ---- watching the page -----------------------------------------------------------------------------------------
  let due = false
  const look = () => {
    due = false
    const app = document.querySelector('[data-testid=stApp]')
    if (app) {
      watchConnection(app)
      watchDrawing(app)
    }
    mendMenu()
    mendElements()
    nameSwitch()
    goToTop()
    nameAction()
    for (const dialog of document.querySelectorAll('[role=dialog]')) {
      rewordError(dialog)
      rewordMissing(dialog)
      focusFirstField(dialog)
    }
  }
  const soon = () => {
    if (!due) {
      due = true
      requestAnimationFrame(look)
    }
  }
  document.addEventListener('DOMContentLoaded', () => {
    addSkipLink()
    new MutationObserver(soon).observe(document.body, {
      subtree: true,
      childList: true,
      attributes: true,
      attributeFilter: ['data-test-connection-state', 'data-test-script-state'],
    })
    soon()
  })
})()
