import type { ClinicId } from '../../domain/clinic.ts'
import type { Event } from '../../domain/webhooks/event.ts'
import { eventsFrom, eventsPartition, parseEventKey } from '../keys/events.ts'
import type { Table } from '../table/table.ts'
import { decodeEvent, isExpired } from './items.ts'

/** A request for a page of a cursor list: at most `limit` items after the cursor. */
export type LogRequest = { readonly after?: string | undefined; readonly limit: number }

export type LogPage<T> = {
  readonly items: readonly T[]
  /** The cursor of the next page; null for an empty list. */
  readonly nextAfter: string | null
  readonly hasMore: boolean
}

/** The most rows that one request reads to find matching events. The next page continues from there. */
const MAX_SCANNED_ROWS = 2000
/** The rows that one query of such a request reads. */
const FILTER_BATCH_SIZE = 500

/** Events with a position, oldest first. Positions follow the order in which events became readable and serve as cursors. */
export function eventStore({ table, now }: { table: Table; now: () => number }) {
  /** A page of events, of those that match `isWanted` if it is set. Null for a malformed cursor. */
  async function page(
    clinic: ClinicId,
    { after, limit }: LogRequest,
    isWanted?: (event: Event) => boolean,
  ): Promise<LogPage<Event> | null> {
    const start = after === undefined ? 0 : parseCursor(after)
    if (start === null) return null
    const readAt = now()
    const pk = eventsPartition(clinic)
    const items: Event[] = []
    let position = start
    for (let scanned = 0; scanned < MAX_SCANNED_ROWS; ) {
      // One row more than requested shows whether there is another page.
      const maxRows = isWanted === undefined ? limit + 1 - items.length : FILTER_BATCH_SIZE
      const rows = await table.query({ pk, from: eventsFrom(position + 1), limit: maxRows })
      for (const row of rows) {
        const event = decodeEvent(row)
        const matches = !isExpired(row, readAt) && (isWanted?.(event) ?? true)
        if (matches && items.length === limit) return { items, nextAfter: cursorOf(position), hasMore: true }
        position = parseEventKey(row)
        if (matches) items.push(event)
      }
      if (rows.length < maxRows)
        return { items, nextAfter: position === 0 ? null : cursorOf(position), hasMore: false }
      scanned += rows.length
    }
    const [next] = await table.query({ pk, from: eventsFrom(position + 1), limit: 1 })
    return { items, nextAfter: cursorOf(position), hasMore: next !== undefined }
  }

  return { page }
}

const cursorOf = (position: number): string => String(position)
const parseCursor = (cursor: string): number | null => (/^\d{1,10}$/.test(cursor) ? Number(cursor) : null)
