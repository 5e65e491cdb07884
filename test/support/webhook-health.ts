/** Attempts to receivers of webhooks. */
import { type AttemptHealth, healthAfter, type WebhookHealth } from '../../shared/domain/webhook-health.ts'

/** A quick attempt without a slot, apart from `facts`. */
export const anAttempt = (facts: Partial<AttemptHealth> & Pick<AttemptHealth, 'result'>): AttemptHealth => ({
  at: Date.parse('2026-05-01T07:00:00Z'),
  isSlow: false,
  probeAt: null,
  slot: null,
  isWaiting: false,
  ...facts,
})

export const attempts = (before: WebhookHealth, all: readonly AttemptHealth[]): WebhookHealth =>
  all.reduce(healthAfter, before)
