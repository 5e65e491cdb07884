import {
  calendarKey,
  calendarPartition,
  invoiceCounterKey,
  invoiceCountersPartition,
  takenNumberKey,
  takenNumbersPartition,
} from '../../../store/keys/calendar.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import { findingOf, type Inspection } from '../comparison/inspection.ts'

/**
 * Verifies that each number that is taken is that of its invoice: others could not get it. Invoices need not take theirs (see
 * store/calendar/invoice-numbers.ts). And that the next number of each year can be read.
 */
export async function checkInvoiceNumbers({ table, clinic, count, examineAll }: Inspection): Promise<void> {
  for await (const items of partitionPages(table, takenNumbersPartition(clinic))) {
    count('numbers', items.length)
    const invoices = await table.getMany(items.map(({ i }) => calendarKey(clinic, 'I', String(i))))
    const holders = new Map(invoices.map(({ sk, no }) => [takenNumberKey(clinic, String(no)).sk, sk]))
    await examineAll(
      items.filter(({ sk, i }) => !i || holders.get(sk) !== i),
      async ({ pk, sk }, read) => {
        const item = await read.get({ pk, sk })
        const invoice = item && (await read.get(calendarKey(clinic, 'I', String(item.i))))
        if (!item || (invoice && takenNumberKey(clinic, String(invoice.no)).sk === sk)) return null
        return findingOf('number_stray', item, () => read.write([table.deleteWrite(item)]), String(item.i))
      },
    )
  }
  for await (const counters of partitionPages(table, invoiceCountersPartition(clinic)))
    await examineAll(counters, async ({ sk: year }, read) => {
      const key = invoiceCounterKey(clinic, year)
      const counter = await read.get(key)
      if (!counter || (isOrdinal(counter.n) && isOrdinal(counter.v))) return null
      const repair = async () => read.write([table.putWrite({ ...key, n: await nextOrdinal(year), v: 1 })])
      return findingOf('counter_unreadable', key, repair)
    })

  /** The ordinal after the last number of a year. */
  async function nextOrdinal(year: string): Promise<number> {
    let last = 0
    for await (const invoices of partitionPages(table, calendarPartition(clinic, 'I')))
      for (const { no } of invoices) {
        const [, ordinal] = new RegExp(`^${year}-(\\d{6,15})$`).exec(String(no)) ?? []
        last = Math.max(last, Number(ordinal ?? 0))
      }
    return last + 1
  }
}

const isOrdinal = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0
