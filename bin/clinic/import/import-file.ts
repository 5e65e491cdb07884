/** Imports one file: reads, validates and writes rows in batches. Invalid rows are rejected without stopping the others. */
import { type FileHandle, open, rm } from 'node:fs/promises'
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import { BatchOutcomes, type Counts } from './batch-outcomes.ts'
import { rowChecker } from './check-row.ts'
import type { ImportableEntity, ImportEntity, ImportRow, ImportRun } from './entity.ts'
import { importJudge } from './imported-state.ts'
import { ownIdColumn, withOwnIdColumns } from './references.ts'
import { retryPatiently } from './retry-patiently.ts'
import { ImportFileError, rowReader } from './rows.ts'
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
  /** Whether rows replace what was changed in the clinic since they were imported. */
  readonly overwrite?: boolean
  /** Whether visits may be added to time that is taken. */
  readonly allowOverlaps?: boolean
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
  const keys = await entity.readKeys(clinic.id)
  const check = rowChecker(entity, clinic, options.now(), keys.idOf)
  const run = {
    clinic,
    judge: importJudge(keys.digestOf, options),
    allowOverlaps: options.allowOverlaps ?? false,
    linksVersion: keys.linksVersion,
  }
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
    const outcomes = await writeBatch(entity, run, batch, onWait)
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
          reason: `${'externalId' in checked && checked.externalId === undefined ? 'id' : 'external_id'} is already used on line ${firstLine}`,
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
  run: Omit<ImportRun, 'outcomes'>,
  batch: readonly ImportRow<Fields>[],
  onWait: () => void,
): Promise<BatchOutcomes> {
  const outcomes = new BatchOutcomes()
  if (batch.length === 0) return outcomes
  await retryPatiently(() => {
    const left = batch.filter(({ id }) => !outcomes.isFinal(id))
    return write({ ...run, outcomes }, left)
  }, onWait)
  return outcomes
}

/** Rejects a wrong header once, instead of every row. @throws ImportFileError */
function checkColumns(
  entity: Pick<ImportEntity, 'name' | 'columns' | 'required'>,
  columns: string[],
  file: string,
): void {
  const known = withOwnIdColumns(['external_id', ...entity.columns])
  // The first line may be a patient. What it says must not be printed.
  if (!columns.some((name) => known.includes(name)))
    throw new ImportFileError(
      `${file}:1: the first line is not a header; valid columns of ${entity.name} are ${known.join(', ')}`,
    )
  const unknown = columns.filter((name) => !known.includes(name))
  const missing = ['external_id', ...entity.required].filter(
    (name) => !columns.includes(name) && !columns.includes(ownIdColumn(name)),
  )
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
