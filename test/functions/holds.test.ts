/** Holds of free times, and the bookings that end them. */
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { NEW_DOCTOR } from '../../shared/domain/booking/doctor.ts'
import { MAX_HOLDS } from '../../shared/domain/booking/hold.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { doctorDayKey, holdKey, holdListKey } from '../../shared/store/keys/calendar.ts'
import { shortId } from '../../shared/store/keys/key.ts'
import { announcedEvents } from '../support/all-items.ts'
import { issueCredential } from '../support/credentials.ts'
import { request, tableOfFunctions } from '../support/functions.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../support/records.ts'

const db = tableOfFunctions()
let mine: PopulatedClinic
let credential: Awaited<ReturnType<typeof issueCredential>>
let doctor: string
const date = '2031-01-06'

beforeAll(async () => {
  mine = await createPopulatedClinic(db.table)
})
beforeEach(async () => {
  credential = await issueCredential(db.table, mine.clinic)
  doctor = newUuid()
  const hours = parseWeeklyHours('mon-sun 09:00-12:00')
  const after = { ...NEW_DOCTOR, id: doctor, fullName: 'Dr. Bo', hours }
  await doctorStore(db).save(mine.clinic.id, [{ before: null, after }])
})
afterEach(() => {
  vi.useRealTimers()
})

type Sent = { readonly headers?: Record<string, string> }
const post = (id: 'create-hold' | 'create-appointment', body: object, { headers = {} }: Sent = {}) =>
  request(id, { body, headers: { ...credential.headers, ...headers } })
const time = (facts: object = {}) => ({
  ...{ doctor_id: doctor, appointment_date: date, start_time: '09:00', duration: 30, ...facts },
})
const hold = (facts: object = {}, sent: Sent = {}) => post('create-hold', time(facts), sent)
const book = (facts: object = time(), sent: Sent = {}) =>
  post('create-appointment', { patient_id: mine.patient.id, ...facts }, sent)
const onHold = (id: 'get-hold' | 'delete-hold', hold: string, headers = credential.headers) =>
  request(id, { path: { id: hold }, headers })
const held = async (facts: object = {}): Promise<string> => (await hold(facts)).body.data.id

/** The starts of the free slots of half an hour. */
const freeTimes = async (query: Record<string, string> = {}): Promise<string[]> => {
  const sent = { doctor_id: doctor, date, duration: '30', ...query }
  const { body } = await request('get-availability', { query: sent, headers: credential.headers })
  return body.data.map(({ start_time }: { start_time: string }) => start_time)
}

const error = (status: number, key: string, details?: unknown) => ({
  status,
  body: { message: `errors.developer_api.${key}`, ...(details !== undefined && { details }) },
})

/** Moves the clock of the functions to `ms` from the expiry of a hold. */
const moveTo = (expiresAt: string, ms: number) =>
  vi.useFakeTimers({ now: Date.parse(expiresAt) + ms, toFake: ['Date'] })

it('cannot be of a time that has passed on the clinic’s clock, though not in UTC', async () => {
  vi.useFakeTimers({ now: Date.parse(`${date}T07:00:00Z`), toFake: ['Date'] })
  expect(await hold()).toMatchObject(error(422, 'appointment_in_past'))
  expect((await hold({ start_time: '10:30' })).status).toBe(201)
})

it('takes its time from everybody, until its credential books exactly that', async () => {
  const room_id = mine.room.id
  const response = await hold({ duration: undefined, end_time: '09:45', room_id })
  const { id, ...data } = response.body.data
  expect([response.status, response.headers.location]).toEqual([201, expect.stringContaining(`/holds/${id}`)])
  expect(data).toEqual({
    doctor: { id: doctor, full_name: 'Dr. Bo' },
    appointment_date: date,
    start_time: '09:00',
    end_time: '09:45',
    room: { id: room_id, name: mine.room.name },
    expires_at: expect.any(String),
    created_at: expect.any(String),
  })
  const lasts = Date.parse(data.expires_at) - Date.parse(data.created_at)
  expect(lasts / 1000).toBeGreaterThan(598)
  expect((await onHold('get-hold', id)).body).toEqual(response.body)
  expect(await freeTimes()).toEqual(['10:00', '10:30', '11:00', '11:30'])

  const taken = await book(time({ start_time: '09:30' }))
  expect(taken).toMatchObject(error(409, 'slot_unavailable'))
  expect(taken.body.details[0]).toEqual({ appointment_date: date, start_time: '10:00', end_time: '10:30' })
  expect((await hold({ start_time: '09:30' })).body).toEqual(taken.body)
  const elsewhere = { doctor_id: mine.doctor.id, room_id }
  expect(await hold(elsewhere)).toMatchObject(error(409, 'room_unavailable'))
  const other = (await book(time({ start_time: '11:00' }))).body.data.id
  const change = { path: { id: other }, body: { start_time: '09:00' }, headers: credential.headers }
  expect(await request('update-appointment', change)).toMatchObject(error(409, 'slot_unavailable'))

  const booked = await book({ hold_id: id })
  const { created_at: _, expires_at: __, ...placed } = data
  expect(booked).toMatchObject({ status: 201, body: { data: placed } })
  expect(await onHold('get-hold', id)).toMatchObject(error(404, 'hold_not_found'))
  expect(await db.table.get(doctorDayKey(mine.clinic.id, doctor, date))).not.toHaveProperty('holds')
  expect(await announcedEvents(db, id)).toEqual([])
})

it('is over from the second of its expiry', async () => {
  const { id, expires_at } = (await hold({ expires_in: 60 })).body.data
  moveTo(expires_at, -1)
  expect((await onHold('get-hold', id)).status).toBe(200)
  expect(await freeTimes()).not.toContain('09:00')
  expect((await book()).status).toBe(409)
  moveTo(expires_at, 0)
  expect(await onHold('get-hold', id)).toMatchObject(error(404, 'hold_not_found'))
  expect(await freeTimes()).toContain('09:00')
  expect(await book({ hold_id: id })).toMatchObject(error(409, 'hold_expired'))
  expect((await book()).status).toBe(201)
  expect(await db.table.get(doctorDayKey(mine.clinic.id, doctor, date))).not.toHaveProperty('holds')
  expect(await db.table.get(holdKey(mine.clinic.id, id))).toMatchObject({
    ttl: Date.parse(expires_at) / 1000,
  })
  expect((await onHold('delete-hold', id)).status).toBe(204)
})

it('is free again when it is deleted', async () => {
  const id = await held({ room_id: mine.room.id, start_time: '11:30' })
  expect((await onHold('delete-hold', id)).status).toBe(204)
  expect(await freeTimes({ room_id: mine.room.id })).toContain('11:30')
  for (const request of ['delete-hold', 'get-hold'] as const)
    expect(await onHold(request, id)).toMatchObject(error(404, 'hold_not_found'))
  expect(await book({ hold_id: id })).toMatchObject(error(404, 'hold_not_found', [{ field: 'hold_id' }]))
})

it('does not exist for another credential of the clinic', async () => {
  const id = await held()
  const { headers } = await issueCredential(db.table, mine.clinic)
  for (const request of ['delete-hold', 'get-hold'] as const)
    expect(await onHold(request, id, headers)).toMatchObject(error(404, 'hold_not_found'))
  expect(await book({ hold_id: id }, { headers })).toMatchObject(error(404, 'hold_not_found'))
  expect((await book({ hold_id: id })).status).toBe(201)
})

it.each<[what: string, body: object, fields: string[]]>([
  ['no time', { appointment_date: undefined, start_time: undefined }, ['appointment_date', 'start_time']],
  ['a patient', { patient_id: newUuid() }, ['patient_id']],
  ['too short a hold', { expires_in: 59 }, ['expires_in']],
  ['too long a hold', { expires_in: 1801 }, ['expires_in']],
  ['two lengths', { end_time: '09:45' }, ['end_time']],
])('rejects a hold with %s', async (_, facts, fields) => {
  const details = fields.map((field) => ({ field }))
  expect(await hold(facts)).toMatchObject({ status: 422, body: { details } })
})

it.each<[what: string, facts: object, fields: string[]]>([
  ['another doctor and room', { doctor_id: newUuid(), room_id: newUuid() }, ['doctor_id', 'room_id']],
  [
    'another date and start',
    { appointment_date: '2031-01-07', start_time: '09:05' },
    ['appointment_date', 'start_time'],
  ],
  ['another length', { end_time: '09:35', duration: 35 }, ['end_time', 'duration']],
])('rejects a booking with %s than its hold, which stays', async (_, facts, fields) => {
  const id = await held()
  const details = fields.map((field) => ({ field, issue: 'must be that of the hold, or left out' }))
  expect(await book({ hold_id: id, ...facts })).toMatchObject(error(422, 'validation', details))
  expect((await book({ hold_id: id, ...time(), room_id: null })).status).toBe(201)
})

it('names the fields that a booking without a hold needs', async () => {
  const details = ['doctor_id', 'appointment_date', 'start_time'].map((field) => ({
    field,
    issue: 'is required',
  }))
  expect(await book({})).toMatchObject(error(422, 'validation', details))
})

it('reports the appointment with the external id when a booking that ended the hold is repeated', async () => {
  const facts = { hold_id: await held(), external_id: newUuid() }
  const { id } = (await book(facts)).body.data
  const details = [{ field: 'external_id', id }]
  expect(await book(facts)).toMatchObject(error(409, 'external_id_taken', details))
})

it('is one of at most 200 of its credential, of which those that have ended do not count', async () => {
  const { id: clinic } = mine.clinic
  const until = Math.floor(Date.now() / 1000) + 500
  const ids = Array.from({ length: MAX_HOLDS - 1 }, newUuid)
  const expiries = Object.fromEntries(ids.map((id) => [shortId(id), until]))
  await db.table.putMany([
    { ...holdListKey(clinic, credential.key), ...expiries, [shortId(newUuid())]: 1, v: 1 },
    ...ids.map((id) => ({ ...holdKey(clinic, id) })),
  ])
  const starts = ['09:00', '09:30', '10:00', '10:30', '11:00', '11:30']
  const responses = await Promise.all(starts.map((start_time) => hold({ start_time })))
  const refused = responses.filter(({ status }) => status === 429)
  expect(refused).toHaveLength(5)
  expect(refused[0]).toMatchObject(error(429, 'too_many_holds'))
  const seconds = Number(refused[0]?.headers['retry-after'])
  expect(seconds > 480 && seconds <= 500).toBe(true)
  await db.table.deleteMany([holdKey(clinic, ids[0] as string)])
  const again = await Promise.all(starts.map((start_time) => hold({ start_time })))
  expect(again.filter(({ status }) => status === 201)).toHaveLength(1)
})

it('goes to one of 64 requests for a time, half of them bookings', async () => {
  const sent = Array.from({ length: 64 }, (_, at) => (at % 2 === 0 ? hold() : book()))
  const statuses = (await Promise.all(sent)).map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([201, ...Array(63).fill(409)])
})
