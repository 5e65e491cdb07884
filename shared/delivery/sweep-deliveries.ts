import type { DueDelivery } from '../domain/delivery.ts'
import type { DeliveryQueues } from './delivery-queues.ts'
import { settleAll } from './settle-all.ts'
import type { Deliveries } from './store-ports.ts'

export type DeliverySweep = {
  readonly deliveries: Pick<Deliveries, 'due' | 'find' | 'change' | 'removeDue'>
  readonly queues: DeliveryQueues
  readonly now: () => number
}

/** Deliveries of each partition that one sweep processes; the next sweep, a minute later, processes the rest. */
const MAX_PER_SWEEP = 500

/** When a delivery that was queued is checked again, in case its message is lost. */
const RECHECK_DELAY_MS = 10 * 60_000

const CONCURRENCY = 8

/** Queues the deliveries that are due: retries after long delays, and deliveries that a crash left unqueued. */
export async function sweepDeliveries(sweep: DeliverySweep): Promise<void> {
  const items = await sweep.deliveries.due(sweep.now(), MAX_PER_SWEEP)
  await settleAll(items, (item) => processDue(sweep, item), CONCURRENCY)
}

async function processDue({ deliveries, queues, now }: DeliverySweep, item: DueDelivery): Promise<void> {
  const { clinic, webhook, id, at } = item
  const delivery = await deliveries.find(clinic, webhook, id)
  if (delivery?.dueAt !== at) return deliveries.removeDue(item)
  // Already claimed.
  if (delivery.claim && delivery.claim.until > now()) return
  await queues.push(delivery.attempts.length === 0 ? 'quick' : 'slow', [{ clinic, webhook, delivery: id }])
  const dueAt = now() + RECHECK_DELAY_MS
  await deliveries.change(clinic, webhook, id, (before) =>
    before.dueAt === at ? { ...before, dueAt } : null,
  )
}
