/**
 * Compares the items that belong to records with those that are there. The items of a record are read with it. A list that has another
 * number of items than were found with records is read again, to find those that belong to none.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../../../domain/clinic.ts'
import { isUuid } from '../../../domain/uuid.ts'
import { isAppointmentTime } from '../../../store/calendar/busy-days.ts'
import { type Key, keyText, longId, partitionParts } from '../../../store/keys/key.ts'
import { Changeset } from '../../../store/table/changeset.ts'
import { type Table, withoutEvents } from '../../../store/table/table.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import type { Difference, DifferenceKind } from './difference.ts'
import { type Finding, findingOf, type Inspection } from './inspection.ts'
import type { Snapshot } from './snapshot.ts'

/** An item that belongs to a record, or one attribute of an item that several records share. */
export type DerivedItem = Key & {
  /** The name of the attribute; undefined for a whole item. */
  readonly attribute?: string
  /** The value of the attribute, or the item with its key. */
  readonly value: unknown
}

/** An item, or one attribute of it, that names a record; `id` is null if it names none. */
type NamingItem = Key & { readonly attribute?: string; readonly id: string | null }

/** A partition of items that belong to records. */
export type DerivedList = {
  readonly pk: string
  /** The name under which its items are counted. */
  readonly what: string
  /** Whether the keys of its items name their records. */
  readonly keysOnly?: boolean
  readonly onItem?: (item: Item) => void
  readonly onEnd?: () => Promise<unknown>
}

/** A kind of record, and the items that belong to each record. */
export type VerifiedKind = {
  /** The name under which the records are counted. */
  readonly name: string
  readonly keyOf: (id: string) => Key
  /** Null for a record that cannot be read. */
  readonly itemsOf: (record: Item) => Promise<readonly DerivedItem[] | null>
  /** Whether a record that can be read is to be examined even if its items are right. */
  readonly isSuspect?: (record: Item) => boolean
  /** Called with each page of records, after their items. */
  readonly onRecords: (records: readonly Item[]) => Promise<void>
  /** The partitions in which the items are, in batches that are read one after the other. */
  readonly lists: () => AsyncIterable<readonly DerivedList[]>
  /** Writes a record as changed now: those who keep a copy have read past the time of its last change. */
  readonly rewrite: (record: Item) => Promise<unknown>
  /**
   * A finding that comes before that of wrong items, such as values that contradict each other.
   * @param stored the items that are there of those that belong to the record, by their keys
   */
  readonly checkRecord: (record: Item, stored: ReadonlyMap<string, Item>) => Promise<Finding | null>
  /** The finding for an item that belongs to no record, and must not be deleted: it may hold a record that is missing. */
  readonly findKept: (id: string | null, item: Item, record: Item | undefined) => Promise<Finding | null>
}

/** The differences of a family of items: missing, different, and belonging to no record. */
const NAMES: readonly (readonly [RegExp, DifferenceKind, DifferenceKind, DifferenceKind])[] = [
  [/^U/, 'change_missing', 'change_missing', 'change_extra'],
  [/^R?D$/, 'busy_missing', 'busy_differs', 'busy_extra'],
  [/^IN$/, 'number_missing', 'number_missing', 'number_missing'],
  [/^PN$/, 'national_id_missing', 'national_id_missing', 'national_id_stray'],
  [/^PL$/, 'patient_row_missing', 'patient_row_differs', 'patient_row_stray'],
]

/** Differences that leave open what the record is: its items are not compared with it. */
const UNCERTAIN = new Set<DifferenceKind>([
  'record_unreadable',
  'record_missing',
  'record_contradicted',
  'amounts_wrong',
  'patient_ordinal_wrong',
  'patient_row_without_record',
])

const namesOf = ({ pk }: Key) =>
  NAMES.find(([families]) => families.test(familyOf({ pk }))) ??
  ([/^/, 'row_missing', 'row_differs', 'row_extra'] as const)

const familyOf = ({ pk }: Pick<Key, 'pk'>): string => partitionParts(pk).family

/** Verifies the items of all records of a kind. */
export async function verifyDerivedItems(
  { table, clinic, count, examine, commit }: Inspection,
  kind: VerifiedKind,
  unrepaired: Unrepaired,
): Promise<void> {
  /** The number of items of each partition that were found with their records. */
  const found = new Map<string, number>()
  for await (const records of partitionPages(table, kind.keyOf('').pk)) {
    count(kind.name, records.length)
    const expected = await Promise.all(records.map(kind.itemsOf))
    const stored = await readItems(expected.flatMap((items) => items ?? []))
    for (const item of expected.flatMap((items) => items ?? []))
      if (storedValue(item, stored) !== undefined) found.set(item.pk, (found.get(item.pk) ?? 0) + 1)
    const isRight = (item: DerivedItem) => isStored(item, stored)
    const suspects = records.filter((record, at) => !expected[at]?.every(isRight) || kind.isSuspect?.(record))
    await forEachConcurrent(suspects, ({ sk }) => checkRecord(sk))
    await kind.onRecords(records)
  }
  for await (const lists of kind.lists()) await forEachConcurrent(lists, checkList)

  /** Verifies one record against the items that belong to it. */
  async function checkRecord(id: string): Promise<void> {
    unrepaired.add(await examine((read) => recheckRecord(id, read)), id)
  }

  async function recheckRecord(id: string, read: Snapshot): Promise<Finding | null> {
    const key = kind.keyOf(id)
    const record = await read.get(key)
    if (!record) return null
    const items = await kind.itemsOf(record)
    if (items === null) return findingOf('record_unreadable', key)
    const stored = await readItems(items)
    const earlier = await kind.checkRecord(record, stored)
    if (earlier) return earlier
    const wrong = items.filter((item) => !isStored(item, stored))
    if (wrong.length === 0) return null
    const differences = wrong.map((item) => differenceOf(item, key, stored))
    const isUnlisted = wrong.some((item) => familyOf(item).startsWith('U'))
    return { differences, repair: () => (isUnlisted ? kind.rewrite(record) : writeItems(wrong, record)) }
  }

  function writeItems(items: readonly DerivedItem[], { pk, sk, v }: Item): Promise<void> {
    return commit((changes) => {
      for (const item of items)
        if (item.attribute === undefined) changes.put(item.value as Item)
        else changes.set(item, item.attribute, item.value)
      changes.requireVersion({ pk, sk }, v ?? 0)
    })
  }

  async function checkList({ pk, what, keysOnly = false, onItem, onEnd }: DerivedList): Promise<void> {
    const pages = () => partitionPages(table, pk, { keysOnly })
    let names = 0
    for await (const items of pages()) {
      count(what, items.length)
      for (const item of items) {
        onItem?.(item)
        names += namesIn(item).length
      }
    }
    if (names !== (found.get(pk) ?? 0)) for await (const items of pages()) await checkItems(items)
    await onEnd?.()
  }

  /** Verifies that items belong to the records that they name. */
  async function checkItems(items: readonly Item[]): Promise<void> {
    const named = items.flatMap(namesIn)
    const ids = new Set(named.flatMap(({ id }) => id ?? []))
    const records = new Map((await table.getMany([...ids].map(kind.keyOf))).map((item) => [item.sk, item]))
    for (const item of named) {
      const isHeld = item.id !== null && unrepaired.held.has(item.id)
      // A row of another record in place of one that was reported.
      const isKnown = item.attribute === undefined && unrepaired.has(item)
      if (isHeld || isKnown || (await belongs(item, records.get(item.id ?? '')))) continue
      unrepaired.add(await examine((read) => recheckItem(item, read)), item.id)
    }
  }

  async function recheckItem(naming: NamingItem, read: Snapshot): Promise<Finding | null> {
    const { pk, sk, attribute, id } = naming
    const record = id === null ? undefined : await read.get(kind.keyOf(id))
    // Other records change the items that they share.
    const item = await (attribute === undefined ? read : table).get({ pk, sk })
    const isThere = item && namesIn(item).some((one) => one.attribute === attribute && one.id === id)
    if (!isThere || (await belongs(naming, record))) return null
    const kept = await kind.findKept(id, item, record)
    if (kept) return kept
    const [, , , extra] = namesOf(item)
    const note = attribute && `appointment ${id ?? 'that does not exist'}`
    const repair = () => {
      const changes = new Changeset(table, clinic)
      if (attribute === undefined) changes.remove({ pk, sk })
      else changes.set({ pk, sk }, attribute, undefined)
      return read.write(changes.writes())
    }
    return findingOf(extra, item, repair, note)
  }

  /** Whether an item belongs to a record, whatever its content. The items of an unreadable record stay: they may be all that is left. */
  async function belongs({ pk, sk, attribute }: NamingItem, record: Item | undefined): Promise<boolean> {
    const items = record ? await kind.itemsOf(record) : []
    const isItem = (own: DerivedItem) => own.pk === pk && own.sk === sk && own.attribute === attribute
    return items === null || items.some(isItem)
  }

  async function readItems(items: readonly Key[]): Promise<Map<string, Item>> {
    const keys = new Map(items.map(({ pk, sk }) => [keyText({ pk, sk }), { pk, sk }]))
    return new Map((await table.getMany([...keys.values()])).map((item) => [keyText(item), item]))
  }
}

function differenceOf(item: DerivedItem, record: Key, stored: ReadonlyMap<string, Item>): Difference {
  const { pk, sk, attribute } = item
  const [, missing, differs] = namesOf(item)
  const isMissing = storedValue(item, stored) === undefined
  if (missing === 'number_missing' || missing === 'national_id_missing') return { kind: missing, key: record }
  const note = attribute === undefined ? {} : { note: `appointment ${record.sk}` }
  return { kind: isMissing ? missing : differs, key: { pk, sk }, ...note }
}

const storedValue = (item: DerivedItem, stored: ReadonlyMap<string, Item>): unknown => {
  const found = stored.get(keyText(item))
  return item.attribute === undefined ? found : found?.[item.attribute]
}

const isStored = (item: DerivedItem, stored: ReadonlyMap<string, Item>): boolean =>
  isDeepStrictEqual(storedValue(item, stored), item.value)

/** The records that an item names: in a patient's row, at the end of its key, or each attribute of a day. */
function namesIn(item: Item): NamingItem[] {
  const { pk, sk, i } = item
  const family = familyOf(item)
  if (family === 'PL') return [{ pk, sk, id: isUuid(String(i)) ? String(i) : null }]
  if (!/^R?D$/.test(family)) return [{ pk, sk, id: recordIdOf(sk.slice(sk.lastIndexOf('#') + 1)) }]
  const names = Object.keys(item).filter(isAppointmentTime)
  return names.map((attribute) => ({ pk, sk, attribute, id: recordIdOf(attribute) }))
}

/** The record of a short id; null if it is none. */
function recordIdOf(short: string): string | null {
  const id = longId(short)
  return isUuid(id) ? id : null
}

/** What a store would write: the items and attributes of a transaction that creates records again. */
export function itemsWritten(
  table: Table,
  clinic: ClinicId,
  write: (changes: Changeset) => void,
): readonly DerivedItem[] {
  const changes = new Changeset(withoutEvents(table), clinic)
  write(changes)
  const { items, attributes } = changes.outcome()
  return [
    ...items.map((value) => ({ pk: value.pk, sk: value.sk, value })),
    ...attributes.map(({ key, name, value }) => ({ ...key, attribute: name, value })),
  ]
}

export type Unrepaired = ReturnType<typeof unrepairedItems>

/** Differences of items that remain, and what depends on them. Its size grows with the damage, not with the clinic. */
export function unrepairedItems() {
  const keys = new Set<string>()
  /** Counts are right both with and without these rows. */
  const missing: Key[] = []
  const extra: Key[] = []
  /** Records that are missing, unreadable or not certain. */
  const held = new Set<string>()

  /** Adds what remains of a record, or of an item that names one. */
  function add(differences: readonly Difference[], id: string | null): void {
    for (const { kind, key } of differences) {
      keys.add(keyText(key))
      if (kind === 'row_missing') missing.push(key)
      if (kind === 'row_extra') extra.push(key)
      if (id !== null && UNCERTAIN.has(kind)) held.add(id)
    }
  }

  return { missing, extra, held, add, has: (key: Key): boolean => keys.has(keyText(key)) }
}
