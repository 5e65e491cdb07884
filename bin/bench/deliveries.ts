import { type DeliveryConsumer, deliverEvent } from '../../shared/delivery/webhooks/deliver-event.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import type { DeliveryReference } from '../../shared/domain/webhooks/delivery.ts'
import { ACTIVE_VERSION } from '../../shared/store/credentials.ts'
import { deliveryAttempts } from '../../shared/store/events/delivery-attempts.ts'
import { eventFanOut } from '../../shared/store/events/fan-out.ts'
import { webhookHealthStore } from '../../shared/store/events/webhook-health.ts'
import { webhookStore } from '../../shared/store/events/webhooks.ts'
import { clinicCredentialKey } from '../../shared/store/keys/clinics.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { DELIVERY_UNITS as UNITS } from './bounds.ts'
import type { Cost, MeteredTable } from './meter.ts'
import { CREDENTIAL, createClinic, createdAt, newPatient, newWrite } from './records.ts'

const WEBHOOKS = 2
/** Longer than the first retry is delayed. */
const RETRY_DELAY_MS = 60_000

/** Measures the table cost of the deliveries of an event to two endpoints, from the fan-out on. */
export async function measureDeliveries(
  unmeasured: Table,
  { table, measure, lines }: MeteredTable,
): Promise<void> {
  const clinic = await clinicWithWebhooks(unmeasured)
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
  await createPatient(unmeasured, clinic)
  const delivered = await measure(async () => {
    await fanOut()
    await attemptAll()
  })
  await createPatient(unmeasured, clinic)
  const retried = await measure(async () => {
    await fanOut()
    status = 500
    await attemptAll()
    now += RETRY_DELAY_MS
    status = 200
    await attemptAll()
  })
  if (queued.length > 0) throw new Error('A delivery was queued again.')
  const { delivery, retriedDelivery } = UNITS
  const addLines = (label: string, cost: Cost, { writes, reads }: typeof delivery, roundTrips: number) => {
    for (const [kind, units, bound] of [
      ['write', cost.writeUnits, writes],
      ['read', cost.units - cost.writeUnits, reads],
    ] as const)
      lines.push({
        ...cost,
        label: `${label} (${kind} units)`,
        units,
        bound: { units: WEBHOOKS * bound, roundTrips },
      })
  }
  addLines('deliver an event to two endpoints, one after the other', delivered, delivery, 18)
  addLines('the same, if the first attempts fail', retried, retriedDelivery, 32)
}

/** A clinic with two endpoints. */
async function clinicWithWebhooks(table: Table): Promise<ClinicId> {
  const clinic = await createClinic(table)
  await table.transact([table.putWrite({ ...clinicCredentialKey(clinic, CREDENTIAL), v: ACTIVE_VERSION })])
  for (let at = 0; at < WEBHOOKS; at++) {
    const webhook = {
      id: newUuid(),
      url: `https://${at}.example.com/`,
      events: ['patient.created' as const],
      isActive: true,
      description: null,
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      secretNumber: 1,
      previousSecrets: [],
      createdBy: CREDENTIAL,
      createdAt,
      updatedAt: createdAt,
    }
    await webhookStore({ table }).create(
      clinic,
      webhook,
      newWrite(table, clinic, () => ({
        data: { id: webhook.id, secret: null },
      })),
    )
  }
  return clinic
}

const createPatient = (table: Table, clinic: ClinicId) =>
  patientWriter({ table }).createMany(clinic, [newPatient()])
