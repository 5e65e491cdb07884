import type { ClinicId } from '../../domain/clinic.ts'
import { RETENTION_SECONDS } from '../../domain/delivery.ts'
import type { Event, RecordEventName } from '../../domain/event.ts'
import { eventKey, eventsPartition, parseAnnouncedKey } from '../keys/events.ts'
import { sortableNumber, TTL } from '../keys/key.ts'
import type { Item, Table } from '../table/table.ts'

/** What a cursor list was asked for: after which item, and at most how many. */
export type CursorRequest = { readonly after?: string | undefined; readonly limit: number }

export type CursorPage<T> = {
  readonly items: readonly T[]
  readonly nextAfter: string | null
  readonly hasMore: boolean
}

/** Rows that one request looks through for the events it wants; the cursor goes on from there. */
const MAX_SCANNED_ROWS = 2000
/** Of them, so many are read together. */
const FILTER_BATCH_SIZE = 500

/** Events that have their place, oldest first. A cursor is a place: places are given in the order of becoming readable. */
export function eventStore({ table, now }: { table: Table; now: () => number }) {
  /** Null for a cursor that is none. */
  async function page(
    clinic: ClinicId,
    { after, limit }: CursorRequest,
    wanted?: RecordEventName,
  ): Promise<CursorPage<Event> | null> {
    const start = after === undefined ? 0 : positionOf(after)
    if (start === null) return null
    const oldest = Math.floor(now() / 1000)
    const pk = eventsPartition(clinic)
    const items: Event[] = []
    let position = start
    for (let scanned = 0; scanned < MAX_SCANNED_ROWS; ) {
      // One more than wanted tells whether there is more.
      const maxRows = wanted === undefined ? limit + 1 - items.length : FILTER_BATCH_SIZE
      const rows = await table.query({ pk, from: sortableNumber(position + 1), limit: maxRows })
      for (const row of rows) {
        // Deletion by time to live lags behind.
        const matches = (row[TTL] as number) > oldest && (wanted === undefined || row.e === wanted)
        if (matches && items.length === limit) return { items, nextAfter: cursorOf(position), hasMore: true }
        position = Number(row.sk)
        if (matches) items.push(toEvent(row))
      }
      if (rows.length < maxRows)
        return { items, nextAfter: position === 0 ? null : cursorOf(position), hasMore: false }
      scanned += rows.length
    }
    const [next] = await table.query({ pk, from: sortableNumber(position + 1), limit: 1 })
    return { items, nextAfter: cursorOf(position), hasMore: next !== undefined }
  }

  return { page }
}

const cursorOf = (position: number): string => String(position)
const positionOf = (cursor: string): number | null => (/^\d{1,10}$/.test(cursor) ? Number(cursor) : null)

/** An announced event, as it becomes the clinic's `place`-th. */
export function eventItem(clinic: ClinicId, position: number, event: Event): Item {
  const created = Date.parse(event.createdAt)
  return {
    ...eventKey(clinic, position),
    i: event.id,
    e: event.event,
    r: event.record,
    q: event.sequence,
    d: event.data,
    c: created,
    [TTL]: Math.floor(created / 1000) + RETENTION_SECONDS,
  }
}

const toEvent = (item: Item): Event => ({
  id: item.i as string,
  event: item.e as Event['event'],
  record: item.r as string,
  sequence: item.q as number,
  data: item.d as Event['data'],
  createdAt: new Date(item.c as number).toISOString(),
})

/** An event as its record's transaction announced it (changeset.ts). */
export function toAnnouncedEvent(item: Item): Event {
  const { record, sequence } = parseAnnouncedKey(item)
  return {
    id: item.i as string,
    event: item.e as Event['event'],
    record,
    sequence,
    data: item.d as Event['data'],
    createdAt: new Date(item.c as number).toISOString(),
  }
}
