/** Reads a calendar list from a cursor, whatever was added, removed or counted in the meantime. */
import type { ClinicId } from '../../domain/clinic.ts'
import type { CursorPage } from '../../domain/lists/cursor.ts'
import { planFromCursor } from '../../domain/lists/page-plan.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import {
  calendarListPartition,
  calendarSortKey,
  dayEnd,
  facetSortKey,
  tallyPartition,
} from '../keys/calendar.ts'
import type { Item } from '../table/write-requests.ts'
import type { CalendarEntity } from './calendar-entity.ts'
import {
  type CalendarFilter,
  filterByFacet,
  matches,
  ownerOf,
  ownerPartitionOf,
  UNLIMITED,
} from './calendar-filter.ts'
import type { ListPlatform } from './calendar-pages.ts'
import type { CalendarRecords } from './calendar-records.ts'
import { idOf, sortTimeOf } from './calendar-row.ts'
import { readTallies } from './tally.ts'

/** The most reads of rows that concurrent writes keep changing. */
const MAX_READS = 4

/** Rows in the order of the list, newest first, complete down to a cursor. */
type RowsRead = { readonly rows: readonly Item[]; readonly downTo: string }

export function cursorReader<R, F extends string>(
  { table, onDrift = () => {} }: ListPlatform,
  entity: CalendarEntity<R, F>,
  { ofRows }: CalendarRecords<R>,
) {
  const { entityCode } = entity

  /** At most `limit` records after a cursor, newest first. */
  async function after(
    clinic: ClinicId,
    filter: CalendarFilter<F>,
    cursor: string,
    limit: number,
  ): Promise<CursorPage<WithUpdatedAt<R>>> {
    const { rows, downTo } = await (ownerOf(filter)
      ? ownerRowsAfter(clinic, filter, cursor)
      : listRowsAfter(clinic, filter, cursor, limit))
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    const records = await ofRows(clinic, page)
    const next = rows.length > limit && last ? sortTimeOf(last) : downTo
    return { items: records.filter((record) => matches(entity, record, filter)), next: next || null }
  }

  async function ownerRowsAfter(
    clinic: ClinicId,
    filter: CalendarFilter<F>,
    cursor: string,
  ): Promise<RowsRead> {
    const pk = ownerPartitionOf(clinic, entityCode, filter)
    const read = await table.query({
      pk,
      from: filter.from,
      to: cursor,
      descending: true,
      limit: UNLIMITED,
    })
    const rows = read.filter(
      (row) => sortTimeOf(row) !== cursor && matches(entity, entity.decode(row, idOf(row)), filter),
    )
    return { rows, downTo: '' }
  }

  /**
   * The rows of all facets. A record whose facet changes between two reads can be in neither of them, so rows are read again
   * until their tallies stay the same, and the rows of all attempts are merged.
   */
  async function listRowsAfter(
    clinic: ClinicId,
    filter: CalendarFilter<F>,
    cursor: string,
    limit: number,
  ): Promise<RowsRead> {
    const found = new Map<string, Item>()
    let downTo = ''
    for (let attempt = 1; ; attempt++) {
      const read = await readFacets(clinic, filter, cursor, limit)
      for (const row of read.rows) found.set(idOf(row), row)
      if (read.downTo > downTo) downTo = read.downTo
      if (read.isConsistent || attempt === MAX_READS) break
      onDrift(entityCode)
    }
    const rows = [...found.values()].filter((row) => sortTimeOf(row) >= downTo)
    return { rows: rows.sort((a, b) => (sortTimeOf(a) < sortTimeOf(b) ? 1 : -1)), downTo }
  }

  async function readFacets(clinic: ClinicId, filter: CalendarFilter<F>, cursor: string, limit: number) {
    const doctor = filter.doctor ?? null
    const tallies = tallyPartition(clinic, entityCode, doctor)
    const range = { from: filter.from, to: cursor.slice(0, 10) }
    const { days, versions } = await readTallies(table, tallies, range)
    const facet = filter.facet && entity.facets[filter.facet]
    // The row at the cursor, and one that shows whether there are more.
    const plan = planFromCursor(filterByFacet(days, facet), range.to, limit + 2)
    const pk = calendarListPartition(clinic, entityCode, doctor)
    const reads = await Promise.all(
      plan.facets.map((name) =>
        table.query({
          pk,
          from: facetSortKey(name, plan.from),
          to: facetSortKey(name, cursor),
          descending: true,
          limit: limit + 2,
        }),
      ),
    )
    const again = (await readTallies(table, tallies, { ...range, from: plan.from || range.from })).versions
    const ends = reads.flatMap((rows) => (rows.length === limit + 2 ? [sortTimeOf(rows.at(-1) as Item)] : []))
    return {
      rows: reads.flat().filter((row) => sortTimeOf(row) !== cursor),
      downTo: [plan.hasMore ? plan.from : '', ...ends].reduce((a, b) => (a > b ? a : b)),
      isConsistent: [...again].every(([month, version]) => versions.get(month) === version),
    }
  }

  return { after }
}

/** The cursor of a record in its lists. */
export function cursorOf<R>({ position }: Pick<CalendarEntity<R, never>, 'position'>, record: R): string {
  const { date, moment, id } = position(record)
  return calendarSortKey(date, moment, id)
}

/** The cursor before a record in its lists, and after the record that is listed before it. */
export const cursorBefore = <R>(entity: Pick<CalendarEntity<R, never>, 'position'>, record: R): string =>
  `${cursorOf(entity, record)}~`

/** The cursor before the first record of a list. */
export const startCursor = ({ to }: CalendarFilter<string>): string => (to === undefined ? '~' : dayEnd(to))
