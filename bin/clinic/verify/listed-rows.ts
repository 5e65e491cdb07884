import { calendarKey } from '../../../shared/store/keys/calendar.ts'
import type { Key } from '../../../shared/store/keys/key.ts'
import type { Item } from '../../../shared/store/table/table.ts'
import { unchangedWrite } from './conditions.ts'
import { eachAbreast } from './each-abreast.ts'
import type { Look } from './fault.ts'
import type { Inspection } from './inspection.ts'
import { partitionPages } from './partition-pages.ts'
import { imageOf, nameOf, recordIdOf } from './record-image.ts'
import type { RecordKind } from './record-kinds.ts'
import type { UnmendedRows } from './unmended-rows.ts'

/** Whether every row of a list belongs to a record that stands there. */
export function listedRows<R>(
  { table, clinic, count, examine }: Inspection,
  { entity }: RecordKind<R>,
  unmended: UnmendedRows,
) {
  /** Reports the rows of one partition that do not, and shows each of the others to `onRow`. */
  async function check(pk: string, onRow: (row: Item) => void = () => {}): Promise<void> {
    for await (const rows of partitionPages(table, pk)) {
      count('rows', rows.length)
      const standing = await standingOf(rows)
      for (const row of standing) onRow(row)
      const known = new Set(standing)
      await eachAbreast(
        rows.filter((row) => !known.has(row)),
        async (row) => {
          for (const { key } of await examine(lookAt(row))) unmended.extra.add(key)
        },
      )
    }
  }

  async function standingOf(rows: readonly Item[]): Promise<Item[]> {
    const keys = new Set(rows.map(recordIdOf).filter((id) => id !== null))
    const items = await table.getMany([...keys].map((id) => calendarKey(clinic, entity.letter, id)))
    const records = new Map(items.map((item) => [item.sk, item]))
    return rows.filter((row) => stands(row, records.get(recordIdOf(row) ?? '')))
  }

  /** Rows of a record that cannot be read are left alone: they may be all that is left of it. */
  function stands(row: Key, item: Item | undefined): boolean {
    if (!item) return false
    const image = imageOf(clinic, entity, item)
    return !image || image.rows.some((own) => nameOf(own) === nameOf(row))
  }

  const lookAt =
    ({ pk, sk }: Key): Look =>
    async () => {
      const id = recordIdOf({ pk, sk })
      const key = id === null ? null : calendarKey(clinic, entity.letter, id)
      const item = key ? await table.get(key) : undefined
      const row = await table.get({ pk, sk })
      const again = key ? await table.get(key) : undefined
      if (item?.v !== again?.v) return 'moving'
      if (!row || stands(row, item)) return null
      const mend = () =>
        table.transact([table.deleteWrite({ pk, sk }), ...(key ? [unchangedWrite(table, key, item)] : [])])
      return { faults: [{ kind: 'row_extra', key: { pk, sk } }], mend }
    }

  return { check }
}
