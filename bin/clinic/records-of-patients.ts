/** Finds records by their patient: what an operator knows when someone calls. */
import type { ClinicId } from '../../shared/domain/clinic.ts'
import type { Invoice } from '../../shared/domain/invoice.ts'
import type { PageRequest } from '../../shared/domain/paging.ts'
import type { Stamped } from '../../shared/domain/stamped.ts'
import type { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { patientSearch } from '../../shared/store/patients/search.ts'
import { mapConcurrent } from '../../shared/store/table/map-concurrent.ts'
import type { Place } from './catalogue-commands.ts'
import type { Found } from './record-commands.ts'

/** What `find` compares with its text. */
export const NAME_OR_CONTACT = 'name, phone number or email address'

/** A text that matches more patients needs more words. */
const MAX_PATIENTS = 20
/** Records of one patient. */
const MAX_RECORDS = 20

const CONCURRENCY = 5

type Lists<R> = {
  readonly page: (
    clinic: ClinicId,
    filter: { readonly patient: string },
    request: PageRequest,
  ) => Promise<{ readonly items: readonly Stamped<R>[]; readonly total: number }>
}

/** The latest records of the patients that a text matches, by patient. */
export async function findOfPatients<R, Wire>(
  { table, clinic }: Place,
  text: string,
  records: Lists<R>,
  render: (record: Stamped<R>) => Wire,
): Promise<Found<Wire>> {
  const matches = await patientSearch({ table }).search(clinic.id, text, { page: 1, limit: MAX_PATIENTS })
  const pages = await mapConcurrent(CONCURRENCY, matches.items, ({ id }) =>
    records.page(clinic.id, { patient: id }, { page: 1, limit: MAX_RECORDS }),
  )
  const data = pages.flatMap(({ items }) => items.map(render))
  const others = matches.total - matches.items.length
  const older = pages.reduce((sum, { items, total }) => sum + total - items.length, 0)
  const leftOut = [
    ...(others > 0 ? [`Left out: ${others} more patients. Specify more words.`] : []),
    ...(older > 0
      ? [`Left out: ${older} older records. "list --patient-id" lists all records of a patient.`]
      : []),
  ]
  return leftOut.length === 0 ? { data } : { data, leftOut: leftOut.join('\n') }
}

const PAGE_SIZE = 500

/** The invoices with exactly this number. Nothing lists invoices by number, so all of them are read. */
export async function invoicesWithNumber(
  invoices: ReturnType<typeof invoiceStore>,
  clinic: ClinicId,
  number: string,
): Promise<Stamped<Invoice>[]> {
  if (!/\d/.test(number)) return []
  const first = await invoices.page(clinic, {}, { page: 1, limit: PAGE_SIZE })
  const found = first.items.filter((invoice) => invoice.number === number)
  for (let { next } = first; next !== null; ) {
    const walk = await invoices.after(clinic, {}, next, PAGE_SIZE)
    found.push(...walk.items.filter((invoice) => invoice.number === number))
    next = walk.next
  }
  return found
}
