import type { ClinicId } from '../../domain/clinic.ts'
import {
  DELIVERY_LEASE_MS,
  type Delivery,
  type DeliveryQueue,
  type DeliveryReference,
  MAX_QUEUE_DELAY_MS,
} from '../../domain/webhooks/delivery.ts'
import {
  afterAttempt,
  type DeliveryContext,
  nextStep,
  type Step,
  withAttempt,
} from '../../domain/webhooks/delivery-states.ts'
import { signingSecrets, type Webhook } from '../../domain/webhooks/webhook.ts'
import {
  disables,
  healthAfter,
  SLOW_THRESHOLD_MS,
  type WebhookHealth,
} from '../../domain/webhooks/webhook-health.ts'
import type { Deliveries } from '../store-ports.ts'
import { type AttemptReport, attemptReport, outcomeOf } from './attempt-outcome.ts'
import type { DeliveryQueues } from './delivery-queues.ts'
import { signatureHeaders } from './webhook-signature.ts'
import type { AttemptResult, WebhookTransport } from './webhook-transport.ts'

export type DeliveryConsumer = {
  readonly deliveries: Pick<Deliveries, 'change'> & {
    readonly readContext: (clinic: ClinicId, webhook: string, id: string) => Promise<DeliveryContext | null>
    /** Whether one of the latest deliveries to a webhook has had a success since then. */
    readonly hasSucceeded: (clinic: ClinicId, webhook: string, since: number, now: number) => Promise<boolean>
  }
  readonly webhooks: {
    /** Disables a webhook that is active. `updatedAt` is an ISO 8601 instant. */
    readonly disable: (clinic: ClinicId, id: string, updatedAt: string) => Promise<void>
  }
  readonly health: {
    /** Writes what has changed since the health was read. */
    readonly record: (
      clinic: ClinicId,
      webhook: string,
      before: WebhookHealth,
      after: WebhookHealth,
    ) => Promise<void>
  }
  readonly transport: WebhookTransport
  readonly queues: DeliveryQueues
  readonly now: () => number
  /** The clock of webhook endpoints, which check the age of a signature: differs from `now` if a local stack has its own time. */
  readonly receiverNow?: () => number
  /** A number from 0 to 1. */
  readonly random: () => number
  /** A unique token for each claim. */
  readonly newToken: () => string
  /** Called after each attempt. */
  readonly onAttempt?: (report: AttemptReport) => void
}

/**
 * Processes a message of a delivery: it is attempted, queued again, or left alone (delivery-states.ts). Safe to call
 * repeatedly and in any order.
 */
export async function deliverEvent(
  consumer: DeliveryConsumer,
  queued: DeliveryReference,
  queue: DeliveryQueue,
): Promise<void> {
  const { deliveries, queues, now, newToken } = consumer
  const { clinic, webhook, delivery: id } = queued
  const context = await deliveries.readContext(clinic, webhook, id)
  if (!context) return
  const claim = { token: newToken(), until: now() + DELIVERY_LEASE_MS }
  const stepFrom = (delivery: Delivery): Step =>
    nextStep({ ...context, delivery }, { queue, claim, now: now() })
  let step = stepFrom(context.delivery)
  if ('after' in step) {
    // Decided again on the state that is changed: of two consumers, one claims it.
    const found = await deliveries.change(clinic, webhook, id, (before) => {
      step = stepFrom(before)
      return 'after' in step ? step.after : null
    })
    if (!found) return
  }
  if (step.kind === 'queue') await queues.push(step.queue, [queued], step.delayMs)
  if (step.kind === 'attempt') await attempt(consumer, queued, { ...context, ...step }, queue)
}

type Claimed = { readonly after: Delivery; readonly webhook: Webhook; readonly health: WebhookHealth }

async function attempt(
  consumer: DeliveryConsumer,
  queued: DeliveryReference,
  { after: claimed, webhook, health: before }: Claimed,
  queue: DeliveryQueue,
): Promise<void> {
  const { deliveries, queues, now, receiverNow = now } = consumer
  let health = before
  const { clinic } = queued
  const at = now()
  const result = await post(consumer, claimed, webhook, at, queue)
  const outcome = outcomeOf(result, queue, at, receiverNow())
  // The latency ends with the status; a body can take longer.
  const tookMs = Math.max(result.latencyMs, now() - at)
  consumer.onAttempt?.(attemptReport({ clinic, requestId: claimed.requestId }, outcome))
  // Before the outcome is recorded: after a crash in between, the delivery is tried again, or fails.
  if (disables(health, outcome, at)) {
    // Another attempt may have succeeded meanwhile, and a person may have enabled the endpoint or changed its URL.
    const latest = await deliveries.readContext(clinic, webhook.id, claimed.id)
    if (latest?.webhook?.updatedAt === webhook.updatedAt && disables(latest.health, outcome, at)) {
      const { failingSince } = latest.health
      // One that overlapped the first failure did not know of it, and has not ended the time of failures.
      const isMistaken =
        outcome.kind === 'failed' &&
        failingSince !== null &&
        (await deliveries.hasSucceeded(clinic, webhook.id, failingSince, at))
      if (isMistaken) {
        health = { ...latest.health, failingSince: null }
        await consumer.health.record(clinic, webhook.id, latest.health, health)
      } else await consumer.webhooks.disable(clinic, webhook.id, new Date(now()).toISOString())
    }
  }
  const random = consumer.random()
  await deliveries.change(clinic, webhook.id, claimed.id, (before) =>
    before.claim?.token === claimed.claim?.token
      ? afterAttempt(before, outcome, random)
      : withAttempt(before, outcome),
  )
  await consumer.health.record(clinic, webhook.id, health, healthAfter(health, outcome, at, tookMs))
  if (outcome.kind === 'cut-off') return queues.push('slow', [queued])
  const { nextAt } = afterAttempt(claimed, outcome, random)
  const delayMs = (nextAt ?? Number.POSITIVE_INFINITY) - now()
  if (delayMs <= MAX_QUEUE_DELAY_MS) await queues.push('quick', [queued], delayMs)
}

/** Sends the request. Each attempt has its own signature; the id and the body do not change. */
function post(
  { transport, now, receiverNow = now }: DeliveryConsumer,
  { eventId, body }: Delivery,
  webhook: Webhook,
  at: number,
  queue: DeliveryQueue,
): Promise<AttemptResult> {
  const secrets = signingSecrets(webhook, at)
  const timestampSeconds = Math.floor(receiverNow() / 1000)
  const headers = signatureHeaders({ id: eventId, timestampSeconds, body, secrets })
  return transport.post(webhook.url, headers, body, queue === 'quick' ? SLOW_THRESHOLD_MS : undefined)
}
