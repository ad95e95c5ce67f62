// ---- in a notebook: the adapter for anywidget -----------------------------------------------------------------------

const NOTEBOOK = `
  .frame { max-width: 70rem; padding: 0.5rem 4px; }
  .figures { display: flex; flex-wrap: wrap; gap: 0.3rem 2rem; margin-top: 0.75rem; font-variant-numeric: tabular-nums; }
  .figures b { font-weight: 600; font-size: 1.1rem; display: block; }
  .figures, .status { font-family: var(--st-font, system-ui, sans-serif); font-size: 0.9rem; color: var(--ink); }
  .status { margin: 0.4rem 0 0; opacity: 0.85; }
  .away { margin: 0.4rem 0 0; text-align: center; font: 0.9rem system-ui, sans-serif; color: var(--ink); }
  .frame:focus-within .away { visibility: hidden; }
`

function mounted({ model, el }) {
  const host = document.createElement('div')
  // JupyterLab has commands on the same keys.
  host.dataset.lmSuppressShortcuts = 'true'
  el.replaceChildren(host)
  const root = host.attachShadow({ mode: 'open' })
  const part = (tag, className) => Object.assign(document.createElement(tag), { className })
  const [style, frame, element, figures, status, away] = [
    part('style', ''), part('div', 'frame labels-theme'), part('div', 'mount'), part('div', 'figures'),
    part('p', 'status'), part('p', 'away'),
  ]
  style.textContent = STYLE + NOTEBOOK
  away.textContent = 'Click here, then label by keys.'
  status.setAttribute('role', 'status')
  frame.append(element, away, figures, status)
  root.append(style, frame)
  frame.addEventListener('click', () => {
    if (!root.activeElement) element.firstChild.focus({ preventScroll: true })
  })
  const send = (message) => {
    model.set('answers', message)
    model.save_changes()
    // Esc gives the keys back to the notebook.
    if (message.events.some((event) => event.action === 'leave')) root.activeElement?.blur()
  }
  let end
  const draw = () => {
    const data = model.get('data')
    end = render({ element, data, send })
    figures.replaceChildren(...data.figures.map(({ name, value, help }) => {
      const figure = part('div', '')
      figure.title = help
      figure.append(name, Object.assign(part('b', ''), { textContent: value }))
      return figure
    }))
    status.textContent = data.status
  }
  model.on('change:data', draw)
  draw()
  return () => {
    model.off('change:data', draw)
    end()
  }
}

export default { render: mounted }
