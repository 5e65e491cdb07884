import { type DeliveryConsumer, deliverEvent } from '../../shared/delivery/webhooks/deliver-event.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import type { DeliveryReference } from '../../shared/domain/webhooks/delivery.ts'
import { deliveryAttempts } from '../../shared/store/events/delivery-attempts.ts'
import { eventFanOut } from '../../shared/store/events/fan-out.ts'
import { webhookHealthStore } from '../../shared/store/events/webhook-health.ts'
import { webhookStore } from '../../shared/store/events/webhooks.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { DELIVERY_UNITS as UNITS } from './bounds.ts'
import type { Send } from './functions.ts'
import type { Measure } from './table-proxy.ts'

const WEBHOOKS = 2
/** Longer than the first retry is delayed. */
const RETRY_DELAY_MS = 60_000

/** Measures the deliveries of an event to two endpoints, one after the other, from the fan-out on. */
export async function measureDeliveries(
  measure: Measure,
  send: Send,
  table: Table,
  clinic: ClinicId,
): Promise<void> {
  let status = 200
  let now = Date.now()
  const queued: DeliveryReference[] = []
  const push = async (deliveries: readonly DeliveryReference[]) => void queued.push(...deliveries)
  const consumer: DeliveryConsumer = {
    deliveries: deliveryAttempts({ table }),
    webhooks: webhookStore({ table }),
    health: webhookHealthStore({ table }),
    transport: { post: async () => ({ kind: 'responded', status, retryAfter: null, latencyMs: 50 }) },
    queues: { push: (_lane, deliveries) => push(deliveries) },
    now: () => now,
    random: () => 0,
    newToken: newUuid,
  }
  const fanOut = () => eventFanOut({ table, now: () => now, newId: newUuid }).fanOut(clinic, push)
  const attemptAll = async () => {
    const ready = queued.splice(0)
    if (ready.length !== WEBHOOKS) throw new Error(`${ready.length} deliveries were queued.`)
    for (const delivery of ready) await deliverEvent(consumer, delivery, 'quick')
  }
  const createPatient = () => send({ to: 'create-patient', body: { first_name: 'Ada' } })
  for (let at = 0; at < WEBHOOKS; at++) {
    const body = { url: `https://${at}.example.com/`, events: ['patient.created'] }
    await send({ to: 'create-webhook', body })
  }
  const { delivery, retriedDelivery } = UNITS
  await createPatient()
  await measure(
    'deliver an event to two webhook endpoints',
    [WEBHOOKS * delivery.reads, WEBHOOKS * delivery.writes, 16],
    async () => {
      await fanOut()
      await attemptAll()
    },
  )
  await createPatient()
  await measure(
    'the same, if the first attempts fail',
    [WEBHOOKS * retriedDelivery.reads, WEBHOOKS * retriedDelivery.writes, 30],
    async () => {
      await fanOut()
      status = 500
      await attemptAll()
      now += RETRY_DELAY_MS
      status = 200
      await attemptAll()
    },
  )
  if (queued.length > 0) throw new Error('A delivery was queued again.')
}
