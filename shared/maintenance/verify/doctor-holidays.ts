import { toDoctor } from '../../store/doctors.ts'
import { holidayStore } from '../../store/holidays.ts'
import { doctorKey, doctorsPartition } from '../../store/keys/clinics.ts'
import { UnreadableRecord } from '../../store/table/unreadable-record.ts'
import { partitionPages } from '../walk/partition-pages.ts'
import type { Inspection } from './comparison/inspection.ts'

/** Verifies that each doctor has a copy of the clinic's holidays. A command that was interrupted may have left some out. */
export async function checkHolidays({ table, clinic, examine }: Inspection): Promise<void> {
  const holidays = holidayStore({ table })
  for await (const page of partitionPages(table, doctorsPartition(clinic), { keysOnly: true }))
    for (const { sk: id } of page)
      await examine(async () => {
        if (!(await isOutdated(id))) return null
        return {
          differences: [{ kind: 'holidays_outdated', key: doctorKey(clinic, id) }],
          repair: () => holidays.refreshCopy(clinic, id),
        }
      })

  /** A doctor who cannot be read was reported before. */
  async function isOutdated(id: string): Promise<boolean> {
    const item = await table.get(doctorKey(clinic, id))
    try {
      return item !== undefined && !(await holidays.hasCopy(clinic, toDoctor(item)))
    } catch (error) {
      if (error instanceof UnreadableRecord) return false
      throw error
    }
  }
}
