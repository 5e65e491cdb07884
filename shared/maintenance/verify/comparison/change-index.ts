import type { IndexedKind } from '../../../store/keys/change-index.ts'
import { changedId, changeIndexKey, changeIndexPartition } from '../../../store/keys/change-index.ts'
import type { Key } from '../../../store/keys/key.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import { requireUnchanged } from './conditions.ts'
import type { Recheck } from './difference.ts'
import type { Inspection } from './inspection.ts'
import { KeySums, shortIdIn } from './key-sums.ts'

/** A kind of records, as its index of changes lists it. */
export type IndexedRecords = {
  readonly kind: IndexedKind
  readonly keyOf: (id: string) => Key
  /** When a record was last changed; null if it cannot be decoded. */
  readonly updatedAtOf: (item: Item) => string | null
  /**
   * Writes a record that was read once more, as changed now: those who keep a copy have read past the time of its last change.
   * Null for a record that cannot be written.
   */
  readonly rewrite: (item: Item) => (() => Promise<unknown>) | null
}

/** Verifies that the index of changes lists every record of a kind once, at the time of its last change. */
export function changeIndexChecker(
  { table, clinic, count, examine }: Inspection,
  { kind, keyOf, updatedAtOf, rewrite }: IndexedRecords,
  counts = new KeySums(),
) {
  /** The item that lists a record; null for a record that cannot be decoded. */
  function indexKeyOf(item: Item): Key | null {
    const updatedAt = updatedAtOf(item)
    return updatedAt === null ? null : changeIndexKey(clinic, kind, { id: item.sk, updatedAt })
  }

  /** Whether a record is listed at this key. One that cannot be decoded may be listed anywhere. */
  const isListedAt = (sk: string, item: Item | undefined): boolean =>
    item !== undefined && (indexKeyOf(item)?.sk ?? sk) === sk

  async function checkRecords(items: readonly Item[]): Promise<void> {
    const keys = items.flatMap((item) => indexKeyOf(item) ?? [])
    const listed = new Set((await table.getMany(keys)).map(({ sk }) => sk))
    for (const sk of listed) counts.expect(shortIdIn({ sk }), sk)
    const suspects = keys.filter(({ sk }) => !listed.has(sk))
    await forEachConcurrent(suspects, ({ sk }) => examine(recheckRecord(changedId({ sk }))))
  }

  const recheckRecord =
    (id: string): Recheck =>
    async () => {
      const item = await table.get(keyOf(id))
      const key = item && indexKeyOf(item)
      if (!item || !key || (await table.get(key))) return null
      if ((await table.get(keyOf(id)))?.v !== item.v) return 'moving'
      const write = rewrite(item)
      const repair = write && (async () => void (await write()))
      return { differences: [{ kind: 'change_missing', key }], repair }
    }

  /** Verifies the items of the index, once all records were. */
  async function checkIndex(): Promise<void> {
    for await (const page of partitionPages(table, changeIndexPartition(clinic, kind))) {
      count('changes', page.length)
      for (const item of page) counts.find(shortIdIn(item), item.sk)
    }
    if (!counts.hasSuspects()) return
    for await (const all of partitionPages(table, changeIndexPartition(clinic, kind))) {
      const page = all.filter((item) => counts.isSuspect(shortIdIn(item)))
      const records = await table.getMany([...new Set(page.map(changedId))].map(keyOf))
      const byId = new Map(records.map((item) => [item.sk, item]))
      const suspects = page.filter((item) => !isListedAt(item.sk, byId.get(changedId(item))))
      await forEachConcurrent(suspects, (item) => examine(recheckItem(item)))
    }
  }

  const recheckItem =
    ({ pk, sk }: Key): Recheck =>
    async () => {
      const record = keyOf(changedId({ sk }))
      const item = await table.get(record)
      if (isListedAt(sk, item) || !(await table.get({ pk, sk }))) return null
      if ((await table.get(record))?.v !== item?.v) return 'moving'
      const repair = () =>
        table.transact([table.deleteWrite({ pk, sk }), requireUnchanged(table, record, item)])
      return { differences: [{ kind: 'change_extra', key: { pk, sk } }], repair }
    }

  return { checkRecords, checkIndex }
}
