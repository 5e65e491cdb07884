import { doctorDayPartition, roomDayPartition } from '../../../store/keys/calendar.ts'
import type { Key } from '../../../store/keys/key.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { imageOf } from '../comparison/record-image.ts'
import { APPOINTMENT_LIST, type ListName } from '../comparison/verified-lists.ts'
import {
  type CalendarCheckers,
  type Checkers,
  forEachPatient,
  listOfOwner,
  openCalendarCheckers,
  recordsPartition,
} from './calendar-checkers.ts'

/**
 * Verifies appointments, invoices, payments or messages; invoices and payments only together. First every record is compared with
 * the items derived from it. Then every list is read and counted: only where it has more items than belong to records are these
 * compared with the records that they name.
 */
export async function verifyCalendarLists(inspection: Inspection, lists: readonly ListName[]): Promise<void> {
  const checkers = await openCalendarCheckers(inspection, lists)
  await Promise.all(checkers.all.map((own) => checkRecords(inspection, checkers, own)))
  await surveyLists(inspection, checkers)
  await checkSuspects(inspection, checkers)
}

/** Compares the records of one kind with their rows, the names that they show, their items in the index, and their days. */
async function checkRecords(
  { table, clinic, count }: Inspection,
  { appointments, invoices, busy, numbers, doctors, rooms }: CalendarCheckers,
  own: Checkers,
): Promise<void> {
  function addDoctorsAndRooms(page: readonly Item[]): void {
    for (const item of page) {
      const record = imageOf(clinic, APPOINTMENT_LIST.entity, item)?.record
      if (record) doctors.add(record.doctor.id)
      if (record?.room) rooms.add(record.room.id)
    }
  }

  for await (const page of partitionPages(table, recordsPartition(clinic, own))) {
    count(own.verified.name, page.length)
    await own.rows.check(page)
    await own.names.check(page)
    await own.changes.checkRecords(page)
    if (own === invoices) await numbers.check(page)
    if (own !== appointments) continue
    addDoctorsAndRooms(page)
    await busy.checkRecords(page)
  }
  await own.changes.checkIndex()
}

/** Reads every list and every day once, and finds what does not seem to match. */
async function surveyLists(inspection: Inspection, checkers: CalendarCheckers): Promise<void> {
  const { table, clinic } = inspection
  const { all, appointments, invoices, payments, busy, balances, doctors, rooms } = checkers

  /** Surveys the payments of invoices, and compares the invoices with them. */
  async function surveyInvoices(page: readonly Item[]): Promise<void> {
    const listed = page.map((invoice): [Item, Key[]] => [invoice, []])
    await forEachConcurrent(listed, ([{ sk }, rows]) =>
      payments.listed.survey(listOfOwner(clinic, payments, 'invoice', sk), (row) => rows.push(row)),
    )
    await balances.survey(listed)
  }

  await forEachConcurrent(all, ({ tallied }) => tallied.survey(null))
  if (all.includes(appointments)) {
    await forEachConcurrent([...doctors], async (doctor) => {
      await appointments.tallied.survey(doctor)
      await busy.surveyDays(doctorDayPartition(clinic, doctor))
    })
    await forEachConcurrent([...rooms], (room) => busy.surveyDays(roomDayPartition(clinic, room)))
  }
  await forEachPatient(inspection, ({ sk }) =>
    Promise.all(all.map((own) => own.listed.survey(listOfOwner(clinic, own, 'patient', sk)))),
  )
  if (all.includes(invoices))
    for await (const page of partitionPages(table, recordsPartition(clinic, invoices)))
      await surveyInvoices(page)
}

/** Compares the rows and the times that may belong to no record with the records that they name, and the tallies with the rows. */
async function checkSuspects(inspection: Inspection, checkers: CalendarCheckers): Promise<void> {
  const { table, clinic } = inspection
  const { all, appointments, invoices, payments, busy, balances, doctors, rooms } = checkers
  await busy.checkSurveyed()
  const suspicious = all.filter(({ counts }) => counts.hasSuspects())
  await forEachConcurrent(all, (own) =>
    suspicious.includes(own) ? own.tallied.check(null) : own.tallied.checkSurveyed(),
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
  if (suspicious.includes(payments))
    for await (const page of partitionPages(table, recordsPartition(clinic, invoices)))
      await forEachConcurrent(page, ({ sk }) =>
        payments.listed.check(listOfOwner(clinic, payments, 'invoice', sk)),
      )
  await balances.checkSurveyed()
}
