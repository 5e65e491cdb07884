import { doctorStore } from '../../store/doctors.ts'
import { holidayStore } from '../../store/holidays.ts'
import { doctorKey } from '../../store/keys/clinics.ts'
import type { Inspection } from './comparison/inspection.ts'

/** Verifies that each doctor has a copy of the clinic's holidays. A command that was interrupted may have left some out. */
export async function checkHolidays({ table, clinic, examine }: Inspection): Promise<void> {
  const holidays = holidayStore({ table })
  for (const { id } of await holidays.withoutCopy(clinic))
    await examine(async () => {
      const doctor = await doctorStore({ table }).find(clinic, id)
      if (!doctor || (await holidays.hasCopy(clinic, doctor))) return null
      return {
        differences: [{ kind: 'holidays_outdated', key: doctorKey(clinic, id) }],
        repair: () => holidays.refreshCopy(clinic, id),
      }
    })
}
