import type { DueDelivery } from '../../domain/webhooks/delivery.ts'
import type { Deliveries } from '../store-ports.ts'
import { type ReportLag, recheckDelay, requeue, sweepBatches } from '../sweep-batches.ts'
import type { DeliveryQueues } from './delivery-queues.ts'

export type DeliverySweep = {
  readonly deliveries: Pick<Deliveries, 'dueBatches' | 'find' | 'change' | 'removeDue'>
  readonly queues: DeliveryQueues
  readonly now: () => number
  readonly reportLag?: ReportLag
}

/** Deliveries of each partition that are read at a time. */
const BATCH_SIZE = 100

/** Deliveries that fall due within this time are queued by this sweep, with their delay. */
const HORIZON_MS = 75_000

/** The deliveries of one clinic that a run processes. The others wait for the next run, so that they delay no other clinic. */
const MAX_PER_CLINIC = 1000

const MIN_RECHECK_DELAY_MS = 10 * 60_000

const CONCURRENCY = 16

/** Queues the deliveries that are due: retries after long delays, and deliveries that a crash left unqueued. */
export function sweepDeliveries(sweep: DeliverySweep): Promise<void> {
  const counts = new Map<string, number>()
  const work = async (item: DueDelivery): Promise<void> => {
    const count = (counts.get(item.clinic) ?? 0) + 1
    counts.set(item.clinic, count)
    if (count <= MAX_PER_CLINIC) await processDue(sweep, item)
  }
  const batches = sweep.deliveries.dueBatches(sweep.now() + HORIZON_MS, BATCH_SIZE)
  return sweepBatches(batches, { ...sweep, work, concurrency: CONCURRENCY })
}

async function processDue({ deliveries, queues, now }: DeliverySweep, item: DueDelivery): Promise<void> {
  const { clinic, webhook, id, at } = item
  const delivery = await deliveries.find(clinic, webhook, id)
  if (delivery?.dueAt !== at) return deliveries.removeDue(item)
  // The delivery is already claimed.
  if (delivery.claim && delivery.claim.until > now()) return
  const delayMs = Math.max(0, at - now())
  // A check whether a message was lost would be too early; it is not a retry.
  if (delayMs > 0 && delivery.nextAt !== at) return
  // The delay grows with the wait: a message that waits in a long queue is not lost, and each check adds another.
  const waitedMs = now() - (delivery.nextAt ?? at)
  const dueAt = now() + delayMs + recheckDelay(waitedMs, MIN_RECHECK_DELAY_MS)
  const move = (from: number, to: number) => moveDue(deliveries, { ...item, at: from }, to)
  await requeue({ at, dueAt }, move, () => queues.push('quick', [{ clinic, webhook, delivery: id }], delayMs))
}

/** Moves the time at which a sweep checks a delivery. False if the item had another time by then. */
async function moveDue(
  deliveries: DeliverySweep['deliveries'],
  { clinic, webhook, id, at }: DueDelivery,
  dueAt: number,
): Promise<boolean> {
  let isMoved = false
  await deliveries.change(clinic, webhook, id, (before) => {
    isMoved = before.dueAt === at
    return isMoved ? { ...before, dueAt } : null
  })
  return isMoved
}
