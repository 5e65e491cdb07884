import type { ClinicId } from '../domain/clinic.ts'
import { isUnresolved, isWaiting, type Message, type Occurrence } from '../domain/message.ts'
import { allTried } from './all-tried.ts'
import type { EmailQueue } from './email-queue.ts'
import { MOST_AGE_MS } from './send-queued-email.ts'

type Due = { readonly clinic: ClinicId; readonly id: string; readonly at: number }
type Logged = { readonly record: Message; readonly version: number; readonly events: number }

export type Sweep = {
  readonly log: {
    readonly due: (now: number, limit: number) => Promise<readonly Due[]>
    readonly find: (clinic: ClinicId, id: string) => Promise<Logged | null>
    readonly note: (clinic: ClinicId, id: string, occurrence: Occurrence) => Promise<unknown>
    readonly postpone: (clinic: ClinicId, read: Logged, dueAt: number) => Promise<unknown>
    readonly leaveUnresolved: (clinic: ClinicId, id: string, reason: string) => Promise<unknown>
    readonly forget: (due: Due) => Promise<void>
  }
  readonly queue: EmailQueue
  readonly now: () => number
  readonly count: (metric: string) => void
}

/** Of each partition of what is due; the rest waits a minute. */
const MOST_A_SWEEP = 250

/** A message that was queued again is left alone so long at least, and at most. */
const NEXT_LOOK_MS = 15 * 60_000
const LAST_LOOK_MS = 60 * 60_000

/**
 * Looks after messages that should be further by now: those that a crash left unqueued are queued, and those whose sender
 * ended without a word are left to a person.
 */
export async function sweepMessages(sweep: Sweep): Promise<void> {
  const items = await sweep.log.due(sweep.now(), MOST_A_SWEEP)
  await allTried(items, (item) => look(sweep, item))
}

async function look({ log, queue, now, count }: Sweep, item: Due): Promise<void> {
  const { clinic, id, at } = item
  const read = await log.find(clinic, id)
  const dispatch = read?.record.dispatch
  if (!read || dispatch?.dueAt !== at) return log.forget(item)
  const { record } = read
  if (isUnresolved(record, now())) {
    count('message_unresolved')
    await log.leaveUnresolved(clinic, id, 'Its sender ended without a word: it may have been sent')
    return
  }
  // Somebody is at it, and ends within seconds.
  if (!isWaiting(record)) return
  const age = now() - Date.parse(record.acceptedAt)
  if (age > MOST_AGE_MS) {
    await log.note(clinic, id, { kind: 'failed', reason: 'Not sent: it waited for more than a day' })
    return
  }
  count('email_queued_again')
  await queue.push({ clinic, message: id, waits: 0 })
  // Ever less often: what cannot be sent comes to its dead letters once for each time.
  await log.postpone(clinic, read, now() + Math.min(Math.max(NEXT_LOOK_MS, age), LAST_LOOK_MS))
}
