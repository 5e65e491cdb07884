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
import { doctorStore } from '../../shared/store/doctors.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { issueCredential } from '../support/credentials.ts'
import {
  get,
  post,
  RACING,
  type RunningStack,
  runStack,
  startRealisticEngine,
} from '../support/local-stack.ts'
import { rounds } from '../support/scale.ts'
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

it('leaves lists, tallies and days that verify finds nothing wrong with', async () => {
  const found: string[] = []
  await verifyClinic(stack.table, clinic.id, { repair: false, onDifference: ({ kind }) => found.push(kind) })
  expect(found).toEqual([])
})
