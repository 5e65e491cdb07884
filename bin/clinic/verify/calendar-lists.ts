import { calendarList } from '../../../shared/store/calendar/calendar-list.ts'
import {
  calendarKey,
  calendarPartition,
  doctorDayPartition,
  ownerPartition,
  roomDayPartition,
} from '../../../shared/store/keys/calendar.ts'
import { roomsPartition } from '../../../shared/store/keys/catalogue.ts'
import { doctorsPartition } from '../../../shared/store/keys/clinics.ts'
import { patientKey } from '../../../shared/store/keys/patients.ts'
import { Changeset } from '../../../shared/store/table/changeset.ts'
import type { Item } from '../../../shared/store/table/write-requests.ts'
import { busyTimeChecker } from './busy-times.ts'
import { changeIndexChecker, type IndexedRecords } from './change-index.ts'
import { copiedNameChecker } from './copied-names.ts'
import { forEachConcurrent } from './for-each-concurrent.ts'
import type { Inspection } from './inspection.ts'
import { listedRowChecker } from './listed-rows.ts'
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
import { recordRowChecker } from './record-rows.ts'
import { settlementChecker } from './settlements.ts'
import { tallyChecker } from './tallies.ts'
import { unrepairedRows } from './unrepaired-rows.ts'

/** Verifies appointments, invoices, payments and messages: first the records, then the items derived from them. */
export async function verifyCalendarLists(inspection: Inspection): Promise<void> {
  const { table, clinic } = inspection
  const unrepaired = unrepairedRows()
  const busy = busyTimeChecker(inspection)
  /** Existing doctors and rooms, and those that only appointments name. */
  const doctors = await idsOf(doctorsPartition(clinic))
  const rooms = await idsOf(roomsPartition(clinic))

  async function idsOf(partition: string): Promise<Set<string>> {
    const ids = new Set<string>()
    for await (const page of partitionPages(table, partition)) for (const { sk } of page) ids.add(sk)
    return ids
  }

  const indexedRecords = <R>({ entity }: RecordKind<R>): IndexedRecords => ({
    kind: entity.letter,
    keyOf: (id) => calendarKey(clinic, entity.letter, id),
    updatedAtOf: (item) => imageOf(clinic, entity, item)?.record.updatedAt ?? null,
    rewrite: (item) => {
      const image = imageOf(clinic, entity, item)
      return (
        image &&
        (() => {
          const changes = new Changeset(table, clinic)
          calendarList<R, never>({ table }, entity).change(changes, image, image.record)
          return changes.commit()
        })
      )
    },
  })

  async function verifyRecords<R extends AnyRecord>(kind: RecordKind<R>): Promise<void> {
    const rows = recordRowChecker(inspection, kind, unrepaired)
    const names = copiedNameChecker(inspection, kind)
    const changes = changeIndexChecker(inspection, indexedRecords(kind))
    for await (const page of partitionPages(table, calendarPartition(clinic, kind.entity.letter))) {
      inspection.count(kind.name, page.length)
      await rows.check(page)
      await names.check(page)
      await changes.checkRecords(page)
      if (kind.name === 'appointments') await verifyBusyTimes(page)
    }
    await changes.checkIndex()
  }

  async function verifyBusyTimes(appointments: readonly Item[]): Promise<void> {
    for (const item of appointments) {
      const record = imageOf(clinic, APPOINTMENT_KIND.entity, item)?.record
      if (record) doctors.add(record.doctor.id)
      if (record?.room) rooms.add(record.room.id)
    }
    await busy.checkRecords(appointments)
  }

  const listCheckers = <R>(kind: RecordKind<R>) => {
    const rows = listedRowChecker(inspection, kind, unrepaired)
    const tallied = tallyChecker(inspection, kind, unrepaired)
    const ofPatient = (id: string) => rows.check(ownerPartition(clinic, kind.entity.letter, 'patient', id))
    return { tallied, ofPatient }
  }

  async function verifySettlements(): Promise<void> {
    const { check } = settlementChecker(inspection, unrepaired)
    const payments = listedRowChecker(inspection, PAYMENT_KIND, unrepaired)
    for await (const page of partitionPages(table, calendarPartition(clinic, INVOICE_KIND.entity.letter))) {
      await forEachConcurrent(page, ({ sk }) =>
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
  const appointments = listCheckers(APPOINTMENT_KIND)
  const all = [
    appointments,
    listCheckers(INVOICE_KIND),
    listCheckers(PAYMENT_KIND),
    listCheckers(MESSAGE_KIND),
  ]
  await forEachConcurrent(all, ({ tallied }) => tallied.check(null))
  await forEachConcurrent([...doctors], async (doctor) => {
    const days = busy.checkDays(doctorDayPartition(clinic, doctor))
    await Promise.all([appointments.tallied.check(doctor), days])
  })
  await forEachConcurrent([...rooms], (room) => busy.checkDays(roomDayPartition(clinic, room)))
  for await (const patients of partitionPages(table, patientKey(clinic, '').pk)) {
    await forEachConcurrent(patients, ({ sk }) => Promise.all(all.map(({ ofPatient }) => ofPatient(sk))))
  }
  await verifySettlements()
}
