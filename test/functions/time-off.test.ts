/** Days off and blocks within a day: every reader of a doctor's times goes by them. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { Scope } from '../../shared/domain/scope.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { doctorKey } from '../../shared/store/keys/clinics.ts'
import { issueCredential } from '../support/credentials.ts'
import { request, tableOfFunctions } from '../support/functions.ts'
import { createAppointment, createPopulatedClinic, type PopulatedClinic } from '../support/records.ts'

const db = tableOfFunctions()
let mine: PopulatedClinic
let headers: Record<string, string>

beforeEach(async () => {
  mine = await createPopulatedClinic(db.table)
  headers = (await issueCredential(db.table, mine.clinic)).headers
})

const MONDAY = '2030-01-07'
const BLOCK = { from: MONDAY, start_time: '10:00', end_time: '11:00', reason: 'Surgery' }
const WHOLE = { from: '2030-01-08', to: '2030-01-09' }

const json = { 'content-type': 'application/json' }
const add = (body: object, by = headers) =>
  request('create-time-off', {
    path: { id: mine.doctor.id },
    headers: { ...by, ...json },
    body: JSON.stringify(body),
  })
const remove = (id: string) =>
  request('delete-time-off', { path: { id: mine.doctor.id, time_off_id: id }, headers })
const list = (query = {}) => request('list-time-off', { path: { id: mine.doctor.id }, query, headers })
const idsOf = ({ body }: Awaited<ReturnType<typeof list>>) => body.data.map((one: { id: string }) => one.id)
const book = (startTime: string, date = MONDAY) =>
  request('create-appointment', {
    headers: { ...headers, ...json },
    body: JSON.stringify({
      ...{ patient_id: mine.patient.id, doctor_id: mine.doctor.id },
      ...{ appointment_date: date, start_time: startTime, duration: 30 },
    }),
  })

describe('a block within a day', () => {
  it('is a break of that day for availability, bookings and the schedule, until it is deleted', async () => {
    const free = async () => {
      const query = { doctor_id: mine.doctor.id, date: MONDAY, duration: '30' }
      const { body } = await request('get-availability', { query, headers })
      return body.data.map((slot: { start_time: string }) => slot.start_time).slice(0, 5)
    }
    const created = await add(BLOCK)
    expect([created.status, created.body.data]).toEqual([
      201,
      { id: expect.any(String), ...BLOCK, to: MONDAY },
    ])
    expect(await free()).toEqual(['09:00', '09:30', '11:00', '11:30', '12:00'])
    const rejected = await book('10:30')
    expect([rejected.status, rejected.body.details]).toEqual([
      422,
      [{ field: 'start_time', reason: 'break' }],
    ])
    const path = { id: mine.doctor.id }
    const schedule = await request('get-schedule', { path, query: { date: MONDAY }, headers })
    expect(schedule.body.data).toEqual([
      {
        date: MONDAY,
        windows: [
          { start_time: '09:00', end_time: '10:00' },
          { start_time: '11:00', end_time: '17:00' },
        ],
        closed: null,
      },
    ])
    expect((await remove(created.body.data.id)).status).toBe(204)
    expect((await book('10:30')).status).toBe(201)
  })

  it('is stored apart from days off, which earlier releases read as whole days', async () => {
    await add(BLOCK)
    await add(WHOLE)
    const item = await db.table.get(doctorKey(mine.clinic.id, mine.doctor.id))
    expect([item?.timeOff, item?.blocks]).toEqual([
      [{ ...WHOLE, reason: null }],
      [{ date: MONDAY, start: '10:00', end: '11:00', reason: 'Surgery' }],
    ])
  })
})

describe('time off', () => {
  it('counts the upcoming appointments at its time', async () => {
    const { id, fullName } = mine.doctor
    const tomorrow = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10)
    const all = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
    const before = await doctorStore(db).find(mine.clinic.id, id)
    const { version: _, ...doctor } = before as NonNullable<typeof before>
    const hours = Object.fromEntries(all.map((day) => [day, [{ start: '00:00', end: '23:59' }]]))
    await doctorStore(db).save(mine.clinic.id, [{ before, after: { ...doctor, hours } }])
    const facts = { doctor: { id, fullName }, date: tomorrow, startTime: '12:00', endTime: '12:30' }
    await createAppointment(db.table, mine, facts)
    const counted = async (start_time: string, end_time: string) =>
      (await add({ from: tomorrow, start_time, end_time })).body.meta.appointments_outside
    expect([await counted('10:00', '12:00'), await counted('12:15', '13:00')]).toEqual([0, 1])
  })

  it('of the same days and times returns the one that is there, with its reason if it may be read', async () => {
    const first = await add(BLOCK)
    const again = await add({ ...BLOCK, to: MONDAY, reason: 'Other' })
    expect([again.status, again.body.data]).toEqual([200, first.body.data])
    const scopes: Scope[] = ['schedule.write']
    const blind = (await issueCredential(db.table, mine.clinic, scopes)).headers
    const unread = await add({ ...BLOCK, reason: undefined }, blind)
    expect([unread.status, unread.body.data]).toEqual([200, { ...first.body.data, reason: null }])
    expect((await add({ from: MONDAY })).status).toBe(201)
    expect((await list()).body.meta.total).toBe(2)
  })

  it('has the same id when it was stored before, and after other time off was added', async () => {
    const { id } = mine.doctor
    const before = await doctorStore(db).find(mine.clinic.id, id)
    const { version: _, ...doctor } = before as NonNullable<typeof before>
    const timeOff = [{ ...WHOLE, reason: 'Family' }]
    await doctorStore(db).save(mine.clinic.id, [{ before, after: { ...doctor, timeOff } }])
    const [stored] = idsOf(await list())
    const added = (await add(BLOCK)).body.data.id
    expect(idsOf(await list())).toEqual([added, stored])
    expect((await add(WHOLE)).body.data).toMatchObject({ id: stored, reason: 'Family' })
  })

  it('is listed by date, if it touches the range', async () => {
    const whole = (await add(WHOLE)).body.data.id
    const block = (await add(BLOCK)).body.data.id
    const within = async (from?: string, to?: string) =>
      idsOf(await list({ ...(from && { from }), ...(to && { to }) }))
    expect(await within()).toEqual([block, whole])
    expect(await within('2030-01-09', '2030-01-31')).toEqual([whole])
    expect(await within(undefined, MONDAY)).toEqual([block])
    expect(await within('2030-01-10')).toEqual([])
  })

  it('that does not exist is not found when it is deleted, also the second time', async () => {
    const { id } = (await add(BLOCK)).body.data
    const answers = [await remove(newUuid()), await remove(id), await remove(id)]
    expect(answers.map(({ status, body }) => [status, body?.message])).toEqual([
      [404, 'errors.developer_api.time_off_not_found'],
      [204, undefined],
      [404, 'errors.developer_api.time_off_not_found'],
    ])
  })

  it.each<[string, object, string]>([
    ['with one time', { from: MONDAY, start_time: '10:00' }, 'start_time'],
    ['that ends before it begins', { ...BLOCK, end_time: '10:00' }, 'end_time'],
    ['with times on two days', { ...BLOCK, to: '2030-01-08' }, 'to'],
    ['whose last day is before the first', { from: MONDAY, to: '2030-01-06' }, 'from'],
    ['after the last date', { from: '2200-01-01' }, 'from'],
  ])('%s is rejected, naming the field', async (_, body, field) => {
    const { status, body: error } = await add(body)
    expect([status, error.details.map((one: { field: string }) => one.field)]).toEqual([422, [field]])
  })

  it('of more text than a file can have is rejected', async () => {
    const before = await doctorStore(db).find(mine.clinic.id, mine.doctor.id)
    const { version: _, ...doctor } = before as NonNullable<typeof before>
    const reason = 'x'.repeat(100)
    const timeOff = Array.from({ length: 450 }, (__, n) => {
      const day = new Date(Date.UTC(2000, 0, 1 + n)).toISOString().slice(0, 10)
      return { from: day, to: day, reason }
    })
    await doctorStore(db).save(mine.clinic.id, [{ before, after: { ...doctor, timeOff } }])
    const { status, body } = await add(BLOCK)
    expect([status, body.details]).toEqual([
      422,
      [{ field: 'from', issue: expect.stringMatching(/too much/) }],
    ])
  })
})
