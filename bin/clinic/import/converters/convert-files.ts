/** Converts the files of an import: once, whatever is done with their records. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import { deserialize, serialize } from 'node:v8'
import type { ClinicInfo } from '../../../../shared/domain/clinic.ts'
import { foldName, quoted, suggestion } from '../../../../shared/domain/closest-name.ts'
import { groupedRows } from '../files/grouped-rows.ts'
import { GroupedTexts, groupText } from '../files/grouped-texts.ts'
import { ImportFileError } from '../files/import-errors.ts'
import { digestOf, isNamedAfter } from '../files/import-paths.ts'
import { type FileFormat, REASONS, type SourceRow } from '../files/row.ts'
import { openRows } from '../files/rows.ts'
import { temporaryDatabase } from '../files/temporary-database.ts'
import { unreadProblems } from '../files/unread-columns.ts'
import type { Converter } from './converter.ts'
import { FileColumns, type ReadColumn } from './file-columns.ts'
import { ConverterMistake, Problem } from './problems.ts'
import { Row } from './row.ts'

type Entities = readonly { readonly name: string; readonly columns: readonly string[] }[]

/** A converter, and the file that it is in. */
export type LoadedConverter = Converter & {
  readonly path: string
  /** The SHA-256 of the file. */
  readonly digest: string
}

/** A file whose records are kept. */
export type ConvertedFile = {
  readonly file: string
  readonly format: FileFormat
  /** The SHA-256 of its content. */
  readonly content: string
  readonly columns: readonly ReadColumn[]
  /** Whether its own column `reason` is read. */
  readonly readsReason: boolean
  /** Its rows, and the lines of some of those that give no record. */
  readonly rows: { readonly read: number; readonly withoutRecords: number; readonly lines: readonly number[] }
  readonly entities: ReadonlySet<string>
}

type Reading = {
  readonly converter: LoadedConverter
  readonly entities: Entities
  readonly clinic: Pick<ClinicInfo, 'timezone'>
  readonly now: number
}

type Converted = { readonly entity: string; readonly fields: Readonly<Record<string, unknown>> }

/** Lines that are named of rows without records. */
const MAX_LINES = 10

/** The records of files that were converted, in a temporary database. */
export class Conversions implements Disposable {
  readonly #reading: Reading
  readonly #db = temporaryDatabase(
    'CREATE TABLE rows (at INTEGER PRIMARY KEY, row BLOB);' +
      'CREATE TABLE records (file TEXT, entity TEXT, at INTEGER, record BLOB);' +
      'CREATE INDEX of_file ON records (file, entity, at);' +
      'CREATE TABLE seen (record BLOB PRIMARY KEY) WITHOUT ROWID',
  )
  readonly #addRow = this.#db.prepare('INSERT INTO rows VALUES (?, ?)')
  readonly #addRecord = this.#db.prepare('INSERT INTO records VALUES (?, ?, ?, ?)')
  readonly #see = this.#db.prepare('INSERT OR IGNORE INTO seen VALUES (?)')
  readonly #files = new Map<string, ConvertedFile>()
  #rows = 0

  constructor(reading: Reading) {
    this.#reading = reading
  }

  /** @throws ImportFileError for a file that the converter does not take, or cannot convert */
  async add(file: string, encoding: string | undefined): Promise<ConvertedFile> {
    const { converter, clinic, now } = this.#reading
    const fileConverter = converterOf(file, converter)
    const content = createHash('sha256')
    const { format, rows, close } = await openRows(file, encoding, (chunk) => {
      content.update(chunk)
    })
    await using _ = { [Symbol.asyncDispose]: async () => void (await close()) }
    const header = format.kind === 'csv' ? format.header : null
    const columns = new FileColumns(header, clinic, now)
    const entities = new Set<string>()
    const read = { read: 0, withoutRecords: 0, lines: [] as number[] }
    const problems = new GroupedTexts()
    const groupOf = typeof fileConverter === 'function' ? null : columnReader(fileConverter.groupBy)
    const records = groupOf ? groupedRows(file, rows, groupOf) : rows
    for await (const source of records) {
      read.read += 1 + (source.further?.length ?? 0)
      const at = this.#rows++
      this.#addRow.run(at, serialize(withoutValues(source)))
      const found = this.#convert(file, fileConverter, source, columns)
      if ('problem' in found) {
        problems.add(found.problem, source.line)
        const group = groupOf && 'values' in source ? groupOf(source.values) : null
        this.#addRecord.run(file, '', at, serialize({ ...found, group }))
      } else if (found.records.length === 0) {
        read.withoutRecords++
        if (read.lines.length < MAX_LINES) read.lines.push(source.line)
      } else
        for (const [index, { entity, fields }] of found.records.entries()) {
          entities.add(entity)
          const warnings = index === 0 ? found.warnings : []
          this.#addRecord.run(file, entity, at, serialize({ values: fields, warnings }))
        }
    }
    if (read.read === 0) throw new ImportFileError(`${file}: the file has no rows`)
    this.#requireAllRead(file, fileConverter, columns, format)
    const [first] = this.#reading.entities.filter(({ name }) => entities.has(name))
    if (!first) {
      const reasons = problems.groups.map(groupText).join('; ')
      throw new ImportFileError(
        `${file}: no row gives a record${reasons === '' ? '' : `, or can be converted: ${reasons}`}`,
      )
    }
    // Each row is rejected once.
    this.#db.prepare("UPDATE records SET entity = ? WHERE file = ? AND entity = ''").run(first.name, file)
    const converted = {
      file,
      format,
      content: content.digest('hex'),
      columns: columns.all,
      readsReason: columns.isRead(REASONS[0]),
      rows: read,
      entities,
    }
    this.#files.set(file, converted)
    return converted
  }

  of(file: string): ConvertedFile | undefined {
    return this.#files.get(file)
  }

  /** By the same converter, without the files that were converted before. */
  empty(): Conversions {
    return new Conversions(this.#reading)
  }

  get converter(): LoadedConverter {
    return this.#reading.converter
  }

  get files(): readonly ConvertedFile[] {
    return [...this.#files.values()]
  }

  /** The records of an entity in a file, each with the row that it is from. */
  async *records({ file }: ConvertedFile, entity: string): AsyncGenerator<SourceRow> {
    const found = this.#db.prepare(
      'SELECT row, record FROM records JOIN rows USING (at) WHERE file = ? AND entity = ? ORDER BY at',
    )
    for (const { row, record } of found.iterate(file, entity) as Iterable<Record<string, Uint8Array>>) {
      yield { ...deserialize(row as Uint8Array), ...deserialize(record as Uint8Array) }
    }
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }

  /**
   * The records that no earlier row has given: the doctor of many appointments is one. @throws Problem if all have been
   */
  #newOf(records: readonly Converted[]): readonly Converted[] {
    const found = records.filter((record) => {
      const digest = createHash('sha256').update(JSON.stringify(record)).digest()
      return this.#see.run(digest).changes > 0
    })
    if (found.length === 0 && records.length > 0) throw new Problem('repeats an earlier row')
    return found
  }

  #convert(
    file: string,
    fileConverter: Converter['files'][string],
    source: SourceRow,
    columns: FileColumns,
  ):
    | { readonly problem: string }
    | { readonly records: readonly Converted[]; readonly warnings: readonly string[] } {
    const { entities } = this.#reading
    if ('problem' in source) return { problem: source.problem }
    columns.warnings.length = 0
    columns.currencies.clear()
    const all = [source, ...(source.further ?? [])]
    const rows = all.map((one) => {
      const values = 'values' in one ? one.values : {}
      for (const name of Object.keys(values)) columns.add(name)
      return new Row(one.line, values, columns)
    })
    try {
      if (typeof fileConverter !== 'function') columns.require(fileConverter.groupBy)
      const result = called(fileConverter, rows)
      const records = this.#newOf(recordsOf(result, entities, columns.currencies))
      return { records, warnings: [...columns.warnings] }
    } catch (error) {
      if (error instanceof Problem) return { problem: error.message }
      throw new ImportFileError(`${file}:${source.line}: ${failureText(error, this.#reading.converter.path)}`)
    }
  }

  /** @throws ImportFileError that names columns that are neither read nor ignored */
  #requireAllRead(
    file: string,
    fileConverter: Converter['files'][string],
    columns: FileColumns,
    format: FileFormat,
  ): void {
    if (columns.unread.length === 0) return
    // A second choice such as another number is read only where the first is empty.
    try {
      called(fileConverter, [new Row(0, {}, columns)])
    } catch {}
    const names = format.kind === 'csv' ? format.header : columns.all.map(({ column }) => column)
    // A converter names columns: one that is there makes the line a header.
    const isHeader = columns.all.some((column) => !column.is_ignored)
    const unread = unreadProblems(columns.unread, names, [], isHeader)
    if (unread.length > 0)
      throw new ImportFileError(
        `${file}${format.kind === 'csv' ? `:${format.headerLine}` : ''}: ${unread.join('; ')}`,
      )
  }
}

/** A row as files of rejected rows have it. */
const withoutValues = ({ line, cells, text, further }: SourceRow): object => ({
  ...{ line, cells, text },
  ...(further && { further: further.map(withoutValues) }),
})

/** Reads a column of rows. */
const columnReader = (column: string) => (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).find(([name]) => foldName(name) === foldName(column))?.[1]

const called = (fileConverter: Converter['files'][string], rows: readonly Row[]): unknown => {
  const [first, ...others] = rows
  if (!first) return null
  return typeof fileConverter === 'function'
    ? fileConverter(first)
    : fileConverter.convert([first, ...others])
}

/** What a converter has returned, as records. @throws ConverterMistake for what no import has */
function recordsOf(result: unknown, entities: Entities, currencies: ReadonlySet<string>): Converted[] {
  if (result instanceof Promise) throw new ConverterMistake('the function returns a promise')
  return Object.entries(result ?? {}).flatMap(([name, given]) => {
    const entity = entities.find((one) => one.name === name)
    if (!entity) {
      const names = entities.map((one) => one.name)
      throw new ConverterMistake(`there is no entity ${quoted([name])}${suggestion(name, names)}`)
    }
    return [given]
      .flat()
      .filter((record) => record != null)
      .map((record) => ({ entity: name, fields: fieldsOf(record, entity, currencies) }))
  })
}

function fieldsOf(
  record: unknown,
  { name, columns }: Entities[number],
  currencies: ReadonlySet<string>,
): Record<string, unknown> {
  if (typeof record !== 'object') throw new ConverterMistake(`a record of ${name} is no object`)
  const fields = Object.fromEntries(Object.entries(record ?? {}).filter(([, value]) => value !== undefined))
  const valid = ['external_id', ...columns]
  for (const field of Object.keys(fields))
    if (!valid.includes(field))
      throw new ConverterMistake(`${name} has no field ${quoted([field])}${suggestion(field, valid)}`)
  if (currencies.size === 0 || !columns.includes('currency')) return fields
  const read = [...currencies].join(' and ')
  if (fields.currency == null && currencies.size > 1)
    throw new ConverterMistake(`${name} need a currency, as the amounts of the row are in ${read}`)
  const currency = fields.currency ?? read
  if (!currencies.has(String(currency)))
    throw new Problem(`currency is not ${read}, in which the amounts are read`)
  return { ...fields, currency }
}

/** Messages of the engine that have no values. */
const SAFE =
  /^(?:Cannot (?:read|set) properties of (?:null|undefined)|[\w.]+ is not (?:a function|defined|iterable))/

/** Where a converter has failed. Other messages than its own mistakes can have values of the row. */
function failureText(error: unknown, path: string): string {
  if (!(error instanceof Error)) return `${basename(path)}: threw something that is no error`
  const stack = error.stack ?? ''
  const at = stack.indexOf(`${path}:`)
  const position = at < 0 ? '' : `:${/^\d+/.exec(stack.slice(at + path.length + 1))?.[0]}`
  const text =
    error instanceof ConverterMistake
      ? error.message
      : [error.name, ...(SAFE.exec(error.message) ?? [])].join(': ')
  return `${basename(path)}${position}: ${text}`
}

/** @throws ImportFileError unless the file is a module that exports a converter */
export async function loadConverter(path: string): Promise<LoadedConverter> {
  if (!existsSync(path)) throw new ImportFileError(`${path}: there is no such file`)
  const digest = await digestOf(path)
  let loaded: unknown
  try {
    loaded = (await import(pathToFileURL(path).href)).default
  } catch (error) {
    throw new ImportFileError(`${path}: cannot be loaded: ${(error as Error).message}`)
  }
  const { files } = (loaded ?? {}) as Partial<Converter>
  if (files) return { files, path, digest }
  throw new ImportFileError(`${path}: must have a default export: export default converter({ ... })`)
}

/** The function with the longest name that a file's name begins with. @throws ImportFileError if there is none */
export function converterOf(file: string, { files, path }: LoadedConverter): Converter['files'][string] {
  const [found] = Object.entries(files)
    .filter(([name]) => isNamedAfter(basename(file), name))
    .sort(([a], [b]) => b.length - a.length)
  if (found) return found[1]
  throw new ImportFileError(
    `${file}: no function of ${basename(path)} takes the file: its names are ${quoted(Object.keys(files))}`,
  )
}
