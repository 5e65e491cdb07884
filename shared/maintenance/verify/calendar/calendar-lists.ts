import { addsUp, type Invoice } from '../../../domain/money/invoice.ts'
import { calendarList } from '../../../store/calendar/calendar-list.ts'
import { INVOICES } from '../../../store/calendar/invoices.ts'
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
import { type Key, keyText } from '../../../store/keys/key.ts'
import { patientKey } from '../../../store/keys/patients.ts'
import type { Table } from '../../../store/table/table.ts'
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
import { decodeStoredPatient } from '../comparison/patient-image.ts'
import { imageOf, itemsOfRecord, type RecordImage, recordOfRow } from '../comparison/record-image.ts'
import type { Snapshot } from '../comparison/snapshot.ts'
import { contradictionFinder } from './contradictions.ts'
import { copiedNameRecheck } from './copied-names.ts'
import { balanceChecker } from './invoice-balances.ts'
import { lostRecordFinder } from './lost-records.ts'
import { tallyChecker } from './tallies.ts'
import {
  type AnyRecord,
  isStale,
  type ListName,
  type Owners,
  VERIFIED_LISTS,
  type VerifiedList,
} from './verified-lists.ts'

/**
 * Verifies appointments, invoices, payments or messages; invoices and payments only together. Tallies, copied names and balances come
 * after the records and rows on which they depend.
 */
export async function verifyCalendarLists(inspection: Inspection, names: readonly ListName[]): Promise<void> {
  const unrepaired = unrepairedItems()
  const balances = balanceChecker(inspection, unrepaired)
  const verified = VERIFIED_LISTS.filter(({ name }) => names.includes(name))
  const lists = await Promise.all(verified.map((list) => openList(inspection, list, unrepaired, balances)))
  for (const { kind } of lists) await verifyDerivedItems(inspection, kind, unrepaired)
  for (const { tallies } of lists) await tallies.checkSurveyed()
  for (const { recheckNames, outdated } of lists) await inspection.examineAll(outdated, recheckNames)
  await balances.checkSurveyed()
}

async function openList(
  inspection: Inspection,
  verified: VerifiedList<AnyRecord>,
  unrepaired: Unrepaired,
  balances: ReturnType<typeof balanceChecker>,
) {
  const { table, clinic, commit } = inspection
  const { entity, name } = verified
  const { entityCode } = entity
  const list = calendarList<AnyRecord, never>({ table }, entity)
  const image = (item: Item) => imageOf(clinic, entity, item)
  const tallies = tallyChecker(inspection, entity, unrepaired)
  const externalIds = externalIdChecker(inspection)
  const checkVersion = dayVersionChecker(inspection)
  const owned = name === 'appointments' ? [doctorsPartition(clinic), roomsPartition(clinic)] : []
  const [doctors = new Map(), rooms = new Map()] = await Promise.all(owned.map((pk) => readNames(table, pk)))
  /** Records that show an outdated name, or whose owners may not exist. */
  const outdated = new Set<string>()

  const kind: VerifiedKind = {
    name,
    keyOf: (id) => calendarKey(clinic, entityCode, id),
    itemsOf: async (item) => {
      const read = image(item)
      return read && itemsOfRecord(table, clinic, list, item, read)
    },
    isSuspect: (item) => name === 'invoices' && !addsUp(image(item)?.record as unknown as Invoice),
    onRecords: async (items) => {
      await externalIds.check(IMPORTED_KINDS[entityCode], items)
      for (const item of items) addOwners(image(item))
    },
    onSuspect: (item) => {
      // The lists of owners that do not exist are not read.
      outdated.add(item.sk)
      balances.add(image(item)?.position.invoice)
    },
    lists: readLists,
    rewrite: (item) => {
      const before = image(item) as RecordImage<AnyRecord>
      return commit((changes) => list.change(changes, before, before.record))
    },
    checkRecord: contradictionFinder(inspection, verified),
    findKept: lostRecordFinder(inspection, verified, balances.addLost),
  }

  /** Adds doctors and rooms that only appointments name, and compares the name of the doctor. */
  function addOwners(read: RecordImage<AnyRecord> | null): void {
    if (!read) return
    const { doctor, room } = read.position
    if (room !== undefined) rooms.set(room, rooms.get(room))
    if (doctor === undefined) return
    const fullName = doctors.get(doctor)
    doctors.set(doctor, fullName)
    if (fullName === undefined || isStale(verified, read.record, { doctor: { id: doctor, fullName } }))
      outdated.add(read.id)
  }

  /** Rows come before the rest. A record has one row at most in the lists of a batch, so that a lost one is reported once. */
  async function* readLists(): AsyncGenerator<readonly DerivedList[]> {
    yield [tallies.listOf(null)]
    yield [...doctors.keys()].map(tallies.listOf)
    for await (const items of partitionPages(table, patientKey(clinic, '').pk))
      yield items.map((item) => {
        const patient = decodeStoredPatient(item)
        return ownedList('patient', item.sk, patient && { patient })
      })
    if (name === 'payments')
      for await (const items of partitionPages(table, calendarPartition(clinic, INVOICES.entityCode)))
        yield items.map((item) => {
          const invoice = imageOf<Invoice>(clinic, INVOICES, item)?.record
          return ownedList('invoice', item.sk, invoice ? { invoice } : null)
        })
    yield [{ pk: changeIndexPartition(clinic, entityCode), what: 'changes' }]
    const days = [
      ...[...doctors.keys()].map((id) => doctorDayPartition(clinic, id)),
      ...[...rooms.keys()].map((id) => roomDayPartition(clinic, id)),
    ]
    yield days.map((pk) => ({ pk, what: 'days', ...checkVersion() }))
  }

  /** The list of a patient or an invoice, whose names are compared with those in its rows. */
  function ownedList(owner: 'patient' | 'invoice', id: string, owners: Owners | null): DerivedList {
    const rows: Item[] = []
    return {
      pk: ownerPartition(clinic, entityCode, owner, id),
      what: 'rows',
      onItem: (row) => {
        if (owners?.invoice) rows.push(row)
        const record = owners && recordOfRow(entity, row)
        if (record && isStale(verified, record, owners)) outdated.add(record.id)
      },
      onEnd: async () => owners?.invoice && balances.survey(owners.invoice, rows),
    }
  }

  return { kind, tallies, recheckNames: copiedNameRecheck(inspection, verified, unrepaired), outdated }
}

/** Finds days of doctors and rooms without a version, on which bookings could not depend. Each is reported once. */
function dayVersionChecker({ table, examineAll }: Inspection) {
  const known = new Set<string>()

  async function recheck(key: Key, read: Snapshot): Promise<Finding | null> {
    const day = await read.get(key)
    if (!day || isVersioned(day)) return null
    const version = { UpdateExpression: 'SET v = :next', ExpressionAttributeValues: { ':next': 1 } }
    const repair = () => read.write([table.updateWrite(key, version)])
    return findingOf('busy_unversioned', key, repair)
  }

  return (): Pick<DerivedList, 'onItem' | 'onEnd'> => {
    const unversioned: Key[] = []
    return {
      onItem: (day) => {
        if (isVersioned(day) || known.has(keyText(day))) return
        known.add(keyText(day))
        unversioned.push({ pk: day.pk, sk: day.sk })
      },
      onEnd: () => examineAll(unversioned, recheck),
    }
  }
}

/** Bookings are conditional on the version that they read; 0 means that the day has no item. */
const isVersioned = ({ v }: Item): boolean => Number.isInteger(v) && Number(v) > 0

const IMPORTED_KINDS: Readonly<Record<EntityCode, ImportedKind>> = {
  A: 'appointment',
  I: 'invoice',
  Y: 'payment',
  M: 'message',
}

/** The names of doctors by their ids. Rooms are read for their ids alone. */
async function readNames(table: Table, pk: string): Promise<Map<string, string | undefined>> {
  const names = new Map<string, string | undefined>()
  for await (const items of partitionPages(table, pk))
    for (const { sk, fullName } of items) names.set(sk, fullName as string | undefined)
  return names
}
