/** Imports one file: reads, checks and writes in batches; bad rows are set aside and never stop the good ones. */
import { once } from 'node:events'
import { createWriteStream, rmSync, type WriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import * as z from 'zod'
import type { ClinicFacts } from '../domain/clinic.ts'
import { importedUuid } from '../domain/uuid.ts'
import type { Counts, ImportEntity, ImportRow } from './entity.ts'
import { ImportFileError, type Row, rowReader } from './rows.ts'
import { SeenIds } from './seen.ts'

export type ImportResult = Counts & { rejected: number }

/** A row that was set aside; the reason never quotes the row. */
export type Rejection = { readonly line: number; readonly reason: string; readonly row: unknown }

export type ImportProgress = { readonly bytes: number; readonly rows: number }

export type ImportOptions = {
  readonly onProgress?: (progress: ImportProgress) => void
  readonly onRejected?: (rejection: Rejection) => void
  readonly now: () => number
}

/** Two transactions of new patients; also what one batch read takes. */
const BATCH = 96

const ExternalId = z
  .union([z.string(), z.number()], { error: 'is required' })
  .transform((id) => String(id).trim())
  .refine((id) => id.length >= 1 && id.length <= 200, { error: 'must have 1 to 200 characters' })

/** Where the rows that were set aside are written. */
export const rejectedFile = (file: string): string => `${file}.rejected.ndjson`

/** @throws ImportFileError when the file as a whole is of no use */
export async function importFile<Fields>(
  file: string,
  entity: ImportEntity<Fields>,
  clinic: ClinicFacts,
  options: ImportOptions,
): Promise<ImportResult> {
  const result: ImportResult = { imported: 0, updated: 0, unchanged: 0, rejected: 0 }
  const progress = { bytes: 0, rows: 0 }
  using seen = new SeenIds()
  const read = rowReader(file)(file, (bytes) => {
    progress.bytes += bytes
  })
  const check = rowCheck(entity, clinic, options.now(), file)
  const rejected = rejectionWriter(rejectedFile(file), (rejection) => {
    result.rejected++
    options.onRejected?.(rejection)
  })
  let batch: ImportRow<Fields>[] = []
  const flush = async () => {
    const outcome = await entity.write(clinic, batch)
    for (const name of ['imported', 'updated', 'unchanged'] as const) result[name] += outcome[name]
    const byId = new Map(batch.map((row) => [row.id, row]))
    for (const { id, reason } of outcome.rejected ?? []) {
      const row = byId.get(id)
      if (row) await rejected.write({ line: row.line, reason, row: row.raw })
    }
    batch = []
    options.onProgress?.({ ...progress })
  }
  try {
    for await (const row of read) {
      progress.rows++
      const checked = check(row)
      const first = 'reason' in checked ? null : seen.note(checked.id, row.line)
      if ('reason' in checked) await rejected.write({ line: row.line, ...checked })
      else if (first !== null) {
        await rejected.write({
          line: row.line,
          reason: `external_id stands on line ${first} already`,
          row: rawOf(row),
        })
      } else batch.push(checked)
      if (batch.length === BATCH) await flush()
    }
    if (batch.length > 0) await flush()
    await entity.finish?.(clinic)
  } finally {
    await rejected.close()
  }
  return result
}

const rawOf = (row: Row): unknown => ('fields' in row ? row.fields : row.raw)

type Checked<Fields> = ImportRow<Fields> | { reason: string; row: unknown }

function rowCheck<Fields>(entity: ImportEntity<Fields>, clinic: ClinicFacts, now: number, file: string) {
  const schema = entity.schema(clinic, now)
  const isCsv = /\.csv$/i.test(file)
  return (row: Row): Checked<Fields> => {
    if (!('fields' in row)) return { reason: row.problem, row: row.raw }
    if (isCsv) checkColumns(entity, Object.keys(row.fields), file)
    const { external_id, ...rest } = row.fields
    const id = ExternalId.safeParse(external_id)
    const fields = schema.safeParse(rest)
    if (id.success && fields.success) {
      return {
        id: importedUuid(clinic.id, entity.idKind, id.data),
        line: row.line,
        fields: fields.data,
        raw: row.fields,
      }
    }
    const issues = [
      ...(id.error?.issues ?? []).map(({ message }) => `external_id ${message}`),
      ...(fields.error?.issues ?? []).map(issueText(rest)),
    ]
    return { reason: issues.join('; '), row: row.fields }
  }
}

/** A header that is wrong is one message, not one for each row. */
function checkColumns(
  entity: Pick<ImportEntity, 'name' | 'columns' | 'required'>,
  columns: string[],
  file: string,
): void {
  const known = ['external_id', ...entity.columns]
  const unknown = columns.filter((name) => !known.includes(name))
  const missing = ['external_id', ...entity.required].filter((name) => !columns.includes(name))
  const problems = [
    ...(unknown.length > 0 ? [`unknown column ${quoted(unknown)}`] : []),
    ...(missing.length > 0 ? [`column ${quoted(missing)} is missing`] : []),
  ]
  if (problems.length > 0) {
    throw new ImportFileError(`${file}:1: ${problems.join('; ')}; ${entity.name} have ${known.join(', ')}`)
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

/** Opens the file of rejected rows at the first one; an earlier run's is gone when there is none. */
function rejectionWriter(path: string, onRejected: (rejection: Rejection) => void) {
  rmSync(path, { force: true })
  let stream: WriteStream | undefined
  return {
    write: async (rejection: Rejection): Promise<void> => {
      stream ??= createWriteStream(path, { mode: 0o600 })
      onRejected(rejection)
      if (!stream.write(`${JSON.stringify(rejection)}\n`)) await once(stream, 'drain')
    },
    close: async (): Promise<void> => {
      if (!stream) return
      stream.end()
      await finished(stream)
    },
  }
}
