/**
 * Compares the items that belong to records with those that are there. First every record adds the items that belong to it to sums,
 * then every item that is there is subtracted. Only the records and items of sums that differ are read again, one by one.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../../../domain/clinic.ts'
import { isUuid } from '../../../domain/uuid.ts'
import { isAppointmentTime } from '../../../store/calendar/busy-days.ts'
import { type Key, keyText, longId, partitionParts, shortId } from '../../../store/keys/key.ts'
import { Changeset } from '../../../store/table/changeset.ts'
import { chunked } from '../../../store/table/chunked.ts'
import { type Table, withoutEvents } from '../../../store/table/table.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import type { Difference, DifferenceKind } from './difference.ts'
import { type Finding, findingOf, type Inspection } from './inspection.ts'
import { ItemSums } from './item-sums.ts'
import type { Snapshot } from './snapshot.ts'

/** An item that belongs to a record, or one attribute of an item that several records share. */
export type DerivedItem = Key & {
  /** The name of the attribute; undefined for a whole item. */
  readonly attribute?: string
  /** The value of the attribute, or the item with its key. */
  readonly value: unknown
}

/** An item, or one attribute of it, that names a record. */
type NamingItem = Key & { readonly attribute?: string }

/**
 * A partition of items that belong to records. Every list is read again if anything differs, to find the items that name a suspect, and
 * once more after repairs.
 */
export type DerivedList = {
  readonly pk: string
  /** The name under which its items are counted. */
  readonly what: string
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
  /** Whether a record is to be examined even if its items are right. */
  readonly isSuspect?: (record: Item) => boolean
  readonly onRecords?: (records: readonly Item[]) => Promise<void>
  /** Called with each record whose items may differ. */
  readonly onSuspect?: (record: Item) => void
  /** The partitions in which the items are, in batches that are read one after the other. */
  readonly lists: () => AsyncIterable<readonly DerivedList[]>
  /** Writes a record as changed now: those who keep a copy have read past the time of its last change. */
  readonly rewrite: (record: Item) => Promise<unknown>
  /**
   * A finding that comes before that of wrong items, such as values that contradict each other.
   * @param stored the items that belong to the record or name it, by their keys
   * @param differences what is wrong with the items
   */
  readonly checkRecord?: (
    record: Item,
    stored: ReadonlyMap<string, Item>,
    differences: readonly Difference[],
  ) => Promise<Finding | null>
  /**
   * The finding for an item that belongs to no record, and must not be deleted: it may hold a record that is missing.
   * @param stored all items that name the same record
   */
  readonly findKept?: (
    id: string | null,
    item: Item,
    record: Item | undefined,
    stored: readonly Item[],
  ) => Promise<Finding | null>
}

/** The differences of a family of items: missing, different, and belonging to no record. */
const NAMES: readonly (readonly [RegExp, DifferenceKind, DifferenceKind, DifferenceKind])[] = [
  [/^U/, 'change_missing', 'change_missing', 'change_extra'],
  [/^R?D$/, 'busy_missing', 'busy_differs', 'busy_extra'],
  [/^IN$/, 'number_missing', 'number_missing', 'number_missing'],
  [/^PN$/, 'national_id_missing', 'national_id_missing', 'national_id_stray'],
  [/^PL$/, 'patient_row_missing', 'patient_row_differs', 'patient_row_stray'],
  [/^/, 'row_missing', 'row_differs', 'row_extra'],
]

/** Differences that leave open what the record is: its items are not compared with it. */
const UNCERTAIN = new Set<DifferenceKind>(['amounts_wrong', 'record_contradicted', 'patient_ordinal_wrong'])

const namesOf = ({ pk }: Key) => NAMES.find(([families]) => families.test(familyOf({ pk }))) ?? NAMES[5]

const familyOf = ({ pk }: Pick<Key, 'pk'>): string => partitionParts(pk).family

/** Items that are not read partition by partition, but with their record: there is one partition for each. */
const isReadWithRecord = (key: Key): boolean => familyOf(key) === 'IN'

/** Records that are read at a time. */
const MAX_GOT = 100

/** Verifies the items of all records of a kind. */
export async function verifyDerivedItems(
  { table, clinic, count, examine, commit, repairs }: Inspection,
  kind: VerifiedKind,
  unrepaired: Unrepaired,
): Promise<void> {
  const sums = new ItemSums()
  /** Records that cannot be read, or whose other items differ. */
  const suspects = new Set<string>()
  /** What names a record whose sums differ, by the id of the record or the text in its place, in the order of the lists. */
  const named = new Map<string, NamingItem[]>()
  const { pk: partition } = kind.keyOf('')
  for await (const records of partitionPages(table, partition)) {
    count(kind.name, records.length)
    await expectItems(records)
    await kind.onRecords?.(records)
  }
  await readLists(survey)
  if (!sums.hasSuspects() && suspects.size === 0) return
  const before = repairs()
  await readLists(collect)
  for await (const records of partitionPages(table, partition)) {
    const some = records.filter(({ sk }) => suspects.has(sk) || sums.isSuspect(shortId(sk)))
    for (const record of some) kind.onSuspect?.(record)
    await forEachConcurrent(some, ({ sk }) => checkRecord(sk))
  }
  for (const some of chunked([...named], MAX_GOT)) await checkNamed(some)
  if (repairs() > before) await readLists(() => {})

  /** Adds the items of records to the sums. */
  async function expectItems(records: readonly Item[]): Promise<void> {
    const others: { record: Item; item: DerivedItem }[] = []
    for (const record of records) {
      const items = await kind.itemsOf(record)
      if (items === null || kind.isSuspect?.(record)) suspects.add(record.sk)
      for (const item of items ?? [])
        if (isReadWithRecord(item)) others.push({ record, item })
        else sums.expect(shortId(record.sk), summed(item, item.attribute, item.value))
    }
    const stored = await readItems(others.map(({ item }) => item))
    for (const { record, item } of others) if (!isStored(item, stored)) suspects.add(record.sk)
  }

  async function readLists(onItems: (items: readonly Item[], what: string) => void): Promise<void> {
    for await (const lists of kind.lists())
      await forEachConcurrent(lists, async ({ pk, what, onItem, onEnd }) => {
        for await (const items of partitionPages(table, pk)) {
          onItems(items, what)
          for (const item of items) onItem?.(item)
        }
        await onEnd?.()
      })
  }

  /** Subtracts items from the sums. */
  function survey(items: readonly Item[], what: string): void {
    count(what, items.length)
    for (const item of items)
      for (const { short, attribute } of entriesOf(item))
        sums.find(short, summed(item, attribute, attribute === undefined ? item : item[attribute]))
  }

  function collect(items: readonly Item[]): void {
    for (const item of items)
      for (const { short, attribute } of entriesOf(item))
        if (sums.isSuspect(short)) {
          const name = recordIdOf(short) ?? short
          const others = named.get(name) ?? []
          others.push({ pk: item.pk, sk: item.sk, ...(attribute !== undefined && { attribute }) })
          named.set(name, others)
        }
  }

  /** The items that are there of those that name a record, and of others. */
  function readNaming(name: string, others: readonly DerivedItem[] = []): Promise<Map<string, Item>> {
    const whole = named.get(name)?.filter(({ attribute }) => attribute === undefined) ?? []
    return readItems([...others, ...whole])
  }

  /** Verifies one record against the items that belong to it. */
  async function checkRecord(id: string): Promise<void> {
    if (unrepaired.held.has(id)) return
    for (const difference of await examine((read) => recheckRecord(id, read))) {
      unrepaired.add(difference)
      if (UNCERTAIN.has(difference.kind)) unrepaired.held.add(id)
    }
  }

  async function recheckRecord(id: string, read: Snapshot): Promise<Finding | null> {
    const key = kind.keyOf(id)
    const record = await read.get(key)
    if (!record) return null
    const items = await kind.itemsOf(record)
    if (items === null) return findingOf('record_unreadable', key)
    const stored = await readNaming(id, items)
    const wrong = items.filter((item) => !isStored(item, stored))
    const differences = wrong.map((item) => differenceOf(item, key, stored))
    const earlier = await kind.checkRecord?.(record, stored, differences)
    if (earlier) return earlier
    if (wrong.length === 0) return null
    const isUnlisted = wrong.some((item) => familyOf(item).startsWith('U'))
    return { differences, repair: () => (isUnlisted ? kind.rewrite(record) : writeItems(wrong, record)) }
  }

  function writeItems(items: readonly DerivedItem[], { pk, sk, v }: Item): Promise<void> {
    return commit((changes) => {
      for (const item of items)
        if (item.attribute === undefined) changes.put(item.value as Item)
        else changes.set(item, item.attribute, item.value)
      changes.requireVersion({ pk, sk }, v as number)
    })
  }

  /** Verifies what names records against these. */
  async function checkNamed(some: readonly (readonly [name: string, items: readonly NamingItem[]])[]) {
    const ids = some.map(([name]) => name).filter(isUuid)
    const records = new Map((await table.getMany(ids.map(kind.keyOf))).map((item) => [item.sk, item]))
    await forEachConcurrent(some, async ([name, items]) => {
      const id = isUuid(name) ? name : null
      for (const item of items) {
        if (id !== null && unrepaired.held.has(id)) return
        // A row of another record in place of one that was reported.
        if (item.attribute === undefined && unrepaired.has(item)) continue
        if (!(await belongs(item, records.get(id ?? '')))) await checkItem(item, name, id)
      }
    })
  }

  async function checkItem(item: NamingItem, name: string, id: string | null): Promise<void> {
    const found = { isKept: false }
    for (const difference of await examine((read) => recheckItem(item, name, id, found, read)))
      unrepaired.add(difference)
    if (id === null || !found.isKept) return
    if (await table.get(kind.keyOf(id))) await checkRecord(id)
    else unrepaired.held.add(id)
  }

  /** @param found says whether the item is kept because it may hold a record */
  async function recheckItem(
    naming: NamingItem,
    name: string,
    id: string | null,
    found: { isKept: boolean },
    read: Snapshot,
  ): Promise<Finding | null> {
    const { pk, sk, attribute } = naming
    const record = id === null ? undefined : await read.get(kind.keyOf(id))
    // Other records change the items that they share.
    const item = await (attribute === undefined ? read : table).get({ pk, sk })
    const isThere =
      item &&
      entriesOf(item).some(
        (one) => one.attribute === attribute && (recordIdOf(one.short) ?? one.short) === name,
      )
    if (!isThere) return null
    if (await belongs(naming, record)) return null
    const kept = await kind.findKept?.(id, item, record, [...(await readNaming(name)).values()])
    found.isKept ||= Boolean(kept)
    if (kept) return kept
    const [, , , extra = 'row_extra'] = namesOf(item) ?? []
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
  const [, missing, differs] = namesOf(item) ?? ['', 'row_missing', 'row_differs']
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

/** What the sums have of an item or of one of its attributes. */
const summed = ({ pk, sk }: Key, attribute: string | undefined, value: unknown): Item =>
  attribute === undefined ? (value as Item) : { pk, sk, [attribute]: value }

/** The short ids of the records that an item names: in a patient's row, at the end of its key, or each attribute of a day. */
function entriesOf(item: Item): { readonly short: string; readonly attribute?: string }[] {
  if (familyOf(item) === 'PL') return [{ short: isUuid(String(item.i)) ? shortId(String(item.i)) : '' }]
  if (!/^R?D$/.test(familyOf(item))) return [{ short: item.sk.slice(item.sk.lastIndexOf('#') + 1) }]
  const names = Object.keys(item).filter(isAppointmentTime)
  return names.map((name) => ({ short: name, attribute: name }))
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
  const missing = keySet()
  const extra = keySet()
  return {
    missing,
    extra,
    /** Records that are not certain: they are missing, and items hold them, or the record and its items contradict each other. */
    held: new Set<string>(),
    add: ({ kind, key }: Difference): void => {
      keys.add(keyText(key))
      if (kind === 'row_missing') missing.add(key)
      if (kind === 'row_extra') extra.add(key)
    },
    has: (key: Key): boolean => keys.has(keyText(key)),
  }
}

function keySet() {
  const partitions = new Map<string, Set<string>>()
  return {
    add: ({ pk, sk }: Key): void => {
      partitions.set(pk, (partitions.get(pk) ?? new Set()).add(sk))
    },
    /** Their sort keys. */
    of: (pk: string): string[] => [...(partitions.get(pk) ?? [])],
  }
}
