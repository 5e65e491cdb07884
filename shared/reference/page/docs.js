/** Runs in the browser without a build step, before the page is shown: theme, language, copying, and what loads on use. */
const { dataset } = document.currentScript
const root = document.documentElement
const one = (selector) => document.querySelector(selector)
const all = (selector) => [...document.querySelectorAll(selector)]

root.dataset.language = localStorage.getItem('language') ?? 'sh'
root.style.colorScheme = localStorage.getItem('theme')

/** The entered credential, without the name of its header and its scheme. The script of Try it calls it too. */
function credential() {
  return one('#credential')
    .value.trim()
    .replace(/^(Authorization:\s*)?(Developer\s+)?/i, '')
}

/** Shows the address of this server, and the credential once it is entered, in all samples. Its secret is masked, and copied. */
function fillSamples() {
  for (const base of all('var.base')) base.textContent = new URL(dataset.api, location).href
  const [key, secret = ''] = (credential() || 'KEY:SECRET').split(':')
  for (const place of all('var.pair')) {
    const masked = Object.assign(document.createElement('span'), { textContent: secret })
    masked.className = credential() && 'masked'
    place.replaceChildren(`${key}:`, masked)
  }
}

/** The day of the appointment in the samples, before which and after which their other days are. */
const SAMPLE_DAY = '2030-01-21'

/** A text in which the days of samples are moved, so that this one is the next working day. The form of Try it calls it too. */
function fromToday(text) {
  const next = new Date(new Date().toLocaleDateString('sv'))
  do next.setUTCDate(next.getUTCDate() + 1)
  while (next.getUTCDay() % 6 === 0)
  const moved = (day) =>
    new Date(Date.parse(day) + (next - Date.parse(SAMPLE_DAY))).toISOString().slice(0, 10)
  return text.replace(/\b20(?:29|30)-[01]\d-[0-3]\d/g, moved)
}

function moveDays() {
  const texts = document.createNodeIterator(one('body'), NodeFilter.SHOW_TEXT)
  for (let text = texts.nextNode(); text; text = texts.nextNode())
    if (text.parentElement.closest('figure')) text.data = fromToday(text.data)
}

/** A credential gives access to a whole clinic: it is held until the tab is closed, and sent nowhere but to this server. */
function rememberCredential() {
  const input = one('#credential')
  input.value ||= sessionStorage.getItem('credential') ?? ''
  input.addEventListener('input', () => {
    sessionStorage.setItem('credential', input.value)
    fillSamples()
  })
}

/** One choice of the language for all samples, which stay where they are on the screen. */
function showLanguage(chosen) {
  const top = chosen?.getBoundingClientRect().top
  if (chosen) localStorage.setItem('language', chosen.dataset.language)
  if (chosen) root.dataset.language = chosen.dataset.language
  for (const { children } of all('.choices')) {
    const choices = [...children]
    const shown = choices.find((choice) => choice.dataset.language === root.dataset.language) ?? choices[0]
    for (const choice of choices) choice.ariaPressed = String(choice === shown)
  }
  if (chosen) scrollBy(0, chosen.getBoundingClientRect().top - top)
}

/** The theme follows the system, unless the reader has chosen the other one. */
function switchTheme() {
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  const other = system === 'dark' ? 'light' : 'dark'
  root.style.colorScheme = root.style.colorScheme === '' ? other : ''
  localStorage.setItem('theme', root.style.colorScheme)
}

async function copy(button) {
  await navigator.clipboard.writeText(button.closest('figure').querySelector('code').textContent)
  button.textContent = 'Copied'
  setTimeout(() => button.replaceChildren('Copy'), 2000)
}

let searching
const loadSearch = () => {
  searching ??= import(new URL(dataset.search, location)).then(({ startSearch }) => startSearch(dataset))
  return searching
}

function onClick({ target }) {
  const button = target.closest('button')
  if (button?.matches('.copy')) copy(button)
  else if (button?.matches('.choices button')) showLanguage(button)
  else if (button?.id === 'theme') switchTheme()
  else if (button?.id === 'try')
    import(new URL(dataset.try, location)).then(({ open }) => open(button, dataset))
}

function onKey(event) {
  const typing = event.target.closest('input, textarea, select')
  const isShortcut = event.key === 'k' && (event.ctrlKey || event.metaKey)
  if (!isShortcut && (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey)) return
  event.preventDefault()
  one('#search').focus()
}

/** On a narrow screen the contents are folded above the page. */
const wide = matchMedia('(min-width: 56rem)')
const fold = () => {
  for (const details of all('.fold')) details.open = wide.matches
}

document.addEventListener('DOMContentLoaded', () => {
  rememberCredential()
  fillSamples()
  moveDays()
  showLanguage()
  fold()
  wide.addEventListener('change', fold)
  document.addEventListener('click', onClick)
  document.addEventListener('keydown', onKey)
  one('#search').addEventListener('focus', loadSearch)
  const current = one('.menu [aria-current]')
  // Scrolls the navigation only, not the page.
  if (wide.matches && current) one('.menu').scrollTop = current.offsetTop - innerHeight / 2
})
