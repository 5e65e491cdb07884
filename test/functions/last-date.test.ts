/** Dates at and after the last one that a record can have. */
import { beforeAll, describe, expect, it } from 'vitest'
import { NEW_DOCTOR } from '../../bin/clinic/import/entities/doctors.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { issueCredential } from '../support/credentials.ts'
import { call } from '../support/event.ts'
import { handlerOf, stubFunctionEnvironment } from '../support/functions.ts'
import { createPopulatedClinic, createRecord, type PopulatedClinic } from '../support/records.ts'
import { tableOfFile } from '../support/table.ts'

const db = tableOfFile()
let mine: PopulatedClinic
let headers: Record<string, string>
const doctor = newUuid()

beforeAll(async () => {
  stubFunctionEnvironment(db.name)
  mine = await createPopulatedClinic(db.table)
  const hours = parseWeeklyHours('mon-sun 08:00-09:00')
  await doctorStore(db).save(mine.clinic.id, [
    { before: null, after: { ...NEW_DOCTOR, id: doctor, fullName: 'Dr. Ny', hours } },
  ])
  headers = { ...(await issueCredential(db.table, mine.clinic)).headers, 'content-type': 'application/json' }
})

const book = async (appointment_date: string, start_time = '08:00') =>
  call(await handlerOf({ id: 'create-appointment' }), {
    method: 'POST',
    headers,
    body: JSON.stringify({
      patient_id: mine.patient.id,
      doctor_id: doctor,
      appointment_date,
      start_time,
      duration: 30,
    }),
  })

const availability = async (date: string) =>
  call(await handlerOf({ id: 'get-availability' }), { query: { doctor_id: doctor, date }, headers })

describe('booking on the last date', () => {
  it('returns 409 with alternatives up to that date when the slot is taken', async () => {
    expect((await book('2199-12-31')).status).toBe(201)
    const { status, body } = await book('2199-12-31')
    expect([status, body.details]).toEqual([
      409,
      [{ appointment_date: '2199-12-31', start_time: '08:30', end_time: '09:00' }],
    ])
  })

  it.each(['2200-01-01', '9999-12-31'])('returns 422 that names the field for %s', async (date) => {
    const { status, body } = await book(date)
    expect([status, body.details]).toEqual([
      422,
      [{ field: 'appointment_date', issue: 'must not be after 2199-12-31' }],
    ])
  })
})

describe('availability', () => {
  it('is returned for the last date', async () => {
    expect(await availability('2199-12-31')).toMatchObject({ status: 200 })
  })

  it.each(['2200-01-01', '9999-12-31'])('returns 400 that names the parameter for %s', async (date) => {
    const { status, body } = await availability(date)
    expect([status, body.details]).toEqual([400, [{ field: 'date', issue: 'must not be after 2199-12-31' }]])
  })
})

describe('a list filtered by dates up to 9999-12-31', () => {
  it('has the totals of records with any date', async () => {
    const { clinic, appointment } = await createPopulatedClinic(db.table)
    const last = { ...appointment, id: newUuid(), date: '9999-12-31' }
    await createRecord(db.table, clinic, appointmentStore(db), last)
    const credential = await issueCredential(db.table, clinic)
    const total = async (query: Record<string, string>) => {
      const handler = await handlerOf({ id: 'list-appointments' })
      const { body } = await call(handler, { query, headers: credential.headers })
      return [body.meta.total, body.data.length]
    }
    expect(await total({})).toEqual([2, 2])
    expect(await total({ date_to: '9999-12-31' })).toEqual([2, 2])
    expect(await total({ date_from: '9999-12-31' })).toEqual([1, 1])
    expect(await total({ date_from: '9999-12-31', patient_id: appointment.patient.id })).toEqual([1, 1])
    expect(await total({ date_from: '2200-01-01', doctor_id: appointment.doctor.id })).toEqual([1, 1])
    expect(await total({ date_from: '0001-01-01', date_to: '9999-12-30' })).toEqual([1, 1])
  })
})
