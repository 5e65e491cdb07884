import { expect, it } from 'vitest'
import type { Table } from '../../../../shared/store/table/table.ts'
import { importedClinic, invoice, payment } from './calendar-fixtures.ts'

const imported = importedClinic()

/** The same table, which counts its reads by their kind. */
function countingTable() {
  const { db } = imported
  const counts = { get: 0, getMany: 0, query: 0 }
  const counted =
    <Args extends unknown[], Result>(name: keyof typeof counts, read: (...args: Args) => Result) =>
    (...args: Args): Result => {
      counts[name]++
      return read(...args)
    }
  const table: Table = {
    ...db.table,
    get: counted('get', db.table.get),
    getMany: counted('getMany', db.table.getMany),
    query: counted('query', db.table.query),
  }
  return { table, counts }
}

/** As many invoices and a payment of each, both of its month. */
function billsAndPayments(count: number, monthOf: (n: number) => string) {
  const bills = Array.from({ length: count }, (_, n) => ({
    ...{ ...invoice, external_id: `i${n}`, invoice_number: `N${n}`, subtotal: 100 },
    issue_date: `${monthOf(n)}-01`,
  }))
  const rows = bills.map(({ external_id }, n) => ({
    ...{ ...payment, external_id: `p${n}`, invoice_external_id: external_id },
    payment_date: `${monthOf(n)}-02`,
  }))
  return { bills, rows }
}

it('reads what payments of new invoices depend on with the same few calls, however many they are', async () => {
  const { bills, rows } = billsAndPayments(40, () => '2026-04')
  await imported.load('invoices', bills)
  const { table, counts } = countingTable()
  expect(await imported.load('payments', rows, table)).toMatchObject({ imported: 40 })
  // Whether the clinic is being deleted, its secret and links; payments and invoices, then patients.
  expect(counts).toEqual({ get: 2, getMany: 4, query: 0 })
  expect((await imported.invoices()).every(({ paid }) => paid === 2000)).toBe(true)
  // An invoice that was changed since may have payments: those are read.
  const more = { ...payment, external_id: 'more', invoice_external_id: 'i0' }
  expect(await imported.load('payments', [more])).toMatchObject({ imported: 1 })
  expect((await imported.invoices()).find(({ number }) => number === 'N0')).toMatchObject({ paid: 4000 })
})

it('writes payments that share their months together, in whatever order the file has them', async () => {
  const { bills, rows } = billsAndPayments(48, (n) => `2026-0${1 + (n % 6)}`)
  await imported.load('invoices', bills)
  const { db } = imported
  const tallies: number[] = []
  const table: Table = {
    ...db.table,
    tryTransact: (writes) => {
      tallies.push(writes.filter(({ Update }) => Update).length)
      return db.table.tryTransact(writes)
    },
  }
  expect(await imported.load('payments', rows, table)).toMatchObject({ imported: 48 })
  // Eight payments of each of six months: at most two months in a transaction, each with a tally of invoices and one of payments.
  expect(Math.max(...tallies)).toBeLessThanOrEqual(4)
})
