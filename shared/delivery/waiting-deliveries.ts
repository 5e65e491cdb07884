/** Deliveries to a receiver that is slow or only fails: they wait, and follow its next success in order. */
import {
  type Delivery,
  type DeliveryReference,
  MAX_QUEUE_DELAY_MS,
  released,
  waiting,
} from '../domain/delivery.ts'
import { SLOW_SLOTS } from '../domain/webhook-health.ts'
import type { DeliveryQueues } from './delivery-queues.ts'
import type { Deliveries, HealthRecords } from './store-ports.ts'

export type WaitingPorts = {
  readonly deliveries: Pick<Deliveries, 'change' | 'waiting'>
  readonly health: HealthRecords
  readonly queues: DeliveryQueues
  readonly now: () => number
}

/** Lets a delivery wait that has not changed since it was read, or whose claim has this token. Returns its state if it did. */
export async function letWait(
  { deliveries, health, queues, now }: WaitingPorts,
  queued: DeliveryReference,
  read: Delivery,
  token: string | undefined,
): Promise<Delivery | null> {
  const { clinic, webhook } = queued
  let after: Delivery | null = null
  await deliveries.change(clinic, webhook, read.id, (before) => {
    const isAsRead =
      before.status === 'pending' && before.nextAt === read.nextAt && before.claim?.token === token
    after = isAsRead ? waiting(before, now()) : null
    return after
  })
  const { nextAt = null } = (after ?? {}) as Partial<Delivery>
  if (nextAt === null) return after
  // Afterwards, so that a success which does not find the delivery yet does not clear this.
  await health.recordWaiting(clinic, webhook, now())
  const delay = nextAt - now()
  if (delay <= MAX_QUEUE_DELAY_MS) await queues.push('quick', [queued], delay)
  return after
}

/**
 * After a success: releases the oldest `size` deliveries that have waited since `waitingSince`. The success of each
 * releases the next.
 */
export async function releaseWaiting(
  ports: WaitingPorts,
  { clinic, webhook }: DeliveryReference,
  size: number,
  waitingSince: number,
): Promise<void> {
  // Successes at the same time find the same deliveries.
  const limit = size + SLOW_SLOTS
  const ids = await ports.deliveries.waiting(clinic, webhook, limit)
  let left = size
  for (const delivery of ids) {
    if (left === 0) return
    if (await release(ports, { clinic, webhook, delivery })) left--
  }
  if (ids.length < limit) await ports.health.clearWaiting(clinic, webhook, waitingSince)
}

/** Queues a delivery if it waits. Returns whether it did. */
export async function release(
  { deliveries, queues, now }: WaitingPorts,
  reference: DeliveryReference,
): Promise<boolean> {
  let isReleased = false
  await deliveries.change(reference.clinic, reference.webhook, reference.delivery, (before) => {
    isReleased = before.isWaiting && (before.claim?.until ?? 0) <= now()
    return isReleased ? released(before, now()) : null
  })
  if (isReleased) await queues.push('quick', [reference])
  return isReleased
}
