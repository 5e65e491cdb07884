/** Attempts to receivers of webhooks. */
import {
  type AttemptHealth,
  HEALTHY,
  type WebhookHealth,
} from '../../shared/domain/webhooks/webhook-health.ts'

/** A quick attempt without a slot, apart from `facts`. */
export const anAttempt = (facts: Partial<AttemptHealth> & Pick<AttemptHealth, 'result'>): AttemptHealth => ({
  at: Date.parse('2026-05-01T07:00:00Z'),
  isSlow: false,
  probeAt: null,
  slot: null,
  isWaiting: false,
  ...facts,
})

/** The health of a new webhook. */
export const UNPROVEN: WebhookHealth = { ...HEALTHY, isProven: false }

/** The health after an attempt, as the store records it in one update. */
export function healthAfter(
  before: WebhookHealth,
  { result, at, isSlow, probeAt, slot, isWaiting }: AttemptHealth,
): WebhookHealth {
  const isSuccess = result === 'success'
  const isFailure = result === 'failure'
  return {
    isProven: before.isProven || isSuccess,
    failingSince: isSuccess ? null : isFailure ? (before.failingSince ?? at) : before.failingSince,
    failures: isSuccess ? 0 : before.failures + (isFailure ? 1 : 0),
    slowAttempts: isSlow ? before.slowAttempts + 1 : isSuccess ? 0 : before.slowAttempts,
    isAnswering: isSuccess ? isSlow : isFailure ? false : before.isAnswering,
    probeAt: isSuccess ? null : (probeAt ?? before.probeAt),
    // Attempts that had begun when it became troubled have no slot.
    probes: isSuccess ? 0 : before.probes + (probeAt === null || slot === null ? 0 : 1),
    // Its lease may have ended, and another attempt may have taken the slot.
    slots:
      slot && before.slots[slot.number] === slot.until ? before.slots.with(slot.number, 0) : before.slots,
    queued: before.queued,
    waitingSince: isWaiting ? at : before.waitingSince,
  }
}

export const attempts = (before: WebhookHealth, all: readonly AttemptHealth[]): WebhookHealth =>
  all.reduce(healthAfter, before)
