import { randomUUID } from 'node:crypto'
import type { ClinicId } from '../domain/clinic.ts'
import { attempted, type Delivery, givenUp, LEASE_MS, MOST_QUEUED_MS } from '../domain/delivery.ts'
import {
  askedWait,
  FAILING_MS,
  nextWait,
  signingSecrets,
  type Webhook,
  type WebhookHealth,
} from '../domain/webhook.ts'
import type { DeliveryQueues, QueuedDelivery, Way } from './delivery-queues.ts'
import { signatureHeaders } from './webhook-signature.ts'
import type { Attempted, WebhookTransport } from './webhook-transport.ts'

/**
 * An endpoint that has not answered by then is slow. Its delivery is broken off, and begun again on the slow way, where
 * it has all the time there is; so is what comes after it. The quick way is never held up for longer.
 */
const SLOW_MS = 1000

/** Queues and clocks are not exact: what comes so little early is not early. */
const EARLY_MS = 1000

/** How long a delivery waits for an earlier one of its record that somebody else is at. */
const BEHIND_MS = 5000

type Facts = {
  readonly delivery: Delivery
  readonly version: number
  readonly webhook: Webhook | null
  readonly health: WebhookHealth
}

export type DeliveryConsumer = {
  readonly log: {
    readonly read: (clinic: ClinicId, webhook: string, id: string) => Promise<Facts | null>
    readonly unattemptedBefore: (clinic: ClinicId, delivery: Delivery) => Promise<string[]>
    readonly claim: (
      clinic: ClinicId,
      read: Facts,
      claim: { readonly token: string; readonly until: number },
    ) => Promise<boolean>
    readonly change: (
      clinic: ClinicId,
      webhook: string,
      id: string,
      to: (before: Delivery) => Delivery | null,
    ) => Promise<Delivery | null>
  }
  readonly endpoints: {
    readonly change: (
      clinic: ClinicId,
      id: string,
      to: (before: Webhook) => Webhook,
    ) => Promise<Webhook | null>
    readonly noteTrouble: (clinic: ClinicId, id: string, failedAt: number | null) => Promise<void>
    readonly noteHealth: (clinic: ClinicId, id: string) => Promise<void>
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
export async function deliverEvent(parts: DeliveryConsumer, queued: QueuedDelivery, way: Way): Promise<void> {
  const { log, queues, now } = parts
  const { clinic } = queued
  const facts = await log.read(clinic, queued.webhook, queued.delivery)
  if (facts?.delivery.status !== 'pending') return
  const { delivery, webhook, health } = facts
  if (!webhook || !(webhook.isActive || delivery.isAskedFor)) {
    await log.change(clinic, delivery.webhook, delivery.id, givenUp)
    return
  }
  // Somebody is at it; should they die, it is due again soon.
  if (delivery.claim && delivery.claim.until > now()) return
  if ((delivery.nextAt ?? 0) > now() + EARLY_MS) return
  if (way === 'quick' && health.isSlow) return queues.push('slow', [queued])
  if (delivery.attempts.length === 0 && !(await areEarlierAttempted(parts, queued, delivery, way)))
    return queues.push(way, [queued], BEHIND_MS)

  const claim = { token: randomUUID(), until: now() + LEASE_MS }
  if (await log.claim(clinic, facts, claim))
    await attempt(parts, queued, { ...facts, webhook }, claim.token, way)
}

/** Attempts what is before, one after the other; whether all of it has been attempted then. */
async function areEarlierAttempted(
  parts: DeliveryConsumer,
  queued: QueuedDelivery,
  delivery: Delivery,
  way: Way,
): Promise<boolean> {
  const earlier = await parts.log.unattemptedBefore(queued.clinic, delivery)
  if (earlier.length === 0) return true
  for (const id of earlier) await deliverEvent(parts, { ...queued, delivery: id }, way)
  return (await parts.log.unattemptedBefore(queued.clinic, delivery)).length === 0
}

async function attempt(
  parts: DeliveryConsumer,
  queued: QueuedDelivery,
  { delivery, webhook, health }: Facts & { readonly webhook: Webhook },
  token: string,
  way: Way,
): Promise<void> {
  const { log, endpoints, now } = parts
  const { clinic } = queued
  const at = now()
  const result = await post(parts, delivery, webhook, at, way)
  const own = (before: Delivery, after: Delivery) => (before.claim?.token === token ? after : null)
  if (way === 'quick' && result.kind === 'failed' && result.reason === 'timeout') {
    await endpoints.noteTrouble(clinic, webhook.id, null)
    await log.change(clinic, webhook.id, delivery.id, (before) => own(before, { ...before, claim: null }))
    return parts.queues.push('slow', [queued])
  }
  const isDelivered = result.kind === 'answered' && result.status >= 200 && result.status < 300
  const isGone = result.kind === 'answered' && result.status === 410
  const asked = result.kind === 'answered' ? askedWait(result.retryAfter, now()) : null
  const wait = isDelivered || isGone ? null : nextWait(delivery.tries + 1, asked, parts.random())
  const made = {
    at: new Date(at).toISOString(),
    status: result.kind === 'answered' ? result.status : null,
    error: result.kind === 'answered' ? null : result.reason,
    latencyMs: Math.round(result.latencyMs),
  }
  await log.change(clinic, webhook.id, delivery.id, (before) =>
    own(before, attempted(before, made, isDelivered, wait)),
  )
  await noteBehaviour(parts, clinic, webhook.id, health, at, isDelivered, result.latencyMs)
  const isHopeless = health.failingSince !== null && at - health.failingSince >= FAILING_MS
  if (isGone || (!isDelivered && isHopeless)) {
    const updatedAt = new Date(now()).toISOString()
    await endpoints.change(clinic, webhook.id, (before) =>
      before.isActive ? { ...before, isActive: false, updatedAt } : before,
    )
  }
  if (wait !== null && wait <= MOST_QUEUED_MS) await parts.queues.push('slow', [queued], wait)
}

/** Signed anew at every attempt; the id and the body stay. */
function post(
  { transport }: DeliveryConsumer,
  { eventId, body }: Delivery,
  webhook: Webhook,
  at: number,
  way: Way,
): Promise<Attempted> {
  const secrets = signingSecrets(webhook, at)
  const headers = signatureHeaders({ id: eventId, timestampSeconds: Math.floor(at / 1000), body, secrets })
  return transport.post(webhook.url, headers, body, way === 'quick' ? SLOW_MS : undefined)
}

async function noteBehaviour(
  { endpoints }: DeliveryConsumer,
  clinic: ClinicId,
  webhook: string,
  health: WebhookHealth,
  at: number,
  isDelivered: boolean,
  latencyMs: number,
): Promise<void> {
  if (!isDelivered) await endpoints.noteTrouble(clinic, webhook, at)
  else if (latencyMs < SLOW_MS && (health.isSlow || health.failingSince !== null))
    await endpoints.noteHealth(clinic, webhook)
}
