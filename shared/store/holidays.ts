/**
 * Holidays of a clinic: days on which no doctor works. They are one item, and each doctor has a copy, which availability
 * and bookings read with the doctor. A doctor who is added gets the copy in the transaction that adds the doctor.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../domain/clinic.ts'
import type { TimeOff } from '../domain/doctor.ts'
import { addDoctor, doctorStore, readHolidays, type StoredDoctor } from './doctors.ts'
import { holidaysKey } from './keys/clinics.ts'
import { Changeset } from './table/changeset.ts'
import { retryOnConflict } from './table/retry-on-conflict.ts'
import type { Table } from './table/table.ts'

export function holidayStore({ table }: { table: Table }) {
  const doctors = doctorStore({ table })

  /** The clinic's holidays, ascending. */
  const list = async (clinic: ClinicId): Promise<readonly TimeOff[]> =>
    (await readHolidays(table, clinic)).holidays

  /** Doctors whose copy is not up to date: after an interruption, {@link refreshCopies} goes on with them. */
  async function withoutCopy(clinic: ClinicId): Promise<StoredDoctor[]> {
    const holidays = await list(clinic)
    return (await doctors.list(clinic)).filter((doctor) => !isCopy(doctor, holidays))
  }

  /** Sets the holidays that `change` makes of the present ones. It may throw to refuse. Copies are refreshed separately. */
  async function set(
    clinic: ClinicId,
    change: (before: readonly TimeOff[]) => readonly TimeOff[],
  ): Promise<readonly TimeOff[]> {
    return retryOnConflict(async () => {
      const { holidays, version } = await readHolidays(table, clinic)
      const after = change(holidays).toSorted((a, b) => (a.from + a.to < b.from + b.to ? -1 : 1))
      const changes = new Changeset(table, clinic)
      changes.put(
        { ...holidaysKey(clinic), days: after, v: (version ?? 0) + 1 },
        version === null ? 'new' : { version },
      )
      await changes.commit()
      return after
    })
  }

  /** Brings the copies of all doctors up to date, also while others change holidays or doctors. Returns how many it changed. */
  async function refreshCopies(clinic: ClinicId): Promise<number> {
    const stale = await withoutCopy(clinic)
    for (const { id } of stale) await refreshCopy(clinic, id)
    return stale.length
  }

  /** Brings the copy of one doctor up to date. */
  const refreshCopy = (clinic: ClinicId, id: string): Promise<void> =>
    retryOnConflict(async () => {
      const [{ holidays, version }, before] = await Promise.all([
        readHolidays(table, clinic),
        doctors.find(clinic, id),
      ])
      if (!before || isCopy(before, holidays)) return
      const changes = new Changeset(table, clinic)
      const { version: _, ...doctor } = before
      addDoctor(changes, { before, after: { ...doctor, holidays } })
      changes.requireVersion(holidaysKey(clinic), version)
      await changes.commit()
    })

  /** Whether the copy of a doctor is up to date. */
  const hasCopy = async (clinic: ClinicId, doctor: StoredDoctor): Promise<boolean> =>
    isCopy(doctor, await list(clinic))

  return { list, withoutCopy, hasCopy, set, refreshCopies, refreshCopy }
}

const isCopy = (doctor: StoredDoctor, holidays: readonly TimeOff[]): boolean =>
  isDeepStrictEqual(doctor.holidays ?? [], holidays)
