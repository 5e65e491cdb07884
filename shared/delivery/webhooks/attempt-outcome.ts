import type { ClinicId } from '../../domain/clinic.ts'
import { type DeliveryQueue, isSuccess, type Outcome } from '../../domain/webhooks/delivery.ts'
import { parseRetryAfter } from '../../domain/webhooks/webhook.ts'
import type { AttemptResult } from './webhook-transport.ts'

/** How an attempt ended that began at `at`, in one of the queues. `now` is the time of the endpoint. */
export function outcomeOf(result: AttemptResult, queue: DeliveryQueue, at: number, now: number): Outcome {
  const isResponse = result.kind === 'responded'
  const status = isResponse ? result.status : null
  return {
    kind: kindOf(result, queue),
    attempt: {
      at: new Date(at).toISOString(),
      status,
      error: isResponse ? null : result.reason,
      latencyMs: Math.round(result.latencyMs),
    },
    retryAfter: isResponse ? parseRetryAfter(result.retryAfter, now) : null,
  }
}

function kindOf(result: AttemptResult, queue: DeliveryQueue): Outcome['kind'] {
  if (result.kind === 'failed') return queue === 'quick' && result.reason === 'timeout' ? 'cut-off' : 'failed'
  if (result.status === 410) return 'gone'
  return isSuccess(result.status) ? 'delivered' : 'failed'
}

/** The loggable facts of an attempt of a delivery. */
export type AttemptReport = {
  readonly clinic: ClinicId
  /** Undefined if no request caused the event. */
  readonly requestId: string | undefined
  readonly outcome: 'delivered' | 'rejected' | 'unreachable' | 'cut-off'
  /** The status of the response, or why there was none. */
  readonly status: number | null
  readonly reason: string | null
  readonly latencyMs: number
}

export function attemptReport(
  delivery: Pick<AttemptReport, 'clinic' | 'requestId'>,
  { kind, attempt: { status, error, latencyMs } }: Outcome,
): AttemptReport {
  const failure = status === null ? 'unreachable' : 'rejected'
  const outcome = kind === 'delivered' || kind === 'cut-off' ? kind : failure
  return { ...delivery, outcome, status, reason: error, latencyMs }
}
