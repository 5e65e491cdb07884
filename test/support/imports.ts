import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RejectedRows } from '../../bin/clinic/import/files/rejections.ts'
import { type ConvertedFile, convertFiles } from '../../bin/clinic/import/run/conversions.ts'
import { fileEntities } from '../../bin/clinic/import/run/file-entities.ts'
import { type ImportOptions, importFile } from '../../bin/clinic/import/run/import-file.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import type { Table } from '../../shared/store/table/table.ts'
import type { ImportableEntity } from '../../shared/sync/entities/entity.ts'
import { NOW } from './table.ts'

/** Writes a file of NDJSON. An import stops at U+FFFD unless it is escaped. */
export const writeRows = (file: string, rows: readonly object[]): void =>
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`.replace('\ufffd', '\\ufffd')).join(''))

/** The rows of an entity in the folder of an export. */
export const exportedRows = (folder: string, name: string): Record<string, unknown>[] =>
  readFileSync(join(folder, `${name}.ndjson`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

/** Imports rows of an entity as a file in the folder would hold them. */
export function importRows(
  folder: string,
  table: Table,
  clinic: Clinic,
  name: string,
  rows: readonly object[],
  options?: Partial<ImportOptions>,
) {
  const file = join(folder, `${name}.ndjson`)
  writeRows(file, rows)
  return importRecords(table, clinic, name, file, options)
}

/** Imports a file alone, as one of the entity. */
export async function importAlone(
  file: string,
  entity: ImportableEntity,
  clinic: Clinic,
  options: ImportOptions,
) {
  using conversions = await convertFiles([file], { entity: entity.name, clinic })
  return await importFile({ file, conversions }, entity, clinic, options)
}

/** Imports a file of an entity. Returns its counts, and what was reported: reasons alone, and reasons and warnings after their lines. */
export async function importRecords(
  table: Table,
  clinic: Clinic,
  name: string,
  file: string,
  { now = () => NOW, ...options }: Partial<ImportOptions> = {},
) {
  const entity = fileEntities(table, now).find((known) => known.name === name)
  if (!entity) throw new Error(`no entity ${name}`)
  const [reasons, rejections, warned]: [string[], string[], string[]] = [[], [], []]
  using conversions = await convertFiles([file], { entity: name, clinic })
  const [converted] = conversions.files
  using rejected = new RejectedRows(converted as ConvertedFile)
  const result = await importFile({ file, conversions }, entity, clinic, {
    now,
    rejected,
    ...options,
    onRejected: (line, all) => {
      reasons.push(all.join('; '))
      rejections.push(`${line}: ${all.join('; ')}`)
    },
    onWarning: (line, text) => warned.push(`${line}: ${text}`),
  })
  rejected.finish()
  return { ...result, reasons, rejections, warned }
}
