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
import { patientKey } from '../../../store/keys/patients.ts'
import { Changeset } from '../../../store/table/changeset.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import { derivedItemChecker, type VerifiedKind } from '../comparison/derived-items.ts'
import { externalIdChecker } from '../comparison/external-ids.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { decodeStoredPatient } from '../comparison/patient-image.ts'
import { imageOf, itemsOfRecord, type RecordImage, recordOfRow } from '../comparison/record-image.ts'
import { unrepairedRows } from '../comparison/unrepaired-rows.ts'
import { amountChecker } from './amounts.ts'
import { unversionedDayChecker } from './busy-days.ts'
import { copiedNameChecker } from './copied-names.ts'
import { balanceChecker } from './invoice-balances.ts'
import { lostRecordFinder } from './lost-records.ts'
import { tallyChecker } from './tallies.ts'
import type { ListName } from './verified-lists.ts'
import { type AnyRecord, isStale, type Owners, VERIFIED_LISTS, type VerifiedList } from './verified-lists.ts'

/**
 * Verifies appointments, invoices, payments or messages; invoices and payments only together. Every record and every list is read
 * once. Only if their sums differ, the records and rows of these sums are compared one by one, and the tallies counted again.
 */
export async function verifyCalendarLists(inspection: Inspection, names: readonly ListName[]): Promise<void> {
  const lists = await openLists(inspection, names)
  await Promise.all(lists.all.map((own) => readRecords(inspection, lists, own)))
  await readLists(inspection, lists, lists.all, 'survey')
  const suspicious = lists.all.filter(({ items }) => items.hasSuspects())
  for (const own of suspicious) await checkRecords(inspection, lists, own)
  await readLists(inspection, lists, suspicious, 'check')
  await forEachConcurrent(lists.all, ({ tallied }) => tallied.checkSurveyed())
  for (const own of lists.all) await forEachConcurrent([...own.outdated], own.names.check)
  await lists.balances.checkSurveyed()
}

type Lists = Awaited<ReturnType<typeof openLists>>
type OpenList = Lists['all'][number]

async function openLists(inspection: Inspection, names: readonly ListName[]) {
  const { table, clinic } = inspection
  const unrepaired = unrepairedRows()
  const externalId = externalIdChecker(inspection)
  const isHeld = (id: string): boolean => all.some(({ items }) => items.held.has(id))
  const balances = balanceChecker(inspection, unrepaired, isHeld)

  function open(verified: VerifiedList<AnyRecord>) {
    const { entity } = verified
    const { entityCode } = entity
    const list = calendarList<AnyRecord, never>({ table }, entity)
    const image = (item: Item) => imageOf(clinic, entity, item)
    const kind: VerifiedKind = {
      keyOf: (id) => calendarKey(clinic, entityCode, id),
      itemsOf: async (item) => {
        const read = image(item)
        return read && itemsOfRecord(table, clinic, list, item, read)
      },
      rewrite: async (item) => {
        const { record, ...before } = image(item) as RecordImage<AnyRecord>
        const changes = new Changeset(table, clinic)
        list.change(changes, { record, ...before } as never, record)
        await changes.commit()
      },
      checkAmounts: amountChecker(inspection, verified),
      findLost: lostRecordFinder(inspection, verified, ({ id, invoice }) => {
        if (invoice === undefined) return
        balances.add(invoice)
        balances.addLost(invoice, id)
      }),
    }
    return {
      verified,
      image,
      items: derivedItemChecker(inspection, kind, unrepaired),
      names: copiedNameChecker(inspection, verified, isHeld),
      tallied: tallyChecker(inspection, entity, unrepaired),
      checkExternalIds: (page: readonly Item[]) => externalId.check(IMPORTED_KINDS[entityCode], page),
      /** Records that show an outdated name. */
      outdated: new Set<string>(),
    }
  }

  const all = VERIFIED_LISTS.filter(({ name }) => names.includes(name)).map(open)
  const doctors = await itemsOf(inspection, doctorsPartition(clinic))
  const rooms = await itemsOf(inspection, roomsPartition(clinic))
  return {
    all,
    balances,
    doctorNames: new Map(doctors.map(({ sk, fullName }) => [sk, { id: sk, fullName: fullName as string }])),
    /** Existing doctors and rooms, and those that only appointments name. */
    doctors: new Set(doctors.map(({ sk }) => sk)),
    rooms: new Set(rooms.map(({ sk }) => sk)),
  }
}

/** Reads the records of one kind, and adds the items that belong to them to the sums. */
async function readRecords(
  { table, clinic, count }: Inspection,
  { doctors, rooms, doctorNames }: Lists,
  { verified, image, items, checkExternalIds, outdated }: OpenList,
): Promise<void> {
  const { entityCode } = verified.entity
  for await (const page of partitionPages(table, calendarPartition(clinic, entityCode))) {
    count(verified.name, page.length)
    await items.expectItems(page)
    await checkExternalIds(page)
    for (const read of page.map((item) => image(item))) {
      if (!read) continue
      const { record, position } = read
      if (position.room) rooms.add(position.room)
      if (entityCode === 'I' && !addsUp(record as unknown as Invoice)) await items.checkRecord(read.id)
      if (position.doctor === undefined) continue
      doctors.add(position.doctor)
      const doctor = doctorNames.get(position.doctor)
      if (!doctor || isStale(verified, record, { doctor })) outdated.add(read.id)
    }
  }
}

/** Compares the records whose sums differ with the items that belong to them. */
async function checkRecords(
  { table, clinic }: Inspection,
  { balances }: Lists,
  { verified, image, items, outdated }: OpenList,
): Promise<void> {
  const pk = calendarPartition(clinic, verified.entity.entityCode)
  for await (const page of partitionPages(table, pk)) {
    // What cannot be read was reported already.
    const suspects = page.filter((item) => items.isSuspect(item.sk) && image(item))
    await forEachConcurrent(suspects, async (item) => {
      await items.checkRecord(item.sk)
      // The lists of owners that do not exist were not read.
      outdated.add(item.sk)
      const invoice = image(item)?.position.invoice
      if (invoice !== undefined) balances.add(invoice)
    })
  }
}

/** Reads every list and every day of these kinds: to find what does not seem to match, or to verify it. Rows come before the rest. */
async function readLists(
  inspection: Inspection,
  { balances, doctors, rooms }: Lists,
  lists: readonly OpenList[],
  how: 'survey' | 'check',
): Promise<void> {
  const { table, clinic } = inspection
  const appointments = lists.find(({ verified }) => verified.name === 'appointments')
  const payments = lists.find(({ verified }) => verified.name === 'payments')

  /** Reads an owner's list, and compares the names in its rows with the owner's. */
  async function readOwned(
    own: OpenList,
    kind: 'patient' | 'invoice',
    id: string,
    owners: Owners | null,
  ): Promise<Item[]> {
    const { verified, items, outdated } = own
    const rows: Item[] = []
    await items[how](ownerPartition(clinic, verified.entity.entityCode, kind, id), 'rows', (row) => {
      rows.push(row)
      const record = owners && recordOfRow(verified.entity, row)
      if (record && isStale(verified, record, owners)) outdated.add(record.id)
    })
    return rows
  }

  await forEachConcurrent(lists, ({ tallied, items }) => tallied.read(null, items[how]))
  if (appointments)
    await forEachConcurrent([...doctors], (doctor) =>
      appointments.tallied.read(doctor, appointments.items[how]),
    )
  if (lists.length > 0)
    for await (const page of partitionPages(table, patientKey(clinic, '').pk))
      await forEachConcurrent(page, async (item) => {
        const patient = decodeStoredPatient(item)
        const owners = patient && { patient }
        await Promise.all(lists.map((own) => readOwned(own, 'patient', item.sk, owners)))
      })
  if (payments)
    for await (const page of partitionPages(table, calendarPartition(clinic, 'I')))
      await forEachConcurrent(page, async (item) => {
        const invoice = imageOf<Invoice>(clinic, INVOICES, item)?.record
        const rows = await readOwned(payments, 'invoice', item.sk, invoice ? { invoice } : null)
        if (how === 'survey') balances.survey(item, rows)
      })
  for (const { verified, items } of lists)
    await items[how](changeIndexPartition(clinic, verified.entity.entityCode), 'changes')
  if (!appointments) return
  const days = [
    ...[...doctors].map((id) => doctorDayPartition(clinic, id)),
    ...[...rooms].map((id) => roomDayPartition(clinic, id)),
  ]
  const { note, checkNoted } = unversionedDayChecker(inspection)
  await forEachConcurrent(days, (pk) => appointments.items[how](pk, 'days', note))
  if (how === 'survey') await checkNoted()
}

const IMPORTED_KINDS: Readonly<Record<EntityCode, ImportedKind>> = {
  A: 'appointment',
  I: 'invoice',
  Y: 'payment',
  M: 'message',
}

async function itemsOf({ table }: Inspection, partition: string): Promise<Item[]> {
  const items: Item[] = []
  for await (const page of partitionPages(table, partition)) items.push(...page)
  return items
}
