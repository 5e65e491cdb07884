import { addsUp, type Invoice } from '../../../domain/money/invoice.ts'
import { HOLDS } from '../../../store/calendar/busy-days.ts'
import { calendarList } from '../../../store/calendar/calendar-list.ts'
import type { ImportedKind } from '../../../store/external-ids/derive.ts'
import {
  calendarKey,
  calendarPartition,
  doctorDayPartition,
  type EntityCode,
  ownerPartition,
  roomDayPartition,
} from '../../../store/keys/calendar.ts'
import { roomsPartition } from '../../../store/keys/catalogue.ts'
import { changeIndexPartition } from '../../../store/keys/change-index.ts'
import { doctorsPartition } from '../../../store/keys/clinics.ts'
import type { Key } from '../../../store/keys/key.ts'
import { patientKey } from '../../../store/keys/patients.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import {
  type DerivedList,
  type Unrepaired,
  unrepairedItems,
  type VerifiedKind,
  verifyDerivedItems,
} from '../comparison/derived-items.ts'
import { externalIdChecker } from '../comparison/external-ids.ts'
import { type Finding, findingOf, type Inspection } from '../comparison/inspection.ts'
import { imageOf, isRowOf, itemsOfRecord, type RecordImage } from '../comparison/record-image.ts'
import type { Snapshot } from '../comparison/snapshot.ts'
import { contradictionFinder } from './contradictions.ts'
import { copiedNameChecker } from './copied-names.ts'
import { checkInvoiceBalances } from './invoice-balances.ts'
import { tallyChecker } from './tallies.ts'
import { type AnyRecord, type ListName, VERIFIED_LISTS } from './verified-lists.ts'

/**
 * Verifies appointments, invoices, payments or messages; invoices and payments only together. Tallies and balances come after the records
 * and rows on which they depend.
 */
export async function verifyCalendarLists(inspection: Inspection, names: readonly ListName[]): Promise<void> {
  const unrepaired = unrepairedItems()
  for (const name of names) {
    const tallies = tallyChecker(inspection, VERIFIED_LISTS[name].entity, unrepaired)
    const kind = await kindOf(inspection, name, unrepaired, tallies.listOf)
    await verifyDerivedItems(inspection, kind, unrepaired)
    await tallies.checkMonths()
  }
  if (names.includes('invoices')) await checkInvoiceBalances(inspection, unrepaired)
}

async function kindOf(
  inspection: Inspection,
  name: ListName,
  unrepaired: Unrepaired,
  listOf: (doctor: string | null) => DerivedList,
): Promise<VerifiedKind> {
  const { table, clinic, commit } = inspection
  const verified = VERIFIED_LISTS[name]
  const { entity } = verified
  const { entityCode } = entity
  const list = calendarList<AnyRecord, never>({ table }, entity)
  const image = (item: Item) => imageOf(entity, item)
  const externalIds = externalIdChecker(inspection)
  const checkNames = copiedNameChecker(inspection, verified, unrepaired)
  const doctors = new Set<string>()
  const rooms = new Set<string>()
  if (name === 'appointments') {
    await addKeys(doctorsPartition(clinic), doctors)
    await addKeys(roomsPartition(clinic), rooms)
    await checkVersions(inspection, dayPartitions())
  }

  function dayPartitions(): string[] {
    return [
      ...[...doctors].map((id) => doctorDayPartition(clinic, id)),
      ...[...rooms].map((id) => roomDayPartition(clinic, id)),
    ]
  }

  /** Those that have no appointments can have rows of them. */
  async function addKeys(pk: string, ids: Set<string>): Promise<void> {
    for await (const items of partitionPages(table, pk, { keysOnly: true }))
      for (const { sk } of items) ids.add(sk)
  }

  /** Rows come before the rest. A record has one row at most in the lists of a batch, so that a lost one is reported once. */
  async function* lists(): AsyncGenerator<readonly DerivedList[]> {
    const ownedList = (owner: 'patient' | 'invoice', id: string): DerivedList => ({
      pk: ownerPartition(clinic, entityCode, owner, id),
      what: 'rows',
      keysOnly: true,
    })
    yield [listOf(null)]
    yield [...doctors].map(listOf)
    for await (const items of partitionPages(table, patientKey(clinic, '').pk, { keysOnly: true }))
      yield items.map(({ sk }) => ownedList('patient', sk))
    if (name === 'payments')
      for await (const items of partitionPages(table, calendarPartition(clinic, 'I'), { keysOnly: true }))
        yield items.map(({ sk }) => ownedList('invoice', sk))
    yield [{ pk: changeIndexPartition(clinic, entityCode), what: 'changes', keysOnly: true }]
    yield dayPartitions().map((pk) => ({ pk, what: 'days' }))
  }

  return {
    name,
    keyOf: (id) => calendarKey(clinic, entityCode, id),
    itemsOf: async (item) => {
      const read = image(item)
      return read && itemsOfRecord(table, clinic, list, item, read)
    },
    // The records of a list of invoices are invoices.
    isSuspect: (item) => name === 'invoices' && !addsUp(image(item)?.record as unknown as Invoice),
    onRecords: async (items) => {
      await externalIds.check(IMPORTED_KINDS[entityCode], items)
      for (const { doctor, room } of items.flatMap((item) => image(item)?.position ?? [])) {
        if (doctor !== undefined) doctors.add(doctor)
        if (room !== undefined) rooms.add(room)
      }
      await checkNames(items)
    },
    lists,
    rewrite: (item) => {
      const before = image(item) as RecordImage<AnyRecord>
      return commit((changes) => list.change(changes, before, before.record))
    },
    checkRecord: contradictionFinder(verified),
    findKept: async (id, row, record) => {
      // Items of the index of changes and of days hold nothing of a record, and neither does a row that has only a key.
      const isHolding = isRowOf(entity, row) && Object.keys(row).some((one) => one !== 'pk' && one !== 'sk')
      if (id === null || record || !isHolding) return null
      return findingOf('record_missing', calendarKey(clinic, entityCode, id))
    },
  }
}

/** Verifies that days of doctors and rooms have versions, on which bookings depend, and holds that can be read. */
async function checkVersions({ table, examineAll }: Inspection, partitions: Iterable<string>): Promise<void> {
  const recheck = async ({ pk, sk }: Key, read: Snapshot): Promise<Finding | null> => {
    const key = { pk, sk }
    const day = await read.get(key)
    if (!day || isVersioned(day)) return null
    const version = {
      UpdateExpression: 'SET v = :next REMOVE holds',
      ExpressionAttributeValues: { ':next': 1 },
    }
    return findingOf('busy_unversioned', key, () => read.write([table.updateWrite(key, version)]))
  }
  for (const pk of partitions)
    for await (const days of partitionPages(table, pk))
      await examineAll(
        days.filter((day) => !isVersioned(day)),
        recheck,
      )
}

/** Bookings are conditional on the version that they read; 0 means that the day has no item. Holds end soon, and are lost. */
const isVersioned = ({ v, [HOLDS]: holds = [] }: Item): boolean =>
  Number.isInteger(v) && Number(v) > 0 && Array.isArray(holds)

const IMPORTED_KINDS: Readonly<Record<EntityCode, ImportedKind>> = {
  A: 'appointment',
  I: 'invoice',
  Y: 'payment',
  M: 'message',
}
