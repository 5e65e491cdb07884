import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { CURRENCIES } from '../../shared/domain/money/currencies.ts'
import { timeZone } from '../../shared/domain/time-zone.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { importEntities } from '../clinic/import/entities/entities.ts'
import { entityNames } from '../clinic/import/files/import-paths.ts'
import { requireExtension } from '../clinic/import/files/rows.ts'
import { importFile } from '../clinic/import/run/import-file.ts'
import { createClinic, issueAll, type ReadyClinic } from './load.ts'

const SETTINGS_FILE = 'clinic.json'

const Settings = z.strictObject({
  name: z.string().min(1).max(100),
  timezone: timeZone(),
  currency: z
    .string()
    .refine((code) => CURRENCIES.includes(code), { error: 'must be an ISO 4217 code such as EUR' }),
})

/** A clinic in a folder: its settings in `clinic.json`, and import files that are named after their entities. */
export type Seed = { readonly timezone: string; readonly load: (table: Table) => Promise<ReadyClinic[]> }

/**
 * Reads the settings of the clinic and the names of its files. The ids of the clinic and its records, and its credentials, depend on
 * its name and on external ids only.
 * @throws Error that names the file, and the field of the settings. Every other file must be one to import, unless it is hidden
 */
export function openSeed(folder: string): Seed {
  const settings = readSettings(join(folder, SETTINGS_FILE))
  const hash = createHash('sha256').update(`Seeded clinic ${settings.name}`).digest('hex')
  const id = hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5') as ClinicId
  const known = importEntities({} as Table, Date.now).map(({ name }) => name)
  const files = readdirSync(folder)
    .filter((name) => name !== SETTINGS_FILE && !name.startsWith('.'))
    .sort()
    .map((name) => {
      requireExtension(join(folder, name))
      return { path: join(folder, name), entity: entityNames(name, undefined, known, undefined)[0] }
    })
  const load = async (table: Table): Promise<ReadyClinic[]> => {
    const clinic = await createClinic(table, { id, ...settings })
    for (const entity of importEntities(table, Date.now))
      for (const { path } of files.filter((file) => file.entity === entity.name)) {
        const reasons: string[] = []
        await importFile(path, entity, clinic, {
          now: Date.now,
          onRejected: (row) => reasons.push(`${path}, line ${row.line}: ${row.reasons.join('; ')}`),
        })
        if (reasons.length > 0) throw new Error(reasons.join('\n'))
      }
    const { name, timezone } = settings
    return [{ id, name, timezone, credentials: await issueAll(table, id) }]
  }
  return { timezone: settings.timezone, load }
}

function readSettings(file: string): z.output<typeof Settings> {
  try {
    return Settings.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    throw new Error(
      `${file}: ${error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message}`,
    )
  }
}
