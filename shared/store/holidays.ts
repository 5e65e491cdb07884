/**
 * Holidays of a clinic: days on which no doctor works. They are one item, and each doctor has a copy, which availability
 * and bookings read with the doctor. A doctor who is added gets the copy in the transaction that adds the doctor.
 */
import { isDeepStrictEqual } from 'node:util'
import { isSameSpan, MAX_HOLIDAYS, type TimeOff, type TimeOffSpan } from '../domain/booking/doctor.ts'
import { formatSpan } from '../domain/booking/doctor-days.ts'
import type { ClinicId } from '../domain/clinic.ts'
import { timeOffId } from '../domain/uuid.ts'
import { addDoctor, doctorStore, type Holidays, readHolidays, type StoredDoctor } from './doctors.ts'
import { holidaysKey } from './keys/clinics.ts'
import { holidaysOwner } from './keys/copies.ts'
import { unknownOf } from './table/attributes.ts'
import { Changeset } from './table/changeset.ts'
import { mapConcurrent } from './table/map-concurrent.ts'
import { retryOnConflict } from './table/retries.ts'
import type { Table } from './table/table.ts'

export function holidayStore({ table }: { table: Table }) {
  const doctors = doctorStore({ table })

  const read = (clinic: ClinicId): Promise<Holidays> => readHolidays(table, clinic)

  /**
   * Writes holidays as they were read, and announces them if they differ. Copies are refreshed separately. A removed holiday gives up
   * its days to one that is added.
   * @throws ConditionFailed when they were changed since
   */
  async function save(
    clinic: ClinicId,
    before: Holidays,
    { holidays, imports }: HolidayChange,
    extendChanges: (changes: Changeset) => void = () => {},
  ): Promise<readonly TimeOff[]> {
    const days = holidays.toSorted((a, b) => (a.from + a.to < b.from + b.to ? -1 : 1))
    const { version } = before
    const added = days.filter((day) => !before.holidays.some((one) => isSameSpan(one, day)))
    const kept = Object.entries(imports).filter(
      ([id, one]) => one !== before.imports[id] || !added.some((day) => isSameSpan(day, one)),
    )
    const changes = new Changeset(table, clinic)
    if (!isDeepStrictEqual(days, before.holidays)) {
      changes.announceClinic('holidays')
      changes.markStale(holidaysOwner(clinic))
    }
    changes.put(
      {
        ...unknownOf(before),
        ...holidaysKey(clinic),
        days,
        ...(kept.length > 0 && { imports: Object.fromEntries(kept) }),
        v: (version ?? 0) + 1,
      },
      version === null ? 'new' : { version },
    )
    extendChanges(changes)
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
    const { holidays } = await read(clinic)
    const stale = (await doctors.list(clinic)).filter((doctor) => !isCopy(doctor, holidays))
    await mapConcurrent(COPIES_AT_ONCE, stale, ({ id }) => refreshCopy(clinic, id))
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
    isCopy(doctor, (await read(clinic)).holidays)

  return { read, save, hasCopy, set, refreshCopies, refreshCopy }
}

/** What a change of holidays writes. */
export type HolidayChange = Pick<Holidays, 'holidays' | 'imports'>

const COPIES_AT_ONCE = 8

/** The imported holidays that were not removed. */
export const presentImports = ({
  holidays,
  imports,
}: Pick<Holidays, 'holidays' | 'imports'>): Holidays['imports'] =>
  Object.fromEntries(
    Object.entries(imports).filter(([, one]) => holidays.some((day) => isSameSpan(day, one))),
  )

/** The item would grow without end if it remembered every holiday that was ever removed. */
export const keptImports = (held: HolidayChange): Holidays['imports'] =>
  Object.keys(held.imports).length < 2 * MAX_HOLIDAYS ? held.imports : presentImports(held)

/** The id of a holiday: the one that its external id has in imports, or else one that follows from its days. */
export function holidayId(
  clinic: ClinicId,
  { imports }: Pick<Holidays, 'imports'>,
  day: TimeOffSpan,
): string {
  const imported = Object.entries(imports).find(([, one]) => isSameSpan(one, day))
  return imported?.[0] ?? timeOffId(clinic, formatSpan(day))
}

const isCopy = (doctor: StoredDoctor, holidays: readonly TimeOff[]): boolean =>
  isDeepStrictEqual(doctor.holidays ?? [], holidays)
