/** Records that belong to a patient: what an operator knows when someone calls. */
import type * as z from 'zod'
import type { RecordListQuery } from '../../../shared/api/record-lists.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import type { WithUpdatedAt } from '../../../shared/domain/with-updated-at.ts'
import { readFilteredList } from '../../../shared/requests/record-list.ts'
import type { CalendarFilter } from '../../../shared/store/calendar/calendar-filter.ts'
import type { calendarList } from '../../../shared/store/calendar/calendar-list.ts'
import { patientSearch } from '../../../shared/store/patients/search.ts'
import { mapConcurrent } from '../../../shared/store/table/map-concurrent.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import type { ClinicContext } from '../tool/connection.ts'
import { counted } from '../tool/output.ts'
import type { Found, ResourceCommands } from './resource-commands.ts'

/** The fields of a patient that `find` compares with its text. */
export const NAME_OR_CONTACT = 'name, phone number or email address'

/** A text that matches more patients needs more words. */
const MAX_PATIENTS = 20
/** Records of one patient. */
const MAX_RECORDS = 20

const CONCURRENCY = 5

type Open<R, F extends string> = (platform: {
  table: Table
}) => Pick<ReturnType<typeof calendarList<R, F>>, 'find' | 'page' | 'after' | 'changes'>

/** The commands of records that the API lists, which are found by their patient. */
export const recordsOfPatients = <R, F extends string, Q extends RecordListQuery, Wire>(
  group: 'appointment' | 'invoice' | 'payment' | 'message',
  open: Open<R, F>,
  list: { readonly query: z.ZodObject; readonly filterOf: (query: Q) => CalendarFilter<F> },
  render: (record: WithUpdatedAt<R>, clinic: Clinic) => Wire,
) =>
  ({
    group,
    list: {
      query: list.query,
      read: ({ table, clinic }: ClinicContext, query: Q) =>
        readFilteredList(
          `${group}s`,
          { clinic, query, now: Date.now() },
          open({ table }),
          list.filterOf(query),
          (record) => render(record, clinic),
        ),
    },
    show: async ({ table, clinic }: ClinicContext, id: string): Promise<Wire | null> => {
      const found = await open({ table }).find(clinic.id, id)
      return found && render(found.record, clinic)
    },
    searched: `the patient's ${NAME_OR_CONTACT}`,
    find: (context: ClinicContext, text: string) => findOfPatients(context, text, open, render),
  }) satisfies Omit<ResourceCommands<Wire>, 'cells'>

/** The latest records of the patients that a text matches, by patient. */
async function findOfPatients<R, F extends string, Wire>(
  { table, clinic }: ClinicContext,
  text: string,
  open: Open<R, F>,
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
