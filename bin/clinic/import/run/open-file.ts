/** Opens a file of an entity: how it is written, and its records. */
import { foldName, quoted } from '../../../../shared/domain/closest-name.ts'
import type { ImportEntity } from '../../../../shared/sync/entities/entity.ts'
import { withOwnIdColumns } from '../../../../shared/sync/external-ids/resolve-references.ts'
import type { Conversions } from '../converters/convert-files.ts'
import type { ReadColumn } from '../converters/file-columns.ts'
import type { FileFormat, SourceRow } from '../files/row.ts'
import { isReason } from '../files/row.ts'
import { openRows } from '../files/rows.ts'
import { checkHeader } from './header.ts'

type ToRead = {
  readonly file: string
  readonly entity: Pick<ImportEntity, 'name' | 'columns' | 'required'>
}

type Reading = {
  readonly encoding?: string | undefined
  readonly conversions?: Conversions | undefined
  /** Called with each chunk of the file, unless it was converted before. */
  readonly onChunk?: (chunk: Buffer) => void
}

export type OpenedFile = {
  readonly format: FileFormat
  /** Its rows, whose values are those of fields. */
  readonly records: AsyncIterable<SourceRow>
  /** Whether its own column `reason` is read. */
  readonly readsReason: boolean
  /** The columns of a file that was not converted, once its records are read. */
  readonly columns: () => readonly ReadColumn[]
}

/** @throws ImportFileError, also for a wrong header */
export async function openFile(
  { file, entity }: ToRead,
  { encoding, conversions, onChunk }: Reading,
): Promise<OpenedFile> {
  const converted = conversions?.of(file)
  if (conversions && converted) {
    const { format, readsReason } = converted
    return { format, readsReason, records: conversions.records(converted, entity.name), columns: () => [] }
  }
  const { format, rows, close } = await openRows(file, encoding, onChunk)
  try {
    if (format.kind === 'csv') checkHeader(entity, format, file)
  } catch (error) {
    await close()
    throw error
  }
  const fields = new Set(withOwnIdColumns(['external_id', ...entity.columns]))
  const names = new Set(format.kind === 'csv' ? format.header : [])
  async function* records(): AsyncGenerator<SourceRow> {
    for await (const row of rows) {
      if (format.kind === 'ndjson' && 'values' in row)
        for (const name of Object.keys(row.values)) names.add(name)
      yield withFields(row, fields)
    }
  }
  return {
    format,
    records: records(),
    readsReason: false,
    columns: () =>
      [...names]
        .filter((name) => fields.has(foldName(name)) || isReason(foldName(name)))
        .map((column) => ({ column, is_ignored: !fields.has(foldName(column)), cells: {} })),
  }
}

/** A row with the values of fields, whose names it can write in other ways; without the reason of an earlier rejection. */
function withFields(row: SourceRow, fields: ReadonlySet<string>): SourceRow {
  if ('problem' in row) return row
  const { values: given, ...source } = row
  const values: Record<string, unknown> = {}
  const names: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    const folded = foldName(name)
    const isField = fields.has(folded)
    if (!isField && isReason(folded)) continue
    const field = isField ? folded : name
    if (names[field] !== undefined)
      return { ...source, problem: `${quoted([name])} is the same field as ${quoted([names[field]])}` }
    names[field] = name
    values[field] = value
  }
  return { ...source, values }
}
