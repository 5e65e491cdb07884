import type { ClinicId } from '../domain/clinic.ts'
import { isUnresolved, isWaiting, type Message, type ProviderFeedback } from '../domain/message.ts'
import type { EmailQueue } from './email-queue.ts'
import { MAX_AGE_MS } from './send-queued-email.ts'
import { settleAll } from './settle-all.ts'

type Due = { readonly clinic: ClinicId; readonly id: string; readonly at: number }
type StoredMessage = { readonly record: Message; readonly version: number; readonly events: number }

export type MessageSweep = {
  readonly messages: {
    readonly due: (now: number, limit: number) => Promise<readonly Due[]>
    readonly find: (clinic: ClinicId, id: string) => Promise<StoredMessage | null>
    readonly recordFeedback: (clinic: ClinicId, id: string, occurrence: ProviderFeedback) => Promise<unknown>
    readonly postpone: (clinic: ClinicId, read: StoredMessage, dueAt: number) => Promise<unknown>
    readonly markUnresolved: (clinic: ClinicId, id: string, reason: string) => Promise<unknown>
    readonly removeDue: (due: Due) => Promise<void>
  }
  readonly queue: EmailQueue
  readonly now: () => number
  readonly count: (metric: string) => void
}

/** Of each partition of what is due; the rest waits a minute. */
const MAX_PER_SWEEP = 250

/** A message that was queued again is left alone so long at least, and at most. */
const MIN_RECHECK_DELAY_MS = 15 * 60_000
const MAX_RECHECK_DELAY_MS = 60 * 60_000

/**
 * Looks after messages that should be further by now: those that a crash left unqueued are queued, and those whose sender
 * ended without a word are left to a person.
 */
export async function sweepMessages(sweep: MessageSweep): Promise<void> {
  const items = await sweep.messages.due(sweep.now(), MAX_PER_SWEEP)
  await settleAll(items, (item) => processDue(sweep, item))
}

async function processDue({ messages: log, queue, now, count }: MessageSweep, item: Due): Promise<void> {
  const { clinic, id, at } = item
  const read = await log.find(clinic, id)
  const dispatch = read?.record.dispatch
  if (!read || dispatch?.dueAt !== at) return log.removeDue(item)
  const { record } = read
  if (isUnresolved(record, now())) {
    count('message_unresolved')
    await log.markUnresolved(clinic, id, 'Its sender ended without a word: it may have been sent')
    return
  }
  // Somebody is at it, and ends within seconds.
  if (!isWaiting(record)) return
  const age = now() - Date.parse(record.acceptedAt)
  if (age > MAX_AGE_MS) {
    await log.recordFeedback(clinic, id, {
      kind: 'failed',
      reason: 'Not sent: it waited for more than a day',
    })
    return
  }
  count('email_queued_again')
  await queue.push({ clinic, message: id, waits: 0 })
  // Ever less often: what cannot be sent comes to its dead letters once for each time.
  await log.postpone(
    clinic,
    read,
    now() + Math.min(Math.max(MIN_RECHECK_DELAY_MS, age), MAX_RECHECK_DELAY_MS),
  )
}
