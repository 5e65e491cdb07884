import type { ClinicId } from '../../domain/clinic.ts'
import { type Event, isKnownEvent } from '../../domain/webhooks/event.ts'
import { eventHeadKey, eventKey, eventsFrom, eventsPartition, parseEventKey } from '../keys/events.ts'
import type { Table } from '../table/table.ts'
import { decodeCounter, decodeEvent, isExpired } from './items.ts'

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
  /** A page of events, of those that match `isWanted` if it is set, else of those that are known. Null for a cursor that is malformed or beyond the last event. */
  async function page(
    clinic: ClinicId,
    { after, limit }: LogRequest,
    isWanted?: (event: Event) => boolean,
  ): Promise<(LogPage<Event> & { readonly nextAfter: string }) | null> {
    const start = after === undefined ? 0 : parseCursor(after)
    if (start === null) return null
    const readAt = now()
    const pk = eventsPartition(clinic)
    const items: Event[] = []
    let position = start
    for (let scanned = 0; scanned < MAX_SCANNED_ROWS; ) {
      // The cursor's own row, and one more than requested to see whether there is another page.
      const maxRows = isWanted === undefined ? limit - items.length + 2 : FILTER_BATCH_SIZE
      const from = scanned === 0 ? start : position + 1
      const rows = await table.query({ pk, from: eventsFrom(from), limit: maxRows })
      // The cursor's own row may have expired. The head is read after the rows, so it is not before them.
      if (rows.length === 0 && start > 0 && start > (await lastPosition(clinic))) return null
      for (const row of rows) {
        const at = parseEventKey(row)
        if (at === position) continue
        const event = decodeEvent(row)
        const isOld = isExpired(row, readAt)
        // A query may miss an event of a transaction and find a later one. Others are missing after a restore, or have expired.
        const isMissed =
          at > position + 1 && !isOld && (await table.getCommitted(eventKey(clinic, position + 1)))
        const matches = !isOld && (isWanted?.(event) ?? isKnownEvent(event.event))
        if (isMissed || (matches && items.length === limit))
          return { items, nextAfter: cursorOf(position), hasMore: true }
        position = at
        if (matches) items.push(event)
      }
      if (rows.length < maxRows) return { items, nextAfter: cursorOf(position), hasMore: false }
      scanned += rows.length
    }
    const [next] = await table.query({ pk, from: eventsFrom(position + 1), limit: 1 })
    return { items, nextAfter: cursorOf(position), hasMore: next !== undefined }
  }

  const lastPosition = async (clinic: ClinicId): Promise<number> =>
    decodeCounter(await table.get(eventHeadKey(clinic))).n

  return { page }
}

const cursorOf = (position: number): string => String(position)
const parseCursor = (cursor: string): number | null => (/^\d{1,10}$/.test(cursor) ? Number(cursor) : null)
