import { isDeepStrictEqual } from 'node:util'
import { calendarKey } from '../../../store/keys/calendar.ts'
import { Changeset } from '../../../store/table/changeset.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import type { Difference, Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { type KeySums, shortIdIn } from '../comparison/key-sums.ts'
import { imageOf, keyText, rowsOf } from '../comparison/record-image.ts'
import type { UnrepairedRows } from '../comparison/unrepaired-rows.ts'
import type { VerifiedList } from '../comparison/verified-lists.ts'

/** Verifies that every record is in all its lists, with the rows that its store would write. */
export function recordRowChecker<R>(
  inspection: Inspection,
  { entity }: VerifiedList<R>,
  unrepaired: UnrepairedRows,
  counts: KeySums,
) {
  const { table, clinic, examine } = inspection

  /** Verifies the rows of records, and counts those that are there. */
  async function check(items: readonly Item[]): Promise<void> {
    const images = items.map((item) => ({ item, image: imageOf(clinic, entity, item) }))
    const read = await table.getMany(images.flatMap(({ image }) => image?.rowKeys ?? []))
    for (const row of read) counts.expect(shortIdIn(row), keyText(row))
    const rows = new Map(read.map((row) => [keyText(row), row]))
    const suspects = images.filter(
      ({ image }) => !image || !rowsOf(image).every((row) => isDeepStrictEqual(rows.get(keyText(row)), row)),
    )
    await forEachConcurrent(suspects, async ({ item }) => {
      const left = await examine(recheck(item.sk))
      for (const { kind, key } of left) if (kind === 'row_missing') unrepaired.missing.add(key)
    })
  }

  const recheck =
    (id: string): Recheck =>
    async () => {
      const key = calendarKey(clinic, entity.entityCode, id)
      const item = await table.get(key)
      if (!item) return null
      const image = imageOf(clinic, entity, item)
      if (!image) return { differences: [{ kind: 'record_unreadable', key }], repair: null }
      const read = await table.getMany(image.rowKeys)
      const again = await table.get(key)
      if (again?.v !== item.v) return 'moving'
      const rows = new Map(read.map((row) => [keyText(row), row]))
      const wrong = rowsOf(image).filter((row) => !isDeepStrictEqual(rows.get(keyText(row)), row))
      if (wrong.length === 0) return null
      const differences = wrong.map(
        ({ pk, sk }): Difference => ({
          kind: rows.has(keyText({ pk, sk })) ? 'row_differs' : 'row_missing',
          key: { pk, sk },
        }),
      )
      const repair = () => {
        const changes = new Changeset(table, clinic)
        for (const row of wrong) changes.put(row)
        changes.requireVersion(key, image.version)
        return changes.commit()
      }
      return { differences, repair }
    }

  return { check }
}
