import { calendarKey } from '../../../store/keys/calendar.ts'
import type { Key } from '../../../store/keys/key.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import { requireUnchanged } from '../comparison/conditions.ts'
import type { Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { type KeySums, shortIdIn } from '../comparison/key-sums.ts'
import { imageOf, keyText, recordIdOf } from '../comparison/record-image.ts'
import type { UnrepairedRows } from '../comparison/unrepaired-rows.ts'
import type { VerifiedList } from '../comparison/verified-lists.ts'

/** Verifies that every row of a list belongs to a record that is listed there. */
export function listedRowChecker<R>(
  { table, clinic, count, examine }: Inspection,
  { entity }: VerifiedList<R>,
  unrepaired: UnrepairedRows,
  counts: KeySums,
) {
  /** Counts the rows of one partition, and calls `onRow` with each. */
  async function survey(pk: string, onRow: (row: Key) => void = () => {}): Promise<void> {
    for await (const rows of partitionPages(table, pk, { keysOnly: true })) {
      count('rows', rows.length)
      for (const row of rows) {
        counts.find(shortIdIn(row), keyText(row))
        onRow(row)
      }
    }
  }

  /** Reports the rows of one partition that do not, and calls `onRow` with each of the others. */
  async function check(pk: string, onRow: (row: Item) => void = () => {}): Promise<void> {
    for await (const rows of partitionPages(table, pk)) {
      const validRows = await validRowsOf(rows)
      for (const row of validRows) onRow(row)
      const known = new Set(validRows)
      await forEachConcurrent(
        rows.filter((row) => !known.has(row)),
        async (row) => {
          for (const { key } of await examine(recheck(row))) unrepaired.extra.add(key)
        },
      )
    }
  }

  async function validRowsOf(rows: readonly Item[]): Promise<Item[]> {
    const suspects = rows.filter((row) => counts.isSuspect(shortIdIn(row)))
    const keys = new Set(suspects.map(recordIdOf).filter((id) => id !== null))
    const items = await table.getMany([...keys].map((id) => calendarKey(clinic, entity.entityCode, id)))
    const records = new Map(items.map((item) => [item.sk, item]))
    const isWrong = new Set(suspects.filter((row) => !isRowOf(row, records.get(recordIdOf(row) ?? ''))))
    return rows.filter((row) => !isWrong.has(row))
  }

  /** Rows of an unreadable record are kept: they may be all that remains of it. */
  function isRowOf(row: Key, item: Item | undefined): boolean {
    if (!item) return false
    const image = imageOf(clinic, entity, item)
    return !image || image.rowKeys.some((own) => keyText(own) === keyText(row))
  }

  const recheck =
    ({ pk, sk }: Key): Recheck =>
    async () => {
      const id = recordIdOf({ pk, sk })
      const key = id === null ? null : calendarKey(clinic, entity.entityCode, id)
      const item = key ? await table.get(key) : undefined
      const row = await table.get({ pk, sk })
      const again = key ? await table.get(key) : undefined
      if (item?.v !== again?.v) return 'moving'
      if (!row || isRowOf(row, item)) return null
      const repair = () =>
        table.transact([table.deleteWrite({ pk, sk }), ...(key ? [requireUnchanged(table, key, item)] : [])])
      return { differences: [{ kind: 'row_extra', key: { pk, sk } }], repair }
    }

  return { survey, check }
}
