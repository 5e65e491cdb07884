import { foldName, suggestion } from '../../../../shared/domain/closest-name.ts'
import { ConverterMistake } from '../files/problems.ts'
import { REASON } from '../files/row.ts'

/** A column of a file that was converted, and how many of its cells were read `as d/M/yyyy` or `as empty`. */
export type ReadColumn = {
  readonly column: string
  readonly is_ignored: boolean
  readonly cells: Readonly<Record<string, number>>
}

/** The columns of a file, which of them its converter has read or ignored, and what it has found in the row that it is reading. */
export class FileColumns {
  readonly timezone: string
  readonly now: number
  /** About the row. */
  readonly warnings: string[] = []
  /** What is wrong with cells of the row that could not be read, by their columns. */
  readonly problems = new Map<string, string>()
  /** The currencies of the amounts of the row. */
  readonly currencies = new Set<string>()
  /** The names of the file by their folded form. */
  readonly #names = new Map<string, string>()
  readonly #repeated = new Set<string>()
  /** Whether a row can have no other columns. */
  readonly #isComplete: boolean
  readonly #read = new Set<string>()
  readonly #ignored = new Set<string>()
  readonly #notes = new Map<string, Map<string, number>>()

  /** @param header the names of the columns, unless each row has its own */
  constructor(header: readonly string[] | null, { timezone }: { readonly timezone: string }, now: number) {
    this.timezone = timezone
    this.now = now
    this.#isComplete = header !== null
    for (const name of header ?? []) {
      if (this.#names.has(foldName(name))) this.#repeated.add(foldName(name))
      this.add(name)
    }
  }

  /** Adds a column of a row that has its own. */
  add(name: string): void {
    if (!this.#names.has(foldName(name))) this.#names.set(foldName(name), name)
  }

  has(column: string): boolean {
    return this.#names.has(foldName(column))
  }

  /** Notes that a column is read. @throws ConverterMistake if the file does not have it, or twice */
  require(column: string): void {
    const folded = foldName(column)
    if (this.#read.has(folded)) return
    const name = JSON.stringify(column)
    if (folded === REASON) throw new ConverterMistake(`${name} is the reason of an earlier rejection`)
    if (this.#isComplete && !this.#names.has(folded))
      throw new ConverterMistake(
        `the file has no column ${name}${suggestion(column, [...this.#names.values()])}`,
      )
    if (this.#repeated.has(folded)) throw new ConverterMistake(`the file has the column ${name} twice`)
    this.#read.add(folded)
  }

  ignore(column: string): void {
    this.#ignored.add(foldName(column))
  }

  note(column: string, note: string): void {
    const notes = this.#notes.get(foldName(column)) ?? new Map<string, number>()
    this.#notes.set(foldName(column), notes.set(note, (notes.get(note) ?? 0) + 1))
  }

  /** The names of columns that are neither read nor ignored, nor the one that a file of rejected rows adds. */
  get unread(): readonly string[] {
    return [...this.#names]
      .filter(([folded]) => !this.#read.has(folded) && !this.#ignored.has(folded) && folded !== REASON)
      .map(([, name]) => name)
  }

  get all(): readonly ReadColumn[] {
    return [...this.#names].map(([folded, column]) => ({
      column,
      is_ignored: !this.#read.has(folded),
      cells: Object.fromEntries(this.#notes.get(folded) ?? []),
    }))
  }
}
