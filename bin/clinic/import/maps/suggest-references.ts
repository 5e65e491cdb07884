/** Finds by their values which columns name the records of other files. */
import { lettersOf } from '../files/field-names.ts'
import type { Column, Sample, SampleRow } from './read-samples.ts'

/** Where a text comes from, as a map has it. */
export type TextSource = string | { readonly join: readonly (string | { column: string; match: string })[] }

/** The share of the records that lines of another file concern: fewer may be quantities that look like ids. */
const MANY = 0.3

/** The share of values that may be wrong. */
const MOST = 0.8

/** Texts that are found elsewhere by chance. */
const MIN_FOUND = 2

/**
 * A column that names most of the records of other files, and the column there that has the same values.
 * @param compared the form in which values are compared
 */
export function referenceTo(
  others: readonly Sample[],
  columns: readonly Column[],
  compared: (text: string) => string = lettersOf,
) {
  const setOf = ({ values }: Column) => new Set(values.map(compared))
  const ids = others
    .flatMap((other) => other.columns.filter(({ isUnique }) => isUnique))
    .map((id) => ({ id, values: setOf(id) }))
  for (const column of columns) {
    const values = setOf(column)
    const found = ids.find((one) => isSubset(values, one.values))
    if (found) return { column, id: found.id }
  }
  return undefined
}

const isSubset = (some: ReadonlySet<string>, all: ReadonlySet<string>): boolean => {
  const shared = [...some].filter((text) => all.has(text)).length
  return shared >= some.size * MOST && shared >= all.size * MANY
}

/** The columns of a file of patients that have parts of names, or whole names, and the date of birth. */
export type NameColumns = {
  readonly first?: string | undefined
  readonly last?: string | undefined
  readonly whole?: string | undefined
  readonly born?: string | undefined
}

/** The texts by which a record may be named: by unique columns, and patients by their names. */
function candidatesOf({ columns, rows }: Sample, { first, last, whole, born }: NameColumns): TextSource[] {
  const unique = columns.filter(({ isUnique, values }) => isUnique && values.length * 2 > rows.length)
  const names = whole
    ? [[whole]]
    : first && last
      ? [
          [last, first],
          [first, last],
        ]
      : []
  const dates = born ? [[], [{ column: born, match: String.raw`\d{4}` }], [born]] : [[]]
  const joined = names.flatMap((name) => dates.map((date) => [...name, ...date]))
  return [
    ...unique.map(({ name }) => name),
    ...joined.map((parts) => (parts.length > 1 ? { join: parts } : (parts[0] as string))),
  ]
}

export function textOf(source: TextSource, row: SampleRow): string {
  const parts = typeof source === 'string' ? [source] : source.join
  return parts
    .flatMap((part) => {
      const text = row.get(typeof part === 'string' ? part : part.column)
      return typeof part === 'string' ? (text ?? []) : (text?.match(part.match)?.[0] ?? [])
    })
    .join(' ')
}

/**
 * What names the records of a file in other files, besides their ids.
 * @param texts by which other files name them
 * @returns the sources, those that name most first, and how many of the texts name no record
 */
export function aliasesOf(
  sample: Sample,
  ids: TextSource,
  names: NameColumns,
  texts: ReadonlySet<string>,
): { aliases: TextSource[]; unknown: number } {
  const known = new Set(sample.rows.map((row) => textOf(ids, row)))
  let open = new Set([...texts].filter((text) => !known.has(text)).map(lettersOf))
  const found = candidatesOf(sample, names).map((source) => ({
    source,
    texts: new Set(sample.rows.map((row) => lettersOf(textOf(source, row)))),
  }))
  const aliases: TextSource[] = []
  for (;;) {
    const counted = found.map((one) => ({
      ...one,
      count: [...open].filter((text) => one.texts.has(text)).length,
    }))
    const [best] = counted.sort((a, b) => b.count - a.count)
    if (!best || best.count < MIN_FOUND) return { aliases, unknown: open.size }
    aliases.push(best.source)
    open = new Set([...open].filter((text) => !best.texts.has(text)))
  }
}
