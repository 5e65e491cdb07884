/** Runs in the browser without a build step, after docs.js: Swagger UI, with the ids of the clinic in its examples. */
const one = (selector, within = document) => within.querySelector(selector)
const dark = matchMedia('(prefers-color-scheme: dark)')
const { root, api } = one('#reference').dataset
const address = new URL(`${root}${api}`, location).href
const description = fetch(`${root}openapi.json`).then((response) => response.text())

/** The renderer has a dark mode; the page has to switch it on. */
function followSystem() {
  document.documentElement.classList.toggle('dark-mode', dark.matches)
}

/** The document with this server's address. Its events are pages of their own. */
function specOf(text) {
  const { webhooks, ...spec } = JSON.parse(text)
  const isUsed = (tag) =>
    Object.values(spec.paths).some((path) => Object.values(path).some(({ tags }) => tags?.includes(tag)))
  return { ...spec, servers: [{ url: address }], tags: spec.tags.filter(({ name }) => isUsed(name)) }
}

/** The document with the ids of the clinic's first records in place of the examples' ids. */
async function withOwnIds(text) {
  const { paths } = JSON.parse(text)
  const lists = Object.entries(paths).flatMap(([path, { get }]) => {
    const example = get?.parameters?.find(({ in: place, name }) => place === 'path' && name === 'id')?.example
    const list = path.replace('/{id}', '')
    return example && path.endsWith('/{id}') && paths[list]?.get ? [{ list, example }] : []
  })
  const headers = { authorization: `Developer ${credential()}` }
  const found = await Promise.all(
    lists.map(async ({ list, example }) => {
      const response = await fetch(`${address}${list}?limit=1`, { headers })
      const id = response.ok ? (await response.json()).data[0]?.id : undefined
      return [example, id ?? example]
    }),
  )
  return found.reduce((replaced, [example, id]) => replaced.replaceAll(example, id), text)
}

/** Opens the endpoint that the URL fragment names, and moves the focus to it. */
function open(ui) {
  const [, tag, id] = location.hash.split('/').map(decodeURIComponent)
  if (!tag || !id) return
  ui.layoutActions.show(['operations-tag', tag], true)
  ui.layoutActions.show(['operations', tag, id], true)
  requestAnimationFrame(() => {
    const shown = one(`#operations-${CSS.escape(tag)}-${CSS.escape(id)}`)
    shown?.scrollIntoView()
    if (shown) one('.opblock-summary-control', shown).focus({ preventScroll: true })
  })
}

/** Passes the credential to the console, and the clinic's ids once it has been typed. */
function listen(ui, text) {
  const [scheme] = Object.keys(JSON.parse(text).components.securitySchemes)
  let typing
  const pass = () => {
    clearTimeout(typing)
    if (credential() === '') return ui.authActions.logout([scheme])
    ui.preauthorizeApiKey(scheme, `Developer ${credential()}`)
    if (!/^[^:]+:[^:]{8,}$/.test(credential())) return
    typing = setTimeout(async () => {
      ui.specActions.updateJsonSpec(specOf(await withOwnIds(text)))
      ui.preauthorizeApiKey(scheme, `Developer ${credential()}`)
    }, 300)
  }
  one('#credential').addEventListener('input', pass)
  if (credential() !== '') pass()
}

/** Paths without links: the renderer puts each into a button, where a screen reader does not find it. */
const withoutLinks = () => ({
  wrapComponents: {
    DeepLink:
      (_original, { React }) =>
      ({ text }) =>
        React.createElement('span', null, text),
  },
})

/** Names the controls that the renderer leaves without a name, and lets the keyboard scroll its code. */
function nameControls() {
  const all = (selector, within = one('#reference')) => within.querySelectorAll(selector)
  for (const examples of all('.examples-select-element')) examples.ariaLabel = 'Example'
  for (const body of all('.body-param__text')) body.ariaLabel = 'Body'
  for (const row of all('[data-param-name]'))
    for (const control of all(
      ':is(select, textarea):not([class*="examples-select"], [class*="body-param"])',
      row,
    ))
      control.ariaLabel = row.dataset.paramName
  for (const code of all('.microlight')) code.tabIndex = 0
}

async function start() {
  const text = await description
  const ui = SwaggerUIBundle({
    spec: specOf(text),
    dom_id: '#reference',
    deepLinking: true,
    plugins: [withoutLinks],
    docExpansion: 'none',
    tryItOutEnabled: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: -1,
    persistAuthorization: false,
    validatorUrl: null,
    onComplete: () => {
      nameControls()
      new MutationObserver(nameControls).observe(one('#reference'), { childList: true, subtree: true })
      listen(ui, text)
      addEventListener('hashchange', () => open(ui))
      open(ui)
    },
  })
}

followSystem()
dark.addEventListener('change', followSystem)
one('#renderer').addEventListener('load', start)
