import type { ClinicId } from '../domain/clinic.ts'
import type { Delivery } from '../domain/delivery.ts'
import type { DeliveryQueues } from './delivery-queues.ts'
import { settleAll } from './settle-all.ts'

type Due = { readonly clinic: ClinicId; readonly webhook: string; readonly id: string; readonly at: number }

export type DeliverySweep = {
  readonly deliveries: {
    readonly due: (now: number, limit: number) => Promise<readonly Due[]>
    readonly find: (clinic: ClinicId, webhook: string, id: string) => Promise<Delivery | null>
    readonly change: (
      clinic: ClinicId,
      webhook: string,
      id: string,
      to: (before: Delivery) => Delivery | null,
    ) => Promise<Delivery | null>
    readonly removeDue: (due: Due) => Promise<void>
  }
  readonly queues: DeliveryQueues
  readonly now: () => number
}

/** Of each partition of what is due; the rest waits a minute. */
const MAX_PER_SWEEP = 500

/** What was queued is looked at again, should it come to nothing. */
const RECHECK_DELAY_MS = 10 * 60_000

/** How many are seen to at a time. */
const CONCURRENCY = 8

/** Queues the deliveries whose time has come: retries of the long waits, and what a crash left behind. */
export async function sweepDeliveries(sweep: DeliverySweep): Promise<void> {
  const items = await sweep.deliveries.due(sweep.now(), MAX_PER_SWEEP)
  await settleAll(items, (item) => processDue(sweep, item), CONCURRENCY)
}

async function processDue({ deliveries: log, queues, now }: DeliverySweep, item: Due): Promise<void> {
  const { clinic, webhook, id, at } = item
  const delivery = await log.find(clinic, webhook, id)
  if (delivery?.dueAt !== at) return log.removeDue(item)
  // Somebody is at it.
  if (delivery.claim && delivery.claim.until > now()) return
  await queues.push(delivery.attempts.length === 0 ? 'quick' : 'slow', [{ clinic, webhook, delivery: id }])
  const dueAt = now() + RECHECK_DELAY_MS
  await log.change(clinic, webhook, id, (before) => (before.dueAt === at ? { ...before, dueAt } : null))
}
