import { writeFileSync } from 'node:fs'
import { importEntities } from '../../bin/clinic/import/entities/entities.ts'
import { type ImportOptions, importFile } from '../../bin/clinic/import/run/import-file.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { NOW } from './table.ts'

/** Writes a file of NDJSON. An import stops at U+FFFD unless it is escaped. */
export const writeRows = (file: string, rows: readonly object[]): void =>
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`.replace('\ufffd', '\\ufffd')).join(''))

/** Imports a file of an entity. Returns its counts, and what was reported: reasons alone, and reasons and warnings after their lines. */
export async function importRecords(
  table: Table,
  clinic: Clinic,
  name: string,
  file: string,
  { now = () => NOW, ...options }: Partial<ImportOptions> = {},
) {
  const entity = importEntities(table, now).find((known) => known.name === name)
  if (!entity) throw new Error(`no entity ${name}`)
  const [reasons, rejections, warned]: [string[], string[], string[]] = [[], [], []]
  const result = await importFile(file, entity, clinic, {
    now,
    ...options,
    onRejected: ({ line, reasons: all }) => {
      reasons.push(all.join('; '))
      rejections.push(`${line}: ${all.join('; ')}`)
    },
    onWarning: ({ line, text }) => warned.push(`${line}: ${text}`),
  })
  return { ...result, reasons, rejections, warned }
}
