import { createHash } from 'node:crypto'
import type { RecordListQuery } from '../api/record-lists.ts'
import { invalidCursor, rangeRequired, undoneTime } from '../api/schemas.ts'
import type { ClinicId, ClinicInfo } from '../domain/clinic.ts'
import type { ChangeRange, CursorPage, NumberedPage } from '../domain/lists/cursor.ts'
import { type PageRequest, totalPages } from '../domain/lists/paging.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import { isCalendarCursor } from '../store/calendar/calendar-cursor.ts'
import { type CalendarFilter, TooManyRows, uncountedCondition } from '../store/calendar/calendar-filter.ts'
import { VISIBILITY_DELAY_MS } from '../store/table/visibility-delay.ts'

const DIGEST_BYTES = 9

/** The parameters of conditions that no tally counts. */
const PARAMETERS = {
  room: 'room_id',
  statuses: 'status',
  appointment: 'appointment_id',
  billedDoctor: 'doctor_id',
  selects: 'outside_hours',
} as const

/** The list that a query asks for: its numbered pages, its pages after a cursor, and its records by change. */
type ListReader<T> = {
  readonly page: (request: PageRequest) => Promise<NumberedPage<T>>
  readonly after: (cursor: string, limit: number) => Promise<CursorPage<T>>
  /** Whether a cursor can be one of the list. */
  readonly isCursor: (cursor: string) => boolean
  readonly changes: (range: ChangeRange, limit: number) => Promise<CursorPage<T>>
}

type Request = {
  readonly clinic: ClinicInfo
  readonly query: RecordListQuery
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** The lists of one kind of records, which a filter narrows. */
type FilteredRecords<T, F> = {
  readonly page: (clinic: ClinicId, filter: F, request: PageRequest) => Promise<NumberedPage<T>>
  readonly after: (clinic: ClinicId, filter: F, cursor: string, limit: number) => Promise<CursorPage<T>>
  readonly changes: (clinic: ClinicId, range: ChangeRange, limit: number) => Promise<CursorPage<T>>
}

/** Reads a list of records that match a filter, as {@link readRecordList} does. */
export const readFilteredList = <T, F extends CalendarFilter<string>, W>(
  list: string,
  request: Request,
  records: FilteredRecords<T, F>,
  filter: F,
  render: (record: T, clinic: ClinicInfo) => W,
) => {
  const { clinic } = request
  const reader: ListReader<T> = {
    page: (page) => records.page(clinic.id, filter, page),
    after: (cursor, limit) => records.after(clinic.id, filter, cursor, limit),
    isCursor: (cursor) => isCalendarCursor(cursor, filter),
    changes: (range, limit) => records.changes(clinic.id, range, limit),
  }
  return readRecordList(list, request, reader, (record) => render(record, clinic)).catch((error) => {
    const condition = uncountedCondition(filter)
    throw error instanceof TooManyRows && condition ? rangeRequired(PARAMETERS[condition]) : error
  })
}

/** Reads a list of records as its query asks for it, and renders the response of `recordListOf`. */
export async function readRecordList<T, W>(
  list: string,
  { clinic, query, now }: Request,
  reader: ListReader<T>,
  render: (record: T) => W,
) {
  const { page = 1, limit, after, order, expand: _, ...filters } = query
  const cursors = listCursors({
    list,
    clinic: clinic.id,
    restores: clinic.restores,
    filters: { ...filters, ...(order === 'asc' && { order }) },
  })
  requireUndisturbed(clinic, query.updated_since)
  const cursor = after === undefined ? undefined : cursors.decode(after)
  const nextAfter = ({ next }: Pick<CursorPage<T>, 'next'>) => (next === null ? null : cursors.encode(next))
  if (query.updated_since !== undefined) {
    const until = asOf(now)
    const read = await reader.changes({ from: query.updated_since, until, after: cursor }, limit)
    return {
      data: read.items.map(render),
      meta: { ...cursorMeta(read, limit, nextAfter(read)), as_of: clinicTimestamp(until, clinic.timezone) },
    }
  }
  if (cursor !== undefined) {
    if (!reader.isCursor(cursor)) throw invalidCursor()
    const read = await reader.after(cursor, limit)
    return { data: read.items.map(render), meta: cursorMeta(read, limit, nextAfter(read)) }
  }
  const read = await reader.page({ page, limit })
  const { total } = read
  const meta = { page, limit, total, total_pages: totalPages(total, limit), next_after: nextAfter(read) }
  return { data: read.items.map(render), meta }
}

const cursorMeta = ({ next }: CursorPage<unknown>, limit: number, nextAfter: string | null) => ({
  limit,
  next_after: nextAfter,
  has_more: next !== null,
})

/**
 * Rejects a time between the time that a restore of the clinic went back to and the end of that restore: a copy of the records of
 * that time has some that were removed since, which no list of changes shows.
 * @throws ApiError invalid_cursor
 */
function requireUndisturbed({ restores = [] }: ClinicInfo, since: string | undefined): void {
  const at = since === undefined ? Number.NaN : Date.parse(since)
  const isUndone = restores.some(({ to, endedAt }) => Date.parse(to) < at && at < Date.parse(endedAt))
  if (isUndone) throw undoneTime()
}

/** The whole second before which every change is committed. */
const asOf = (now: number): string =>
  new Date(Math.floor((now - VISIBILITY_DELAY_MS) / 1000) * 1000).toISOString()

/** The scope of a cursor: the same sort key means something else in another list, or with other filters. */
type CursorScope = {
  readonly list: string
  readonly clinic: string
  /** The restores of the clinic, if each of them ends the cursors from before it. */
  readonly restores?: ClinicInfo['restores']
  readonly filters: Readonly<Record<string, unknown>>
}

/** The encoded cursors of one list. They contain the cursor, a sort key, and a digest, which is no secret: it detects mistakes. */
export function listCursors({ list, clinic, restores, filters }: CursorScope) {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined)
  const restore = restores?.at(-1)?.endedAt
  const scope = JSON.stringify([
    list,
    clinic,
    given.sort(([a], [b]) => (a < b ? -1 : 1)),
    ...(restore === undefined ? [] : [restore]),
  ])

  function encode(cursor: string): string {
    const digest = createHash('sha256').update(`${scope}\n${cursor}`).digest().subarray(0, DIGEST_BYTES)
    return Buffer.concat([digest, Buffer.from(cursor)]).toString('base64url')
  }

  /** The cursor that is encoded. @throws ApiError invalid_cursor for a cursor of another list or none */
  function decode(encoded: string): string {
    const cursor = Buffer.from(encoded, 'base64url').subarray(DIGEST_BYTES).toString()
    if (encode(cursor) !== encoded) throw invalidCursor()
    return cursor
  }

  return { encode, decode }
}
