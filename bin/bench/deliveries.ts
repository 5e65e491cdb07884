import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { type DeliveryConsumer, deliverEvent } from '../../shared/delivery/webhooks/deliver-event.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { NO_DETAILS } from '../../shared/domain/patients/patient.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import type { DeliveryReference } from '../../shared/domain/webhooks/delivery.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { ACTIVE_VERSION } from '../../shared/store/credentials.ts'
import { deliveryAttempts } from '../../shared/store/events/delivery-attempts.ts'
import { eventFanOut } from '../../shared/store/events/fan-out.ts'
import { webhookHealthStore } from '../../shared/store/events/webhook-health.ts'
import { webhookStore } from '../../shared/store/events/webhooks.ts'
import { clinicCredentialKey } from '../../shared/store/keys/clinics.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { idempotencyGuard } from '../../shared/store/table/idempotency.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'
import { DELIVERY_UNITS as UNITS } from './bounds.ts'
import { type Cost, type Measurement, meter } from './meter.ts'

const WEBHOOKS = 2
/** Longer than the first retry is delayed. */
const RETRY_DELAY_MS = 60_000
const CREDENTIAL = 'ck_bench'
const createdAt = '2026-05-04T07:00:00.000Z'

/** Measures the table cost of the deliveries of an event to two endpoints, from the fan-out on. */
export async function measureDeliveries(
  buildClient: DynamoDBDocumentClient,
  measuredClient: DynamoDBDocumentClient,
  tableName: string,
): Promise<Measurement[]> {
  const [unmeasured, table] = [openTable(buildClient, tableName), openTable(measuredClient, tableName)]
  const clinic = await newClinic(unmeasured)
  const measure = meter(measuredClient)
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
  const linesOf = (label: string, cost: Cost, { writes, reads }: typeof delivery, roundTrips: number) => [
    {
      ...cost,
      label: `${label} (write units)`,
      units: cost.writeUnits,
      bound: { units: WEBHOOKS * writes, roundTrips },
    },
    {
      ...cost,
      label: `${label} (read units)`,
      units: cost.units - cost.writeUnits,
      bound: { units: WEBHOOKS * reads, roundTrips },
    },
  ]
  return [
    ...linesOf('deliver an event to two endpoints, one after the other', delivered, delivery, 18),
    ...linesOf('the same, if the first attempts fail', retried, retriedDelivery, 32),
  ]
}

/** A clinic with two endpoints. */
async function newClinic(table: Table): Promise<ClinicId> {
  const clinic = newUuid() as ClinicId
  const facts = { name: 'Bench', timezone: 'Europe/Istanbul', currency: 'TRY', appointmentMinutes: 30 }
  await clinicStore({ table }).create({ id: clinic, ...facts, createdAt })
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
    const request = { clinic, credential: CREDENTIAL, route: 'create-webhook', key: undefined, body: '' }
    const guard = idempotencyGuard({ table, now: Date.now }, request)
    await webhookStore({ table }).create(clinic, webhook, guard, 201, {
      data: { id: webhook.id, secret: null },
    })
    // The webhook endpoint has succeeded once, so that its deliveries do not wait for one another.
    await webhookHealthStore({ table }).record(clinic, webhook.id, {
      result: 'success',
      at: Date.parse(createdAt),
      isSlow: false,
      halfOpenAt: null,
      permit: null,
      isWaiting: false,
    })
  }
  return clinic
}

const createPatient = (table: Table, clinic: ClinicId) =>
  patientWriter({ table }).createMany(clinic, [
    { id: newUuid(), firstName: 'Ada', lastName: 'Kaya', ...NO_DETAILS, createdAt },
  ])
