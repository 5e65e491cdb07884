/** The search, which the page loads when it is first used, with its index. */
import MiniSearch from 'minisearch'
import { SEARCH_OPTIONS, searchPages } from '../search.ts'
import { snippetOf, wordPattern } from '../snippet.ts'
import { element } from './element.js'

/** So many results show a part of their page. */
const WITH_SNIPPET = 5

const input = document.querySelector('#search')
const list = document.querySelector('#found')
const options = () => [...list.querySelectorAll('[role=option]')]

/** Searches while the reader types. Enter opens the marked page, or the first. */
export function startSearch({ docs }) {
  const index = MiniSearch.loadJSON(INDEX, SEARCH_OPTIONS)
  const addressOf = (id) => (id === '' ? docs.replace(/\/$/, '') : docs + id)
  const texts = new Map()
  const textOf = (id) => {
    if (!texts.has(id))
      texts.set(
        id,
        fetch(`${docs}${id || 'index'}.md`).then((response) => response.text()),
      )
    return texts.get(id)
  }

  async function addSnippet(link, { id, terms }) {
    const found = snippetOf(await textOf(id), terms)
    if (!found) return
    if (found.anchor !== '') link.hash = found.anchor
    const parts = []
    let end = 0
    for (const { 0: word, index: start } of found.text.matchAll(wordPattern(terms))) {
      parts.push(found.text.slice(end, start), element('strong', {}, word))
      end = start + word.length
    }
    if (found.heading !== '') link.append(element('small', {}, ` › ${found.heading}`))
    link.append(element('div', {}, ...parts, found.text.slice(end)))
  }

  function show() {
    const text = input.value.trim()
    const results = searchPages(index, text)
    list.replaceChildren(
      ...results.map((result, number) => {
        const link = element('a', { id: `found-${number}`, href: addressOf(result.id), tabIndex: -1 })
        Object.assign(link, { role: 'option', ariaSelected: 'false' })
        link.append(result.title, ' ', element('small', {}, result.group))
        if (number < WITH_SNIPPET) addSnippet(link, result)
        return element('li', { role: 'none' }, link)
      }),
    )
    if (results.length === 0 && text !== '') list.append(element('li', { role: 'none' }, 'Nothing found'))
    list.hidden = text === ''
    input.ariaExpanded = String(!list.hidden)
    input.removeAttribute('aria-activedescendant')
  }

  function mark(step) {
    const found = options()
    if (found.length === 0) return
    const current = found.findIndex(({ ariaSelected }) => ariaSelected === 'true')
    const next = found.at((current + step + (current < 0 && step < 0)) % found.length)
    for (const option of found) option.ariaSelected = String(option === next)
    next.scrollIntoView({ block: 'nearest' })
    input.setAttribute('aria-activedescendant', next.id)
  }

  input.addEventListener('input', show)
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      mark(event.key === 'ArrowDown' ? 1 : -1)
    } else if (event.key === 'Enter') {
      const chosen = list.querySelector('[aria-selected=true]') ?? list.querySelector('a')
      chosen?.click()
    } else if (event.key === 'Escape') {
      input.value = ''
      show()
    }
  })
  if (input.value !== '') show()
}
