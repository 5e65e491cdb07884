import { INVOICES } from '../../../store/calendar/invoices.ts'
import { calendarKey, invoiceNumberKey } from '../../../store/keys/calendar.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { requireUnchanged } from '../comparison/conditions.ts'
import type { Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { imageOf } from '../comparison/record-image.ts'

/** Verifies that every invoice is found by its number. Items under other numbers are never found: readers compare the invoice. */
export function invoiceNumberChecker({ table, clinic, examine }: Inspection) {
  function keyOf(item: Item | undefined) {
    const record = item && imageOf(clinic, INVOICES, item)?.record
    return record ? [invoiceNumberKey(clinic, record.number, record.id)] : []
  }

  async function check(items: readonly Item[]): Promise<void> {
    const keys = items.flatMap(keyOf)
    const listed = new Set((await table.getMany(keys)).map(({ sk }) => sk))
    const suspects = keys.filter(({ sk }) => !listed.has(sk))
    await forEachConcurrent(suspects, ({ sk }) => examine(recheck(sk)))
  }

  const recheck =
    (id: string): Recheck =>
    async () => {
      const key = calendarKey(clinic, INVOICES.entityCode, id)
      const item = await table.get(key)
      const [listed] = keyOf(item)
      if (!listed || (await table.get(listed))) return null
      if ((await table.get(key))?.v !== item?.v) return 'moving'
      const repair = () => table.transact([table.putWrite(listed), requireUnchanged(table, key, item)])
      return { differences: [{ kind: 'number_missing', key }], repair }
    }

  return { check }
}
