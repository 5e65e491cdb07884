/** What a file of an unknown system contains: enough of it to suggest a map. */
import { detectEncoding, type Encoding, guessEncodings } from '../files/encoding.ts'
import { foldedName } from '../files/field-names.ts'
import { openRows } from '../files/rows.ts'

/** Rows of a file whose values are looked at. */
export const MAX_ROWS = 20_000

/** More different values than a status has. */
const MAX_DISTINCT = 40

/** The share of ids of a file that differ. */
const UNIQUE = 0.98

/** A column with its filled values, and how many of them differ. */
export type Column = {
  readonly name: string
  readonly values: readonly string[]
  /** The different values of the whole file; null if there are many. */
  readonly distinct: ReadonlySet<string> | null
  readonly isUnique: boolean
  /** The files that have it. */
  readonly files: readonly string[]
}

/** A file, or several of one entity. */
export type Sample = {
  readonly files: readonly string[]
  readonly encodings: ReadonlySet<Encoding>
  readonly columns: readonly Column[]
  /** The filled cells of the first rows. */
  readonly rows: readonly SampleRow[]
}

export type SampleRow = ReadonlyMap<string, string>

/** Reads files, each in the stated encoding, or in the one that it looks like. @throws ImportFileError */
export async function readSamples(
  files: readonly string[],
  statedOf: (file: string) => Encoding | undefined,
): Promise<Sample[]> {
  const guesses: (readonly Encoding[])[] = []
  for (const file of files) {
    const stated = statedOf(file)
    guesses.push(stated ? [stated] : await guessEncodings(file))
  }
  const count = (encoding: Encoding) => guesses.filter((some) => some.includes(encoding)).length
  const samples: Sample[] = []
  for (const [at, file] of files.entries()) {
    // A file that may be in several encodings is in the one of the others.
    const [best] = guesses[at]?.toSorted((a, b) => count(b) - count(a)) ?? []
    samples.push(await readSample(file, best))
  }
  return samples
}

async function readSample(file: string, encoding: Encoding | undefined): Promise<Sample> {
  const { format, rows } = await openRows(file, await detectEncoding(file, encoding))
  const known = new Map<string, { values: string[]; distinct: Set<string> }>()
  const kept: SampleRow[] = []
  for await (const row of rows) {
    if (!('values' in row)) continue
    const cells = new Map<string, string>()
    for (const [name, value] of Object.entries(row.values)) {
      const column = known.get(name) ?? { values: [], distinct: new Set() }
      known.set(name, column)
      const text = typeof value === 'object' ? '' : String(value).trim()
      if (text === '') continue
      cells.set(name, text)
      if (column.values.length < MAX_ROWS) column.values.push(text)
      if (column.distinct.size <= MAX_DISTINCT) column.distinct.add(text)
    }
    if (kept.length < MAX_ROWS) kept.push(cells)
  }
  const columns = [...known].map(([name, { values, distinct }]) => ({
    name,
    values,
    distinct: distinct.size > MAX_DISTINCT ? null : distinct,
    isUnique: areUnique(values),
    files: [file],
  }))
  return { files: [file], encodings: new Set([format.encoding]), columns, rows: kept }
}

/** Whether texts are ids: a few may be wrong. */
const areUnique = (values: readonly string[]): boolean => new Set(values).size >= values.length * UNIQUE

/** Several files as one. Columns of the same name are one. */
export function joinedSamples(samples: readonly Sample[]): Sample {
  const byName = Map.groupBy(
    samples.flatMap(({ columns }) => columns),
    ({ name }) => foldedName(name),
  )
  const columns = [...byName.values()].flatMap(([first, ...others]): Column[] => {
    if (!first || others.length === 0) return first ? [first] : []
    const all = [first, ...others]
    const values = all.flatMap((one) => one.values)
    const distinct = all.every((one) => one.distinct)
      ? new Set(all.flatMap((one) => [...(one.distinct ?? [])]))
      : null
    return [
      {
        name: first.name,
        values,
        distinct,
        isUnique: areUnique(values),
        files: all.flatMap(({ files }) => files),
      },
    ]
  })
  return {
    files: samples.flatMap(({ files }) => files),
    encodings: new Set(samples.flatMap(({ encodings }) => [...encodings])),
    columns,
    rows: samples.flatMap(({ rows }) => rows),
  }
}
