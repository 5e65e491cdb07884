/** Runs in the browser without a build step: the search of the endpoint list, and the renderer with its console. */
const one = (selector, within = document) => within.querySelector(selector)
const all = (selector, within = document) => [...within.querySelectorAll(selector)]

const dark = matchMedia('(prefers-color-scheme: dark)')
const wide = matchMedia('(min-width: 60rem)')
const description = fetch('openapi.json').then((response) => response.json())

/** The renderer has a dark mode; the page has to switch it on. */
function followSystem() {
  document.documentElement.classList.toggle('dark-mode', dark.matches)
}

/** On wide screens the list is open next to the reference; on narrow ones it is collapsed above it. */
function fold() {
  one('#endpoints').open = wide.matches
}

/** Shows the endpoints that contain every word of the query. */
function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const has = (item) => words.every((word) => item.textContent.toLowerCase().includes(word))
  for (const group of all('#endpoints section')) {
    const items = all('li', group)
    const isNamed =
      words.length > 0 && words.every((word) => one('h2', group).textContent.toLowerCase().includes(word))
    for (const item of items) item.hidden = !isNamed && !has(item)
    group.hidden = items.every((item) => item.hidden)
  }
  const found = all('#endpoints li:not([hidden])').length
  one('#found').textContent = words.length === 0 ? '' : `${found} of ${all('#endpoints li').length}`
}

function listen() {
  const input = one('#search')
  input.addEventListener('input', () => search(input.value))
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') one('#endpoints li:not([hidden]) a')?.click()
  })
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest('input, textarea, select, [contenteditable]')
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    one('#endpoints').open = true
    input.focus()
  })
}

/** Passes the credential to the console. Accepts `KEY:SECRET` and the header form `Developer KEY:SECRET`. */
function authorize(ui, spec) {
  const [name] = Object.keys(spec.components.securitySchemes)
  const input = one('#credential')
  const pass = () => {
    const pair = input.value.trim().replace(/^(Authorization:\s*)?(Developer\s+)?/i, '')
    if (pair === '') ui.authActions.logout([name])
    else ui.preauthorizeApiKey(name, `Developer ${pair}`)
  }
  input.addEventListener('input', pass)
  if (input.value !== '') pass()
}

/** Opens the endpoint that the URL fragment names, and moves the focus to it. */
function open(ui) {
  const [, tag, id] = location.hash.split('/').map(decodeURIComponent)
  if (!tag || !id) return
  if (!wide.matches) one('#endpoints').open = false
  ui.layoutActions.show(['operations-tag', tag], true)
  ui.layoutActions.show(['operations', tag, id], true)
  requestAnimationFrame(() => {
    const shown = one(`#reference .opblock-summary a[href="${CSS.escape(location.hash)}"]`)?.closest(
      '.opblock',
    )
    shown?.scrollIntoView()
    one('.opblock-summary-control', shown)?.focus({ preventScroll: true })
  })
}

const isUsed = (tag, { paths }) =>
  Object.values(paths).some((path) => Object.values(path).some(({ tags }) => tags?.includes(tag)))

async function start() {
  const spec = await description
  // Resolved relative to the page, which may be below a stage name or the path of a custom domain.
  const { href } = new URL(one('#reference').dataset.api, location)
  const ui = SwaggerUIBundle({
    // The renderer lists events separately, which would leave their tag empty.
    spec: { ...spec, servers: [{ url: href }], tags: spec.tags.filter(({ name }) => isUsed(name, spec)) },
    dom_id: '#reference',
    deepLinking: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: -1,
    // Held in memory only: a credential gives access to a whole clinic.
    persistAuthorization: false,
    validatorUrl: null,
    onComplete: () => {
      authorize(ui, spec)
      addEventListener('hashchange', () => open(ui))
      open(ui)
    },
  })
}

followSystem()
dark.addEventListener('change', followSystem)
fold()
wide.addEventListener('change', fold)
listen()
one('#renderer').addEventListener('load', start)
