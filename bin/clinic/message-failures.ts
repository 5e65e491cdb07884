import { CalendarDate, oneOf } from '../../shared/api/schemas.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { daysLater, wallClock } from '../../shared/domain/clock.ts'
import { CHANNELS, type Message } from '../../shared/domain/message.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { CommandFailure, option } from './output.ts'

/** Options as they were given; the dates are the clinic's. */
export type Wanted = { from?: string; to?: string; channel?: string }

/** How many days are looked at unless a first one is named. */
export const DAYS = 7

const PAGE = 500

/** The clinic's failed messages, newest first. */
export async function failedMessages(table: Table, clinic: Clinic, wanted: Wanted): Promise<Message[]> {
  const filter = filterOf(clinic, wanted)
  const failed = new Map<string, Message>()
  for (let page = 1, more = true; more; page++) {
    const { items, total } = await messageStore({ table }).page(clinic.id, filter, { page, limit: PAGE })
    // By id: what is accepted meanwhile pushes some on to the next page, where they are seen again.
    for (const message of items) if (message.status === 'failed') failed.set(message.id, message)
    more = page * PAGE < total
  }
  return [...failed.values()]
}

function filterOf({ timezone }: Clinic, { from: first, to: last, channel }: Wanted) {
  const to = last === undefined ? wallClock(Date.now(), timezone).date : option('to', CalendarDate, last)
  const from = first === undefined ? daysLater(to, 1 - DAYS) : option('from', CalendarDate, first)
  if (from > to) throw new CommandFailure('--from must not be after --to')
  return { from, to, facet: channel === undefined ? undefined : option('channel', oneOf(CHANNELS), channel) }
}
