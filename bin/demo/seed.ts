import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { CURRENCIES } from '../../shared/domain/money/currencies.ts'
import { timeZone } from '../../shared/domain/time-zone.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { importFiles, loadFolder, type ReadyClinic, SETTINGS_FILE } from './load.ts'

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
  importFiles(folder)
  return {
    timezone: settings.timezone,
    load: async (table) => [await loadFolder(table, { id, ...settings }, folder)],
  }
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
