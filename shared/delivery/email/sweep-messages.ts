import type { Due } from '../../domain/due.ts'
import { isMessageWaiting, isUnresolved, SENDER_STOPPED } from '../../domain/messages/message.ts'
import type { Messages } from '../store-ports.ts'
import { type ReportLag, recheckDelay, requeue, sweepBatches } from '../sweep-batches.ts'
import { smsFeedback } from '../test-recipients.ts'
import type { EmailQueue } from './email-queue.ts'
import { simulatedEvents } from './feedback.ts'
import { MAX_AGE_MS } from './send-queued-email.ts'

export type MessageSweep = {
  readonly messages: Pick<
    Messages,
    'dueBatches' | 'find' | 'recordFeedback' | 'giveUp' | 'postpone' | 'markUnresolved' | 'removeDue'
  >
  readonly queue: EmailQueue
  readonly now: () => number
  readonly count: (metric: string) => void
  readonly reportLag?: ReportLag
}

/** Messages of each partition that are read at a time. */
const BATCH_SIZE = 100

const CONCURRENCY = 8

const MIN_RECHECK_DELAY_MS = 15 * 60_000

/**
 * Processes messages that are overdue: queues emails that a crash left unqueued, marks messages whose claim expired as
 * unresolved, for an operator to decide, and finishes those of test clinics that were sent.
 */
export const sweepMessages = (sweep: MessageSweep): Promise<void> =>
  sweepBatches(sweep.messages.dueBatches(sweep.now(), BATCH_SIZE), {
    work: (item) => processDue(sweep, item),
    concurrency: CONCURRENCY,
    now: sweep.now,
    reportLag: sweep.reportLag,
  })

async function processDue({ messages, queue, now, count }: MessageSweep, item: Due): Promise<void> {
  const { clinic, id, at } = item
  const read = await messages.find(clinic, id)
  const dispatch = read?.record.dispatch
  if (!read || dispatch?.dueAt !== at) return messages.removeDue(item)
  const { record } = read
  if (record.isTest && record.status === 'sent') {
    const { channel, recipient, providerMessageId } = record
    const reported = [recipient, new Date(now()).toISOString(), providerMessageId ?? id] as const
    for (const feedback of channel === 'sms' ? [smsFeedback(...reported)] : simulatedEvents(...reported))
      await messages.recordFeedback(clinic, id, feedback)
    return
  }
  if (isUnresolved(record, now())) {
    await messages.markUnresolved(clinic, id, SENDER_STOPPED)
    return
  }
  // The message is already claimed, by a consumer that finishes within seconds.
  if (!isMessageWaiting(record)) return
  const age = now() - Date.parse(record.acceptedAt)
  if (age > MAX_AGE_MS) {
    await messages.giveUp(clinic, id, 'Not sent: the message waited for more than a day')
    return
  }
  // The delay grows with the age: an email that cannot be sent reaches the dead-letter queue each time it is queued.
  const dueAt = now() + recheckDelay(age, MIN_RECHECK_DELAY_MS)
  const move = (from: number, to: number) =>
    messages.postpone(clinic, from === at ? read : { ...read, version: read.version + 1 }, to)
  if (await requeue({ at, dueAt }, move, () => queue.push({ clinic, message: id, waits: 0 })))
    count('email_queued_again')
}
