import { createHash } from 'node:crypto'
import type { RecordListQuery } from '../api/record-lists.ts'
import { invalidCursor } from '../api/schemas.ts'
import type { ClinicId, ClinicInfo } from '../domain/clinic.ts'
import { type PageRequest, totalPages } from '../domain/lists/paging.ts'
import type { ChangeRange, Walk, WalkablePage } from '../domain/lists/walk.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import { STAMP_DELAY_MS } from '../store/table/stamp-delay.ts'

const DIGEST_BYTES = 9

/** The list that a query asks for: its pages, where it goes on after a position, and its records by change. */
type ListReader<T> = {
  readonly page: (request: PageRequest) => Promise<WalkablePage<T>>
  readonly after: (position: string, limit: number) => Promise<Walk<T>>
  /** Whether a position can be one of the list; all can if it is not set. */
  readonly isPosition?: (position: string) => boolean
  readonly changes: (range: ChangeRange, limit: number) => Promise<Walk<T>>
}

type Request = {
  readonly clinic: ClinicInfo
  readonly query: RecordListQuery
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** The lists of one kind of records, which a filter narrows. */
type FilteredRecords<T, F> = {
  readonly page: (clinic: ClinicId, filter: F, request: PageRequest) => Promise<WalkablePage<T>>
  readonly after: (clinic: ClinicId, filter: F, position: string, limit: number) => Promise<Walk<T>>
  readonly changes: (clinic: ClinicId, range: ChangeRange, limit: number) => Promise<Walk<T>>
}

/** Reads a list of records that match a filter, as {@link readRecordList} does. */
export const readFilteredList = <T, F, W>(
  list: string,
  request: Request,
  records: FilteredRecords<T, F>,
  filter: F,
  render: (record: T, clinic: ClinicInfo) => W,
) => {
  const { clinic } = request
  const reader: ListReader<T> = {
    page: (page) => records.page(clinic.id, filter, page),
    after: (position, limit) => records.after(clinic.id, filter, position, limit),
    changes: (range, limit) => records.changes(clinic.id, range, limit),
  }
  return readRecordList(list, request, reader, (record) => render(record, clinic))
}

/** Reads a list of records as its query asks for it, and renders the response of `recordListOf`. */
export async function readRecordList<T, W>(
  list: string,
  { clinic, query, now }: Request,
  reader: ListReader<T>,
  render: (record: T) => W,
) {
  const { page = 1, limit, after, ...filters } = query
  const cursors = listCursors({ list, clinic: clinic.id, filters })
  const position = after === undefined ? undefined : cursors.decode(after)
  const nextAfter = ({ next }: Pick<Walk<T>, 'next'>) => (next === null ? null : cursors.encode(next))
  if (query.updated_since !== undefined) {
    const until = asOf(now)
    const walk = await reader.changes({ from: query.updated_since, until, after: position }, limit)
    return {
      data: walk.items.map(render),
      meta: { ...walkMeta(walk, limit, nextAfter(walk)), as_of: clinicTimestamp(until, clinic.timezone) },
    }
  }
  if (position !== undefined) {
    if (reader.isPosition?.(position) === false) throw invalidCursor()
    const walk = await reader.after(position, limit)
    return { data: walk.items.map(render), meta: walkMeta(walk, limit, nextAfter(walk)) }
  }
  const read = await reader.page({ page, limit })
  const { total } = read
  const meta = { page, limit, total, total_pages: totalPages(total, limit), next_after: nextAfter(read) }
  return { data: read.items.map(render), meta }
}

const walkMeta = ({ next }: Walk<unknown>, limit: number, nextAfter: string | null) => ({
  limit,
  next_after: nextAfter,
  has_more: next !== null,
})

/** The whole second before which every change is committed. */
const asOf = (now: number): string => new Date(Math.floor((now - STAMP_DELAY_MS) / 1000) * 1000).toISOString()

/** What a cursor is bound to: the same position means something else in another list, or with other filters. */
type CursorScope = {
  readonly list: string
  readonly clinic: string
  readonly filters: Readonly<Record<string, unknown>>
}

/** The cursors of one list. They contain a position and a digest, which is no secret: it detects mistakes. */
export function listCursors({ list, clinic, filters }: CursorScope) {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined)
  const scope = JSON.stringify([list, clinic, given.sort(([a], [b]) => (a < b ? -1 : 1))])

  function encode(position: string): string {
    const digest = createHash('sha256').update(`${scope}\n${position}`).digest().subarray(0, DIGEST_BYTES)
    return Buffer.concat([digest, Buffer.from(position)]).toString('base64url')
  }

  /** The position of a cursor. @throws ApiError invalid_cursor for a cursor of another list or none */
  function decode(cursor: string): string {
    const position = Buffer.from(cursor, 'base64url').subarray(DIGEST_BYTES).toString()
    if (encode(position) !== cursor) throw invalidCursor()
    return position
  }

  return { encode, decode }
}
