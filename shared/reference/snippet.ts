import { anchors } from './anchors.ts'

/** A section of a page, and its line that has most words of a search. */
export type Snippet = { readonly anchor: string; readonly heading: string; readonly text: string }

/** How much of a line is shown, in characters: before the first word, and in all. */
const [BEFORE, LENGTH] = [40, 160]

/** Finds the line of a page's Markdown that answers a search best. Without any of the words, it is the first paragraph. */
export function snippetOf(markdown: string, words: readonly string[]): Snippet | undefined {
  const anchorOf = anchors()
  const pattern = wordPattern(words)
  let [anchor, heading, isCode] = ['', '', false]
  /** The ids of the fields around a line, by their depth. */
  let fields: string[] = []
  let best: (Snippet & { readonly score: number }) | undefined
  // The lines of a paragraph or an item are one.
  for (const line of markdown.replace(/(?<=\S)\n {0,4}(?=[^\s#|>-])(?!```)/g, ' ').split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    const [, marks, title = ''] = isCode ? [] : (/^(#+) (.+)$/.exec(line) ?? [])
    if (marks !== undefined) {
      const id = anchorOf(title)
      ;[anchor, heading] = marks === '#' ? ['', ''] : [id, plain(title)]
      fields = []
    }
    if (marks !== undefined || isCode || !/\w/.test(line) || /^\s*(<|`[A-Z]+ \/)/.test(line)) continue
    const [, indent = '', field] = /^( *)- `([\w-]+)` \*/.exec(line) ?? []
    const depth = indent.length / 2
    fields = field === undefined ? [] : [...fields.slice(0, depth), `${fields[depth - 1] ?? anchor}-${field}`]
    const text = plain(line)
    const inLine = new Set(text.toLowerCase().match(pattern))
    const inHeading = new Set(heading.toLowerCase().match(pattern))
    const score = inLine.size + inHeading.size
    if (score > (best?.score ?? -1))
      best = { anchor: fields.at(-1) ?? anchor, heading, score, text: around(text, pattern) }
  }
  return best
}

/** Matches where a word begins with one of these. */
export const wordPattern = (words: readonly string[]): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join('|') || '$.'})`, 'giu')

/** A line without the marks of Markdown. */
const plain = (line: string): string =>
  line
    .replace(/^\s*(?:[-*|]|\d+\.)\s+|[`*]|\s\|$/g, '')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll(' | ', ' · ')
    .trim()

function around(text: string, pattern: RegExp): string {
  const found = Math.max(text.search(pattern), 0)
  const start = found < LENGTH / 2 ? 0 : text.lastIndexOf(' ', found - BEFORE) + 1
  const end = start + LENGTH < text.length ? text.lastIndexOf(' ', start + LENGTH) : text.length
  return `${start > 0 ? '… ' : ''}${text.slice(start, end)}${end < text.length ? ' …' : ''}`
}
