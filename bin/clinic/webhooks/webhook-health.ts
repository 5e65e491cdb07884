import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import { type Delivery, type DeliveryAttempt, isSuccess } from '../../../shared/domain/webhooks/delivery.ts'
import type { Webhook } from '../../../shared/domain/webhooks/webhook.ts'
import { deliveryStore } from '../../../shared/store/events/deliveries.ts'
import { listWebhookHealth } from '../../../shared/store/events/webhook-health.ts'
import type { ClinicContext } from '../tool/connection.ts'

/** The newest deliveries that are read. */
const MAX_READ = 100

/** What the errors of attempts mean. */
const REASONS: Readonly<Record<string, string>> = {
  invalid_url: 'webhooks may not be sent to the URL',
  dns: 'host name not found',
  private_address: 'host name has a private address',
  connection_refused: 'connection refused',
  connection: 'no connection, or closed before a response',
  certificate_expired: 'certificate expired',
  tls: 'certificate not valid, or no TLS',
  protocol: 'response is not HTTP',
}

/** How an attempt ended, in words. */
function outcomeText({ status, error, latencyMs }: DeliveryAttempt): string {
  if (status !== null) return `responded ${status}`
  if (error === 'timeout') return `timed out after ${Math.round(latencyMs / 1000)} s`
  return REASONS[error ?? ''] ?? String(error)
}

/** How an endpoint responds, from its health and its newest deliveries. */
export async function readHealth({ table, clinic }: ClinicContext, { id, isActive }: Webhook) {
  const health = (await listWebhookHealth(table, clinic.id)).get(id)
  const page = await deliveryStore({ table }).page(clinic.id, id, { limit: MAX_READ }, Date.now())
  const deliveries: readonly Delivery[] = page?.items ?? []
  const attempts = deliveries
    .flatMap((delivery) => delivery.attempts)
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))
  const timeOf = (instant: string) => clinicTimestamp(instant, clinic.timezone)
  const last = (attempt: DeliveryAttempt | undefined) =>
    attempt ? { at: timeOf(attempt.at), outcome: outcomeText(attempt) } : null
  // A disabled endpoint gets requested deliveries only.
  const due = deliveries.flatMap(({ nextAt, isManual }) =>
    nextAt !== null && (isActive || isManual) ? [nextAt] : [],
  )
  const toTimestamp = (ms: number | null | undefined) =>
    typeof ms === 'number' ? timeOf(new Date(ms).toISOString()) : null
  return {
    id,
    is_active: isActive,
    is_slow: health?.isSlow ?? false,
    failing_since: toTimestamp(health?.failingSince),
    next_attempt_at: toTimestamp(due.length > 0 ? Math.min(...due) : null),
    last_success: last(attempts.find(({ status }) => isSuccess(status))),
    last_failure: last(attempts.find(({ status }) => !isSuccess(status))),
  }
}

type Health = Awaited<ReturnType<typeof readHealth>>

export function healthLines(health: Health): string[] {
  const attemptText = (attempt: Health['last_success']) =>
    attempt ? `${attempt.at}  ${attempt.outcome}` : 'none'
  return [
    `endpoint      ${health.id}`,
    `state         ${health.is_active ? 'active' : 'disabled'}, ${health.is_slow ? 'slow' : 'not slow'}`,
    `failing since ${health.failing_since ?? 'not failing'}`,
    `next attempt  ${health.next_attempt_at ?? 'none'}`,
    `last success  ${attemptText(health.last_success)}`,
    `last failure  ${attemptText(health.last_failure)}`,
  ]
}
