/** POST /appointments and POST /patients with injected write conflicts, and with crashes between any two calls. */
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import { NEW_DOCTOR } from '../../shared/domain/booking/doctor.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { verifyClinic } from '../../shared/maintenance/verify/verify-clinic.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { issueCredential } from '../support/credentials.ts'
import { request, tableOfFunctions } from '../support/functions.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../support/records.ts'
import { rounds } from '../support/scale.ts'

const db = tableOfFunctions()
let mine: PopulatedClinic
let headers: Record<string, string>
const send = DynamoDBDocumentClient.prototype.send

beforeAll(async () => {
  mine = await createPopulatedClinic(db.table)
  headers = (await issueCredential(db.table, mine.clinic)).headers
})
afterEach(() => vi.restoreAllMocks())

/** Intercepts every call to the store. `reject` returns the error of a call that is to fail. */
function between(reject: (command: { constructor: { name: string } }) => Error | null): void {
  vi.spyOn(DynamoDBDocumentClient.prototype, 'send').mockImplementation(function (
    this: DynamoDBDocumentClient,
    ...args: unknown[]
  ) {
    const error = reject(args[0] as { constructor: { name: string } })
    return error ? Promise.reject(error) : (send as (...all: unknown[]) => Promise<never>).apply(this, args)
  })
}

const conflict = () =>
  Object.assign(new Error('conflict'), {
    name: 'TransactionCanceledException',
    CancellationReasons: [{ Code: 'TransactionConflict' }],
  })

async function aDoctor(): Promise<string> {
  const doctor = {
    ...NEW_DOCTOR,
    id: newUuid(),
    fullName: 'Dr. Ny',
    hours: parseWeeklyHours('mon-sun 08:00-20:00'),
  }
  await doctorStore(db).save(mine.clinic.id, [{ before: null, after: doctor }])
  return doctor.id
}

const post = async (
  id: 'create-appointment' | 'create-hold' | 'create-patient',
  body: object,
  more: Record<string, string> = {},
) => request(id, { body, headers: { ...headers, ...more } })

/** The appointments of a doctor on a date. */
const bookedOn = async (doctor: string, date: string) => {
  const filter = { doctor, from: date, to: date }
  return (await appointmentStore(db).page(mine.clinic.id, filter, { page: 1, limit: 100 })).items
}

const expectNothingWrong = async () => {
  const found: unknown[] = []
  await verifyClinic(db.table, mine.clinic.id as ClinicId, {
    repair: false,
    onDifference: (difference) => found.push(difference),
  })
  expect(found).toEqual([])
}

it('books no overlapping appointments when many requests race under write conflicts', async () => {
  const doctor = await aDoctor()
  for (let round = 0; round < rounds(3, 1_000); round++) {
    between((command) =>
      command.constructor.name === 'TransactWriteCommand' && Math.random() < 0.15 ? conflict() : null,
    )
    const date = new Date(Date.UTC(2031, 0, 1) + round * 86_400_000).toISOString().slice(0, 10)
    const wanted = Array.from({ length: rounds(24, 64) }, () => {
      const from = 8 * 60 + Math.floor(Math.random() * 180)
      const start_time = `${String(Math.floor(from / 60)).padStart(2, '0')}:${String(from % 60).padStart(2, '0')}`
      return {
        patient_id: mine.patient.id,
        doctor_id: doctor,
        appointment_date: date,
        start_time,
        duration: 20 + Math.floor(Math.random() * 60),
      }
    })
    const answers = await Promise.all(wanted.map((body) => post('create-appointment', body)))
    vi.restoreAllMocks()
    expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([])
    const booked = await bookedOn(doctor, date)
    expect(booked.map(({ id }) => id).sort()).toEqual(
      answers
        .filter(({ status }) => status === 201)
        .map(({ body }) => body.data.id)
        .sort(),
    )
    const sorted = booked.map(({ startTime, endTime }) => `${startTime}-${endTime}`).sort()
    for (const [at, one] of sorted.entries())
      expect((sorted[at + 1] ?? '99').slice(0, 5) >= one.slice(6)).toBe(true)
    const free = await request('get-availability', {
      query: { doctor_id: doctor, date, duration: '30' },
      headers,
    })
    expect(free.status).toBe(200)
    for (const { status, body } of answers) if (status === 409) expect(body.details).toHaveLength(3)
  }
  await expectNothingWrong()
})

it('books under the same id when the first transaction loses to another write', async () => {
  const doctor = await aDoctor()
  const lost = Object.assign(new Error('lost'), {
    name: 'TransactionCanceledException',
    CancellationReasons: [{ Code: 'ConditionalCheckFailed' }],
  })
  const transactions: string[] = []
  between((command) => {
    if (command.constructor.name !== 'TransactWriteCommand') return null
    transactions.push(JSON.stringify(command))
    return transactions.length === 1 ? lost : null
  })
  const response = await post('create-appointment', {
    patient_id: mine.patient.id,
    doctor_id: doctor,
    appointment_date: '2033-01-01',
    start_time: '09:00',
    duration: 30,
  })
  expect(response.status).toBe(201)
  expect(transactions).toHaveLength(2)
  for (const transaction of transactions) expect(transaction).toContain(response.body.data.id)
})

it.each([
  ['a booking', false],
  ['a hold, and the booking that ends it,', true],
])('writes %s completely or not at all when the process crashes at any call', async (_, isHeld) => {
  const doctor = await aDoctor()
  for (let calls = 0, done = false; !done; calls++) {
    let left = calls
    between(() => (left-- > 0 ? null : new Error('the process is gone')))
    const date = new Date(Date.UTC(2032, 0, 1) + calls * 86_400_000).toISOString().slice(0, 10)
    const key = { 'idempotency-key': `crash-${isHeld}-${calls}` }
    const time = { doctor_id: doctor, appointment_date: date, start_time: '09:00', duration: 30 }
    const hold = async () => {
      const made = await post('create-hold', time, key)
      if (left < 0) vi.restoreAllMocks()
      return made.status === 201 ? made : post('create-hold', time, key)
    }
    const placed = isHeld ? { hold_id: (await hold()).body.data.id } : time
    const body = { patient_id: mine.patient.id, ...placed }
    const first = await post('create-appointment', body, key)
    vi.restoreAllMocks()
    const there = await bookedOn(doctor, date)
    done = first.status === 201 && left >= 0
    // The caller repeats the request under the same key. A committed booking returns the first response again.
    const again = await post('create-appointment', body, key)
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([
      201,
      there.length === 1 ? 'true' : undefined,
    ])
    expect(await bookedOn(doctor, date)).toHaveLength(1)
    await expectNothingWrong()
  }
})
