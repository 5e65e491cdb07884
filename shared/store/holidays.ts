/**
 * Holidays of a clinic: days on which no doctor works. They are one item, and each doctor has a copy, which availability
 * and bookings read with the doctor. A doctor who is added gets the copy in the transaction that adds the doctor.
 */
import { isDeepStrictEqual } from 'node:util'
import type { TimeOff } from '../domain/booking/doctor.ts'
import type { ClinicId } from '../domain/clinic.ts'
import { addDoctor, doctorStore, type Holidays, readHolidays, type StoredDoctor } from './doctors.ts'
import { holidaysKey } from './keys/clinics.ts'
import { unknownOf } from './table/attributes.ts'
import { Changeset } from './table/changeset.ts'
import { retryOnConflict } from './table/retries.ts'
import type { Table } from './table/table.ts'

export function holidayStore({ table }: { table: Table }) {
  const doctors = doctorStore({ table })

  const read = (clinic: ClinicId): Promise<Holidays> => readHolidays(table, clinic)

  /** The clinic's holidays, ascending. */
  const list = async (clinic: ClinicId): Promise<readonly TimeOff[]> => (await read(clinic)).holidays

  /** Doctors whose copy is not up to date: after an interruption, {@link refreshCopies} continues with them. */
  async function withoutCopy(clinic: ClinicId): Promise<StoredDoctor[]> {
    const holidays = await list(clinic)
    return (await doctors.list(clinic)).filter((doctor) => !isCopy(doctor, holidays))
  }

  /**
   * Writes holidays as they were read, and announces them if they differ. Copies are refreshed separately.
   * @throws ConditionFailed when they were changed since
   */
  async function save(
    clinic: ClinicId,
    before: Holidays,
    { holidays, imports }: Pick<Holidays, 'holidays' | 'imports'>,
  ): Promise<readonly TimeOff[]> {
    const days = holidays.toSorted((a, b) => (a.from + a.to < b.from + b.to ? -1 : 1))
    const { version } = before
    const changes = new Changeset(table, clinic)
    if (!isDeepStrictEqual(days, before.holidays)) changes.announceClinic('holidays')
    changes.put(
      {
        ...unknownOf(before),
        ...holidaysKey(clinic),
        days,
        ...(Object.keys(imports).length > 0 && { imports }),
        v: (version ?? 0) + 1,
      },
      version === null ? 'new' : { version },
    )
    await changes.commit()
    return days
  }

  /**
   * Sets the holidays that `change` makes of the present ones, and returns whether they differ. Nothing is written if they do not, or
   * if it throws. Copies are not refreshed.
   */
  const set = (
    clinic: ClinicId,
    change: (before: readonly TimeOff[]) => readonly TimeOff[],
  ): Promise<boolean> =>
    retryOnConflict(async () => {
      const before = await read(clinic)
      const holidays = change(before.holidays)
      if (isDeepStrictEqual(holidays, before.holidays)) return false
      await save(clinic, before, { ...before, holidays })
      return true
    })

  /** Brings the copies of all doctors up to date, also while others change holidays or doctors. Returns how many it changed. */
  async function refreshCopies(clinic: ClinicId): Promise<number> {
    const stale = await withoutCopy(clinic)
    for (const { id } of stale) await refreshCopy(clinic, id)
    return stale.length
  }

  /** Brings the copy of one doctor up to date. */
  const refreshCopy = (clinic: ClinicId, id: string): Promise<void> =>
    retryOnConflict(async () => {
      const [{ holidays, version }, before] = await Promise.all([read(clinic), doctors.find(clinic, id)])
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

  return { list, read, save, withoutCopy, hasCopy, set, refreshCopies, refreshCopy }
}

/** The most holidays that a clinic can have: twenty years of them. Each doctor has a copy. */
export const MAX_HOLIDAYS = 200

/** Whether two holidays, or a holiday and its import, are the same days. */
export const areSameDays = (a: Pick<TimeOff, 'from' | 'to'>, b: Pick<TimeOff, 'from' | 'to'>): boolean =>
  a.from === b.from && a.to === b.to

/** The imported holidays that were not removed. */
export const presentImports = ({
  holidays,
  imports,
}: Pick<Holidays, 'holidays' | 'imports'>): Holidays['imports'] =>
  Object.fromEntries(
    Object.entries(imports).filter(([, one]) => holidays.some((day) => areSameDays(day, one))),
  )

const isCopy = (doctor: StoredDoctor, holidays: readonly TimeOff[]): boolean =>
  isDeepStrictEqual(doctor.holidays ?? [], holidays)
