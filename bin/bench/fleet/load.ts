/** Events of the fleet's clinics, and the deliveries that the fan-out creates for them. */
import { afterAttempt, type Delivery, newDelivery } from '../../../shared/domain/delivery.ts'
import type { Event } from '../../../shared/domain/event.ts'
import { RETRY_DELAYS_MS } from '../../../shared/domain/webhook.ts'
import type { Clock } from './clock.ts'
import type { Endpoint } from './endpoints.ts'

/** From the transaction of a change until its fan-out has committed the deliveries: the stream, and a transaction. */
export const FAN_OUT_MS = 250

/** A record has one to three events, and the mean time from one to the next. */
const MAX_EVENTS_PER_RECORD = 3
const MEAN_EVENTS_PER_RECORD = 2
const MEAN_GAP_MS = 2000
const MIN_GAP_MS = 30

const RECORD_EVENTS = ['appointment.created', 'appointment.updated', 'appointment.completed'] as const

export type Load = {
  readonly clock: Clock
  readonly random: () => number
  readonly fleet: readonly (readonly Endpoint[])[]
  readonly eventsPerSecond: number
  readonly end: number
  /** Stores the deliveries of an event, and queues them. */
  readonly onEvent: (created: readonly { endpoint: Endpoint; delivery: Delivery }[]) => void
}

/** Creates records at random times until the end, each of a random clinic. */
export function createEvents(load: Load): void {
  const { clock, random, fleet, eventsPerSecond, end } = load
  const exponential = (mean: number): number => -Math.log(1 - random()) * mean
  let records = 0

  function scheduleRecord(): void {
    const at = clock.now() + exponential((1000 * MEAN_EVENTS_PER_RECORD) / eventsPerSecond)
    if (at < end) clock.at(at, createRecord)
  }

  function createRecord(): void {
    const endpoints = fleet[Math.floor(random() * fleet.length)] as readonly Endpoint[]
    const record = (records++).toString(16)
    const count = 1 + Math.floor(MAX_EVENTS_PER_RECORD * random())
    let at = clock.now()
    for (let sequence = 1; sequence <= count; sequence++) {
      const createdAt = Math.round(at)
      clock.at(createdAt + FAN_OUT_MS, () =>
        load.onEvent(deliveriesOf(endpoints, { record, sequence, createdAt }, clock.now())),
      )
      at += MIN_GAP_MS + exponential(MEAN_GAP_MS)
    }
    scheduleRecord()
  }

  scheduleRecord()
}

type Occasion = { readonly record: string; readonly sequence: number; readonly createdAt: number }

function deliveriesOf(endpoints: readonly Endpoint[], occasion: Occasion, now: number) {
  const event = eventOf(occasion)
  return endpoints.map((endpoint) => ({ endpoint, delivery: deliveryOf(event, endpoint, now) }))
}

function deliveryOf(event: Event, { clinic, webhook }: Endpoint, now: number): Delivery {
  const id = deliveryIdOf(webhook.id, `evt_${event.id}`)
  return newDelivery(event, { id: clinic, timezone: 'UTC' }, { id, webhook: webhook.id, now })
}

const eventOf = ({ record, sequence, createdAt }: Occasion): Event => ({
  id: `${createdAt.toString(16)}-${record}-${sequence}`,
  event: RECORD_EVENTS[sequence - 1] as (typeof RECORD_EVENTS)[number],
  record,
  sequence,
  data: {
    id: '019a3c5e-0000-7000-8000-000000000001',
    patient_id: '019a3c5e-0000-7000-8000-000000000002',
    doctor_id: '019a3c5e-0000-7000-8000-000000000003',
    status: 'scheduled',
    appointment_date: '2026-11-20',
    start_time: '09:30',
    end_time: '10:00',
  },
  createdAt: new Date(createdAt).toISOString(),
})

/** The id of a delivery by what its receiver gets. Ids sort by time, and end in two digits that spread. */
export function deliveryIdOf(endpoint: string, eventId: string): string {
  const index = endpoint.slice(endpoint.indexOf('.') + 1)
  let hash = Number(index)
  for (let at = 0; at < eventId.length; at++) hash = Math.imul(hash ^ eventId.charCodeAt(at), 0x01000193)
  return `${eventId.slice(4)}-${index}-${((hash >>> 8) & 0xff).toString(16).padStart(2, '0')}`
}

/** A delivery that failed this many times before the simulation, and whose next retry is due at `at`. */
export function earlierFailure(endpoint: Endpoint, number: number, failures: number, at: number): Delivery {
  const delays = RETRY_DELAYS_MS.slice(0, failures)
  let begin = at - delays.reduce((sum, delay) => sum + delay, 0)
  const record = `earlier${number.toString(16)}`
  const event = eventOf({ record, sequence: 1, createdAt: begin })
  let delivery = deliveryOf(event, endpoint, begin)
  for (const delay of delays) {
    const attempt = { at: new Date(begin).toISOString(), status: 500, error: null, latencyMs: 0 }
    delivery = afterAttempt(delivery, attempt, false, delay, false)
    begin += delay
  }
  return delivery
}
