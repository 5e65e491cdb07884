/** Filters of a calendar list, by page or cursor: the records that they show, and whether rows are current. */
import type { ClinicId } from '../../domain/clinic.ts'
import type { DayTally } from '../../domain/lists/page-plan.ts'
import { type EntityCode, ownerPartition } from '../keys/calendar.ts'
import type { Item } from '../table/write-requests.ts'
import type { CalendarEntity } from './calendar-entity.ts'
import { rowKeys } from './calendar-row.ts'

/** Conditions that the records of a page meet; dates are inclusive. */
export type CalendarFilter<F extends string> = {
  readonly patient?: string | undefined
  readonly invoice?: string | undefined
  readonly doctor?: string | undefined
  /** A status or channel. */
  readonly facet?: F | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** More months of tallies, and more rows of one patient, than any list has. */
export const UNLIMITED = 1_000_000

/** Whose own list shows the records: an invoice's or a patient's; null for the clinic's or a doctor's. */
export const ownerOf = ({ invoice, patient }: CalendarFilter<string>): 'invoice' | 'patient' | null =>
  invoice !== undefined ? 'invoice' : patient !== undefined ? 'patient' : null

/** The partition of the rows of the {@link ownerOf} a filter. */
export function ownerPartitionOf(
  clinic: ClinicId,
  entityCode: EntityCode,
  filter: CalendarFilter<string>,
): string {
  const owner = ownerOf(filter)
  if (owner === null) throw new RangeError('the filter has no owner')
  return ownerPartition(clinic, entityCode, owner, filter[owner] as string)
}

/** Whether a record meets the conditions, dates excepted. */
export function matches<R, F extends string>(
  { position, facets }: CalendarEntity<R, F>,
  record: R,
  filter: CalendarFilter<F>,
): boolean {
  const { patient, invoice, doctor, facet } = position(record)
  return (
    (filter.patient === undefined || patient === filter.patient) &&
    (filter.invoice === undefined || invoice === filter.invoice) &&
    (filter.doctor === undefined || doctor === filter.doctor) &&
    (filter.facet === undefined || facet === facets[filter.facet])
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

export const filterByFacet = (days: readonly DayTally[], facet: string | undefined): DayTally[] =>
  facet === undefined
    ? [...days]
    : days.flatMap(({ date, counts }) => {
        const count = counts.get(facet)
        return count ? [{ date, counts: new Map([[facet, count]]) }] : []
      })
