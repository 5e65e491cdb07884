import { isSameSpan, MAX_HOLIDAYS, type TimeOff } from '../../domain/booking/doctor.ts'
import { formatSpan } from '../../domain/booking/doctor-days.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import { timeOffId } from '../../domain/uuid.ts'
import type { Holidays } from '../doctors.ts'
import { newRecordId } from '../external-ids/new-record-id.ts'
import { type HolidayChange, holidayId, holidayStore, keptImports } from '../holidays.ts'
import { holidaysOwner } from '../keys/copies.ts'
import { Changeset } from '../table/changeset.ts'
import type { RequestedWrite } from '../table/idempotency.ts'
import { optionalWork } from '../table/request-scope.ts'
import { retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import { copiedNames } from './copied-names.ts'

export type Holiday = TimeOff & { readonly id: string }

/** The holiday cannot be added. The message says why. */
export class HolidayRejected extends Error {}

/**
 * Changes holidays for requests, and then the copies of doctors, while the request has time. A sweep finishes the others. If nothing
 * changes, only the response is stored.
 */
export function holidayChanges(table: Table) {
  const holidays = holidayStore({ table })
  const copies = copiedNames(table)

  async function change<T>(
    clinic: ClinicId,
    decide: (before: Holidays) => Promise<{ readonly after: HolidayChange; readonly result: T }>,
    write: RequestedWrite<T>,
  ): Promise<T> {
    const attempt = async () => {
      const [before] = await Promise.all([holidays.read(clinic), write.requireNew()])
      const { after, result } = await decide(before)
      const store = (changes: Changeset) => write.store(changes, result, '')
      if (after !== before) {
        await holidays.save(clinic, before, after, store)
        return result
      }
      const changes = new Changeset(table, clinic)
      store(changes)
      await changes.commit()
      return result
    }
    const result = await retryOnConflict(attempt)
    await optionalWork(() => copies.refresh(clinic, holidaysOwner(clinic)))
    return result
  }

  /**
   * Adds a holiday. Returns the present one if the clinic has one of the same days.
   * @throws HolidayRejected; ExternalIdTaken; RequestCompleted
   */
  const add = (
    clinic: ClinicId,
    day: TimeOff,
    externalId: string | null,
    write: RequestedWrite<Holiday>,
  ): Promise<Holiday> =>
    change(
      clinic,
      async (before) => {
        const present = before.holidays.find((one) => isSameSpan(one, day))
        const presentId = present && holidayId(clinic, before, present)
        const presentExternalId = presentId && before.imports[presentId]?.externalId
        if (present && presentId && (externalId === null || externalId === presentExternalId))
          return { after: before, result: { ...present, id: presentId } }
        if (presentExternalId)
          throw new HolidayRejected('is the first day of another holiday of the same days')
        if (!present && before.holidays.length >= MAX_HOLIDAYS)
          throw new HolidayRejected(
            `cannot be added: the clinic has ${MAX_HOLIDAYS} holidays already, the most that it can have`,
          )
        const created = { id: timeOffId(clinic, formatSpan(day)), externalId }
        const id = await newRecordId(table, clinic, 'holiday', created, (asked) =>
          before.holidays.some((one) => one !== present && holidayId(clinic, before, one) === asked),
        )
        const added = present ?? day
        const { from, to } = added
        const after = {
          holidays: [...before.holidays.filter((one) => one !== present), added],
          imports:
            externalId === null ? before.imports : { ...keptImports(before), [id]: { from, to, externalId } },
        }
        return { after, result: { ...added, id } }
      },
      write,
    )

  /** Removes a holiday, and returns whether the clinic had it. */
  const remove = (clinic: ClinicId, id: string, write: RequestedWrite<boolean>): Promise<boolean> =>
    change(
      clinic,
      async (before) => {
        const kept = before.holidays.filter((one) => holidayId(clinic, before, one) !== id)
        const isRemoved = kept.length < before.holidays.length
        return { after: isRemoved ? { ...before, holidays: kept } : before, result: isRemoved }
      },
      write,
    )

  return { add, remove }
}
