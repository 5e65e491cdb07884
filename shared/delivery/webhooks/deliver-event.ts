import {
  abandoned,
  afterAttempt,
  DELIVERY_LEASE_MS,
  type Delivery,
  type DeliveryContext,
  type DeliveryReference,
  isBeforeRetry,
  MAX_QUEUE_DELAY_MS,
} from '../../domain/webhooks/delivery.ts'
import {
  DISABLE_AFTER_MS,
  nextRetryDelay,
  parseRetryAfter,
  signingSecrets,
  type Webhook,
} from '../../domain/webhooks/webhook.ts'
import {
  freePermits,
  isLimited,
  nextHalfOpenAt,
  type Permit,
  queuedDelivery,
  SLOW_THRESHOLD_MS,
  usesSlowLane,
} from '../../domain/webhooks/webhook-health.ts'
import type { Deliveries, HealthRecords, Webhooks } from '../store-ports.ts'
import { type AttemptReport, attemptReport } from './attempt-report.ts'
import type { DeliveryQueues, Lane } from './delivery-queues.ts'
import { recordHealth, reserveQueue, takePermit } from './endpoint-health.ts'
import { call, hold, passOn, postpone } from './waiting-deliveries.ts'
import { signatureHeaders } from './webhook-signature.ts'
import type { AttemptResult, WebhookTransport } from './webhook-transport.ts'

/** Queues and clocks are inexact: a delivery that arrives this early is attempted. */
const EARLY_TOLERANCE_MS = 1000

/** One that arrives at most this early is queued again for the rest of the time. A sweep queues one that is due later. */
const MAX_EARLY_MS = 60_000

export type DeliveryConsumer = {
  readonly deliveries: Pick<
    Deliveries,
    | 'readContext'
    | 'earlierUnattempted'
    | 'nextUnattempted'
    | 'claim'
    | 'change'
    | 'waiting'
    | 'removeWaiting'
  >
  readonly webhooks: Webhooks
  readonly health: HealthRecords
  readonly transport: WebhookTransport
  readonly queues: DeliveryQueues
  readonly now: () => number
  /** The clock of receivers, which check the age of a signature: differs from `now` if a local stack has its own time. */
  readonly receiverNow?: () => number
  /** A number from 0 to 1. */
  readonly random: () => number
  /** A unique token for each claim. */
  readonly newToken: () => string
  /** Called after each attempt. */
  readonly onAttempt?: (report: AttemptReport) => void
}

/**
 * Attempts one delivery. Safe to call repeatedly and in any order: a delivery that has ended, is not yet due or is claimed
 * by another consumer is left alone, and so is one of a paused clinic, which is due after the pause. So is one that precedes
 * the first attempt of an earlier event of the same record: that attempt queues the next delivery again. One to an endpoint that is slow, only fails or is new may have to wait.
 */
export async function deliverEvent(
  consumer: DeliveryConsumer,
  queued: DeliveryReference,
  lane: Lane,
): Promise<void> {
  const { deliveries, queues, now } = consumer
  const { clinic } = queued
  const context = await deliveries.readContext(clinic, queued.webhook, queued.delivery)
  if (!context) return
  const { delivery, webhook, health } = context
  if (context.isPaused) return hold(consumer, queued, delivery)
  // Its first attempt, or its end, may not have queued the next.
  if (delivery.status !== 'pending') return queueNext(consumer, queued, delivery)
  // The delivery is already claimed. If that consumer crashes, the sweep queues the delivery again.
  if (delivery.claim && delivery.claim.until > now()) return
  if (!webhook || !(webhook.isActive || delivery.isManual)) {
    const isAsRead = ({ status, isManual, claim }: Delivery) =>
      status === 'pending' && isManual === delivery.isManual && claim?.token === delivery.claim?.token
    await deliveries.change(clinic, delivery.webhook, delivery.id, (before) =>
      isAsRead(before) ? abandoned(before) : null,
    )
    return queueNext(consumer, queued, delivery)
  }
  const early = (delivery.nextAt ?? 0) - now()
  if (early > MAX_EARLY_MS) return
  if (early > EARLY_TOLERANCE_MS) return queues.push(lane, [queued], early)
  const permits = isLimited(health) ? freePermits(health, delivery.isManual, now()) : null
  if (permits?.length === 0) return postpone(consumer, queued, context)
  const needsSlowLane = permits !== null && lane === 'quick' && usesSlowLane(health)
  const inQueue = needsSlowLane ? queuedDelivery(health, now()) : null
  if (inQueue === delivery.id) return // a repeated message
  if (inQueue !== null && !delivery.isManual) return postpone(consumer, queued, context)
  // Checked before the slow queue is reserved, since the earlier delivery needs the reservation.
  if (delivery.attempts.length === 0) {
    const earlier = await deliveries.earlierUnattempted(clinic, delivery)
    if (earlier !== null) {
      // The earlier delivery may have to wait for its endpoint.
      await call(consumer, { ...queued, delivery: earlier })
      return permits ? postpone(consumer, queued, context) : undefined
    }
  }
  if (needsSlowLane) {
    const mayQueue = delivery.isManual || (await reserveQueue(consumer.health, queued, health, now()))
    // Reserved by another message since the health was read, perhaps for the same delivery.
    return mayQueue ? queues.push('slow', [queued]) : deliverEvent(consumer, queued, lane)
  }
  const claim = { token: consumer.newToken(), until: now() + DELIVERY_LEASE_MS }
  // Changed since it was read: claimed by another consumer, or moved by the sweep that queued this message.
  if (!(await deliveries.claim(clinic, context, claim))) return deliverEvent(consumer, queued, lane)
  const permit = permits && (await takePermit(consumer.health, queued, health, permits, claim.until))
  if (permits && permit === null)
    return postpone(consumer, queued, { health, delivery: { ...delivery, claim } })
  return attempt(consumer, queued, { ...context, webhook }, { claimToken: claim.token, permit, lane })
}

/** After the first attempt of a delivery, or when it has ended without one: queues the next of its record, which waits for it. */
async function queueNext(
  { deliveries, queues }: DeliveryConsumer,
  queued: DeliveryReference,
  delivery: Delivery,
): Promise<void> {
  const next = await deliveries.nextUnattempted(queued.clinic, delivery)
  if (next !== null) await queues.push('quick', [{ ...queued, delivery: next }])
}

type AttemptClaim = { readonly claimToken: string; readonly permit: Permit | null; readonly lane: Lane }

async function attempt(
  consumer: DeliveryConsumer,
  queued: DeliveryReference,
  { delivery, webhook, health }: DeliveryContext & { readonly webhook: Webhook },
  { claimToken, permit, lane }: AttemptClaim,
): Promise<void> {
  const { deliveries, now } = consumer
  const { clinic } = queued
  const at = now()
  const result = await post(consumer, delivery, webhook, at, lane)
  const ifStillClaimed = (before: Delivery, after: Delivery) =>
    before.claim?.token === claimToken ? after : null
  const isCutOff = lane === 'quick' && result.kind === 'failed' && result.reason === 'timeout'
  consumer.onAttempt?.(attemptReport({ clinic, requestId: delivery.requestId }, result, isCutOff))
  if (isCutOff) {
    const cutOff = {
      result: 'cut-off',
      at,
      isSlow: true,
      halfOpenAt: null,
      permit,
      isWaiting: false,
    } as const
    await consumer.health.record(clinic, webhook.id, cutOff)
    await deliveries.change(clinic, webhook.id, delivery.id, (before) =>
      ifStillClaimed(before, { ...before, claim: null }),
    )
    return consumer.queues.push('slow', [queued])
  }
  const isDelivered = result.kind === 'responded' && result.status >= 200 && result.status < 300
  const isGone = result.kind === 'responded' && result.status === 410
  const retryAfter = result.kind === 'responded' ? parseRetryAfter(result.retryAfter, now()) : null
  const retryDelay =
    isDelivered || isGone ? null : retryDelayOf(delivery, at, now(), retryAfter, consumer.random())
  const halfOpenAt = isDelivered ? null : nextHalfOpenAt(health, consumer.random(), now())
  const attemptRecord = {
    at: new Date(at).toISOString(),
    status: result.kind === 'responded' ? result.status : null,
    error: result.kind === 'responded' ? null : result.reason,
    latencyMs: Math.round(result.latencyMs),
  }
  // A delay that the endpoint has requested is not shortened.
  const mayFollow = halfOpenAt !== null && retryAfter === null
  await deliveries.change(clinic, webhook.id, delivery.id, (before) =>
    ifStillClaimed(before, afterAttempt(before, attemptRecord, isDelivered, retryDelay, mayFollow)),
  )
  const next = await Promise.allSettled([queueNext(consumer, queued, delivery)])
  const healthAfter = await recordHealth(consumer.health, queued, health, {
    result: isDelivered ? 'success' : 'failure',
    at,
    // The latency ends with the status; a body can take longer.
    isSlow: Math.max(result.latencyMs, now() - at) >= SLOW_THRESHOLD_MS,
    halfOpenAt,
    permit,
    isWaiting: mayFollow,
  })
  const hasFailedTooLong = health.failingSince !== null && at - health.failingSince >= DISABLE_AFTER_MS
  if (isGone || (!isDelivered && hasFailedTooLong))
    await consumer.webhooks.disable(clinic, webhook.id, new Date(now()).toISOString())
  if (retryDelay !== null && retryDelay <= MAX_QUEUE_DELAY_MS)
    await consumer.queues.push('quick', [queued], retryDelay)
  await passOn(consumer, queued, health, healthAfter, permit !== null || isDelivered)
  if (next[0].status === 'rejected') throw next[0].reason
}

/** An attempt before the scheduled retry does not replace it. */
function retryDelayOf(
  delivery: Delivery,
  at: number,
  end: number,
  retryAfter: number | null,
  random: number,
): number | null {
  const retryAt = delivery.waiting?.retryAt ?? 0
  if (!isBeforeRetry(delivery, at)) return nextRetryDelay(delivery.failedAttempts + 1, retryAfter, random)
  return Math.max(retryAt - end, nextRetryDelay(1, retryAfter, 0) as number)
}

/** Sends the request. Each attempt has its own signature; the id and the body do not change. */
function post(
  { transport, now, receiverNow = now }: DeliveryConsumer,
  { eventId, body }: Delivery,
  webhook: Webhook,
  at: number,
  lane: Lane,
): Promise<AttemptResult> {
  const secrets = signingSecrets(webhook, at)
  const timestampSeconds = Math.floor(receiverNow() / 1000)
  const headers = signatureHeaders({ id: eventId, timestampSeconds, body, secrets })
  return transport.post(webhook.url, headers, body, lane === 'quick' ? SLOW_THRESHOLD_MS : undefined)
}
