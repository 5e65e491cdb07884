/** Filters of a calendar list, by page or cursor: the records that they show, their order, and whether rows are current. */
import type { ClinicId } from '../../domain/clinic.ts'
import { type DayTally, rowCount } from '../../domain/lists/page-plan.ts'
import { MAX_UNCOUNTED_ROWS } from '../../domain/lists/paging.ts'
import type { Item } from '../table/write-requests.ts'
import type { CalendarEntity } from './calendar-entity.ts'
import { type ListPosition, rowKeys } from './calendar-row.ts'

/** Conditions that the records of a page meet; dates are inclusive. */
export type CalendarFilter<F extends string> = {
  readonly patient?: string | undefined
  readonly invoice?: string | undefined
  readonly doctor?: string | undefined
  /** The number of an invoice, which several can have. */
  readonly number?: string | undefined
  /** Statuses or channels. */
  readonly facets?: readonly F[] | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Not counted by tallies, see {@link isCounted}. */
  readonly room?: string | undefined
  /** Statuses of records that are tallied by something else; not counted either. */
  readonly statuses?: readonly string[] | undefined
  /** The appointment and the doctor of an invoice; not counted either. */
  readonly appointment?: string | undefined
  readonly billedDoctor?: string | undefined
  /** Any other condition; not counted either. */
  readonly selects?: ((position: ListPosition) => boolean) | undefined
  /** Newest first by default. */
  readonly order?: 'asc' | 'desc' | undefined
}

/** More rows than {@link MAX_UNCOUNTED_ROWS} are in the range of a filter that no tally counts. */
export class TooManyRows extends Error {}

const UNCOUNTED = ['room', 'statuses', 'appointment', 'billedDoctor', 'selects'] as const

/** The condition of a filter that no tally counts, if it has one. */
export const uncountedCondition = (filter: CalendarFilter<string>): (typeof UNCOUNTED)[number] | undefined =>
  UNCOUNTED.find((name) => filter[name] !== undefined)

/** Whether tallies count the records of a filter. Without an owner, all rows of its range are read if they do not. */
export const isCounted = (filter: CalendarFilter<string>): boolean => uncountedCondition(filter) === undefined

/** @throws TooManyRows if a page of the filter would have to read more rows of these days than it may */
export function requireReadable(filter: CalendarFilter<string>, days: readonly DayTally[]): void {
  if (!isCounted(filter) && rowCount(days) > MAX_UNCOUNTED_ROWS) throw new TooManyRows()
}

/** More months of tallies, and more rows of one patient, than any list has. */
export const UNLIMITED = 1_000_000

/** What selects few records: a number, an invoice or a patient; null for the list of the clinic or a doctor. */
export function ownerOf({
  number,
  invoice,
  patient,
}: CalendarFilter<string>): 'number' | 'invoice' | 'patient' | null {
  if (number !== undefined) return 'number'
  return invoice !== undefined ? 'invoice' : patient !== undefined ? 'patient' : null
}

/** Whether a record meets the conditions, dates excepted. */
export function matches<R, F extends string>(
  { position, facets }: CalendarEntity<R, F>,
  record: R,
  filter: CalendarFilter<F>,
): boolean {
  const listed = position(record)
  const { patient, invoice, doctor, facet, status = '', number, ...others } = listed
  return (
    (filter.patient === undefined || patient === filter.patient) &&
    (filter.invoice === undefined || invoice === filter.invoice) &&
    (filter.doctor === undefined || doctor === filter.doctor) &&
    (filter.facets === undefined || filter.facets.some((one) => facet === facets[one])) &&
    (filter.number === undefined || number?.normalize() === filter.number.normalize()) &&
    (['room', 'appointment', 'billedDoctor'] as const).every(
      (name) => filter[name] === undefined || others[name] === filter[name],
    ) &&
    (filter.statuses === undefined || filter.statuses.includes(status)) &&
    (filter.selects === undefined || filter.selects(listed))
  )
}

/** Whether the records are still as their rows list them: the record of a thin row is read after the row. */
export const haveRows = <R>(
  { entityCode, position }: Pick<CalendarEntity<R, never>, 'entityCode' | 'position'>,
  clinic: ClinicId,
  items: readonly R[],
  rows: readonly Item[],
): boolean =>
  items.length === rows.length &&
  rows.every(
    (row, index) =>
      !row.t ||
      rowKeys(clinic, entityCode, position(items[index] as R)).some(
        ({ pk, sk }) => pk === row.pk && sk === row.sk,
      ),
  )

/** Removes duplicates: a record whose facet changed between two reads is in both. */
export const withoutRepetitions = <R>(
  { position }: Pick<CalendarEntity<R, never>, 'position'>,
  items: readonly R[],
): R[] => [...new Map(items.map((item) => [position(item).id, item])).values()]

/** The days with the counts of a filter's facets only. */
export function filterByFacets<R, F extends string>(
  days: readonly DayTally[],
  { facets: codes }: Pick<CalendarEntity<R, F>, 'facets'>,
  { facets }: CalendarFilter<F>,
): DayTally[] {
  if (facets === undefined) return [...days]
  const kept = new Set<string>(facets.map((facet) => codes[facet]))
  return days
    .map(({ date, counts }) => ({ date, counts: new Map([...counts].filter(([code]) => kept.has(code))) }))
    .filter(({ counts }) => counts.size > 0)
}
