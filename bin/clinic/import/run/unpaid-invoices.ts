import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { temporaryDatabase } from '../files/temporary-database.ts'

type RowPosition = { readonly file: string; readonly line: number }

/** Invoices read at once. */
const CHUNK = 100

/** Places that are kept for the warning. */
const MAX_PLACES = 10

/** The invoices that files say are paid. Payments come after invoices, so that they are compared after the last file. */
export class StatedPaid implements Disposable {
  readonly #db = temporaryDatabase(
    'CREATE TABLE stated (id TEXT PRIMARY KEY, file TEXT, line INTEGER) WITHOUT ROWID',
  )
  readonly #insert = this.#db.prepare('INSERT OR REPLACE INTO stated VALUES (?, ?, ?)')
  readonly #after = this.#db.prepare('SELECT * FROM stated WHERE id > ? ORDER BY id LIMIT ?')

  add(invoice: string, { file, line }: RowPosition): void {
    this.#insert.run(invoice, file, line)
  }

  /** How many of them have no payment, and where the first are. */
  async withoutPayments(table: Table, clinic: ClinicId): Promise<{ count: number; places: RowPosition[] }> {
    const invoices = invoiceStore({ table })
    const places: RowPosition[] = []
    let count = 0
    let last = ''
    for (;;) {
      const rows = this.#after.all(last, CHUNK) as ({ id: string } & RowPosition)[]
      const ids = rows.map(({ id }) => id)
      const found = await invoices.findMany(clinic, ids)
      const unpaid = rows.filter(({ id }) => {
        const record = found.get(id)?.record
        return record && record.paid === 0 && record.total > 0
      })
      count += unpaid.length
      places.push(...unpaid.slice(0, MAX_PLACES - places.length))
      if (rows.length < CHUNK) return { count, places }
      last = rows.at(-1)?.id ?? ''
    }
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }
}
