/** Attempts to deliver to webhook endpoints. */
import {
  type AttemptHealth,
  HEALTHY,
  type WebhookHealth,
} from '../../shared/domain/webhooks/webhook-health.ts'

/** A quick attempt without a permit, apart from `facts`. */
export const anAttempt = (facts: Partial<AttemptHealth> & Pick<AttemptHealth, 'result'>): AttemptHealth => ({
  at: Date.parse('2026-05-01T07:00:00Z'),
  isSlow: false,
  halfOpenAt: null,
  permit: null,
  isWaiting: false,
  ...facts,
})

/** The health of a new webhook. */
export const UNTRIED: WebhookHealth = { ...HEALTHY, hasSucceeded: false }

/** The health after an attempt, as the store records it in one update. */
export function healthAfter(
  before: WebhookHealth,
  { result, at, isSlow, halfOpenAt, permit, isWaiting }: AttemptHealth,
): WebhookHealth {
  const isSuccess = result === 'success'
  const isFailure = result === 'failure'
  return {
    hasSucceeded: before.hasSucceeded || isSuccess,
    failingSince: isSuccess ? null : isFailure ? (before.failingSince ?? at) : before.failingSince,
    failures: isSuccess ? 0 : before.failures + (isFailure ? 1 : 0),
    slowAttempts: isSlow ? before.slowAttempts + 1 : isSuccess ? 0 : before.slowAttempts,
    isResponding: isSuccess ? isSlow : isFailure ? false : before.isResponding,
    halfOpenAt: isSuccess ? null : (halfOpenAt ?? before.halfOpenAt),
    // Attempts that had begun when the circuit opened have no permit.
    failedTrials: isSuccess ? 0 : before.failedTrials + (halfOpenAt === null || permit === null ? 0 : 1),
    // Its lease may have ended, and another attempt may have taken the permit.
    permits:
      permit && before.permits[permit.number] === permit.until
        ? before.permits.with(permit.number, 0)
        : before.permits,
    queued: isSuccess ? null : before.queued,
    waitingSince: isWaiting ? at : before.waitingSince,
  }
}

export const attempts = (before: WebhookHealth, all: readonly AttemptHealth[]): WebhookHealth =>
  all.reduce(healthAfter, before)
