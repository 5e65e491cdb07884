import MiniSearch, { type Options, type SearchResult } from 'minisearch'
import type { Page } from './pages.ts'

/** The fields of a page, by how much a word in them counts. Values, such as `overdue`, are of what is sent. */
const BOOSTS = { title: 6, headings: 6, path: 4, fields: 2, values: 1, returned: 1.5, errors: 0.3, text: 1 }

/** How much a page counts, by the first part of its address. */
const DOCUMENT_BOOSTS: Readonly<Record<string, number>> = {
  guides: 2,
  reference: 1,
  events: 0.5,
  clients: 1,
  import: 0.5,
}

/** What the index and the page's script agree on. */
export const SEARCH_OPTIONS: Options = {
  fields: Object.keys(BOOSTS),
  storeFields: ['title', 'group'],
  // `due_date` and `429` are words.
  tokenize: (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [],
  searchOptions: {
    boost: BOOSTS,
    prefix: true,
    fuzzy: (word) => (word.length > 5 ? 0.2 : false),
    combineWith: 'AND',
    // Guides come first, details and events last.
    boostDocument: (path) => DOCUMENT_BOOSTS[String(path).split('/')[0] ?? ''] ?? 0.6,
  },
}

/** The search index of all pages, as JSON. */
export function searchIndex(pages: readonly Page[]): string {
  const index = new MiniSearch(SEARCH_OPTIONS)
  index.addAll(
    pages.map(({ path, title, group, markdown, endpoint, terms }) => ({
      id: path,
      title,
      group,
      headings: [...markdown.matchAll(/^##+ (.+)$/gm)].map(([, heading]) => heading).join(' '),
      path: endpoint?.path ?? '',
      fields: terms?.fields.join(' ') ?? '',
      values: [...(markdown.split('\n## Response')[0] ?? '').matchAll(/ \*`[^*]+/g)].join(' '),
      returned: terms?.returned.join(' ') ?? '',
      errors: terms?.errors.join(' ') ?? '',
      // Endpoints and events repeat the names of fields, errors and examples. The index has them already.
      text: terms ? (markdown.split('```')[0] ?? '') : markdown,
    })),
  )
  return JSON.stringify(index)
}

/** What the pages call what readers search for in other words. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  'add time off': ['day off', 'sick leave', 'vacation'],
  assistants: ['chatgpt'],
  authentication: ['401', 'auth', 'bearer token', 'login'],
  'book appointment': ['new appointment'],
  'clinic currency': ['currency'],
  confirm: ['confirmation'],
  'create patient': ['add patient', 'register patient'],
  date_of_birth: ['birthday'],
  'list price lists': ['prices'],
  openapi: ['postman'],
  'patient erased': ['delete patient', 'gdpr', 'kvkk'],
  'record payment': ['partial payment', 'refund'],
  redeliver: ['replay', 'retry webhook'],
  sandbox: ['staging', 'test mode'],
  scopes: ['403', 'permission', 'permissions'],
  signature: ['hmac'],
  tax: ['vat'],
  'time zone': ['timezone'],
  'typescript client': ['sdk'],
  'update appointment': ['change appointment', 'move appointment', 'reschedule'],
  'working hours': ['opening hours'],
}

/** Words of questions, which pages do not answer with. */
const QUESTION_WORDS = /\b(?:how|what|when|where|happens|mean|do|does|can|is|are|i|an?|the|to|my)\b/g

/** The most results of a search. */
const MAX_RESULTS = 12

/** Replaces words of a query that are all in it. */
function withSynonyms(query: string, [name, synonyms]: [string, readonly string[]]): string {
  const sent = query.split(' ')
  const replaced = synonyms.find((words) => words.split(' ').every((word) => sent.includes(word)))
  if (!replaced) return query
  return [name, ...sent.filter((word) => !replaced.includes(word) && !name.includes(word))].join(' ')
}

/** The pages that have every word, best first. If there is none, similar words count, then any of the words. */
export function searchPages(index: MiniSearch, text: string): SearchResult[] {
  const phrase = text.toLowerCase()
  const words = (phrase.replace(QUESTION_WORDS, ' ').trim() || phrase).trim().replace(/\s+/g, ' ')
  const query = Object.entries(SYNONYMS).reduce(withSynonyms, words)
  for (const options of [{ fuzzy: false }, {}, { combineWith: 'OR' }] as const) {
    const found = index.search(query, options)
    // `invoice paid` is the title of a page.
    const isTitle = ({ title }: SearchResult) => title.toLowerCase().replaceAll('.', ' ') === query
    if (found.length > 0)
      return [...found.filter(isTitle), ...found.filter((one) => !isTitle(one))].slice(0, MAX_RESULTS)
  }
  return []
}
