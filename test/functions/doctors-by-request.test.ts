/** Doctors that requests create and change, and what a change says about appointments. */
import { beforeAll, describe, expect, it } from 'vitest'
import { MAX_ACTIVE_DOCTORS, NEW_DOCTOR } from '../../shared/domain/booking/doctor.ts'
import { addDays, wallClock } from '../../shared/domain/clock.ts'
import type { Scope } from '../../shared/domain/scope.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { doctorStore, MAX_SAVED } from '../../shared/store/doctors.ts'
import { externalIds } from '../../shared/store/external-ids/links.ts'
import { patientStore } from '../../shared/store/patients/patients.ts'
import { chunked } from '../../shared/store/table/chunked.ts'
import { issueCredential } from '../support/credentials.ts'
import { request, tableOfFunctions } from '../support/functions.ts'
import { createAppointment, createPopulatedClinic, type PopulatedClinic } from '../support/records.ts'

const db = tableOfFunctions()
let mine: PopulatedClinic
let headers: Record<string, string>

beforeAll(async () => {
  mine = await createPopulatedClinic(db.table)
  headers = (await issueCredential(db.table, mine.clinic)).headers
})

const send = (route: string, id: string | null, body: object, by = headers) =>
  request(route, {
    ...(id !== null && { path: { id } }),
    headers: { ...by, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const create = (body: object, by = headers) => send('create-doctor', null, body, by)
const update = (id: string, body: object, by = headers) => send('update-doctor', id, body, by)
const get = (id: string, by = headers) => request('get-doctor', { path: { id }, headers: by })
const withScopes = async (...scopes: Scope[]) =>
  (await issueCredential(db.table, mine.clinic, scopes)).headers
const time = (start_time: string, end_time: string) => ({ start_time, end_time })

/** The n-th day from the clinic's today that is a Monday. */
function monday(n = 0): string {
  const { date } = wallClock(Date.now(), mine.clinic.timezone)
  const weekday = new Date(`${date}T12:00:00Z`).getUTCDay()
  return addDays(date, ((8 - weekday) % 7 || 7) + 7 * n)
}

describe('a doctor that a request creates', () => {
  it('has the hours of the request in ascending order, and can be booked then', async () => {
    const body = {
      full_name: 'Dr. Ada Kaya',
      department_id: mine.department.id,
      hours: { tue: [], mon: [time('13:00', '15:00'), time('09:00', '12:00')] },
      breaks: { mon: [time('10:00', '10:30')] },
      exceptions: { [monday(1)]: [], [monday()]: [time('10:00', '12:00')] },
    }
    const { status, body: created } = await create(body)
    expect([status, created.meta]).toEqual([201, { appointments_outside: 0 }])
    const hours = { mon: [time('09:00', '12:00'), time('13:00', '15:00')] }
    expect((await get(created.data.id)).body.data).toEqual({
      ...created.data,
      ...body,
      hours,
      specialty: null,
    })
    const slots = await request('get-availability', {
      query: { doctor_id: created.data.id, date: monday(), duration: '30' },
      headers,
    })
    expect(slots.body.data.map((slot: { start_time: string }) => slot.start_time)).toEqual([
      '10:30',
      '11:00',
      '11:30',
    ])
  })

  it.each<[string, object, string, RegExp]>([
    ['without a name', {}, 'full_name', /./],
    [
      'with overlapping times',
      { hours: { mon: [time('09:00', '12:00'), time('11:00', '13:00')] } },
      'hours.mon',
      /overlap/,
    ],
    [
      'with times in the wrong order',
      { breaks: { fri: [time('12:00', '09:00')] } },
      'breaks.fri',
      /after its start_time/,
    ],
    ['with another weekday', { hours: { monday: [] } }, 'hours.monday', /not a field/],
    [
      'with a date that does not exist',
      { exceptions: { '2026-02-30': [] } },
      'exceptions.2026-02-30',
      /YYYY-MM-DD/,
    ],
    ['with a list for hours', { hours: [] }, 'hours', /object of weekdays/],
    [
      'with too many exceptions',
      {
        exceptions: Object.fromEntries(
          Array.from({ length: 4000 }, (_, n) => [addDays('2030-01-01', n), []]),
        ),
      },
      'exceptions',
      /too many dates/,
    ],
  ])('%s is rejected, naming the field', async (title, body, field, issue) => {
    const name = title === 'without a name' ? {} : { full_name: 'Dr. X' }
    const response = await create({ ...name, ...body })
    expect([response.status, response.body.details]).toEqual([
      422,
      [{ field, issue: expect.stringMatching(issue) }],
    ])
  })

  it('in an unknown department is a 404 that names the field', async () => {
    const { status, body } = await create({ full_name: 'Dr. X', department_id: newUuid() })
    expect([status, body.message, body.details]).toEqual([
      404,
      'errors.developer_api.department_not_found',
      [{ field: 'department_id' }],
    ])
  })

  it('beyond the limit of active doctors is rejected, and an inactive one is not', async () => {
    const full = await createPopulatedClinic(db.table)
    const { headers: by } = await issueCredential(db.table, full.clinic)
    const others = Array.from({ length: MAX_ACTIVE_DOCTORS - 1 }, () => ({
      before: null,
      after: { ...NEW_DOCTOR, id: newUuid(), fullName: 'Dr. Y' },
    }))
    for (const chunk of chunked(others, MAX_SAVED)) await doctorStore(db).save(full.clinic.id, chunk)
    const rejected = await create({ full_name: 'Dr. Z' }, by)
    expect([rejected.status, rejected.body.details]).toEqual([
      422,
      [{ field: 'is_active', issue: 'must be false: the clinic has 500 active doctors' }],
    ])
    expect((await create({ full_name: 'Dr. Z', is_active: false }, by)).status).toBe(201)
  })
})

describe('a change of a doctor', () => {
  it('counts upcoming appointments that are no longer within hours, which the list then shows', async () => {
    const { id } = mine.doctor
    const doctor = { id, fullName: mine.doctor.fullName }
    const book = (date: string, startTime: string, endTime: string, status = 'scheduled') =>
      createAppointment(db.table, mine, { doctor, date, startTime, endTime, status: status as 'scheduled' })
    const outside = await book(monday(), '15:30', '16:00')
    await book(monday(), '16:00', '16:30', 'cancelled')
    await book(monday(), '09:00', '09:30')
    // Before the change, too.
    const weekend = await book(addDays(monday(), 5), '09:00', '09:30')
    const later = addDays(monday(), 7 * 60)
    await book(later, '15:30', '16:00')
    const hours = Object.fromEntries(['mon', 'tue', 'wed'].map((day) => [day, [time('09:00', '15:00')]]))
    const { status, body } = await update(id, { hours })
    expect([status, body.meta]).toEqual([200, { appointments_outside: 1 }])
    const range = { date_from: monday(), date_to: addDays(monday(), 6), outside_hours: 'true' }
    const listed = await request('list-appointments', { query: range, headers })
    expect(listed.body.data.map((one: { id: string }) => one.id).sort()).toEqual([outside, weekend].sort())
    expect(listed.body.meta.total).toBe(2)
    const unbounded = await request('list-appointments', { query: { outside_hours: 'true' }, headers })
    expect([unbounded.status, unbounded.body.details?.[0]?.field]).toEqual([400, 'outside_hours'])
    expect((await update(id, { hours })).body.meta).toEqual({ appointments_outside: 0 })
  })

  it('of the name reaches the appointments of the doctor', async () => {
    await update(mine.doctor.id, { full_name: 'Dr. Renamed' })
    const stored = await appointmentStore(db).find(mine.clinic.id, mine.appointment.id)
    expect(stored?.record.doctor.fullName).toBe('Dr. Renamed')
  })

  it('of an external id is confirmed, and taken back by null', async () => {
    const { id } = mine.doctor
    await update(id, { external_id: 'D-1' })
    expect(await doctorStore(db).find(mine.clinic.id, id)).toMatchObject({ externalId: 'D-1' })
    expect(await doctorStore(db).find(mine.clinic.id, id)).not.toHaveProperty('isLinkedByApi')
    expect(await externalIds(db).find(mine.clinic.id, 'doctor', 'D-1')).toBe(id)
    const taken = await create({ full_name: 'Dr. X', external_id: 'D-1' })
    expect([taken.status, taken.body.details]).toEqual([409, [{ field: 'external_id', id }]])
    await update(id, { external_id: null })
    expect((await create({ full_name: 'Dr. X', external_id: 'D-1' })).status).toBe(201)
  })
})

describe('the hours of a doctor', () => {
  it('are shown with schedule.read only', async () => {
    const { id } = mine.doctor
    const fields = ['external_id', 'hours', 'breaks', 'exceptions']
    const shown = async (...scopes: Scope[]) => {
      const { body } = await get(id, await withScopes('appointment.read.availability', ...scopes))
      return fields.filter((name) => name in body.data)
    }
    expect([await shown('schedule.read'), await shown('schedule.write')]).toEqual([fields, []])
  })

  it('are in the response to a credential that sent them and may read no doctors', async () => {
    const sent = { specialty: 'Surgery', hours: { mon: [time('09:00', '15:00')] } }
    const names = async (...scopes: Scope[]) => {
      const { body } = await update(mine.doctor.id, sent, await withScopes('schedule.write', ...scopes))
      return Object.keys(body.data).sort()
    }
    const always = ['id', 'is_active', 'specialty', 'updated_at']
    expect(await names()).toEqual(always)
    expect(await names('schedule.read')).toEqual([...always, 'hours'].sort())
  })
})

describe('an external id of a patient', () => {
  it.each<[Scope, boolean]>([
    ['sync.write', true],
    ['schedule.write', true],
    ['catalogue.write', true],
    ['appointment.write', false],
  ])('that a credential with %s sets is confirmed: %s', async (scope, isConfirmed) => {
    const by = await withScopes('patient.write', scope)
    const sent = { first_name: 'Ada', external_id: newUuid() }
    const { body } = await send('create-patient', null, sent, by)
    const linked = async () => (await patientStore(db).find(mine.clinic.id, body.data.id))?.isLinkedByApi
    expect(await linked()).toBe(isConfirmed ? undefined : true)
    await send('update-patient', body.data.id, { external_id: newUuid() }, by)
    expect(await linked()).toBe(isConfirmed ? undefined : true)
  })
})
