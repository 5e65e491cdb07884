/** Texts about rows, each once, with the lines that it concerns. */

/** Reasons that are counted separately, and lines that are named for each. */
const MAX_REASONS = 100
const MAX_LINES = 10

export type Group = { readonly text: string; count: number; readonly lines: number[] }

/** Counts texts, with the lines of the first rows that each concerns. */
export class GroupedTexts {
  readonly #groups = new Map<string, Group>()

  add(text: string, line: number): void {
    const kind = withoutValues(text)
    const known = this.#groups.get(kind)
    const isFull = !known && this.#groups.size >= MAX_REASONS
    const key = isFull ? 'other reasons' : kind
    const group = this.#groups.get(key) ?? { text: key, count: 0, lines: [] }
    group.count++
    if (group.lines.length < MAX_LINES) group.lines.push(line)
    this.#groups.set(key, group)
  }

  /** The most frequent first. */
  get groups(): readonly Readonly<Group>[] {
    return [...this.#groups.values()].sort((a, b) => b.count - a.count)
  }
}

/** A reason without what differs from row to row: ids, lines of other rows, amounts, and working hours. */
const withoutValues = (reason: string): string =>
  reason
    .replace(/(overlap appointment|overlap hold) .+? at \d\d:\d\d/g, '$1')
    .replace(/ [0-9a-f]{8}-[0-9a-f-]{27}/g, '')
    .replace(/ on line \d+/g, ' on an earlier line')
    .replace(/ is -?[\d.]+, but (.*?) -?[\d.]+(?=;|$)/g, ' is not what $1')
    .replace(/(hours|breaks) ".*?":.*?(?=;|$)/g, '$1 are not as documented')

export const groupText = ({ text, count, lines }: Group): string =>
  `${count.toLocaleString('en')} x ${text} (${placesText(lines, count)})`

/** @param count of the lines, the first of which are given */
export const placesText = (lines: readonly number[], count = lines.length): string =>
  count > MAX_LINES
    ? `lines ${lines.slice(0, MAX_LINES).join(', ')}, ...`
    : `${lines.length > 1 ? 'lines' : 'line'} ${listed(lines)}`

/** `4`, `4 and 5`, `4, 5 and 7` */
export const listed = (items: readonly (string | number)[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
