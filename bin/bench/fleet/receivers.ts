import type { WebhookTransport } from '../../../shared/delivery/webhook-transport.ts'
import type { Delivery } from '../../../shared/domain/delivery.ts'
import type { Clock } from './clock.ts'
import type { Endpoint } from './endpoints.ts'
import { deliveryIdOf } from './load.ts'

/** The time limit of an attempt, as in `shared/delivery/webhook-transport.ts`. */
const DEADLINE_MS = 15_000

/** A healthy receiver responds within 40 to 120 ms. */
const RESPONSE_MS = 80

/** The shares of first attempts, and of retries of innocent receivers, that get a 500. */
const FAILURE_SHARE = 0.01
const REPEATED_FAILURE_SHARE = 0.2

type Surroundings = {
  readonly clock: Clock
  readonly random: () => number
  readonly endpoint: (id: string) => Endpoint
  readonly delivery: (id: string) => Delivery | null
  readonly isHanging: () => boolean
  /** Called when an attempt begins. */
  readonly onAttempt: (endpoint: Endpoint, delivery: Delivery) => void
}

/** Sends nothing: some receivers hang, the others respond quickly, and fail now and then. */
export const simulatedReceivers = ({
  clock,
  random,
  endpoint: endpointOf,
  delivery: deliveryOf,
  isHanging,
  onAttempt,
}: Surroundings): WebhookTransport => ({
  post: async (url, headers, _body, timeoutMs = DEADLINE_MS) => {
    const endpoint = endpointOf(url)
    const delivery = deliveryOf(deliveryIdOf(url, headers['webhook-id'] ?? ''))
    if (!delivery) throw new Error('An unknown delivery is attempted')
    onAttempt(endpoint, delivery)
    if (endpoint.hangs && isHanging()) {
      await clock.sleep(timeoutMs)
      return { kind: 'failed', reason: 'timeout', latencyMs: timeoutMs }
    }
    const latencyMs = Math.round(RESPONSE_MS * (0.5 + random()))
    const isRepeated = delivery.failedAttempts > 0 && !endpoint.hangs
    const isFailure = random() < (isRepeated ? REPEATED_FAILURE_SHARE : FAILURE_SHARE)
    await clock.sleep(latencyMs)
    return { kind: 'answered', status: isFailure ? 500 : 200, retryAfter: null, latencyMs }
  },
})
