/** Imports one file: reads, validates and writes rows in batches. Invalid rows are rejected without stopping the others. */
import { type FileHandle, open, rm } from 'node:fs/promises'
import type * as z from 'zod'
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import type { ImportIds } from '../../../shared/store/import-ids.ts'
import { BatchOutcomes, type Counts } from './batch-outcomes.ts'
import type { ImportableEntity, ImportEntity, ImportRow } from './entity.ts'
import { ExternalRef } from './references.ts'
import { retryPatiently } from './retry-patiently.ts'
import { ImportFileError, type Row, rowReader } from './rows.ts'
import { SeenIds } from './seen-ids.ts'

export type ImportResult = Counts & { rejected: number }

/**
 * A rejected row, without its contents: the file of rejected rows stays on the operator's disk, where no erasure of a
 * patient finds it. The reason never quotes the row's values.
 */
export type Rejection = { readonly line: number; readonly reason: string }

export type ImportProgress = { readonly bytes: number; readonly rows: number }

export type ImportOptions = {
  readonly onProgress?: (progress: ImportProgress) => void
  readonly onRejected?: (rejection: Rejection) => void
  /** Called once, when the import first waits for the store. */
  readonly onWait?: () => void
  readonly now: () => number
}

/** Rows per batch: four transactions of new patients, and within the limit of one batch read. */
const BATCH_SIZE = 96

/** Path of the file that rejected rows are written to. */
export const rejectedFile = (file: string): string => `${file}.rejected.ndjson`

/**
 * @throws ImportFileError when the file as a whole cannot be imported
 * @throws UnavailableError when the store is unavailable for longer than an import waits
 */
export async function importFile<Fields>(
  file: string,
  entity: ImportableEntity<Fields>,
  clinic: ClinicInfo,
  options: ImportOptions,
): Promise<ImportResult> {
  const result: ImportResult = { imported: 0, updated: 0, unchanged: 0, rejected: 0 }
  const progress = { bytes: 0, rows: 0 }
  using seen = new SeenIds()
  const read = rowReader(file)(
    file,
    (bytes) => {
      progress.bytes += bytes
    },
    (columns) => checkColumns(entity, columns, file),
  )
  const check = rowChecker(entity, clinic, options.now(), await entity.readIds(clinic.id))
  const rejected = rejectionWriter(rejectedFile(file), (rejection) => {
    result.rejected++
    options.onRejected?.(rejection)
  })
  await rejected.clear()
  let isWaiting = false
  const onWait = () => {
    if (!isWaiting) options.onWait?.()
    isWaiting = true
  }
  const { batchSize = BATCH_SIZE } = entity
  let batch: ImportRow<Fields>[] = []
  /** Held until the batch is written, which may reject rows of earlier lines. */
  let rejections: Rejection[] = []
  const writeRejections = async () => {
    for (const rejection of rejections.sort((a, b) => a.line - b.line)) await rejected.write(rejection)
    rejections = []
  }
  const flush = async () => {
    const outcomes = await writeBatch(entity, clinic, batch, onWait)
    for (const [name, count] of Object.entries(outcomes.counts)) result[name as keyof Counts] += count
    const byId = new Map(batch.map((row) => [row.id, row]))
    for (const { id, reason } of outcomes.rejections) {
      const row = byId.get(id)
      if (row) rejections.push({ line: row.line, reason })
    }
    batch = []
    await writeRejections()
    options.onProgress?.({ ...progress })
  }
  try {
    for await (const row of read) {
      progress.rows++
      const checked = check(row)
      const firstLine = 'reason' in checked ? null : seen.add(checked.id, row.line)
      if ('reason' in checked) rejections.push({ line: row.line, ...checked })
      else if (firstLine !== null) {
        rejections.push({
          line: row.line,
          reason: `external_id is already used on line ${firstLine}`,
        })
      } else batch.push(checked)
      if (batch.length === batchSize || rejections.length === batchSize) await flush()
    }
    if (progress.rows === 0) throw new ImportFileError(`${file}: the file has no rows`)
    await flush()
    await retryPatiently(async () => entity.finish?.(clinic), onWait)
  } finally {
    await writeRejections()
    await rejected.close()
  }
  return result
}

/** A batch is compared with the records in the table, so it can be written again. */
async function writeBatch<Fields>(
  { write }: ImportEntity<Fields>,
  clinic: ClinicInfo,
  batch: readonly ImportRow<Fields>[],
  onWait: () => void,
): Promise<BatchOutcomes> {
  const outcomes = new BatchOutcomes()
  if (batch.length === 0) return outcomes
  await retryPatiently(() => {
    const left = batch.filter(({ id }) => !outcomes.isFinal(id))
    return write(clinic, left, outcomes)
  }, onWait)
  return outcomes
}

type CheckedRow<Fields> = ImportRow<Fields> | { reason: string }

function rowChecker<Fields>(entity: ImportEntity<Fields>, clinic: ClinicInfo, now: number, idOf: ImportIds) {
  const schema = entity.schema(clinic, now, idOf)
  return (row: Row): CheckedRow<Fields> => {
    if (!('fields' in row)) return { reason: row.problem }
    const { external_id, ...rest } = row.fields
    const id = ExternalRef.safeParse(external_id)
    const fields = schema.safeParse(rest)
    if (id.success && fields.success) {
      return {
        id: idOf(entity.idKind, id.data),
        externalId: id.data,
        line: row.line,
        fields: fields.data,
      }
    }
    const issues = [
      ...(id.error?.issues ?? []).map(({ message }) =>
        external_id == null ? 'external_id is required' : `external_id ${message}`,
      ),
      ...(fields.error?.issues ?? []).map(issueText(rest)),
    ]
    return { reason: issues.join('; ') }
  }
}

/** Rejects a wrong header once, instead of every row. @throws ImportFileError */
function checkColumns(
  entity: Pick<ImportEntity, 'name' | 'columns' | 'required'>,
  columns: string[],
  file: string,
): void {
  const known = ['external_id', ...entity.columns]
  // The first line may be a patient. What it says must not be printed.
  if (!columns.some((name) => known.includes(name)))
    throw new ImportFileError(
      `${file}:1: the first line is not a header; valid columns of ${entity.name} are ${known.join(', ')}`,
    )
  const unknown = columns.filter((name) => !known.includes(name))
  const missing = ['external_id', ...entity.required].filter((name) => !columns.includes(name))
  const duplicate = columns.find((name, index) => columns.indexOf(name) !== index)
  if (duplicate !== undefined) throw new ImportFileError(`${file}:1: the column "${duplicate}" appears twice`)
  const problems = [
    ...(unknown.length > 0 ? [`unknown column ${quoted(unknown)}`] : []),
    ...(missing.length > 0 ? [`column ${quoted(missing)} is missing`] : []),
  ]
  if (problems.length > 0) {
    throw new ImportFileError(
      `${file}:1: ${problems.join('; ')}; valid columns of ${entity.name} are ${known.join(', ')}`,
    )
  }
}

const quoted = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(', ')

const issueText =
  (row: Record<string, unknown>) =>
  (issue: z.core.$ZodIssue): string => {
    if (issue.code === 'unrecognized_keys') return `unknown field ${quoted(issue.keys)}`
    const value = issue.path.reduce<unknown>(
      (at, name) => (at as Record<PropertyKey, unknown> | undefined)?.[name],
      row,
    )
    const name = issue.path.join('.')
    return value == null && issue.code !== 'custom' ? `${name} is required` : `${name} ${issue.message}`
  }

/** Opens the file when the first row is rejected. `clear` deletes the file of an earlier run. */
function rejectionWriter(path: string, onRejected: (rejection: Rejection) => void) {
  let file: FileHandle | undefined
  return {
    clear: () => rm(path, { force: true }),
    write: async (rejection: Rejection): Promise<void> => {
      file ??= await open(path, 'w', 0o600)
      await file.write(`${JSON.stringify(rejection)}\n`)
      onRejected(rejection)
    },
    close: async (): Promise<void> => file?.close(),
  }
}
