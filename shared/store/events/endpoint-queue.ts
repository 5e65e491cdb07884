import { called, type DeliveryReference, isDeliveryWaiting } from '../../domain/webhooks/delivery.ts'
import {
  HEALTHY,
  hasToWait,
  isReleased,
  QUEUED_MS,
  type WebhookHealth,
} from '../../domain/webhooks/webhook-health.ts'
import type { deliveryStore } from './deliveries.ts'
import type { webhookHealthStore } from './webhook-health.ts'

/** The ticket of a delivery, with the health of its endpoint as it was read. */
type Ticket = DeliveryReference & { readonly read: WebhookHealth }

/** Decides which deliveries of a transaction may be attempted now. The others wait, and the first of them calls the next. */
export class EndpointQueue {
  readonly #health: ReadonlyMap<string, WebhookHealth>
  readonly #now: number
  /** The first deliveries to endpoints that get one at a time. */
  readonly firsts: Ticket[] = []
  /** The first delivery to each endpoint that takes no further one. */
  readonly waiting: Ticket[] = []

  constructor(health: ReadonlyMap<string, WebhookHealth>, now: number) {
    this.#health = health
    this.#now = now
  }

  admits(delivery: DeliveryReference): boolean {
    const isOfEndpoint = ({ webhook }: Ticket) => webhook === delivery.webhook
    const read = this.#health.get(delivery.webhook) ?? HEALTHY
    if (hasToWait(read, this.#now) || this.firsts.some(isOfEndpoint)) {
      if (!this.waiting.some(isOfEndpoint)) this.waiting.push({ ...delivery, read })
      return false
    }
    if (!read.hasSucceeded && !read.isResponding) this.firsts.push({ ...delivery, read })
    return true
  }
}

type Stores = {
  readonly health: ReturnType<typeof webhookHealthStore>
  readonly deliveries: ReturnType<typeof deliveryStore>
  readonly now: () => number
}

/** Records which deliveries are queued and which wait, after they were written. Returns those that need not wait after all. */
export async function recordTickets(
  { health, deliveries, now }: Stores,
  { firsts, waiting }: EndpointQueue,
): Promise<DeliveryReference[]> {
  const until = now() + QUEUED_MS
  await Promise.all(
    firsts.map(({ clinic, webhook, delivery, read }) =>
      health.recordQueued(clinic, webhook, read, { delivery, until }),
    ),
  )
  const released = await Promise.all(
    waiting.map(async ({ read, ...reference }) => {
      const { clinic, webhook, delivery } = reference
      if (!isReleased(read, await health.recordWaiting(clinic, webhook, now()))) return []
      await deliveries.change(clinic, webhook, delivery, (before) =>
        isDeliveryWaiting(before) ? called(before, now()) : null,
      )
      return [reference]
    }),
  )
  return released.flat()
}
