/** The single table, as the stores use it: they pass keys and get items. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { newUuid } from '../../domain/uuid.ts'
import type { EventSource } from '../../domain/webhooks/event.ts'
import { tableReads } from './reads.ts'
import { SYSTEM_TIMING, type Timing } from './retries.ts'
import { writeRequests } from './write-requests.ts'
import { tableWrites } from './writes.ts'

export const MAX_TRANSACTION_ITEMS = 100

/** The clocks of writers. Tests pass their own. */
export type TableOptions = {
  /** Milliseconds since the epoch. */
  readonly now?: () => number
  readonly timing?: Timing
  readonly source?: EventSource
}

export type Table = ReturnType<typeof openTable>

/** Opens the table `name`. @throws UnavailableError from any call, when the store throttles or cannot be reached */
export function openTable(
  client: DynamoDBDocumentClient,
  name: string,
  { now = Date.now, timing = SYSTEM_TIMING, source = 'system' }: TableOptions = {},
) {
  return {
    emitsEvents: true as boolean,
    /** Who causes what is written. */
    source,
    now,
    newId: newUuid,
    ...tableReads(client, name, timing),
    ...tableWrites(client, name, timing),
    ...writeRequests(name),
  }
}

/** A table for writers of historical records, whose changes emit no events. */
export const withoutEvents = (table: Table): Table => ({ ...table, emitsEvents: false })

/** The table, for writes that another source causes. */
export const withSource = (table: Table, source: EventSource): Table => ({ ...table, source })
