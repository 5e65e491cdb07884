/** Compares the records of a clinic in the table in use with those in a copy of an earlier time. */
import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../../../domain/clinic.ts'
import { calendarPartition } from '../../../store/keys/calendar.ts'
import {
  departmentsPartition,
  priceListsPartition,
  roomsPartition,
  treatmentsPartition,
} from '../../../store/keys/catalogue.ts'
import { doctorsPartition } from '../../../store/keys/clinics.ts'
import { patientKey } from '../../../store/keys/patients.ts'
import type { Table } from '../../../store/table/table.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { partitionPages } from '../../walk/partition-pages.ts'

/** The table in use, and the copy of it as it was at an earlier time. */
export type ClinicTables = { readonly table: Table; readonly copy: Table }

/** The kinds of records that are restored, in the order in which they are written: each refers only to those before it. */
export const RESTORED_KINDS = [
  'department',
  'room',
  'treatment',
  'price-list',
  'doctor',
  'patient',
  'appointment',
  'payment',
  'invoice',
] as const
export type RestoredKind = (typeof RESTORED_KINDS)[number]

const PARTITIONS: Readonly<Record<RestoredKind, (clinic: ClinicId) => string>> = {
  department: departmentsPartition,
  room: roomsPartition,
  treatment: treatmentsPartition,
  'price-list': priceListsPartition,
  doctor: doctorsPartition,
  patient: (clinic) => patientKey(clinic, '').pk,
  appointment: (clinic) => calendarPartition(clinic, 'A'),
  payment: (clinic) => calendarPartition(clinic, 'Y'),
  invoice: (clinic) => calendarPartition(clinic, 'I'),
}

/** The version, the number of events, the time of the last change, and what an import has noted of its row. */
const NEVER_COMPARED = ['v', 'ev', 'u', 'updatedAt', 'im']

/** What follows from other items: a position, and copies of names, addresses and holidays. They are written with those. */
const DERIVED: Readonly<Partial<Record<RestoredKind, readonly string[]>>> = {
  doctor: ['holidays'],
  patient: ['o'],
  appointment: ['pn', 'dn'],
  payment: ['pn'],
  // The balance follows from the payments, which are compared.
  invoice: ['pn', 'pe', 's', 'paid', 'at'],
}

/** A record that differs. `now` is missing for one that was removed since, `then` for one that was created since. */
export type DifferingRecord = {
  readonly kind: RestoredKind
  readonly id: string
  readonly now?: Item | undefined
  readonly then?: Item | undefined
}

export type RecordName = Pick<DifferingRecord, 'kind' | 'id'>

/** The patient of a record, or the patient itself. */
export const patientOf = ({ kind, id }: RecordName, item: Item | undefined): string =>
  kind === 'patient' ? id : String(item?.p ?? '')

/** The copy has changes that were made after its time: it is another time's. */
export class CopyIsNewer extends Error {
  readonly changedAt: string
  constructor(changedAt: string) {
    super(`the copy has a record that was changed at ${changedAt}`)
    this.changedAt = changedAt
  }
}

/**
 * The records of one kind that differ, in the order of their ids.
 * @param until milliseconds since the epoch; nothing in the copy was changed later. @throws CopyIsNewer
 */
export async function differingRecords(
  { table, copy }: ClinicTables,
  clinic: ClinicId,
  kind: RestoredKind,
  until: number,
  onCompared: () => void,
): Promise<DifferingRecord[]> {
  const ignored = new Set([...NEVER_COMPARED, ...(DERIVED[kind] ?? [])])
  const compared = (item: Item) =>
    Object.fromEntries(Object.entries(item).filter(([name]) => !ignored.has(name)))
  const differing: DifferingRecord[] = []
  const pk = PARTITIONS[kind](clinic)
  for await (const [id, now, then] of pairs(table, copy, pk)) {
    onCompared()
    const changedAt = then ? changeOf(then) : null
    if (changedAt !== null && changedAt > until) throw new CopyIsNewer(new Date(changedAt).toISOString())
    if (!now || !then || !isDeepStrictEqual(compared(now), compared(then)))
      differing.push({ kind, id, now, then })
  }
  return differing
}

/** When a record was changed, or else created, in milliseconds since the epoch; null for one of the catalogue. */
function changeOf({ u, c, updatedAt }: Item): number | null {
  const time = u ?? c ?? (updatedAt === undefined ? null : Date.parse(updatedAt as string))
  return time as number | null
}

/** The items of a partition in two tables, side by side, in the order of their sort keys. */
async function* pairs(
  table: Table,
  copy: Table,
  pk: string,
): AsyncGenerator<[sk: string, now: Item | undefined, then: Item | undefined]> {
  const [left, right] = [itemsOf(table, pk), itemsOf(copy, pk)]
  let [now, then] = await Promise.all([nextOf(left), nextOf(right)])
  while (now || then) {
    const sk = [now, then].flatMap((item) => (item ? [item.sk] : [])).sort()[0] ?? ''
    const [isNow, isThen] = [now?.sk === sk, then?.sk === sk]
    yield [sk, isNow ? now : undefined, isThen ? then : undefined]
    if (isNow) now = await nextOf(left)
    if (isThen) then = await nextOf(right)
  }
}

async function* itemsOf(table: Table, pk: string): AsyncGenerator<Item> {
  for await (const page of partitionPages(table, pk)) yield* page
}

const nextOf = async (items: AsyncGenerator<Item>): Promise<Item | undefined> => {
  const { value } = await items.next()
  return value ?? undefined
}
