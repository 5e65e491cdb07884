/** Reads a calendar list from a cursor, whatever was added, removed or counted in the meantime. */
import type { ClinicId } from '../../domain/clinic.ts'
import type { CursorPage } from '../../domain/lists/cursor.ts'
import { planFromCursor } from '../../domain/lists/page-plan.ts'
import { MAX_UNCOUNTED_ROWS } from '../../domain/lists/paging.ts'
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
  filterByFacets,
  isCounted,
  matches,
  ownerOf,
  requireReadable,
} from './calendar-filter.ts'
import type { ListPlatform } from './calendar-pages.ts'
import type { CalendarRecords } from './calendar-records.ts'
import { idOf, sortTimeOf } from './calendar-row.ts'
import { readTallies } from './tally.ts'

/** The most reads of rows that concurrent writes keep changing. */
const MAX_READS = 4

/** Rows in the order of the list, complete up to a sort key; null if they are complete to its end. */
type RowsRead = { readonly rows: readonly Item[]; readonly upTo: string | null }

export function cursorReader<R, F extends string>(
  { table, onDrift = () => {} }: ListPlatform,
  entity: CalendarEntity<R, F>,
  { ofRows, ofOwner }: CalendarRecords<R, F>,
) {
  const { entityCode } = entity

  /** At most `limit` records after a cursor. @throws TooManyRows */
  async function after(
    clinic: ClinicId,
    filter: CalendarFilter<F>,
    cursor: string,
    limit: number,
  ): Promise<CursorPage<WithUpdatedAt<R>>> {
    const { rows, upTo } = ownerOf(filter)
      ? { rows: await ofOwner(clinic, filter, cursor), upTo: null }
      : await listRowsAfter(clinic, filter, cursor, limit)
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    const records = await ofRows(clinic, page)
    const next = rows.length > limit && last ? sortTimeOf(last) : upTo
    return { items: records.filter((record) => matches(entity, record, filter)), next }
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
    const isBefore = listedBefore(filter)
    const found = new Map<string, Item>()
    const ends: string[] = []
    for (let attempt = 1; ; attempt++) {
      const read = await readFacets(clinic, filter, cursor, limit)
      for (const row of read.rows) found.set(idOf(row), row)
      ends.push(...read.ends)
      if (read.isConsistent || attempt === MAX_READS) break
      onDrift(entityCode)
    }
    const upTo = ends.length === 0 ? null : ends.reduce((a, b) => (isBefore(a, b) ? a : b))
    const rows = [...found.values()].filter((row) => upTo === null || !isBefore(upTo, sortTimeOf(row)))
    return { rows: rows.sort((a, b) => (isBefore(sortTimeOf(a), sortTimeOf(b)) ? -1 : 1)), upTo }
  }

  /** Reads the rows after a cursor. `ends` are the sort keys at which reads stopped before the end of the list. */
  async function readFacets(clinic: ClinicId, filter: CalendarFilter<F>, cursor: string, limit: number) {
    const doctor = filter.doctor ?? null
    const isAscending = filter.order === 'asc'
    const date = cursor.slice(0, 10)
    /** The dates from the cursor to another one; to the end of the filter's range without one. */
    const datesTo = (until: string | undefined) =>
      isAscending
        ? { from: date || undefined, to: until ?? filter.to }
        : { from: until ?? filter.from, to: date }
    const tallies = tallyPartition(clinic, entityCode, doctor)
    const { days, versions } = await readTallies(table, tallies, datesTo(undefined))
    const counted = filterByFacets(days, entity, filter)
    requireReadable(filter, counted)
    // The row at the cursor, and one that shows whether there are more.
    const need = isCounted(filter) ? limit + 2 : MAX_UNCOUNTED_ROWS + 2
    const {
      until = '',
      facets,
      hasMore,
    } = planFromCursor(isAscending ? counted.reverse() : counted, date, need)
    const last = isAscending ? dayEnd(until) : until
    const pk = calendarListPartition(clinic, entityCode, doctor)
    const reads = await Promise.all(
      facets.map((name) => {
        const [from, to] = isAscending ? [cursor, last] : [last, cursor]
        const range = { from: facetSortKey(name, from), to: facetSortKey(name, to) }
        return table.query({ pk, ...range, descending: !isAscending, limit: need })
      }),
    )
    const again = (await readTallies(table, tallies, datesTo(until || undefined))).versions
    const cut = reads.flatMap((rows) => (rows.length === need ? [sortTimeOf(rows.at(-1) as Item)] : []))
    return {
      rows: reads
        .flat()
        .filter(
          (row) => sortTimeOf(row) !== cursor && matches(entity, entity.decode(row, idOf(row)), filter),
        ),
      ends: hasMore ? [last, ...cut] : cut,
      isConsistent: [...again].every(([month, version]) => versions.get(month) === version),
    }
  }

  return { after }
}

/** Whether a sort key is listed before another. */
const listedBefore =
  ({ order }: CalendarFilter<string>) =>
  (a: string, b: string): boolean =>
    order === 'asc' ? a < b : a > b

export function cursorOf<R>({ position }: Pick<CalendarEntity<R, never>, 'position'>, record: R): string {
  const { date, moment, id } = position(record)
  return calendarSortKey(date, moment, id)
}

/** The cursor before a record in its lists, and after the record that is listed before it. */
export function cursorBefore<R>(
  entity: Pick<CalendarEntity<R, never>, 'position'>,
  { order }: CalendarFilter<string>,
  record: R,
): string {
  const cursor = cursorOf(entity, record)
  // Ids are random: no other one begins like this one without its last character.
  return order === 'asc' ? cursor.slice(0, -1) : `${cursor}~`
}

/** The cursor before the first record of a list. */
export const startCursor = ({ from = '', to, order }: CalendarFilter<string>): string =>
  order === 'asc' ? from : to === undefined ? '~' : dayEnd(to)

/** Whether a text can be a cursor of the list: a position in the range of its dates. Cursors are not signed. */
export const isCalendarCursor = (text: string, { from = '', to = '~' }: CalendarFilter<string>): boolean =>
  /^\d{4}-\d\d-\d\d(#([!-}]*|~))?$/.test(text) && from <= text && text <= dayEnd(to)
