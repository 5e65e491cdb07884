/** Reads the files of an import: once, whatever is done with their records. */
import { hash } from 'node:crypto'
import type { ClinicInfo } from '../../../../shared/domain/clinic.ts'
import { foldName } from '../../../../shared/domain/closest-name.ts'
import { parseJson } from '../../../../shared/sync/external-ids/resolve-references.ts'
import { resolveFromInvocationDir } from '../../tool/invocation-path.ts'
import type { Converter } from '../converters/converter.ts'
import { FileColumns, type ReadColumn } from '../converters/file-columns.ts'
import {
  type Converted,
  converterOf,
  type Entities,
  failureText,
  type LoadedConverter,
  loadConverter,
  recordsOf,
} from '../converters/load-converter.ts'
import { Row } from '../converters/row.ts'
import { groupedRows } from '../files/grouped-rows.ts'
import { GroupedTexts, groupText } from '../files/grouped-texts.ts'
import { checkHeader, fieldsOf, unreadProblems, valuesByField } from '../files/header.ts'
import { digestOf, entityOf } from '../files/import-paths.ts'
import { ConverterMistake, ImportFileError, Problem } from '../files/problems.ts'
import { type FileFormat, HEADER_PROBLEM, REASON, type SourceRow, SUM_PROBLEM } from '../files/row.ts'
import { openRows } from '../files/rows.ts'
import { temporaryDatabase } from '../files/temporary-database.ts'
import { fileColumns, LINE_ITEMS } from './file-entities.ts'

/** A file whose records are kept. */
export type ConvertedFile = {
  readonly file: string
  readonly format: FileFormat
  readonly columns: readonly ReadColumn[]
  /** Its rows, and the lines of those that give no record. */
  readonly rows: { readonly read: number; readonly withoutRecords: readonly number[] }
  readonly entities: ReadonlySet<string>
}

type Reading = {
  /** The entity of files whose names do not tell it. */
  readonly entity?: string | undefined
  readonly clinic: Pick<ClinicInfo, 'timezone'>
  /** Of files without a byte order mark. */
  readonly encoding?: string | undefined
  readonly now?: number
}

/** The records of a row, or why it has none, and the invoice whose line item it would be. */
type Outcome =
  | { readonly problem: string; readonly invoice?: string | null | undefined }
  | { readonly records: readonly Converted[]; readonly warnings: readonly string[] }

/** The records of the files of an import, in a temporary database. */
export class Conversions implements Disposable {
  readonly files: ConvertedFile[] = []
  /** The SHA-256 of each file that was read, and of the converter. */
  readonly digests = new Map<string, string>()
  readonly #converter: LoadedConverter | undefined
  readonly #reading: Reading
  readonly #entities: Entities = fileColumns()
  readonly #db = temporaryDatabase(
    'CREATE TABLE rows (at INTEGER PRIMARY KEY, row TEXT);' +
      'CREATE TABLE records (file TEXT, entity TEXT, at INTEGER, external TEXT, record TEXT);' +
      'CREATE INDEX of_file ON records (file, entity, at);' +
      "CREATE INDEX of_invoice ON records (external, at) WHERE entity = 'line-items';" +
      'CREATE TABLE seen (record BLOB PRIMARY KEY) WITHOUT ROWID',
  )
  readonly #addRow = this.#db.prepare('INSERT INTO rows VALUES (?, ?)')
  readonly #addRecord = this.#db.prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?)')
  readonly #see = this.#db.prepare('INSERT OR IGNORE INTO seen VALUES (?)')
  readonly #itemsOf = this.#db.prepare(
    "SELECT record FROM records WHERE entity = 'line-items' AND external = ? ORDER BY at",
  )
  #rows = 0

  /** @param converter without one, files have the fields of the entity that they are named after */
  constructor(converter: LoadedConverter | undefined, reading: Reading) {
    this.#converter = converter
    this.#reading = reading
    if (converter) this.digests.set(converter.path, converter.digest)
  }

  /** @throws ImportFileError for a file that cannot be read, or that the converter does not take or cannot convert */
  async add(file: string): Promise<ConvertedFile> {
    const { clinic, encoding, now = Date.now() } = this.#reading
    const fileConverter = this.#converter && converterOf(file, this.#converter)
    // Before it is read: a later change is noticed, whenever it is.
    this.digests.set(file, await digestOf(file))
    const { format, rows, close } = await openRows(file, encoding)
    await using _ = { [Symbol.asyncDispose]: async () => void (await close()) }
    const columns = new FileColumns(format.kind === 'csv' ? format.header : null, clinic, now)
    const groupOf =
      fileConverter && typeof fileConverter !== 'function' ? columnReader(fileConverter.groupBy) : null
    const entity = fileConverter ? undefined : this.#entityOf(file)
    if (entity && format.kind === 'csv') checkHeader(entity, format, file)
    const found = new Set(entity ? [entity.name] : [])
    const convert = fileConverter
      ? (source: SourceRow) => this.#convert(file, fileConverter, source, columns)
      : ownReader(entity as Entities[number], columns)
    const read = { read: 0, withoutRecords: [] as number[] }
    const problems = new GroupedTexts()
    let unclear: string | undefined
    for await (const source of groupOf ? groupedRows(file, rows, groupOf) : rows) {
      read.read += 1 + (source.further?.length ?? 0)
      const at = this.#rows++
      this.#addRow.run(at, textOf(withoutValues(source)))
      const outcome = convert(source)
      if ('problem' in outcome) {
        problems.add(outcome.problem, source.line)
        const group = groupOf && 'values' in source ? idText(groupOf(source.values)) : null
        const invoice = outcome.invoice ?? group
        if (
          outcome.invoice === undefined &&
          group === null &&
          ![SUM_PROBLEM, HEADER_PROBLEM].includes(outcome.problem)
        )
          unclear ??= `${file}:${source.line}: ${outcome.problem}: correct the line, which may be a line item`
        this.#addRecord.run(file, '', at, invoice, textOf(outcome))
      } else if (outcome.records.length === 0) read.withoutRecords.push(source.line)
      else
        for (const [index, { entity: name, fields }] of outcome.records.entries()) {
          found.add(name)
          const warnings = index === 0 ? outcome.warnings : []
          const record = textOf({ values: fields, warnings })
          this.#addRecord.run(file, name, at, idText(fields.external_id ?? fields.id), record)
        }
    }
    if (read.read === 0) throw new ImportFileError(`${file}: the file has no rows`)
    if (unclear !== undefined && found.has(LINE_ITEMS)) throw new ImportFileError(unclear)
    if (fileConverter) requireAllRead(file, fileConverter, columns, format)
    const [first] = this.#entities.filter(({ name }) => found.has(name))
    if (!first) {
      const reasons = problems.groups.map(groupText).join('; ')
      throw new ImportFileError(
        `${file}: no row gives a record${reasons === '' ? '' : `, or can be converted: ${reasons}`}`,
      )
    }
    // Each row is rejected once.
    this.#db.prepare("UPDATE records SET entity = ? WHERE file = ? AND entity = ''").run(first.name, file)
    const converted = { file, format, columns: columns.all, rows: read, entities: found }
    this.files.push(converted)
    return converted
  }

  /** The records of an entity in a file, each with the row that it is from. Invoices have the line items of other files. */
  async *records(file: string, entity: string): AsyncGenerator<SourceRow> {
    const found = this.#db.prepare(
      'SELECT row, external, record FROM records JOIN rows USING (at) WHERE file = ? AND entity = ? ORDER BY at',
    )
    type Found = { row: string; external: string | null; record: string }
    for (const { row, external, record } of found.iterate(file, entity) as Iterable<Found>) {
      const source = { ...JSON.parse(row), ...JSON.parse(record) }
      const hasItems = entity === 'invoices' || entity === LINE_ITEMS
      yield hasItems && 'values' in source ? this.#withLineItems(source, external, entity) : source
    }
  }

  #withLineItems(
    invoice: SourceRow & { readonly values: Readonly<Record<string, unknown>> },
    external: string | null,
    entity: string,
  ): SourceRow {
    const items = (this.#itemsOf.all(external) as { record: string }[]).map(
      ({ record }): SourceRow => JSON.parse(record),
    )
    if (items.length === 0) return invoice
    const { values, ...row } = invoice
    // An invoice without some of its line items would be wrong, also when the rejected ones are imported.
    if (items.some((item) => 'problem' in item))
      return { ...row, problem: 'line_items has rows that were rejected' }
    if (entity === LINE_ITEMS) return invoice
    if (values.line_items != null) return { ...row, problem: 'line_items is also in another file' }
    const line_items = items.flatMap((item) => {
      const given = 'values' in item ? item.values.line_items : null
      return typeof given === 'string' ? (parseJson(given) ?? given) : given
    })
    return { ...row, values: { ...values, line_items } }
  }

  /** The first lines of line items by their invoices, which no file has. */
  lineItemsLeft(): readonly number[] {
    const left = this.#db.prepare(
      "SELECT min(at) AS at, row ->> 'line' AS line FROM records JOIN rows USING (at) WHERE entity = 'line-items' AND external NOT IN " +
        "(SELECT external FROM records WHERE entity = 'invoices' AND external IS NOT NULL) GROUP BY external ORDER BY at",
    )
    return left.all().map(({ line }) => Number(line))
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }

  #entityOf(file: string): Entities[number] {
    const names = this.#entities.map(({ name }) => name)
    const wanted = entityOf(file, this.#reading.entity, names)
    return this.#entities.find(({ name }) => name === wanted) as Entities[number]
  }

  #convert(file: string, fileConverter: FileConverter, source: SourceRow, columns: FileColumns): Outcome {
    if ('problem' in source) return { problem: source.problem }
    columns.warnings.length = 0
    columns.currencies.clear()
    columns.problems.clear()
    const rows = [source, ...(source.further ?? [])].map((one) => {
      const values = 'values' in one ? one.values : {}
      for (const name of Object.keys(values)) columns.add(name)
      return new Row(one.line, values, columns)
    })
    let invoice: string | null | undefined
    try {
      const outcome = outcomeOf(() => {
        if (typeof fileConverter !== 'function') columns.require(fileConverter.groupBy)
        const given = recordsOf(called(fileConverter, rows), this.#entities, columns.currencies)
        const [first, ...others] = given.filter(({ entity }) => entity === LINE_ITEMS)
        if (others.length === 0) invoice = idText(first?.fields.external_id)
        if (columns.problems.size > 0) throw new Problem()
        return { records: this.#newOf(given), warnings: [...columns.warnings] }
      }, columns.problems)
      return 'problem' in outcome ? { ...outcome, invoice } : outcome
    } catch (error) {
      throw new ImportFileError(`${file}:${source.line}: ${failureText(error, this.#converter?.path ?? '')}`)
    }
  }

  /**
   * The records that no earlier row has given: the doctor of many appointments is one. @throws Problem if all have been
   */
  #newOf(records: readonly Converted[]): readonly Converted[] {
    const found = records.filter(
      (record) => this.#see.run(hash('sha256', JSON.stringify(record), 'buffer')).changes > 0,
    )
    if (found.length === 0 && records.length > 0) throw new Problem('repeats an earlier row')
    return found
  }
}

type FileConverter = Converter['files'][string]

/** Reads rows whose columns are the fields of an entity. */
function ownReader(entity: Entities[number], columns: FileColumns): (source: SourceRow) => Outcome {
  const fields = fieldsOf(entity)
  return (source) => {
    if ('problem' in source) return { problem: source.problem }
    for (const name of Object.keys(source.values)) {
      const isField = fields.has(foldName(name))
      if (isField || foldName(name) === REASON) columns.add(name)
      if (isField) columns.require(name)
    }
    return outcomeOf(() => ({
      records: [{ entity: entity.name, fields: valuesByField(source.values, fields) }],
      warnings: [],
    }))
  }
}

/** @param problems the cells that could not be read: what the function makes of them does not count */
function outcomeOf(convert: () => Outcome, problems: ReadonlyMap<string, string> = new Map()): Outcome {
  try {
    return convert()
  } catch (error) {
    if (problems.size > 0 && !(error instanceof ConverterMistake))
      return { problem: [...problems.values()].join('; ') }
    if (error instanceof Problem) return { problem: error.message }
    throw error
  }
}

/** JSON costs less memory than buffers. It has no other numbers, which would become null: they are to be rejected. */
const textOf = (value: object): string =>
  JSON.stringify(value, (_, one) =>
    typeof one === 'bigint' || (typeof one === 'number' && !Number.isFinite(one)) ? String(one) : one,
  )

/** An id of the clinic's own system as text. */
const idText = (id: unknown): string | null => (id == null ? null : String(id).trim().normalize())

/** A row as files of rejected rows have it. */
const withoutValues = ({ line, cells, text, further }: SourceRow): object => ({
  ...{ line, cells, text },
  ...(further && { further: further.map(withoutValues) }),
})

/** Reads a column of rows. */
const columnReader = (column: string) => (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).find(([name]) => foldName(name) === foldName(column))?.[1]

const called = (fileConverter: FileConverter, [first, ...others]: readonly Row[]): unknown => {
  if (!first) return null
  return typeof fileConverter === 'function'
    ? fileConverter(first)
    : fileConverter.convert([first, ...others])
}

/** @throws ImportFileError that names columns that are neither read nor ignored */
function requireAllRead(
  file: string,
  fileConverter: FileConverter,
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

/**
 * Reads files.
 * @param path of a converter, as it is given
 * @throws ImportFileError that names what is wrong with each of them; CommandFailure for one of no entity
 */
export async function convertFiles(
  files: readonly string[],
  { path, ...reading }: Reading & { readonly path?: string | undefined },
): Promise<Conversions> {
  const converter = path === undefined ? undefined : await loadConverter(resolveFromInvocationDir(path))
  using kept = new DisposableStack()
  const conversions = kept.use(new Conversions(converter, reading))
  const problems: string[] = []
  for (const file of files)
    try {
      await conversions.add(file)
    } catch (error) {
      if (!(error instanceof ImportFileError)) throw error
      problems.push(error.message)
    }
  if (problems.length > 0) throw new ImportFileError(problems.join('\n'))
  kept.move()
  return conversions
}
