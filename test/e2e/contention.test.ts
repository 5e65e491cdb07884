/**
 * Bursts of requests for the same items of one clinic, over HTTP, on an engine whose overlapping transactions conflict
 * with each other, as in DynamoDB. The tests assert the responses, never their speed.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { NEW_DOCTOR } from '../../bin/clinic/import/entities/doctors.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { verifyClinic } from '../../shared/maintenance/verify/verify-clinic.ts'
import { roomStore } from '../../shared/store/catalogue.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import {
  type Campaign,
  expectSoundCalendar,
  OPENING,
  runCampaign,
  type SendRequest,
} from '../support/booking-campaign.ts'
import { aRoom } from '../support/catalogue.ts'
import { issueCredential } from '../support/credentials.ts'
import {
  get,
  post,
  RACING,
  type RunningStack,
  runStack,
  send,
  startRealisticEngine,
} from '../support/local-stack.ts'
import { rounds } from '../support/scale.ts'
import { formatMinute } from '../support/slot-oracle.ts'
import { aPatient, newClinic } from '../support/table.ts'

const BURST = rounds(24, 64)
const DOCTORS = 12
const DATE = '2199-01-04'

let stack: RunningStack
let clinic: Clinic
let pair: string
const doctors = Array.from({ length: DOCTORS + 1 }, newUuid)
const patients = Array.from({ length: 16 }, () => aPatient())

beforeAll(async () => {
  const { dynamodb } = await startRealisticEngine()
  stack = await runStack({ demo: false, dynamodb, limits: RACING })
  clinic = await newClinic(stack.table)
  const hours = parseWeeklyHours('mon-sun 08:00-20:00')
  await doctorStore(stack).save(
    clinic.id,
    doctors.map((id) => ({ before: null, after: { ...NEW_DOCTOR, id, fullName: 'Dr. Ny', hours } })),
  )
  await patientWriter(stack).createMany(clinic.id, patients)
  const { key, secret } = await issueCredential(stack.table, clinic)
  pair = `${key}:${secret}`
})
afterAll(() => stack.close())

const burst = async (path: string, body: (index: number) => object): Promise<Record<number, number>> => {
  const responses = await Promise.all(
    Array.from({ length: BURST }, (_, index) => post(stack, path, body(index), { pair })),
  )
  const byStatus = Map.groupBy(responses, ({ status }) => status)
  return Object.fromEntries([...byStatus].map(([status, { length }]) => [status, length]))
}
const totalOf = async (path: string) => (await get(stack, path, pair)).body.meta.total

it('creates every patient of a burst', async () => {
  expect(await burst('/patients', () => ({ first_name: 'Ada', last_name: 'Kaya' }))).toEqual({ 201: BURST })
  expect(await totalOf('/patients?limit=1')).toBe(patients.length + BURST)
})

it('books every free time of twelve doctors that is asked for in a burst', async () => {
  const booking = (index: number) => ({
    patient_id: patients[index % patients.length]?.id,
    doctor_id: doctors[index % DOCTORS],
    appointment_date: DATE,
    start_time: `${String(8 + Math.floor(index / DOCTORS)).padStart(2, '0')}:00`,
  })
  expect(await burst('/appointments', booking)).toEqual({ 201: BURST })
  expect(await totalOf('/appointments?limit=1')).toBe(BURST)
})

it('books one of many concurrent requests for the same time, and returns 409 to all others', async () => {
  const booking = (index: number) => ({
    patient_id: patients[index % patients.length]?.id,
    doctor_id: doctors[DOCTORS],
    appointment_date: DATE,
    start_time: '09:00',
  })
  expect(await burst('/appointments', booking)).toEqual({ 201: 1, 409: BURST - 1 })
})

it(
  'books, moves and cancels over the same doctors and rooms without an overlap or a lost slot',
  async () => {
    const owner = await newClinic(stack.table)
    const { key, secret } = await issueCredential(stack.table, owner)
    const hours = parseWeeklyHours(`mon-sun ${formatMinute(OPENING.from)}-${formatMinute(OPENING.to)}`)
    const [ids, rooms, patient] = [[1, 2, 3].map(newUuid), [aRoom(), aRoom()], aPatient()]
    const added = <T>(after: T) => ({ before: null, after })
    await doctorStore(stack).save(
      owner.id,
      ids.map((id) => added({ ...NEW_DOCTOR, id, fullName: 'Dr. Ny', hours })),
    )
    await roomStore(stack).save(owner.id, rooms.map(added))
    await patientWriter(stack).createMany(owner.id, [patient])
    const campaign: Campaign = {
      clients: rounds(16, 64),
      requests: rounds(6, 40),
      seed: Number(process.env.SEED ?? 1),
      patient: patient.id,
      doctors: ids,
      rooms: rooms.map(({ id }) => id),
      dates: ['2199-01-04', '2199-01-05'],
    }
    const sendRequest: SendRequest = (method, path, body, idempotencyKey) =>
      send(`${stack.api}${path}`, {
        method,
        headers: {
          authorization: `Developer ${key}:${secret}`,
          ...(body && { 'content-type': 'application/json' }),
          ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
    const { known, counts } = await runCampaign(campaign, sendRequest)
    process.stdout.write(`${JSON.stringify(counts)}\n`)
    await expectSoundCalendar(campaign, known, sendRequest)
    const found: string[] = []
    await verifyClinic(stack.table, owner.id, { repair: false, onDifference: ({ kind }) => found.push(kind) })
    expect(found).toEqual([])
  },
  rounds(60_000, 900_000),
)

it('leaves lists, tallies and days that verify finds nothing wrong with', async () => {
  const found: string[] = []
  await verifyClinic(stack.table, clinic.id, { repair: false, onDifference: ({ kind }) => found.push(kind) })
  expect(found).toEqual([])
})
