import { randomUUID } from 'node:crypto'
import type { ClinicId } from '../domain/clinic.ts'
import { abandoned, afterAttempt, type Delivery, LEASE_MS, MAX_QUEUE_DELAY_MS } from '../domain/delivery.ts'
import {
  DISABLE_AFTER_MS,
  nextRetryDelay,
  parseRetryAfter,
  signingSecrets,
  type Webhook,
  type WebhookHealth,
} from '../domain/webhook.ts'
import type { DeliveryQueues, Lane, QueuedDelivery } from './delivery-queues.ts'
import { signatureHeaders } from './webhook-signature.ts'
import type { AttemptResult, WebhookTransport } from './webhook-transport.ts'

/**
 * An endpoint that has not answered by then is slow. Its delivery is broken off, and begun again on the slow way, where
 * it has all the time there is; so is what comes after it. The quick way is never held up for longer.
 */
const SLOW_THRESHOLD_MS = 1000

/** Queues and clocks are not exact: what comes so little early is not early. */
const EARLY_TOLERANCE_MS = 1000

/** How long a delivery waits for an earlier one of its record that somebody else is at. */
const ORDERING_DELAY_MS = 5000

type DeliveryFacts = {
  readonly delivery: Delivery
  readonly version: number
  readonly webhook: Webhook | null
  readonly health: WebhookHealth
}

export type DeliveryConsumer = {
  readonly deliveries: {
    readonly read: (clinic: ClinicId, webhook: string, id: string) => Promise<DeliveryFacts | null>
    readonly unattemptedBefore: (clinic: ClinicId, delivery: Delivery) => Promise<string[]>
    readonly claim: (
      clinic: ClinicId,
      read: DeliveryFacts,
      claim: { readonly token: string; readonly until: number },
    ) => Promise<boolean>
    readonly change: (
      clinic: ClinicId,
      webhook: string,
      id: string,
      to: (before: Delivery) => Delivery | null,
    ) => Promise<Delivery | null>
  }
  readonly webhooks: {
    readonly change: (
      clinic: ClinicId,
      id: string,
      to: (before: Webhook) => Webhook,
    ) => Promise<Webhook | null>
    readonly recordFailure: (clinic: ClinicId, id: string, failedAt: number | null) => Promise<void>
    readonly recordRecovery: (clinic: ClinicId, id: string) => Promise<void>
  }
  readonly transport: WebhookTransport
  readonly queues: DeliveryQueues
  readonly now: () => number
  /** From 0 to 1. */
  readonly random: () => number
}

/**
 * Attempts one delivery, at least once, however often and in whatever order the queue brings it: what is done, early or
 * being attempted is left alone, and earlier events of the same record get their first attempt before.
 */
export async function deliverEvent(
  consumer: DeliveryConsumer,
  queued: QueuedDelivery,
  lane: Lane,
): Promise<void> {
  const { deliveries: log, queues, now } = consumer
  const { clinic } = queued
  const facts = await log.read(clinic, queued.webhook, queued.delivery)
  if (facts?.delivery.status !== 'pending') return
  const { delivery, webhook, health } = facts
  if (!webhook || !(webhook.isActive || delivery.isAskedFor)) {
    await log.change(clinic, delivery.webhook, delivery.id, abandoned)
    return
  }
  // Somebody is at it; should they die, it is due again soon.
  if (delivery.claim && delivery.claim.until > now()) return
  if ((delivery.nextAt ?? 0) > now() + EARLY_TOLERANCE_MS) return
  if (lane === 'quick' && health.isSlow) return queues.push('slow', [queued])
  if (delivery.attempts.length === 0 && !(await attemptEarlier(consumer, queued, delivery, lane)))
    return queues.push(lane, [queued], ORDERING_DELAY_MS)

  const claim = { token: randomUUID(), until: now() + LEASE_MS }
  if (await log.claim(clinic, facts, claim))
    await attempt(consumer, queued, { ...facts, webhook }, claim.token, lane)
}

/** Attempts what is before, one after the other; whether all of it has been attempted then. */
async function attemptEarlier(
  consumer: DeliveryConsumer,
  queued: QueuedDelivery,
  delivery: Delivery,
  lane: Lane,
): Promise<boolean> {
  const earlier = await consumer.deliveries.unattemptedBefore(queued.clinic, delivery)
  if (earlier.length === 0) return true
  for (const id of earlier) await deliverEvent(consumer, { ...queued, delivery: id }, lane)
  return (await consumer.deliveries.unattemptedBefore(queued.clinic, delivery)).length === 0
}

async function attempt(
  consumer: DeliveryConsumer,
  queued: QueuedDelivery,
  { delivery, webhook, health }: DeliveryFacts & { readonly webhook: Webhook },
  token: string,
  lane: Lane,
): Promise<void> {
  const { deliveries: log, webhooks: endpoints, now } = consumer
  const { clinic } = queued
  const at = now()
  const result = await post(consumer, delivery, webhook, at, lane)
  const ifStillClaimed = (before: Delivery, after: Delivery) => (before.claim?.token === token ? after : null)
  if (lane === 'quick' && result.kind === 'failed' && result.reason === 'timeout') {
    await endpoints.recordFailure(clinic, webhook.id, null)
    await log.change(clinic, webhook.id, delivery.id, (before) =>
      ifStillClaimed(before, { ...before, claim: null }),
    )
    return consumer.queues.push('slow', [queued])
  }
  const isDelivered = result.kind === 'answered' && result.status >= 200 && result.status < 300
  const isGone = result.kind === 'answered' && result.status === 410
  const requestedWait = result.kind === 'answered' ? parseRetryAfter(result.retryAfter, now()) : null
  const wait =
    isDelivered || isGone ? null : nextRetryDelay(delivery.tries + 1, requestedWait, consumer.random())
  const attemptRecord = {
    at: new Date(at).toISOString(),
    status: result.kind === 'answered' ? result.status : null,
    error: result.kind === 'answered' ? null : result.reason,
    latencyMs: Math.round(result.latencyMs),
  }
  await log.change(clinic, webhook.id, delivery.id, (before) =>
    ifStillClaimed(before, afterAttempt(before, attemptRecord, isDelivered, wait)),
  )
  await recordHealth(consumer, clinic, webhook.id, health, at, isDelivered, result.latencyMs)
  const hasFailedTooLong = health.failingSince !== null && at - health.failingSince >= DISABLE_AFTER_MS
  if (isGone || (!isDelivered && hasFailedTooLong)) {
    const updatedAt = new Date(now()).toISOString()
    await endpoints.change(clinic, webhook.id, (before) =>
      before.isActive ? { ...before, isActive: false, updatedAt } : before,
    )
  }
  if (wait !== null && wait <= MAX_QUEUE_DELAY_MS) await consumer.queues.push('slow', [queued], wait)
}

/** Signed anew at every attempt; the id and the body stay. */
function post(
  { transport }: DeliveryConsumer,
  { eventId, body }: Delivery,
  webhook: Webhook,
  at: number,
  lane: Lane,
): Promise<AttemptResult> {
  const secrets = signingSecrets(webhook, at)
  const headers = signatureHeaders({ id: eventId, timestampSeconds: Math.floor(at / 1000), body, secrets })
  return transport.post(webhook.url, headers, body, lane === 'quick' ? SLOW_THRESHOLD_MS : undefined)
}

async function recordHealth(
  { webhooks: endpoints }: DeliveryConsumer,
  clinic: ClinicId,
  webhook: string,
  health: WebhookHealth,
  at: number,
  isDelivered: boolean,
  latencyMs: number,
): Promise<void> {
  if (!isDelivered) await endpoints.recordFailure(clinic, webhook, at)
  else if (latencyMs < SLOW_THRESHOLD_MS && (health.isSlow || health.failingSince !== null))
    await endpoints.recordRecovery(clinic, webhook)
}
