import MiniSearch, { type Options } from 'minisearch'
import type { Page } from './pages.ts'

/** The fields of a page, by how much a word in them counts. */
const BOOSTS = { title: 6, headings: 6, path: 4, fields: 2, returned: 1.5, errors: 0.3, text: 1 }

/** How much a page counts, by the first part of its address. */
const DOCUMENT_BOOSTS: Readonly<Record<string, number>> = { guides: 2, reference: 1, events: 0.5, clients: 1 }

/** What the index and the page's script agree on. */
export const SEARCH_OPTIONS: Options = {
  fields: Object.keys(BOOSTS),
  storeFields: ['title', 'group'],
  // `due_date` and `429` are words.
  tokenize: (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [],
  searchOptions: {
    boost: BOOSTS,
    prefix: true,
    fuzzy: (word) => (word.length > 4 ? 0.2 : false),
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
      returned: terms?.returned.join(' ') ?? '',
      errors: terms?.errors.join(' ') ?? '',
      // Endpoints and events repeat the names of fields, errors and examples. The index has them already.
      text: terms ? (markdown.split('```')[0] ?? '') : markdown,
    })),
  )
  return JSON.stringify(index)
}
