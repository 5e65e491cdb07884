/** Runs in the browser without a build step: search, the language of samples, and their address and credential. */
const { dataset } = document.currentScript
const one = (selector) => document.querySelector(selector)
const all = (selector) => [...document.querySelectorAll(selector)]

/** The entered credential, without the name of its header and its scheme. The console's script calls it too. */
function credential() {
  return one('#credential')
    .value.trim()
    .replace(/^(Authorization:\s*)?(Developer\s+)?/i, '')
}

/** Shows the address of this server, and the credential once it is entered, in all samples. */
function fillSamples() {
  for (const base of all('var.base')) base.textContent = new URL(dataset.api, location).href
  for (const place of all('var.pair')) place.textContent = credential() || 'KEY:SECRET'
}

/** A credential gives access to a whole clinic: it is held until the tab is closed, and sent nowhere by these pages. */
function rememberCredential() {
  const input = one('#credential')
  input.value ||= sessionStorage.getItem('credential') ?? ''
  input.addEventListener('input', () => {
    sessionStorage.setItem('credential', input.value)
    fillSamples()
  })
}

function rememberLanguage() {
  const choices = all('input[name=language]')
  const stored = choices.find(({ value }) => value === localStorage.getItem('language'))
  if (stored) stored.checked = true
  for (const choice of choices)
    choice.addEventListener('change', () => localStorage.setItem('language', choice.value))
}

let searching
const loadSearch = () => {
  searching ??= Promise.all([
    import(new URL(dataset.search, location)),
    fetch(dataset.index).then((response) => response.text()),
  ]).then(([{ createSearch }, index]) => createSearch(index))
  return searching
}

/** Lists the pages that have every word, best first. Enter opens the marked one, or the first. */
function listen() {
  const input = one('#search')
  const list = one('#found')
  const options = () => all('#found [role=option]')
  const show = (results) => {
    list.replaceChildren(
      ...results.map(({ id, title, group }, index) => {
        const item = document.createElement('li')
        Object.assign(item, { id: `found-${index}`, role: 'option', ariaSelected: 'false' })
        const link = Object.assign(document.createElement('a'), { href: dataset.docs + id, tabIndex: -1 })
        if (id === '') link.href = dataset.docs.replace(/\/$/, '')
        link.append(title, ' ', Object.assign(document.createElement('small'), { textContent: group }))
        item.append(link)
        return item
      }),
    )
    if (results.length === 0 && input.value.trim() !== '')
      list.replaceChildren(Object.assign(document.createElement('li'), { textContent: 'Nothing found' }))
    list.hidden = input.value.trim() === ''
    input.ariaExpanded = String(!list.hidden)
    input.removeAttribute('aria-activedescendant')
  }
  const mark = (step) => {
    const found = options()
    if (found.length === 0) return
    const current = found.findIndex(({ ariaSelected }) => ariaSelected === 'true')
    const next = found[(current + step + found.length) % found.length]
    for (const option of found) option.ariaSelected = String(option === next)
    next.scrollIntoView({ block: 'nearest' })
    input.setAttribute('aria-activedescendant', next.id)
  }
  input.addEventListener('focus', loadSearch)
  input.addEventListener('input', async () => {
    const search = await loadSearch()
    show(search(input.value))
  })
  input.addEventListener('keydown', async (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      mark(event.key === 'ArrowDown' ? 1 : -1)
    } else if (event.key === 'Enter') {
      const search = await loadSearch()
      if (options().length === 0) show(search(input.value))
      const chosen = one('#found [aria-selected=true] a') ?? one('#found a')
      chosen?.click()
    } else if (event.key === 'Escape') {
      input.value = ''
      show([])
    }
  })
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest('input, textarea, select, [contenteditable]')
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    input.focus()
  })
}

/** On a narrow screen the contents are folded above the page. */
const wide = matchMedia('(min-width: 56rem)')
const fold = () => {
  one('nav > details').open = wide.matches
}

rememberCredential()
fillSamples()
rememberLanguage()
listen()
fold()
wide.addEventListener('change', fold)
const current = one('nav [aria-current]')
// Scrolls the navigation only, not the page.
if (wide.matches && current) one('nav').scrollTop = current.offsetTop - innerHeight / 2
