/** The demo clinics: folders of import files whose dates are days from today, such as `+3`. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addDays, wallClock } from '../../shared/domain/clock.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { type ClinicSettings, loadFolder, type ReadyClinic } from './load.ts'

/** The first one is the clinic of the documentation. */
const FOLDERS = ['bosphorus-family-clinic', 'patan-dental-care'].map((name) =>
  join(import.meta.dirname, name),
)

const settingsOf = (folder: string): ClinicSettings =>
  JSON.parse(readFileSync(join(folder, 'clinic.json'), 'utf8'))

/** The time zone of the first demo clinic. */
export const demoTimezone = (): string => settingsOf(FOLDERS[0] ?? '').timezone

/** Creates the demo clinics and imports their records. Records that exist are kept, so an interrupted load can be repeated. */
export const loadDemo = (table: Table): Promise<ReadyClinic[]> =>
  Promise.all(
    FOLDERS.map(async (folder) => {
      const settings = settingsOf(folder)
      const { date: today } = wallClock(Date.now(), settings.timezone)
      const dated = mkdtempSync(join(tmpdir(), 'clinic-demo-'))
      try {
        for (const name of readdirSync(folder).filter((file) => file.endsWith('.csv')))
          writeFileSync(join(dated, name), withDates(readFileSync(join(folder, name), 'utf8'), today))
        return await loadFolder(table, settings, dated)
      } finally {
        rmSync(dated, { recursive: true })
      }
    }),
  )

/** A cell that is a day, a range of days, or a day with a time or a part of it. */
const DAY = /(?<=^|[,/"])[+-]\d{1,3}(?=[,/T ]|$)/gm

/** CSV with dates in place of days from `today` (`Y-m-d`). */
const withDates = (csv: string, today: string): string =>
  csv.replace(DAY, (days) => addDays(today, Number(days)))
