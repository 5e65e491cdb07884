import { calendarPartition, ownerPartition } from '../../../shared/store/keys/calendar.ts'
import { doctorsPartition } from '../../../shared/store/keys/clinics.ts'
import { patientKey } from '../../../shared/store/keys/patients.ts'
import type { Item } from '../../../shared/store/table/table.ts'
import { busyTimes } from './busy-times.ts'
import { copiedNames } from './copied-names.ts'
import { eachAbreast } from './each-abreast.ts'
import type { Inspection } from './inspection.ts'
import { listedRows } from './listed-rows.ts'
import { partitionPages } from './partition-pages.ts'
import { imageOf } from './record-image.ts'
import {
  type AnyRecord,
  APPOINTMENT_KIND,
  INVOICE_KIND,
  MESSAGE_KIND,
  PAYMENT_KIND,
  type RecordKind,
} from './record-kinds.ts'
import { recordRows } from './record-rows.ts'
import { settlements } from './settlements.ts'
import { talliedList } from './tallies.ts'
import { unmendedRows } from './unmended-rows.ts'

/** Verifies appointments, invoices, payments and messages: records first, what follows from them after. */
export async function verifyCalendarLists(inspection: Inspection): Promise<void> {
  const { table, clinic } = inspection
  const unmended = unmendedRows()
  const busy = busyTimes(inspection)
  /** Those there are, and those that only appointments name. */
  const doctors = new Set<string>()
  for await (const page of partitionPages(table, doctorsPartition(clinic))) {
    for (const { sk } of page) doctors.add(sk)
  }

  async function verifyRecords<R extends AnyRecord>(kind: RecordKind<R>): Promise<void> {
    const rows = recordRows(inspection, kind, unmended)
    const names = copiedNames(inspection, kind)
    for await (const page of partitionPages(table, calendarPartition(clinic, kind.entity.letter))) {
      inspection.count(kind.name, page.length)
      await rows.check(page)
      await names.check(page)
      if (kind.name === 'appointments') await verifyTimes(page)
    }
  }

  async function verifyTimes(appointments: readonly Item[]): Promise<void> {
    for (const item of appointments) {
      const doctor = imageOf(clinic, APPOINTMENT_KIND.entity, item)?.place.doctor
      if (doctor !== undefined) doctors.add(doctor)
    }
    await busy.checkRecords(appointments)
  }

  const listsOf = <R>(kind: RecordKind<R>) => {
    const rows = listedRows(inspection, kind, unmended)
    const tallied = talliedList(inspection, kind, unmended)
    const ofPatient = (id: string) => rows.check(ownerPartition(clinic, kind.entity.letter, 'patient', id))
    return { tallied, ofPatient }
  }

  async function verifySettlements(): Promise<void> {
    const { check } = settlements(inspection, unmended)
    const payments = listedRows(inspection, PAYMENT_KIND, unmended)
    for await (const page of partitionPages(table, calendarPartition(clinic, INVOICE_KIND.entity.letter))) {
      await eachAbreast(page, ({ sk }) =>
        payments.check(ownerPartition(clinic, PAYMENT_KIND.entity.letter, 'invoice', sk)),
      )
      await check(page)
    }
  }

  await Promise.all([
    verifyRecords(APPOINTMENT_KIND),
    verifyRecords(INVOICE_KIND),
    verifyRecords(PAYMENT_KIND),
    verifyRecords(MESSAGE_KIND),
  ])
  const appointments = listsOf(APPOINTMENT_KIND)
  const all = [appointments, listsOf(INVOICE_KIND), listsOf(PAYMENT_KIND), listsOf(MESSAGE_KIND)]
  await eachAbreast(all, ({ tallied }) => tallied.check(null))
  await eachAbreast([...doctors], async (doctor) => {
    await Promise.all([appointments.tallied.check(doctor), busy.checkDays(doctor)])
  })
  for await (const patients of partitionPages(table, patientKey(clinic, '').pk)) {
    await eachAbreast(patients, ({ sk }) => Promise.all(all.map(({ ofPatient }) => ofPatient(sk))))
  }
  await verifySettlements()
}
