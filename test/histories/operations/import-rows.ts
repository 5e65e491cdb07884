/** Small imports: one file of one entity, imported again while its outcome is unknown. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importEntities } from '../../../bin/clinic/import/entities/entities.ts'
import { type ImportResult, importFile } from '../../../bin/clinic/import/run/import-file.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { demand } from '../register.ts'
import { command, type Run } from '../run.ts'

/** How often an operator repeats an import that was interrupted. */
const MAX_REPETITIONS = 2

export type Imported = ImportResult & { readonly reasons: readonly string[] }

/** The result of the last import; null when every attempt was interrupted. */
export async function importRows(
  run: Run,
  entity: string,
  rows: readonly object[],
): Promise<Imported | null> {
  const folder = mkdtempSync(join(tmpdir(), 'histories-'))
  try {
    const file = join(folder, `${entity}.ndjson`)
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    for (let n = 0; n <= MAX_REPETITIONS; n++) {
      const outcome = await command(
        run,
        (table) => importOnce(run, table, entity, file),
        n === 0 ? run.operation.crash : undefined,
      )
      if (outcome.kind !== 'done') continue
      const { imported, updated, unchanged, rejected } = outcome.result
      demand(
        imported + updated + unchanged + rejected === rows.length,
        () => `counts of an import: ${JSON.stringify(outcome.result)}`,
      )
      return outcome.result
    }
    return null
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function importOnce(
  { clinic }: Run,
  table: Parameters<typeof importEntities>[0],
  name: string,
  file: string,
): Promise<Imported> {
  const entity = importEntities(table, Date.now).find((one) => one.name === name)
  if (!entity) throw new Error(`no entity ${name}`)
  const reasons: string[] = []
  const info = { id: clinic.id as ClinicId, name: 'Clinic', timezone: 'Europe/Istanbul', currency: 'EUR' }
  const result = await importFile(file, entity, info, {
    now: Date.now,
    // Whatever requests and commands changed since the last import.
    overwrite: true,
    onRejected: ({ reasons: all }) => reasons.push(...all),
  })
  return { ...result, reasons }
}
