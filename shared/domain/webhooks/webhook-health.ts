import type { Outcome } from './delivery.ts'
import { DISABLE_AFTER_MS } from './webhook.ts'

/** How a webhook endpoint responds. Instants are milliseconds since the epoch. */
export type WebhookHealth = {
  /** Whether its last attempt took {@link SLOW_THRESHOLD_MS} or longer: its deliveries use the slow queue. */
  readonly isSlow: boolean
  /** When the first attempt since the last success failed; null if none has. */
  readonly failingSince: number | null
}

export const HEALTHY: WebhookHealth = { isSlow: false, failingSince: null }

/** An attempt in the quick queue is cut off after this time, so that no endpoint delays others for longer. */
export const SLOW_THRESHOLD_MS = 1000

/** The health after an attempt that began at `at` and took so long. */
export const healthAfter = (
  { failingSince }: WebhookHealth,
  { kind }: Outcome,
  at: number,
  tookMs: number,
): WebhookHealth => ({
  isSlow: kind === 'cut-off' || tookMs >= SLOW_THRESHOLD_MS,
  failingSince: kind === 'delivered' ? null : kind === 'cut-off' ? failingSince : (failingSince ?? at),
})

/** Whether an attempt that began at `at` disables its endpoint, whose health was this before. */
export const disables = ({ failingSince }: WebhookHealth, { kind }: Outcome, at: number): boolean =>
  kind === 'gone' || (kind === 'failed' && failingSince !== null && at - failingSince >= DISABLE_AFTER_MS)
