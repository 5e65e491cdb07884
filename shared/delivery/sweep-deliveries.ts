import type { DueDelivery } from '../domain/delivery.ts'
import type { DeliveryQueues } from './delivery-queues.ts'
import type { Deliveries } from './store-ports.ts'
import { sweepBatches } from './sweep-batches.ts'

export type DeliverySweep = {
  readonly deliveries: Pick<Deliveries, 'dueBatches' | 'find' | 'change' | 'removeDue'>
  readonly queues: DeliveryQueues
  readonly now: () => number
}

/** Deliveries of each partition that are read at a time. */
const BATCH_SIZE = 100

/** What falls due before the next sweep has come this far is queued by this one, with its delay. */
const HORIZON_MS = 75_000

/** When a delivery that was queued is checked again, in case its message is lost. */
const RECHECK_DELAY_MS = 10 * 60_000

const CONCURRENCY = 16

/** Queues the deliveries that are due: retries after long delays, and deliveries that a crash left unqueued. */
export const sweepDeliveries = (sweep: DeliverySweep): Promise<void> =>
  sweepBatches(sweep.deliveries.dueBatches(sweep.now() + HORIZON_MS, BATCH_SIZE), {
    work: (item) => processDue(sweep, item),
    concurrency: CONCURRENCY,
    now: sweep.now,
  })

async function processDue({ deliveries, queues, now }: DeliverySweep, item: DueDelivery): Promise<void> {
  const { clinic, webhook, id, at } = item
  const delivery = await deliveries.find(clinic, webhook, id)
  if (delivery?.dueAt !== at) return deliveries.removeDue(item)
  // Already claimed.
  if (delivery.claim && delivery.claim.until > now()) return
  const delayMs = Math.max(0, at - now())
  // Not a retry, but a check whether a message was lost: it would be too early.
  if (delayMs > 0 && delivery.nextAt !== at) return
  const lane = delivery.attempts.length === 0 ? 'quick' : 'slow'
  await queues.push(lane, [{ clinic, webhook, delivery: id }], delayMs)
  const dueAt = now() + delayMs + RECHECK_DELAY_MS
  await deliveries.change(clinic, webhook, id, (before) =>
    before.dueAt === at ? { ...before, dueAt } : null,
  )
}
