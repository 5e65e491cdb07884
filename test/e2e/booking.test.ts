/** Booking over HTTP: available slots can be booked once; other requests are rejected with their reason. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { get, post, type RunningStack, runClinicTool, runStack } from '../support/local-stack.ts'
import { rounds } from '../support/scale.ts'

let stack: RunningStack
let clinic: string
let pair: string
let doctor: string
const patients: string[] = []

beforeAll(async () => {
  stack = await runStack()
  const json = async (...args: string[]) => (await runClinicTool(stack, '--json', ...args)).json()
  clinic = (
    await json('clinic', 'create', '--name', 'Booked', '--timezone', 'Europe/Berlin', '--currency', 'EUR')
  ).id
  const credential = await json(
    'credential',
    'create',
    '--clinic',
    clinic,
    '--name',
    'site',
    '--scopes',
    'all',
  )
  pair = `${credential.key}:${credential.secret}`
  doctor = (
    await json(
      'doctor',
      'add',
      '--clinic',
      clinic,
      '--name',
      'Dr. Eva Noll',
      '--hours',
      'mon-fri 09:00-12:00,13:00-17:00',
      '--breaks',
      'mon-fri 10:30-11:00',
    )
  ).id
  for (const name of ['Ada', 'Bo', 'Cy'])
    patients.push(
      (await post(stack, '/patients', { first_name: name, last_name: 'Kern' }, { pair })).body.data.id,
    )
})
afterAll(() => stack.close())

const MONDAY = '2031-03-03'
const book = (fields: Record<string, unknown>, key?: string) =>
  post(
    stack,
    '/appointments',
    {
      patient_id: patients[0],
      doctor_id: doctor,
      appointment_date: MONDAY,
      start_time: '09:00',
      duration: 30,
      ...fields,
    },
    { pair, key },
  )
const free = async (date: string, duration = 30): Promise<string[]> =>
  (
    await get(stack, `/availability?doctor_id=${doctor}&date=${date}&duration=${duration}`, pair)
  ).body.data.map((slot: { start_time: string }) => slot.start_time)
const total = async () => (await get(stack, '/appointments', pair)).body.meta.total as number

describe('GET /availability', () => {
  it('lists the slots of a day, with the default duration of the clinic', async () => {
    const { status, body } = await get(stack, `/availability?doctor_id=${doctor}&date=2031-03-04`, pair)
    expect(status).toBe(200)
    expect(body.meta).toEqual({ date: '2031-03-04', doctor_id: doctor, duration_minutes: 30, count: 13 })
    expect(body.data[0]).toEqual({ start_time: '09:00', end_time: '09:30', duration_minutes: 30 })
  })

  it('is empty in the past and on days off, and returns 404 for an unknown doctor', async () => {
    expect([await free('2020-03-02'), await free('2031-03-02')]).toEqual([[], []])
    expect(await get(stack, `/availability?doctor_id=${newUuid()}&date=2031-03-04`, pair)).toMatchObject({
      status: 404,
      body: { message: 'errors.developer_api.doctor_not_found' },
    })
  })

  it.each(['duration=4', 'duration=481', 'duration=7.5', 'duration=', 'date=2031-02-29', 'doctor_id=x'])(
    'names the invalid parameter for %s',
    async (wrong) => {
      const query = new URLSearchParams({ doctor_id: doctor, date: MONDAY })
      for (const [name, value] of new URLSearchParams(wrong)) query.set(name, value)
      expect((await get(stack, `/availability?${query}`, pair)).body.details).toEqual([
        { field: wrong.split('=')[0], issue: expect.any(String) },
      ])
    },
  )

  it('requires doctor and date', async () => {
    expect((await get(stack, '/availability', pair)).body.details).toEqual([
      { field: 'date', issue: 'is required' },
      { field: 'doctor_id', issue: 'is required' },
    ])
  })
})

describe('POST /appointments', () => {
  it('books a listed slot once, and returns 409 with three free alternatives afterwards', async () => {
    const booked = await book({ notes: 'first appointment' })
    expect(booked).toMatchObject({
      status: 201,
      body: {
        data: {
          status: 'scheduled',
          appointment_date: MONDAY,
          start_time: '09:00',
          end_time: '09:30',
          notes: 'first appointment',
          patient: { id: patients[0], full_name: 'Ada Kern' },
          doctor: { id: doctor, full_name: 'Dr. Eva Noll' },
        },
      },
    })
    expect(booked.headers.location).toBe(`/api/developer/v1/appointments/${booked.body.data.id}`)
    expect((await get(stack, `/appointments?patient_id=${patients[0]}`, pair)).body.data).toEqual([
      booked.body.data,
    ])
    expect(await free(MONDAY)).not.toContain('09:00')
    const rejected = await book({ start_time: '09:15', patient_id: patients[1] })
    expect(rejected).toMatchObject({
      status: 409,
      body: { error: 'SLOT_UNAVAILABLE', message: 'errors.developer_api.slot_unavailable' },
    })
    expect(rejected.body.details).toHaveLength(3)
    for (const offer of rejected.body.details)
      expect(await free(offer.appointment_date)).toContain(offer.start_time)
    const [{ appointment_date, start_time }] = rejected.body.details
    expect((await book({ appointment_date, start_time, patient_id: patients[1] })).status).toBe(201)
  })

  it('books times between listed slots, and the time of a cancelled appointment', async () => {
    const date = '2031-03-05'
    const first = await book({ appointment_date: date, start_time: '09:07', duration: 11 })
    expect(first).toMatchObject({ status: 201, body: { data: { end_time: '09:18' } } })
    expect((await book({ appointment_date: date, start_time: '09:10' })).status).toBe(409)
    expect(
      (await runClinicTool(stack, 'appointment', 'cancel', first.body.data.id, '--clinic', clinic)).code,
    ).toBe(0)
    expect((await book({ appointment_date: date, start_time: '09:10' })).status).toBe(201)
  })

  it.each<[string, Record<string, unknown>, number, string]>([
    ['before the hours', { start_time: '08:30' }, 422, 'outside_working_hours'],
    ['over their end', { start_time: '16:45' }, 422, 'outside_working_hours'],
    ['over lunch', { start_time: '11:45' }, 422, 'outside_working_hours'],
    ['in a break', { start_time: '10:45' }, 422, 'outside_working_hours'],
    ['on a Sunday', { appointment_date: '2031-03-02' }, 422, 'outside_working_hours'],
    ['over midnight', { start_time: '23:45' }, 422, 'outside_working_hours'],
    ['in the past', { appointment_date: '2020-03-02' }, 422, 'appointment_in_past'],
    ['for an unknown patient', { patient_id: newUuid() }, 404, 'patient_not_found'],
    ['with an unknown doctor', { doctor_id: newUuid() }, 404, 'doctor_not_found'],
  ])('rejects a booking %s', async (_, wrong, status, key) => {
    const before = await total()
    const answer = await book(wrong)
    expect([answer.status, answer.body.message]).toEqual([status, `errors.developer_api.${key}`])
    expect(await total()).toBe(before)
  })

  it.each<[Record<string, unknown>, string]>([
    [{ start_time: '25:00' }, 'start_time'],
    [{ start_time: '9:00' }, 'start_time'],
    [{ appointment_date: '2031-02-30' }, 'appointment_date'],
    [{ duration: 0 }, 'duration'],
    [{ duration: 7.5 }, 'duration'],
    [{ duration: 481 }, 'duration'],
    [{ duration: '30' }, 'duration'],
    [{ patient_id: 'x' }, 'patient_id'],
    [{ doctor_id: 1 }, 'doctor_id'],
    [{ notes: 'x'.repeat(2001) }, 'notes'],
    [{ status: 'completed' }, 'status'],
    [{ end_time: '9:30' }, 'end_time'],
  ])('returns 422 naming the invalid field: %j', async (wrong, field) => {
    expect(await book(wrong)).toMatchObject({
      status: 422,
      body: { error: 'VALIDATION', details: [{ field }] },
    })
  })

  it("returns 404 for another clinic's patient or doctor", async () => {
    const full = stack.clinics[0]?.credentials.full
    const [theirs] = (await get(stack, '/patients?limit=1', full)).body.data
    const [theirDoctor] = (await get(stack, '/doctors?limit=1', full)).body.data
    expect((await book({ patient_id: theirs.id })).body.message).toBe(
      'errors.developer_api.patient_not_found',
    )
    expect((await book({ doctor_id: theirDoctor.id })).body.message).toBe(
      'errors.developer_api.doctor_not_found',
    )
  })

  it('accepts exactly one of many concurrent overlapping bookings', async () => {
    for (let round = 0; round < rounds(1, 100); round++) {
      const date = weekday(round)
      const starts = Array.from({ length: rounds(24, 64) }, (_, n) => ({
        appointment_date: date,
        start_time: `14:${String(n % 25).padStart(2, '0')}`,
        patient_id: patients[n % 3],
      }))
      const answers = await Promise.all(starts.map((fields) => book(fields)))
      const won = answers.filter(({ status }) => status === 201)
      expect([won.length, answers.filter(({ status }) => status === 409).length]).toEqual([
        1,
        starts.length - 1,
      ])
      for (const { body } of answers.filter(({ status }) => status === 409).slice(0, 3)) {
        expect(await free(body.details[0].appointment_date)).toContain(body.details[0].start_time)
      }
    }
    const { items } = await appointmentStore({ table: stack.table }).page(
      clinic as ClinicId,
      {},
      { page: 1, limit: 100 },
    )
    const taken = items.filter(({ status }) => status === 'scheduled')
    for (const one of taken) {
      const clash = taken.filter(
        (other) =>
          other.id !== one.id &&
          other.date === one.date &&
          other.startTime < one.endTime &&
          one.startTime < other.endTime,
      )
      expect(clash).toEqual([])
    }
  })
})

/** The date `count` working days after 1 April 2031. */
function weekday(count: number): string {
  const day = new Date(Date.UTC(2031, 3, 1))
  for (let left = count; left > 0 || [0, 6].includes(day.getUTCDay()); ) {
    day.setUTCDate(day.getUTCDate() + 1)
    if (![0, 6].includes(day.getUTCDay())) left--
  }
  return day.toISOString().slice(0, 10)
}

describe('Idempotency-Key', () => {
  it('replays the first response byte for byte, and books once under 50 concurrent requests', async () => {
    const before = await total()
    const fields = { appointment_date: '2031-06-02', start_time: '15:00' }
    const answers = await Promise.all(Array.from({ length: 50 }, () => book(fields, 'key-1')))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]?.status).toBe(201)
    expect(await total()).toBe(before + 1)
    const again = await book(fields, 'key-1')
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([
      201,
      answers[0]?.text,
      'true',
    ])
    expect(again.headers.location).toBe(answers[0]?.headers.location)
  })

  it('rejects the key for another body, stores a 409, and separates keys by route', async () => {
    const fields = { appointment_date: '2031-06-03', start_time: '15:00' }
    expect((await book(fields, 'key-2')).status).toBe(201)
    expect(await book({ ...fields, start_time: '15:30' }, 'key-2')).toMatchObject({
      status: 422,
      body: { error: 'IDEMPOTENCY_KEY_REUSED' },
    })
    const taken = await book(fields, 'key-3')
    expect(taken.status).toBe(409)
    expect((await book(fields, 'key-3')).text).toBe(taken.text)
    const patient = { first_name: 'Once', last_name: 'Only' }
    const [first, second] = [
      await post(stack, '/patients', patient, { pair, key: 'key-2' }),
      await post(stack, '/patients', patient, { pair, key: 'key-2' }),
    ]
    expect([first.status, second.text]).toEqual([201, first.text])
    expect((await get(stack, '/patients?search=once%20only', pair)).body.meta.total).toBe(1)
  })

  it('stores no response that was rejected by validation', async () => {
    const fields = { appointment_date: '2031-06-04', start_time: '08:00' }
    expect((await book(fields, 'key-4')).status).toBe(422)
    expect((await book({ ...fields, start_time: '15:00' }, 'key-4')).status).toBe(201)
  })

  it.each(['', ' ', 'a b', 'x'.repeat(256), 'ключ'])('rejects the key %j', async (key) => {
    const answer = await book({ appointment_date: '2031-06-05' }, Buffer.from(key, 'utf8').toString('latin1'))
    expect([answer.status, answer.body.message]).toEqual([
      422,
      'errors.developer_api.invalid_idempotency_key',
    ])
  })

  it('replays an anonymized response after the patient is erased', async () => {
    const patient = { first_name: 'Vera', last_name: 'Vanishing' }
    const { body } = await post(stack, '/patients', patient, { pair, key: 'key-5' })
    await runClinicTool(
      stack,
      'patient',
      'erase',
      body.data.id,
      '--clinic',
      clinic,
      ...['--yes', '--confirm', 'Vera Vanishing'],
    )
    const again = await post(stack, '/patients', patient, { pair, key: 'key-5' })
    expect([again.status, again.text.includes('Vanishing')]).toEqual([201, false])
    expect(again.body.data).toMatchObject({
      id: body.data.id,
      full_name: 'Erased Patient',
      phone_number: null,
    })
  })
})

describe('changes by the operator', () => {
  it('of weekly hours, time off and single days show in availability', async () => {
    const run = (...args: string[]) => runClinicTool(stack, 'doctor', ...args, '--clinic', clinic)
    expect((await run('schedule', doctor, '--exception', '2031-07-05 10:00-11:00')).code).toBe(0)
    expect(await free('2031-07-05')).toEqual(['10:00', '10:30'])
    expect((await run('time-off', doctor, '--add', '2031-07-07/2031-07-08')).code).toBe(0)
    expect([await free('2031-07-07'), (await free('2031-07-09')).length]).toEqual([[], 13])
    expect((await run('time-off', doctor, '--remove', '2031-07-07/2031-07-08')).code).toBe(0)
    expect((await free('2031-07-07')).length).toBe(13)
    expect((await run('schedule', doctor, '--hours', 'mon 09:00-10:00', '--breaks', '')).code).toBe(0)
    expect(await free('2031-07-07')).toEqual(['09:00', '09:30'])
    expect((await run('schedule', doctor, '--hours', 'mon 10:00-09:00')).code).toBe(2)
  })
})
