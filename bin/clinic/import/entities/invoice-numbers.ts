import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { INVOICES, invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { calendarKey } from '../../../../shared/store/keys/calendar.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { temporaryDatabase } from '../files/temporary-database.ts'

/** Invoices read at once. */
const PAGE_SIZE = 500

/**
 * The numbers of a clinic's invoices. All are read when the first new number is imported, which costs less than a query for
 * each: a file without new numbers costs nothing. They are kept in a temporary database, since there can be more than fit in memory.
 */
export class InvoiceNumbers {
  readonly #table: Table
  readonly #read = new Map<ClinicId, Promise<Numbers>>()

  constructor(table: Table) {
    this.#table = table
  }

  /**
   * Records that an invoice gets a number, unless another has it. Returns the id of that invoice, null if there is none.
   * Another writer may use the number for an invoice at the same time.
   */
  async take(clinic: ClinicId, number: string, invoice: string): Promise<string | null> {
    const reading = this.#read.get(clinic) ?? this.#readAll(clinic)
    this.#read.set(clinic, reading)
    const numbers = await reading.catch((error: Error) => {
      // A repetition of the batch reads the numbers again.
      this.#read.delete(clinic)
      throw error
    })
    const others = numbers.invoicesWith(number).filter((id) => id !== invoice)
    // The other invoice may have got a different number since it was read.
    const stored = await invoiceStore({ table: this.#table }).findMany(clinic, others)
    const other = others.find((id) => stored.get(id)?.record.number === number) ?? null
    if (other === null) numbers.set(invoice, number)
    return other
  }

  async #readAll(clinic: ClinicId): Promise<Numbers> {
    const numbers = new Numbers()
    const { pk } = calendarKey(clinic, INVOICES.entityCode, '')
    for (let from: string | undefined; ; ) {
      // At half the cost: a number of a moment ago may be missing.
      const items = await this.#table.query({ pk, from, limit: PAGE_SIZE, eventual: true })
      for (const item of items) numbers.set(item.sk, String(item.no))
      if (items.length < PAGE_SIZE) return numbers
      // No sort key is another one with a space after it.
      from = `${items.at(-1)?.sk} `
    }
  }
}

class Numbers {
  readonly #db = temporaryDatabase(
    'CREATE TABLE numbers (invoice TEXT PRIMARY KEY, number TEXT) WITHOUT ROWID; CREATE INDEX by_number ON numbers (number)',
  )
  readonly #insert
  readonly #select

  constructor() {
    this.#insert = this.#db.prepare('INSERT OR REPLACE INTO numbers VALUES (?, ?)')
    this.#select = this.#db.prepare('SELECT invoice FROM numbers WHERE number = ?')
  }

  set(invoice: string, number: string): void {
    this.#insert.run(invoice, number)
  }

  invoicesWith(number: string): string[] {
    return (this.#select.all(number) as { invoice: string }[]).map(({ invoice }) => invoice)
  }
}
