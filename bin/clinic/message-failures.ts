import { CalendarDate, oneOf } from '../../shared/api/schemas.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { addDays, wallClock } from '../../shared/domain/clock.ts'
import { CHANNELS, type Message } from '../../shared/domain/message.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { CommandFailure, parseOption } from './output.ts'

/** Unparsed options. Dates are in the clinic's time zone. */
export type FailedMessagesOptions = { from?: string; to?: string; channel?: string }

/** Length of the period without `--from`, in days. */
export const DEFAULT_DAYS = 7

const PAGE_SIZE = 500

/** The clinic's failed messages, newest first. */
export async function failedMessages(
  table: Table,
  clinic: Clinic,
  options: FailedMessagesOptions,
): Promise<Message[]> {
  const filter = filterOf(clinic, options)
  const failed = new Map<string, Message>()
  for (let page = 1, more = true; more; page++) {
    const { items, total } = await messageStore({ table }).page(clinic.id, filter, { page, limit: PAGE_SIZE })
    // By id: messages accepted in the meantime move others to the next page, where they appear again.
    for (const message of items) if (message.status === 'failed') failed.set(message.id, message)
    more = page * PAGE_SIZE < total
  }
  return [...failed.values()]
}

function filterOf({ timezone }: Clinic, { from: first, to: last, channel }: FailedMessagesOptions) {
  const to = last === undefined ? wallClock(Date.now(), timezone).date : parseOption('to', CalendarDate, last)
  const from = first === undefined ? addDays(to, 1 - DEFAULT_DAYS) : parseOption('from', CalendarDate, first)
  if (from > to) throw new CommandFailure('--from must not be after --to')
  return {
    from,
    to,
    facet: channel === undefined ? undefined : parseOption('channel', oneOf(CHANNELS), channel),
  }
}
