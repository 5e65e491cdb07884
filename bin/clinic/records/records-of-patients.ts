/** Finds records by their patient: what an operator knows when someone calls. */
import type { Clinic, ClinicId } from '../../../shared/domain/clinic.ts'
import type { PageRequest } from '../../../shared/domain/lists/paging.ts'
import type { WithUpdatedAt } from '../../../shared/domain/with-updated-at.ts'
import { patientSearch } from '../../../shared/store/patients/search.ts'
import { mapConcurrent } from '../../../shared/store/table/map-concurrent.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import type { ClinicContext } from '../tool/connection.ts'
import { counted } from '../tool/output.ts'
import type { Found } from './resource-commands.ts'

/** The fields that `find` compares with its text. */
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
  ) => Promise<{ readonly items: readonly WithUpdatedAt<R>[]; readonly total: number }>
}

/** The latest records of the patients that a text matches, by patient. */
export async function findOfPatients<R, Wire>(
  { table, clinic }: ClinicContext,
  text: string,
  open: (platform: { table: Table }) => Lists<R>,
  render: (record: WithUpdatedAt<R>, clinic: Clinic) => Wire,
): Promise<Found<Wire>> {
  const records = open({ table })
  const matches = await patientSearch({ table }).search(clinic.id, text, { page: 1, limit: MAX_PATIENTS })
  const pages = await mapConcurrent(CONCURRENCY, matches.items, ({ id }) =>
    records.page(clinic.id, { patient: id }, { page: 1, limit: MAX_RECORDS }),
  )
  const data = pages.flatMap(({ items }) => items.map((record) => render(record, clinic)))
  const others = matches.total - matches.items.length
  const older = pages.reduce((sum, { items, total }) => sum + total - items.length, 0)
  const notes = [
    ...(others > 0 ? [`Left out: ${counted(others, 'more patient')}. Specify more words.`] : []),
    ...(older > 0
      ? [`Left out: ${counted(older, 'older record')}. "list --patient-id" lists all records of a patient.`]
      : []),
  ]
  return { data, leftOut: others + older, notes }
}
