import type { ClinicId } from '../../shared/domain/clinic.ts'
import type { Invoice } from '../../shared/domain/invoice.ts'
import type { Stamped } from '../../shared/domain/stamped.ts'
import type { invoiceStore } from '../../shared/store/calendar/invoices.ts'

const PAGE_SIZE = 500

/** The invoices with exactly this number. Nothing lists invoices by number, so all of them are read. */
export async function invoicesWithNumber(
  invoices: ReturnType<typeof invoiceStore>,
  clinic: ClinicId,
  number: string,
): Promise<Stamped<Invoice>[]> {
  const first = await invoices.page(clinic, {}, { page: 1, limit: PAGE_SIZE })
  const found = first.items.filter((invoice) => invoice.number === number)
  for (let { next } = first; next !== null; ) {
    const walk = await invoices.after(clinic, {}, next, PAGE_SIZE)
    found.push(...walk.items.filter((invoice) => invoice.number === number))
    next = walk.next
  }
  return found
}
