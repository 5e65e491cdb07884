/**
 * Compares the items that belong to records with those that are there. First every record adds the items that belong to it to sums,
 * then every item that is there is subtracted. Only the records and items of sums that differ are read again, one by one.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../../../domain/clinic.ts'
import { isUuid } from '../../../domain/uuid.ts'
import { type Key, longId, partitionParts, shortId } from '../../../store/keys/key.ts'
import { Changeset } from '../../../store/table/changeset.ts'
import { type Table, withoutEvents } from '../../../store/table/table.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import { requireUnchanged } from './conditions.ts'
import type { Difference, DifferenceKind, Finding, Recheck } from './difference.ts'
import type { Inspection } from './inspection.ts'
import { ItemSums } from './item-sums.ts'
import type { UnrepairedRows } from './unrepaired-rows.ts'

/** An item that belongs to a record, or one attribute of an item that several records share. */
export type DerivedItem = Key & {
  /** The name of the attribute; undefined for a whole item. */
  readonly attribute?: string
  /** The value of the attribute, or the item with its key. */
  readonly value: unknown
}

/** A kind of record, and the items that belong to each record. */
export type VerifiedKind = {
  readonly keyOf: (id: string) => Key
  /** Null for a record that cannot be read. */
  readonly itemsOf: (record: Item) => Promise<readonly DerivedItem[] | null>
  /** Writes a record as changed now: those who keep a copy have read past the time of its last change. */
  readonly rewrite: (record: Item) => Promise<unknown>
  /** A finding that comes before all others, such as amounts that contradict each other. `rows` are the items that are there. */
  readonly checkAmounts?: (record: Item, rows: readonly Item[]) => Promise<Finding | null>
  /** Whether this item holds a record that is missing, and whether it can be restored. Such items are never deleted. */
  readonly findLost?: (id: string, item: Item) => Promise<Finding | null>
}

/** The differences of a family of items: missing, different, and belonging to no record. */
const NAMES: readonly (readonly [RegExp, DifferenceKind, DifferenceKind, DifferenceKind])[] = [
  [/^U/, 'change_missing', 'change_missing', 'change_extra'],
  [/^R?D$/, 'busy_missing', 'busy_differs', 'busy_extra'],
  [/^IN$/, 'number_missing', 'number_missing', 'number_missing'],
  [/^PN$/, 'national_id_missing', 'national_id_missing', 'national_id_stray'],
  [/^/, 'row_missing', 'row_differs', 'row_extra'],
]

const namesOf = ({ pk }: Key) => NAMES.find(([families]) => families.test(familyOf({ pk }))) ?? NAMES[4]

const familyOf = ({ pk }: Pick<Key, 'pk'>): string => partitionParts(pk).family

/** Items that are not read partition by partition, but with their record: there is one partition for each. */
const isReadWithRecord = (key: Key): boolean => familyOf(key) === 'IN'

/** Attributes of a shared item that belong to no record. */
const SHARED_ATTRIBUTES = new Set(['pk', 'sk', 'v'])

export function derivedItemChecker(
  { table, clinic, count, examine }: Inspection,
  kind: VerifiedKind,
  unrepaired: UnrepairedRows,
) {
  const sums = new ItemSums()
  /** Records that were reported and not repaired: they are missing, and items hold them, or their amounts contradict each other. */
  const held = new Set<string>()

  /** Adds the items of records to the sums. Records that cannot be read, or whose other items differ, are verified at once. */
  async function expectItems(records: readonly Item[]): Promise<void> {
    const suspects = new Set<string>()
    const others: { record: Item; item: DerivedItem }[] = []
    for (const record of records) {
      const items = await kind.itemsOf(record)
      if (items === null) suspects.add(record.sk)
      for (const item of items ?? [])
        if (isReadWithRecord(item)) others.push({ record, item })
        else sums.expect(shortId(record.sk), summed(item, item.attribute, item.value))
    }
    const stored = await readItems(others.map(({ item }) => item))
    for (const { record, item } of others) if (!isStored(item, stored)) suspects.add(record.sk)
    await forEachConcurrent([...suspects], checkRecord)
  }

  /** Subtracts the items of a partition from the sums, and calls `onItem` with each. */
  async function survey(pk: string, what: string, onItem: (item: Item) => void = () => {}): Promise<void> {
    for await (const page of partitionPages(table, pk)) {
      count(what, page.length)
      for (const item of page) {
        onItem(item)
        for (const { short, attribute } of entriesOf(item))
          sums.find(short, summed(item, attribute, attribute === undefined ? item : item[attribute]))
      }
    }
  }

  /** Verifies one record against the items that belong to it. */
  async function checkRecord(id: string): Promise<void> {
    if (held.has(id)) return
    for (const { kind, key } of await examine(recheckRecord(id)))
      if (kind === 'row_missing') unrepaired.missing.add(key)
      else if (kind === 'amounts_wrong') held.add(id)
  }

  const recheckRecord =
    (id: string): Recheck =>
    async () => {
      const key = kind.keyOf(id)
      const record = await table.get(key)
      if (!record) return null
      const items = await kind.itemsOf(record)
      if (items === null) return { differences: [{ kind: 'record_unreadable', key }], repair: null }
      const stored = await readItems(items)
      const contradiction = await kind.checkAmounts?.(record, [...stored.values()])
      if ((await table.get(key))?.v !== record.v) return 'moving'
      if (contradiction) return contradiction
      const wrong = items.filter((item) => !isStored(item, stored))
      if (wrong.length === 0) return null
      return {
        differences: wrong.map((item) => differenceOf(item, key, stored)),
        repair: async () => {
          if (wrong.some((item) => familyOf(item).startsWith('U'))) return void (await kind.rewrite(record))
          const changes = new Changeset(table, clinic)
          for (const item of wrong)
            if (item.attribute === undefined) changes.put(item.value as Item)
            else changes.set(item, item.attribute, item.value)
          changes.requireVersion(key, record.v as number)
          await changes.commit()
        },
      }
    }

  /** Verifies the items of a partition against the records that they name, and calls `onItem` with those that are not extra. */
  async function check(pk: string, _: string, onItem: (item: Item) => void = () => {}): Promise<void> {
    for await (const page of partitionPages(table, pk)) {
      const suspects = page.flatMap((item) =>
        entriesOf(item).flatMap((entry) => (sums.isSuspect(entry.short) ? [{ item, ...entry }] : [])),
      )
      const ids = new Set(suspects.flatMap(({ short }) => recordIdOf(short) ?? []))
      const records = new Map((await table.getMany([...ids].map(kind.keyOf))).map((item) => [item.sk, item]))
      const extra = new Set<Item>()
      await forEachConcurrent(suspects, async ({ item, short, attribute }) => {
        const id = recordIdOf(short)
        if (id !== null && held.has(id)) return
        if (await belongs(item, attribute, records.get(id ?? ''))) return
        const state = { isExtra: false, isHeld: false }
        for (const { kind, key } of await examine(recheckItem(item, id, attribute, state)))
          if (kind === 'row_extra') unrepaired.extra.add(key)
        if (state.isExtra) extra.add(item)
        if (id === null || !state.isHeld) return
        if (await table.get(kind.keyOf(id))) await checkRecord(id)
        else held.add(id)
      })
      for (const item of page) if (!extra.has(item)) onItem(item)
    }
  }

  /** @param state says whether the item belongs to no record, or holds one that was missing */
  const recheckItem =
    (
      { pk, sk }: Key,
      id: string | null,
      attribute: string | undefined,
      state: { isExtra: boolean; isHeld: boolean },
    ): Recheck =>
    async () => {
      const key = id === null ? null : kind.keyOf(id)
      const record = key ? await table.get(key) : undefined
      const item = await table.get({ pk, sk })
      if (key && (await table.get(key))?.v !== record?.v) return 'moving'
      if (!item || (attribute !== undefined && item[attribute] === undefined)) return null
      if (await belongs(item, attribute, record)) return null
      const held = id !== null && !record && (await kind.findLost?.(id, item))
      state.isHeld ||= Boolean(held)
      if (held) return held
      state.isExtra = true
      const repair = async () => {
        const changes = new Changeset(table, clinic)
        if (attribute === undefined) changes.remove({ pk, sk })
        else changes.set({ pk, sk }, attribute, undefined)
        await table.transact([...changes.writes(), ...(key ? [requireUnchanged(table, key, record)] : [])])
      }
      const [, , , name = 'row_extra'] = namesOf(item) ?? []
      const note = attribute === undefined ? {} : { note: `appointment ${id ?? 'that does not exist'}` }
      return { differences: [{ kind: name, key: { pk, sk }, ...note }], repair }
    }

  /** Whether an item belongs to a record, whatever its content. The items of an unreadable record stay: they may be all that is left. */
  async function belongs(
    item: Item,
    attribute: string | undefined,
    record: Item | undefined,
  ): Promise<boolean> {
    const items = record ? await kind.itemsOf(record) : []
    const isItem = (own: DerivedItem) =>
      own.pk === item.pk && own.sk === item.sk && own.attribute === attribute
    return items === null || items.some(isItem)
  }

  async function readItems(items: readonly DerivedItem[]): Promise<Map<string, Item>> {
    const keys = new Map(items.map(({ pk, sk }) => [keyText({ pk, sk }), { pk, sk }]))
    return new Map((await table.getMany([...keys.values()])).map((item) => [keyText(item), item]))
  }

  return {
    expectItems,
    survey,
    check,
    checkRecord,
    isSuspect: (id: string): boolean => sums.isSuspect(shortId(id)),
    hasSuspects: () => sums.hasSuspects(),
    held,
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

/** The short ids of the records that an item names: one at its end, or each attribute of a day. */
function entriesOf(item: Item): { readonly short: string; readonly attribute?: string }[] {
  if (!/^R?D$/.test(familyOf(item))) return [{ short: item.sk.slice(item.sk.lastIndexOf('#') + 1) }]
  const names = Object.keys(item).filter((name) => !SHARED_ATTRIBUTES.has(name))
  return names.map((name) => ({ short: name, attribute: name }))
}

/** The record of a short id; null if it is none. */
function recordIdOf(short: string): string | null {
  const id = longId(short)
  return isUuid(id) ? id : null
}

export const keyText = ({ pk, sk }: Key): string => `${pk} ${sk}`

/** What a store would write: the items and attributes of a transaction that creates records again. */
export function itemsWritten(
  table: Table,
  clinic: ClinicId,
  write: (changes: Changeset) => void,
): readonly DerivedItem[] {
  // Without the shards that a recent conflict calls for.
  const recentConflicts = { has: () => false, recordConflict: () => {} }
  const changes = new Changeset({ ...withoutEvents(table), recentConflicts }, clinic)
  write(changes)
  const { items, attributes } = changes.outcome()
  return [
    ...items.map((value) => ({ pk: value.pk, sk: value.sk, value })),
    ...attributes.map(({ key, name, value }) => ({ ...key, attribute: name, value })),
  ]
}
