import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { partitionPages } from '../../../../shared/maintenance/walk/partition-pages.ts'
import { invoiceNumbers } from '../../../../shared/store/calendar/invoice-numbers.ts'
import { INVOICES } from '../../../../shared/store/calendar/invoices.ts'
import { calendarKey } from '../../../../shared/store/keys/calendar.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { KnownNumbers } from '../../../../shared/sync/entities/lookups.ts'
import { temporaryDatabase } from '../files/temporary-database.ts'

/**
 * The numbers of a clinic's invoices. All are read when the first new number is imported, which costs less than a query for each, into
 * a temporary database, since there can be more than fit in memory.
 */
export function usedNumbers(table: Table, clinic: ClinicId): KnownNumbers {
  const db = temporaryDatabase(
    'CREATE TABLE numbers (invoice TEXT PRIMARY KEY, number TEXT) WITHOUT ROWID; CREATE INDEX by_number ON numbers (number)',
  )
  const insert = db.prepare('INSERT OR REPLACE INTO numbers VALUES (?, ?)')
  const findOther = db.prepare('SELECT invoice FROM numbers WHERE number = ? AND invoice <> ?')
  const { holderOf } = invoiceNumbers(table)
  let isRead = false

  async function readAll(): Promise<void> {
    const { pk } = calendarKey(clinic, INVOICES.entityCode, '')
    for await (const items of partitionPages(table, pk))
      for (const { sk, no } of items) insert.run(sk, String(no))
    isRead = true
  }

  return {
    holderOf: async (number, invoice, isAgain) => {
      if (!isRead) await readAll()
      const known = findOther.get(number, invoice)?.invoice as string | undefined
      return known ?? (isAgain ? holderOf(clinic, number, invoice) : null)
    },
    add: (number, invoice) => void insert.run(invoice, number),
  }
}
