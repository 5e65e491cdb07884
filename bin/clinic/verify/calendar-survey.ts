import { doctorStore } from '../../../shared/store/doctors.ts'
import { doctorDayPartition, roomDayPartition } from '../../../shared/store/keys/calendar.ts'
import type { Item } from '../../../shared/store/table/write-requests.ts'
import {
  type CalendarCheckers,
  type Checkers,
  forEachPatient,
  listOfOwner,
  recordsPartition,
} from './calendar-checkers.ts'
import { forEachConcurrent } from './for-each-concurrent.ts'
import type { Inspection } from './inspection.ts'
import { partitionPages } from './partition-pages.ts'
import { decodeStoredPatient } from './patient-image.ts'
import { imageOf } from './record-image.ts'
import { APPOINTMENT_KIND } from './record-kinds.ts'

/** Reads every record, and every item that is derived from it, once, and finds what does not seem to match. */
export async function surveyCalendarLists(inspection: Inspection, checkers: CalendarCheckers): Promise<void> {
  const { table, clinic, count } = inspection
  const { all, appointments, invoices, payments, busy, settlements, doctors, rooms } = checkers
  const named = new Map((await doctorStore({ table }).list(clinic)).map((doctor) => [doctor.id, doctor]))

  async function surveyRecords(own: Checkers): Promise<void> {
    for await (const page of partitionPages(table, recordsPartition(clinic, own))) {
      count(own.kind.name, page.length)
      own.rows.expectRows(page)
      own.changes.expectListed(page)
      if (own === appointments) surveyTimes(page)
      if (own === invoices) await forEachConcurrent(page, surveyPayments)
    }
    await own.changes.surveyIndex()
  }

  function surveyTimes(page: readonly Item[]): void {
    busy.expectTimes(page)
    for (const item of page) {
      const record = imageOf(clinic, APPOINTMENT_KIND.entity, item)?.record
      if (record) doctors.add(record.doctor.id)
      if (record?.room) rooms.add(record.room.id)
    }
  }

  async function surveyPayments(invoice: Item): Promise<void> {
    const found: Item[] = []
    const list = listOfOwner(clinic, payments, 'invoice', invoice.sk)
    await payments.listed.survey(list, (row) => found.push(row))
    settlements.survey(invoice, found)
  }

  /** Surveys the lists of a patient, whose rows show the names that their records do. */
  async function surveyPatient(item: Item): Promise<void> {
    const patient = decodeStoredPatient(item)
    await Promise.all(
      all.map((own) =>
        own.listed.survey(listOfOwner(clinic, own, 'patient', item.sk), (row) =>
          own.names.survey(row, patient, named),
        ),
      ),
    )
  }

  async function surveyDoctorsAndRooms(): Promise<void> {
    await forEachConcurrent([...doctors], async (doctor) => {
      const days = busy.surveyDays(doctorDayPartition(clinic, doctor))
      await Promise.all([appointments.tallied.survey(doctor), days])
    })
    await forEachConcurrent([...rooms], (room) => busy.surveyDays(roomDayPartition(clinic, room)))
  }

  await Promise.all(all.map(surveyRecords))
  await forEachConcurrent(all, ({ tallied }) => tallied.survey(null))
  if (all.includes(appointments)) await surveyDoctorsAndRooms()
  await forEachPatient(inspection, surveyPatient)
}
