import { calendarList } from '../../../shared/store/calendar/calendar-list.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import {
  calendarKey,
  calendarPartition,
  doctorDayPartition,
  ownerPartition,
  roomDayPartition,
} from '../../../shared/store/keys/calendar.ts'
import { roomsPartition } from '../../../shared/store/keys/catalogue.ts'
import { doctorsPartition } from '../../../shared/store/keys/clinics.ts'
import { shortId } from '../../../shared/store/keys/key.ts'
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
import { decodeStoredPatient } from './patient-image.ts'
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
import { ItemSums } from './row-sums.ts'
import { settlementChecker } from './settlements.ts'
import { tallyChecker } from './tallies.ts'
import { unrepairedRows } from './unrepaired-rows.ts'

/** What verifies one kind of records. */
type Checkers = {
  readonly kind: RecordKind<AnyRecord>
  readonly sums: ItemSums
  readonly rows: ReturnType<typeof recordRowChecker>
  readonly names: ReturnType<typeof copiedNameChecker>
  readonly changes: ReturnType<typeof changeIndexChecker>
  readonly listed: ReturnType<typeof listedRowChecker>
  readonly tallied: ReturnType<typeof tallyChecker>
}

/**
 * Verifies appointments, invoices, payments and messages. A survey reads every item once, and compares the items that records
 * should have with those that are there by their sums. Only suspects are then read again and compared one by one: first the
 * records, then the items derived from them.
 */
export async function verifyCalendarLists(inspection: Inspection): Promise<void> {
  const { table, clinic, count } = inspection
  const unrepaired = unrepairedRows()
  const busy = busyTimeChecker(inspection)
  const settlements = settlementChecker(inspection, unrepaired)
  /** Existing doctors and rooms, and those that only appointments name. */
  const doctors = await idsOf(inspection, doctorsPartition(clinic))
  const rooms = await idsOf(inspection, roomsPartition(clinic))
  const named = new Map((await doctorStore({ table }).list(clinic)).map((doctor) => [doctor.id, doctor]))
  const open = <R extends AnyRecord>(kind: RecordKind<R>): Checkers =>
    openCheckers(inspection, kind as unknown as RecordKind<AnyRecord>, unrepaired)
  const appointments = open(APPOINTMENT_KIND)
  const invoices = open(INVOICE_KIND)
  const payments = open(PAYMENT_KIND)
  const all = [appointments, invoices, payments, open(MESSAGE_KIND)]
  const partitionOf = ({ kind }: Checkers) => calendarPartition(clinic, kind.entity.letter)
  const ownerOf = ({ kind }: Checkers, owner: 'patient' | 'invoice', id: string) =>
    ownerPartition(clinic, kind.entity.letter, owner, id)

  async function surveyRecords(checkers: Checkers): Promise<void> {
    const { kind, rows, changes } = checkers
    for await (const page of partitionPages(table, partitionOf(checkers))) {
      count(kind.name, page.length)
      rows.expectRows(page)
      changes.expectListed(page)
      if (checkers === appointments) surveyTimes(page)
      if (checkers === invoices) await forEachConcurrent(page, surveyPayments)
    }
    await changes.surveyIndex()
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
    await payments.listed.survey(ownerOf(payments, 'invoice', invoice.sk), (row) => found.push(row))
    settlements.survey(invoice, found)
  }

  const eachPatient = async (work: (patient: Item) => Promise<unknown>): Promise<void> => {
    for await (const page of partitionPages(table, patientKey(clinic, '').pk))
      await forEachConcurrent(page, work)
  }

  /** Surveys the lists of a patient, whose rows show the names that their records do. */
  async function surveyOwner(item: Item): Promise<void> {
    const patient = decodeStoredPatient(item)
    await Promise.all(
      all.map(({ kind: { entity }, listed, names }) =>
        listed.survey(ownerPartition(clinic, entity.letter, 'patient', item.sk), (row) =>
          names.survey(row, patient, named),
        ),
      ),
    )
  }

  async function checkSuspects(checkers: Checkers): Promise<void> {
    const { rows, names, changes, sums } = checkers
    const isSuspicious = sums.hasSuspects() || changes.hasSuspects()
    const hasTimes = checkers === appointments && busy.hasSuspects()
    if (!isSuspicious && !hasTimes) return
    for await (const page of partitionPages(table, partitionOf(checkers))) {
      await rows.check(page)
      // Owners that do not exist have no lists that could have been surveyed.
      await names.check(page.filter(({ sk }) => sums.isSuspect(shortId(sk))))
      await changes.checkRecords(page)
      if (hasTimes) await busy.checkRecords(page)
    }
    if (changes.hasSuspects()) await changes.checkIndex()
  }

  await Promise.all(all.map(surveyRecords))
  await forEachConcurrent(all, ({ tallied }) => tallied.survey(null))
  await forEachConcurrent([...doctors], async (doctor) => {
    await Promise.all([
      appointments.tallied.survey(doctor),
      busy.surveyDays(doctorDayPartition(clinic, doctor)),
    ])
  })
  await forEachConcurrent([...rooms], (room) => busy.surveyDays(roomDayPartition(clinic, room)))
  await eachPatient(surveyOwner)

  await Promise.all(all.map(checkSuspects))
  await forEachConcurrent(all, (checkers) =>
    checkers.names.checkSurveyed(checkers === payments ? settlements.renumbered : []),
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
    await eachPatient(({ sk }) =>
      Promise.all(suspicious.map((checkers) => checkers.listed.check(ownerOf(checkers, 'patient', sk)))),
    )
  if (!suspicious.includes(payments)) return settlements.checkSurveyed()
  for await (const page of partitionPages(table, partitionOf(invoices))) {
    await forEachConcurrent(page, ({ sk }) => payments.listed.check(ownerOf(payments, 'invoice', sk)))
    await settlements.check(page)
  }
}

function openCheckers(
  inspection: Inspection,
  kind: RecordKind<AnyRecord>,
  unrepaired: ReturnType<typeof unrepairedRows>,
): Checkers {
  const sums = new ItemSums()
  return {
    kind,
    sums,
    rows: recordRowChecker(inspection, kind, unrepaired, sums),
    names: copiedNameChecker(inspection, kind),
    changes: changeIndexChecker(inspection, indexedRecords(inspection, kind)),
    listed: listedRowChecker(inspection, kind, unrepaired, sums),
    tallied: tallyChecker(inspection, kind, unrepaired, sums),
  }
}

const indexedRecords = <R>({ table, clinic }: Inspection, { entity }: RecordKind<R>): IndexedRecords => ({
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

async function idsOf({ table }: Inspection, partition: string): Promise<Set<string>> {
  const ids = new Set<string>()
  for await (const page of partitionPages(table, partition)) for (const { sk } of page) ids.add(sk)
  return ids
}
