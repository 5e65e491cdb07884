/** Checkers of the records of calendar lists, and of the lists. */
import type { ClinicId } from '../../../domain/clinic.ts'
import { calendarList } from '../../../store/calendar/calendar-list.ts'
import { calendarKey, calendarPartition, ownerPartition } from '../../../store/keys/calendar.ts'
import { roomsPartition } from '../../../store/keys/catalogue.ts'
import { doctorsPartition } from '../../../store/keys/clinics.ts'
import type { Key } from '../../../store/keys/key.ts'
import { patientKey } from '../../../store/keys/patients.ts'
import { Changeset } from '../../../store/table/changeset.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import { changeIndexChecker, type IndexedRecords } from '../comparison/change-index.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { KeySums } from '../comparison/key-sums.ts'
import { imageOf } from '../comparison/record-image.ts'
import { unrepairedRows } from '../comparison/unrepaired-rows.ts'
import {
  type AnyRecord,
  APPOINTMENT_LIST,
  INVOICE_LIST,
  type ListName,
  MESSAGE_LIST,
  PAYMENT_LIST,
  type VerifiedList,
} from '../comparison/verified-lists.ts'
import { busyTimeChecker } from './busy-times.ts'
import { copiedNameChecker } from './copied-names.ts'
import { balanceChecker } from './invoice-balances.ts'
import { invoiceNumberChecker } from './invoice-numbers.ts'
import { listedRowChecker } from './listed-rows.ts'
import { recordRowChecker } from './record-rows.ts'
import { tallyChecker } from './tallies.ts'

/** Verifies one list. */
export type Checkers = {
  readonly verified: VerifiedList<AnyRecord>
  readonly counts: KeySums
  readonly rows: ReturnType<typeof recordRowChecker>
  readonly names: ReturnType<typeof copiedNameChecker>
  readonly changes: ReturnType<typeof changeIndexChecker>
  readonly listed: ReturnType<typeof listedRowChecker>
  readonly tallied: ReturnType<typeof tallyChecker>
}

export type CalendarCheckers = Awaited<ReturnType<typeof openCalendarCheckers>>

/** Verifies some lists. `all` has only these. */
export async function openCalendarCheckers(inspection: Inspection, lists: readonly ListName[]) {
  const { clinic } = inspection
  const unrepaired = unrepairedRows()
  const open = <R extends AnyRecord>(verified: VerifiedList<R>): Checkers =>
    openCheckers(inspection, verified as unknown as VerifiedList<AnyRecord>, unrepaired)
  const appointments = open(APPOINTMENT_LIST)
  const invoices = open(INVOICE_LIST)
  const payments = open(PAYMENT_LIST)
  return {
    busy: busyTimeChecker(inspection),
    numbers: invoiceNumberChecker(inspection),
    balances: balanceChecker(inspection, unrepaired),
    appointments,
    invoices,
    payments,
    all: [appointments, invoices, payments, open(MESSAGE_LIST)].filter(({ verified }) =>
      lists.includes(verified.name),
    ),
    /** Existing doctors and rooms, and those that only appointments name. */
    doctors: await idsOf(inspection, doctorsPartition(clinic)),
    rooms: await idsOf(inspection, roomsPartition(clinic)),
  }
}

export const recordsPartition = (clinic: ClinicId, { verified }: Checkers): string =>
  calendarPartition(clinic, verified.entity.entityCode)

export const listOfOwner = (
  clinic: ClinicId,
  { verified }: Checkers,
  owner: 'patient' | 'invoice',
  id: string,
): string => ownerPartition(clinic, verified.entity.entityCode, owner, id)

export async function forEachPatient(
  { table, clinic }: Inspection,
  work: (patient: Key) => Promise<unknown>,
): Promise<void> {
  for await (const page of partitionPages(table, patientKey(clinic, '').pk, { keysOnly: true }))
    await forEachConcurrent(page, work)
}

function openCheckers(
  inspection: Inspection,
  verified: VerifiedList<AnyRecord>,
  unrepaired: ReturnType<typeof unrepairedRows>,
): Checkers {
  const counts = new KeySums()
  return {
    verified,
    counts,
    rows: recordRowChecker(inspection, verified, unrepaired, counts),
    names: copiedNameChecker(inspection, verified, counts),
    changes: changeIndexChecker(inspection, indexedRecords(inspection, verified)),
    listed: listedRowChecker(inspection, verified, unrepaired, counts),
    tallied: tallyChecker(inspection, verified, unrepaired, counts),
  }
}

const indexedRecords = <R>({ table, clinic }: Inspection, { entity }: VerifiedList<R>): IndexedRecords => ({
  kind: entity.entityCode,
  keyOf: (id) => calendarKey(clinic, entity.entityCode, id),
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
  for await (const page of partitionPages(table, partition, { keysOnly: true }))
    for (const { sk } of page) ids.add(sk)
  return ids
}
