/** Deliveries to an endpoint that is slow or only fails: they wait, and are called in order. */
import {
  called,
  type Delivery,
  type DeliveryContext,
  type DeliveryReference,
  dueFrom,
  isDeliveryWaiting,
  MAX_QUEUE_DELAY_MS,
  postponed,
} from '../../domain/webhooks/delivery.ts'
import {
  callSize,
  isReleased,
  SLOW_PERMITS,
  type WebhookHealth,
} from '../../domain/webhooks/webhook-health.ts'
import type { Deliveries, HealthRecords } from '../store-ports.ts'
import type { DeliveryQueues } from './delivery-queues.ts'

export type WaitingPorts = {
  readonly deliveries: Pick<Deliveries, 'change' | 'waiting' | 'removeWaiting'>
  readonly health: Pick<HealthRecords, 'recordWaiting' | 'clearWaiting'>
  readonly queues: DeliveryQueues
  readonly now: () => number
}

/** Lets a delivery wait, unless it has changed since it was read. The slow queue is no longer reserved for it. */
export async function postpone(
  ports: WaitingPorts,
  queued: DeliveryReference,
  { delivery: read, health: before }: Pick<DeliveryContext, 'delivery' | 'health'>,
): Promise<void> {
  const { deliveries, health, queues, now } = ports
  const { clinic, webhook } = queued
  const at = now()
  let after: Delivery | null = null
  await deliveries.change(clinic, webhook, read.id, (before) => {
    const { status, nextAt, claim } = before
    const isAsRead = status === 'pending' && nextAt === read.nextAt && claim?.token === read.claim?.token
    after = isAsRead ? postponed(before, at) : null
    return after
  })
  if (after === null) return
  // Afterwards, so that a success that does not find the delivery yet does not clear this.
  const healthAfter = await health.recordWaiting(clinic, webhook, at, before.queued?.delivery === read.id)
  if (isReleased(before, healthAfter)) return void (await call(ports, queued))
  const delay = ((after as Delivery).nextAt as number) - at
  if (delay <= MAX_QUEUE_DELAY_MS) await queues.push('quick', [queued], delay)
}

/** Leaves a delivery of a paused clinic to the first sweep after the pause. The sweep that queued it has moved the time at which it is due. */
export async function hold(
  { deliveries, now }: Pick<WaitingPorts, 'deliveries' | 'now'>,
  { clinic, webhook }: DeliveryReference,
  read: Delivery,
): Promise<void> {
  const dueAt = Math.max(now(), read.nextAt ?? 0)
  const isClaimed = read.claim !== null && read.claim.until > now()
  if (read.status !== 'pending' || isClaimed || read.dueAt === null || read.dueAt <= dueAt) return
  await deliveries.change(clinic, webhook, read.id, (before) =>
    before.dueAt === read.dueAt ? { ...before, dueAt } : null,
  )
}

/** After an attempt to a limited endpoint, or a success: calls what waits, now or when an open circuit becomes half-open. */
export async function passOn(
  ports: WaitingPorts,
  queued: DeliveryReference,
  before: WebhookHealth,
  after: WebhookHealth | null,
  isTurnOver: boolean,
): Promise<void> {
  if (after === null || after.waitingSince === null) return
  if (after.halfOpenAt !== null) {
    // Trial calls are made one at a time: a call on an open circuit holds its permit, and one attempt opens the circuit.
    if (isTurnOver || before.halfOpenAt === null) await callTrial(ports, queued, after.halfOpenAt)
  } else if (isTurnOver) await callWaiting(ports, queued, callSize(before, after), after.waitingSince)
}

const MAX_PASSES = 5

/** Calls the oldest `size` of the deliveries that have waited since `waitingSince`. The attempt of each calls the next. */
async function callWaiting(
  ports: WaitingPorts,
  { clinic, webhook }: DeliveryReference,
  size: number,
  waitingSince: number,
): Promise<void> {
  // Attempts that end at the same time find the same deliveries.
  const limit = size + SLOW_PERMITS
  let left = size
  // Again if all that were found have expired, or were called by others.
  for (let pass = 0; pass < MAX_PASSES && left === size; pass++) {
    const rows = await ports.deliveries.waiting(clinic, webhook, limit)
    for (const { id } of rows) if (left > 0 && (await call(ports, { clinic, webhook, delivery: id }))) left--
    if (left > 0 && rows.length < limit) return ports.health.clearWaiting(clinic, webhook, waitingSince)
  }
}

/** Queues a delivery if it waits. Returns whether it did. */
export async function call(ports: WaitingPorts, reference: DeliveryReference): Promise<boolean> {
  const at = ports.now()
  const isCalled = await changeWaiting(ports, reference, (before) => called(before, at))
  if (isCalled) await ports.queues.push('quick', [reference])
  return isCalled
}

/** The deliveries among which the next one for a half-open circuit is searched. */
const TRIAL_CANDIDATES = 20

/**
 * Calls the delivery that a half-open circuit is tried with next, at `at`: the next after this one that is due. One that waits
 * for its retry is not tried before it.
 */
async function callTrial(
  ports: WaitingPorts,
  { clinic, webhook, delivery: last }: DeliveryReference,
  at: number,
): Promise<void> {
  const { deliveries, queues, now } = ports
  for (const after of [last, undefined])
    for (const { id, waitsFor } of await deliveries.waiting(clinic, webhook, TRIAL_CANDIDATES, after)) {
      const reference = { clinic, webhook, delivery: id }
      if (waitsFor !== 'turn' || !(await changeWaiting(ports, reference, (before) => dueFrom(before, at))))
        continue
      return queues.push('quick', [reference], Math.max(0, at - now()))
    }
}

/** Changes a delivery if it waits. Returns whether it did. */
async function changeWaiting(
  { deliveries, now }: WaitingPorts,
  { clinic, webhook, delivery }: DeliveryReference,
  change: (before: Delivery) => Delivery,
): Promise<boolean> {
  let isChanged = false
  const found = await deliveries.change(clinic, webhook, delivery, (before) => {
    isChanged = isDeliveryWaiting(before) && (before.claim?.until ?? 0) <= now()
    return isChanged ? change(before) : null
  })
  // DynamoDB has deleted the delivery, since it expired.
  if (!found) await deliveries.removeWaiting(clinic, webhook, delivery)
  return isChanged
}
