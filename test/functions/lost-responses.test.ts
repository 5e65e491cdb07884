/** Requests whose transaction is committed, but whose response from the store is lost or whose further work hangs. */
import { beforeEach, describe, expect, it } from 'vitest'
import { NEW_DOCTOR } from '../../shared/domain/booking/doctor.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { verifyClinic } from '../../shared/maintenance/verify/verify-clinic.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { shortId } from '../../shared/store/keys/key.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import { patientStore } from '../../shared/store/patients/patients.ts'
import { issueCredential } from '../support/credentials.ts'
import { createWebhook } from '../support/deliveries.ts'
import { call, lambdaContext } from '../support/event.ts'
import { handlerOf } from '../support/functions.ts'
import { realisticTableOfFunctions } from '../support/realistic-table.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../support/records.ts'

const { db, dynamodb } = realisticTableOfFunctions()
let mine: PopulatedClinic
let doctor: string
let headers: Record<string, string>

beforeEach(async () => {
  mine = await createPopulatedClinic(db.table)
  doctor = newUuid()
  const hours = parseWeeklyHours('mon-sun 08:00-20:00')
  const after = { ...NEW_DOCTOR, id: doctor, fullName: 'Dr. Ny', hours }
  await doctorStore(db).save(mine.clinic.id, [{ before: null, after }])
  headers = { ...(await issueCredential(db.table, mine.clinic)).headers, 'content-type': 'application/json' }
})

const post = async (id: string, body: object, remainingMs?: number) =>
  call(
    await handlerOf({ id }),
    { method: 'POST', headers, body: JSON.stringify(body) },
    lambdaContext(remainingMs),
  )
const booking = () => ({
  patient_id: mine.patient.id,
  doctor_id: doctor,
  appointment_date: '2199-01-04',
  start_time: '09:00',
})
const email = () => ({ channel: 'email', patient_id: mine.patient.id, message: 'Good day' })
const count = async (store: typeof appointmentStore | typeof messageStore) =>
  (await store(db).page(mine.clinic.id, {}, { page: 1, limit: 1 })).total

const FAULTS = [
  ['is lost once', { kind: 'response-lost', times: 1 }],
  ['is lost for every attempt that the SDK makes', { kind: 'response-lost', times: 3 }],
  ['is a 500 after the commit', { kind: 'error-after-commit', times: 2 }],
  ['is followed by TransactionInProgressException', { kind: 'transaction-in-progress', times: 4 }],
] as const

describe.each(FAULTS)('when the response of the transaction %s', (_, fault) => {
  const inject = () => dynamodb.faults.next({ operation: 'TransactWriteItems', ...fault })

  it('creates the patient once, and returns 201', async () => {
    const before = (await patientStore(db).page(mine.clinic.id, { page: 1, limit: 1 })).total
    inject()
    const { status } = await post('create-patient', { first_name: 'Ada', last_name: 'Kaya' })
    expect(status).toBe(201)
    expect((await patientStore(db).page(mine.clinic.id, { page: 1, limit: 1 })).total).toBe(before + 1)
  })

  it('books once, and returns 201 rather than 409', async () => {
    const before = await count(appointmentStore)
    inject()
    const { status } = await post('create-appointment', booking())
    expect(status).toBe(201)
    expect(await count(appointmentStore)).toBe(before + 1)
    expect(
      await verifyClinic(db.table, mine.clinic.id, { repair: false, onDifference: () => {} }),
    ).toMatchObject({ differences: 0 })
  })

  it('accepts the email once, and writes one log entry', async () => {
    const before = await count(messageStore)
    inject()
    const { status } = await post('send-message', email())
    expect(status).toBe(202)
    expect(await count(messageStore)).toBe(before + 1)
  })
})

describe('when the response of the transaction is lost and its repetitions are throttled', () => {
  const inject = () => {
    dynamodb.faults.next({ operation: 'TransactWriteItems', kind: 'response-lost' })
    dynamodb.faults.next({ operation: 'TransactWriteItems', kind: 'throttled', times: 3 })
  }

  it('deletes the webhook, and returns 204 rather than 404', async () => {
    const { id } = await createWebhook(db.table, mine.clinic.id)
    inject()
    const handler = await handlerOf({ id: 'delete-webhook' })
    expect((await call(handler, { method: 'DELETE', headers, path: { id } })).status).toBe(204)
  })

  it('creates the webhook, and returns 201 rather than 503', async () => {
    inject()
    const body = { url: 'https://hooks.example.com/', events: ['patient.created'] }
    expect((await post('create-webhook', body)).status).toBe(201)
  })
})

it('makes no call of the store after it has returned 504', async () => {
  const keyPrefix = shortId(mine.clinic.id)
  const held = dynamodb.faults.next({ kind: 'held', operation: 'GetItem', keyPrefix })
  const response = post('create-appointment', booking(), 900)
  await held.reached
  expect((await response).status).toBe(504)
  dynamodb.resetCounts()
  held.release()
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(dynamodb.counts().calls).toEqual({})
  expect(
    (await appointmentStore(db).page(mine.clinic.id, {}, { page: 1, limit: 100 })).items,
  ).not.toContainEqual(expect.objectContaining({ date: '2199-01-04' }))
})

it('makes no call of the store after it has sent a stored response again', async () => {
  headers = { ...headers, 'idempotency-key': 'once' }
  await post('create-appointment', booking())
  dynamodb.faults.next({ kind: 'throttled', operation: 'BatchGetItem', times: 20 })
  expect((await post('create-appointment', booking())).headers['idempotent-replayed']).toBe('true')
  dynamodb.resetCounts()
  await new Promise((resolve) => setTimeout(resolve, 1000))
  expect(dynamodb.counts().calls).toEqual({})
})
