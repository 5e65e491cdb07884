import { doctorDayPartition, roomDayPartition } from '../../../shared/store/keys/calendar.ts'
import { shortId } from '../../../shared/store/keys/key.ts'
import {
  type CalendarCheckers,
  type Checkers,
  forEachPatient,
  listOfOwner,
  openCalendarCheckers,
  recordsPartition,
} from './calendar-checkers.ts'
import { surveyCalendarLists } from './calendar-survey.ts'
import { forEachConcurrent } from './for-each-concurrent.ts'
import type { Inspection } from './inspection.ts'
import { partitionPages } from './partition-pages.ts'
import type { KindName } from './record-kinds.ts'

/**
 * Verifies appointments, invoices, payments or messages; invoices and payments only together. A survey reads every item once, and
 * compares the items that records should have with those that are there by their sums. Only suspects are then read again and
 * compared one by one: first the records, then the items derived from them.
 */
export async function verifyCalendarLists(inspection: Inspection, kinds: readonly KindName[]): Promise<void> {
  const { table, clinic } = inspection
  const checkers = await openCalendarCheckers(inspection, kinds)
  const { all, appointments, invoices, payments, busy, settlements, doctors, rooms } = checkers
  await surveyCalendarLists(inspection, checkers)

  await Promise.all(all.map((own) => checkSuspects(inspection, checkers, own)))
  await forEachConcurrent(all, (own) =>
    own.names.checkSurveyed(own === payments ? settlements.renumbered : []),
  )
  const suspicious = all.filter(({ sums }) => sums.hasSuspects())
  await forEachConcurrent(all, ({ tallied, sums }) =>
    sums.hasSuspects() ? tallied.check(null) : tallied.checkSurveyed(),
  )
  if (suspicious.includes(appointments))
    await forEachConcurrent([...doctors], (doctor) => appointments.tallied.check(doctor))
  if (busy.hasSuspects()) {
    await forEachConcurrent([...doctors], (doctor) => busy.checkDays(doctorDayPartition(clinic, doctor)))
    await forEachConcurrent([...rooms], (room) => busy.checkDays(roomDayPartition(clinic, room)))
  }
  if (suspicious.length > 0)
    await forEachPatient(inspection, ({ sk }) =>
      Promise.all(suspicious.map((own) => own.listed.check(listOfOwner(clinic, own, 'patient', sk)))),
    )
  if (!suspicious.includes(payments)) return settlements.checkSurveyed()
  for await (const page of partitionPages(table, recordsPartition(clinic, invoices))) {
    await forEachConcurrent(page, ({ sk }) =>
      payments.listed.check(listOfOwner(clinic, payments, 'invoice', sk)),
    )
    await settlements.check(page)
  }
}

/** Compares the suspects of one kind with their rows, the names that they show, their places in the index, and their days. */
async function checkSuspects(
  { table, clinic }: Inspection,
  { appointments, busy }: CalendarCheckers,
  own: Checkers,
): Promise<void> {
  const { rows, names, changes, sums } = own
  const hasTimes = own === appointments && busy.hasSuspects()
  if (!sums.hasSuspects() && !changes.hasSuspects() && !hasTimes) return
  for await (const page of partitionPages(table, recordsPartition(clinic, own))) {
    await rows.check(page)
    // Owners that do not exist have no lists that could have been surveyed.
    await names.check(page.filter(({ sk }) => sums.isSuspect(shortId(sk))))
    await changes.checkRecords(page)
    if (hasTimes) await busy.checkRecords(page)
  }
  if (changes.hasSuspects()) await changes.checkIndex()
}
